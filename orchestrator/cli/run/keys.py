"""What keys do during a run: they answer the question that is open, or pause, step and stop the run."""

from __future__ import annotations

from typing import Protocol

from orchestrator.engine.events import Prompt

PAUSE, STEP, STOP = "p", "s", "q"
_TAKEN = frozenset({PAUSE, STEP, STOP})


class Controlled(Protocol):
    """What keys act on."""

    @property
    def paused(self) -> bool: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def step(self) -> None: ...

    def stop(self) -> None: ...

    def answer(self, number: int, choice: str) -> None: ...


def choice_keys(choices: list[str]) -> dict[str, str]:
    """A key for every choice: its first letter that is free, else its number."""
    keys: dict[str, str] = {}
    for number, choice in enumerate(choices, 1):
        letter = choice[:1].lower()
        free = letter.isalpha() and letter not in keys and letter not in _TAKEN
        keys[letter if free else str(number)] = choice
    return keys


def hints(question: Prompt | None, paused: bool) -> list[tuple[str, str]]:
    """The keys that do something now."""
    answers = list(choice_keys(question.choices).items()) if question is not None else []
    return [*answers, (PAUSE, "resume" if paused else "pause"), (STEP, "step"), (STOP, "stop the robot and leave")]


def press(key: str, question: Prompt | None, run: Controlled) -> None:
    """A key that means nothing now does nothing."""
    key = key.lower()
    if question is not None and (choice := _chosen(key, question.choices)) is not None:
        run.answer(question.number, choice)
    elif key == STOP:
        run.stop()
    elif key == STEP:
        run.step()
    elif key == PAUSE:
        (run.resume if run.paused else run.pause)()


def _chosen(key: str, choices: list[str]) -> str | None:
    if key.isdecimal() and 1 <= int(key) <= len(choices):
        return choices[int(key) - 1]
    return choice_keys(choices).get(key)
