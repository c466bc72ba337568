"""Answers to what a mission asks: given in advance, by a person, or by nobody."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from orchestrator.cli.run.keys import choice_keys

if TYPE_CHECKING:
    from orchestrator.engine.prompts import Prompts, Question


def make_prompts(yes: bool, answers: dict[str, str], person: Callable[[Question], str | None] | None) -> Prompts:
    """`person` answers at once, or gives None and answers by key; without one, a question fails at once."""
    from orchestrator.engine.prompts import NoAnswer, Prompts

    def known(question: Question) -> str | None:
        if question.name and question.name in answers:
            return _valid(answers[question.name], question)
        if yes and question.confirms:
            return "yes"
        if person is None:
            raise NoAnswer(f"nobody is there to answer: {question.text}{_advice(question)}")
        return person(question)

    def _valid(answer: str, question: Question) -> str:
        if answer not in question.choices:
            choices = ", ".join(question.choices)
            raise NoAnswer(f'--answer "{question.name}={answer}": the choices are {choices}')
        return answer

    return Prompts(known)


def _advice(question: Question) -> str:
    """How it could have been answered; the run's own questions are nobody's but a person's."""
    choices = ", ".join(question.choices)
    return f' (in advance --answer "{question.name}=CHOICE" does: {choices})' if question.name else ""


def ask_at_once(question: Question) -> str:
    """In virtual time nothing goes on while a person thinks."""
    keys = choice_keys(question.choices)
    shown = ", ".join(f"{key} = {choice}" for key, choice in [*keys.items(), ("q", "leave")])
    while True:
        try:
            said = str(typer.prompt(f"{question.name}: {question.text} ({shown}; then Enter)")).strip()
        except typer.Abort:  # Ctrl-C or the end of the input: no mistake of the node that asks
            raise KeyboardInterrupt from None
        if said in question.choices:
            return said
        if said.lower() == "q":
            raise KeyboardInterrupt
        if said.lower() in keys:
            return keys[said.lower()]
