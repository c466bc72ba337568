"""Questions to the operator, answered from a terminal, the API or a test."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass


class NoAnswer(Exception):
    """Nobody can answer this question; the reason fails the node that asked."""


@dataclass(eq=False)
class Question:
    """Something an operator is asked."""

    number: int
    node: int
    name: str
    """What the node is called."""
    text: str
    choices: list[str]
    confirms: bool = False
    """Whether somebody agrees to something that a node is about to do."""
    answer: str | None = None


Answers = Callable[[Question], str | None]
"""Called when a question is asked: an answer known already, None to wait for a person, or raises NoAnswer."""


class Prompts:
    """The open questions of a run. `answer` may be called from any thread."""

    def __init__(self, answers: Answers = lambda question: None) -> None:
        self._answers = answers
        self._lock = threading.Lock()
        self._open: dict[int, Question] = {}
        self._count = 0
        self.asking = False
        """Whether somebody is being asked who answers at once, and the run waits for it."""
        self.on_answer: Callable[[], object] = lambda: None

    @property
    def open(self) -> list[Question]:
        with self._lock:
            return [question for question in self._open.values() if question.answer is None]

    def ask(self, node: int, name: str, text: str, choices: list[str], confirms: bool = False) -> Question:
        self._count += 1
        question = Question(self._count, node, name, text, choices, confirms)
        self.asking = True
        try:
            known = self._answers(question)
        finally:
            self.asking = False
        if known is not None:
            try:
                _choose(question, known)
            except ValueError as problem:
                raise NoAnswer(f"the answer {problem}") from problem
        with self._lock:
            self._open[question.number] = question
        return question

    def answer(self, number: int, choice: str) -> None:
        """The first answer counts."""
        with self._lock:
            question = self._open.get(number)
            if question is None or question.answer is not None:
                raise ValueError(f"question {number} is not open")
            _choose(question, choice)
        self.on_answer()

    def close(self, question: Question) -> None:
        with self._lock:
            self._open.pop(question.number, None)


def _choose(question: Question, choice: str) -> None:
    if choice not in question.choices:
        raise ValueError(f'"{choice}" is not one of {", ".join(question.choices)}')
    question.answer = choice
