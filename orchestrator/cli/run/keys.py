"""What keys do during a run: they answer the question that is open, or pause, step, abort and stop the run."""

from __future__ import annotations

from collections.abc import Set
from string import ascii_lowercase, digits
from typing import Protocol

from orchestrator.engine.events import Prompt

PAUSE, STEP, STOP = "p", "s", "q"
ABORT = "a"
"""Only while a tree runs: before that, and after a stop, there is nothing to be aborted, and the key may answer."""
_TAKEN = frozenset({PAUSE, STEP, STOP})
_DIGITS = frozenset(digits)
"""A choice that is one of these is its own key, and nobody else's."""
_OTHERS = f"{digits[1:]}{ascii_lowercase.replace(ABORT, '')}"
_LETTERS = {"arm": "m", "abort": ""}
"""A key that is held down answers again and again: the one that acknowledges a stop must do nothing after that."""


class Controlled(Protocol):
    """What keys act on."""

    @property
    def paused(self) -> bool: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def step(self) -> None: ...

    def abort(self) -> None: ...

    def stop(self) -> None: ...

    def answer(self, number: int, choice: str) -> None: ...


def choice_keys(choices: list[str], running: bool = False) -> dict[str, str]:
    """A key for every choice, as long as there are any: more than some thirty are for `--answer`."""
    own = _DIGITS.intersection(choices)
    taken = _TAKEN | own | ({ABORT} if running else set())
    keys: dict[str, str] = {}
    for number, choice in enumerate(choices, 1):
        key = choice if choice in own else _free_key(number, choice, taken | keys.keys())
        if key:
            keys[key] = choice
    return keys


def _free_key(number: int, choice: str, taken: Set[str]) -> str:
    """Its letter, the first one mostly, its number, or whatever is left."""
    letter = _LETTERS.get(choice, choice[:1].lower())
    liked = (letter if letter.isalpha() else "", str(number) if number < 10 else "", *_OTHERS)
    return next((key for key in liked if key and key not in taken), "")


def can_be_answered(paused: bool, running: bool) -> bool:
    """Nothing follows from an answer while a tree stands still: it would be forgotten, and act on the next resume."""
    return not (paused and running)


def hints(question: Prompt | None, paused: bool, running: bool) -> list[tuple[str, str]]:
    """The keys that do something now."""
    choices = question.choices if question is not None and can_be_answered(paused, running) else []
    answers = list(choice_keys(choices, running).items())
    going_on = [(PAUSE, "resume" if paused else "pause"), (STEP, "step")] if running or paused else []
    abort = [(ABORT, "abort: orderly way out")] if running else []
    return [*answers, *going_on, *abort, (STOP, "stop the robot and leave")]


def press(key: str, question: Prompt | None, run: Controlled, running: bool) -> None:
    """A key that means nothing now does nothing."""
    key = key.lower()
    if question is not None and (choice := _chosen(key, question.choices, running)) is not None:
        if can_be_answered(run.paused, running):
            run.answer(question.number, choice)
    elif key == STOP:
        run.stop()
    elif not (running or run.paused):
        return
    elif key == STEP:
        run.step()
    elif key == PAUSE:
        (run.resume if run.paused else run.pause)()
    elif key == ABORT and running:
        run.abort()


def _chosen(key: str, choices: list[str], running: bool) -> str | None:
    """By the key that is shown, or by its number where no choice is a number itself."""
    numbers = {} if any(choice[:1].isdecimal() for choice in choices) else dict(zip(digits[1:], choices))
    return choice_keys(choices, running).get(key) or numbers.get(key)
