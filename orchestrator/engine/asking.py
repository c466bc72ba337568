"""How a node asks the operator something."""

from __future__ import annotations

from collections.abc import Callable

from py_trees.behaviour import Behaviour

from orchestrator.engine.conditions import Unknown
from orchestrator.engine.events import Answer, Prompt, Withdrawn
from orchestrator.engine.prompts import NoAnswer, Question
from orchestrator.engine.run import Run, node_id


class Asked:
    """A question on its way: asked, answered or withdrawn."""

    def __init__(self, run: Run, node: Behaviour, confirms: bool = False) -> None:
        self._run = run
        self._confirms = confirms
        self._node = node
        self._question: Question | None = None

    def answer(self, text: Callable[[], str], choices: Callable[[], list[str]]) -> str | None:
        """Asks at first; the answer when there is one. Raises Unknown when nobody can answer."""
        run = self._run
        question = self._question
        if question is None:
            question = self._question = self._ask(text(), choices())
        if question.answer is None:
            return None
        self._question = None
        run.prompts.close(question)
        run.on_event(Answer(at=run.at(), number=question.number, answer=question.answer))
        return question.answer

    def withdraw(self) -> None:
        question, self._question = self._question, None
        if question is not None:
            self._run.prompts.close(question)
            self._run.on_event(Withdrawn(at=self._run.at(), number=question.number))

    def _ask(self, text: str, choices: list[str]) -> Question:
        run, number = self._run, node_id(self._node)
        try:
            question = run.prompts.ask(number, self._node.name, text, choices, self._confirms)
        except NoAnswer as problem:
            raise Unknown(str(problem)) from problem
        run.on_event(Prompt(at=run.at(), number=question.number, node=number, question=text, choices=choices))
        return question
