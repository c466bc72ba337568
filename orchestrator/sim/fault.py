"""What a fault is: its name, target, parameters and time; and what of that it can have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from orchestrator.sim.twin import Twin
from orchestrator.yamlfile.findings import listed, nearest

Beginning = Callable[[Twin, "Fault"], Callable[[], None]]
"""Puts a fault in, and gives what takes it out again."""


class FaultError(ValueError):
    """A fault that cannot be put in; one sentence that a person can act on."""

    def __init__(self, sentence: str, about: str = "fault") -> None:
        super().__init__(sentence)
        self.about = about
        """What is wrong, by its key in a file: fault, target, when, for, or one of the parameters."""


@dataclass(frozen=True)
class Fault:
    """What is to go wrong, with what, when and for how long."""

    name: str
    target: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    at: float = 0.0
    """Seconds after the robot's start."""
    when: Callable[[], bool] | None = None
    """Instead of a time: as soon as this holds."""
    until: float | None = None
    """How many seconds it lasts; None: for good."""


@dataclass(frozen=True)
class Parameter:
    """What a parameter is if nobody says, and what it may be; without a default, the target decides about that."""

    default: Any
    least: float = 0.0
    most: float = 1e9

    def read(self, value: Any) -> Any:
        """The value as the fault takes it; a ValueError says what would be right."""
        if self.default is None:
            return value
        if isinstance(self.default, bool):
            if isinstance(value, bool):
                return value
            raise ValueError("true or false")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        whole = isinstance(self.default, int)
        if not (number and self.least <= value <= self.most and (not whole or value % 1 == 0)):
            raise ValueError(f"a {'whole ' if whole else ''}number from {self.least:g} to {self.most:.10g}")
        return int(value) if whole else float(value)


@dataclass(frozen=True)
class Kind:
    """One row of the table of faults."""

    target: Literal["state topic", "command", "command topic", "hand", "joint", "state", "button", ""]
    """What it needs a name of."""
    text: str
    parameters: dict[str, Parameter]
    begin: Beginning
    needs: str = ""
    """What the robot must have for it (`Twin.offers`)."""
    fields: bool = False
    """Whether it can be of one field of a state topic."""
    check: Callable[[Any, Fault], None] = lambda twin, fault: None
    """What else must be right about it."""


def known(name: str, valid: Iterable[str], what: str, whole: str, about: str) -> None:
    """Refuse a name that is not among the valid ones, with the nearest of them."""
    names = tuple(valid)
    if name in names:
        return
    meant = nearest(name, names)
    hint = f"did you mean {meant}?" if meant else f"there are {listed(names)}" if names else "there is none"
    raise FaultError(f"{whole}: no {what} {name!r}; {hint}" if whole != name else f"no {what} {name!r}; {hint}", about)
