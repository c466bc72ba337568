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
        given = answers.get(question.name) if question.name else None
        if given in question.choices:  # a node may ask two things, as one that has a confirm and an Ask does
            return given
        if yes and question.confirms:
            return "yes"
        if person is None:
            raise NoAnswer(_unanswered(question, given))
        return person(question)

    return Prompts(known)


def _unanswered(question: Question, given: str | None) -> str:
    """How it could have been answered; the run's own questions are nobody's but a person's."""
    choices = ", ".join(question.choices)
    if given is not None:
        return f'--answer "{question.name}={given}": the choices are {choices}'
    advice = f' (in advance --answer "{question.name}=CHOICE" does: {choices})' if question.name else ""
    return f"nobody is there to answer: {question.text}{advice}"


def ask_at_once(question: Question) -> str:
    """In virtual time nothing goes on while a person thinks."""
    keys = choice_keys(question.choices)
    shown = ", ".join(f"{key} = {choice}" for key, choice in [*keys.items(), ("q", "leave")])
    while True:
        try:
            said = str(typer.prompt(f"{question.name}: {question.text} ({shown}; then Enter)")).strip()
        except typer.Abort:  # Ctrl-C or the end of the input: no mistake of the node that asks
            raise KeyboardInterrupt from None
        if said.lower() == "q":
            raise KeyboardInterrupt
        if said.lower() in keys:
            return keys[said.lower()]
        if said in question.choices:
            return said
