"""What is known about a robot: a value and when it came, or the reason why it is not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any, Generic, NamedTuple, TypeVar

from orchestrator.robots.reasons import Reason

T = TypeVar("T")
S = TypeVar("S")


class Known(NamedTuple, Generic[T]):
    """A value the robot reported, believable and fresh."""

    value: T
    received: float
    """When its sample came, by the bus' clock: evidence for a command only if later than the command."""

    def age(self, now: float) -> float:
        return now - self.received


class Unknown(NamedTuple):
    """No value: never permission, never success."""

    reason: Reason
    text: str
    """A sentence that names topic or field."""
    received: float | None = None
    """When the last sample came, if there was one."""


Knowledge = Known[T] | Unknown
Read = Callable[[], Known[Any] | Unknown]
"""Looks at one value now."""


class Doubt(Exception):
    """A reported value that cannot be believed."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def either(flags: list[Known[bool] | Unknown]) -> Known[bool] | Unknown:
    """Whether any flag is set: one that is set decides; otherwise one that is not known leaves it unknown."""
    unknown: Unknown | None = None
    oldest = float("inf")
    for flag in flags:
        if isinstance(flag, Unknown):
            unknown = unknown or flag
        elif flag.value:
            return flag
        else:
            oldest = min(oldest, flag.received)
    if unknown is not None:
        return unknown
    return Known(False, oldest) if flags else Unknown(Reason.NOT_REPORTED, "no source for it")


class Derived:
    """Reads something that follows from something else, and works it out once per report."""

    def __init__(self, read: Read, convert: Callable[[Any], Any]) -> None:
        self._read = read
        self._convert = convert
        self._of: Known[Any] | Unknown | None = None
        self._found: Known[Any] | Unknown = Unknown(Reason.NO_SAMPLE, "")

    def __call__(self) -> Known[Any] | Unknown:
        knowledge = self._read()
        if knowledge is not self._of:
            self._of, self._found = knowledge, derived(knowledge, self._convert)
        return self._found


class Combined:
    """Reads something that follows from several things, and works it out again when one of them has changed."""

    def __init__(self, reads: Sequence[Read], combine: Callable[[list[Any]], Known[Any] | Unknown]) -> None:
        self._reads = reads
        self._combine = combine
        self._of: list[Known[Any] | Unknown] = []
        self._found: Known[Any] | Unknown = combine([])

    def __call__(self) -> Known[Any] | Unknown:
        of = [read() for read in self._reads]
        if not (len(of) == len(self._of) and all(map(is_, of, self._of))):
            self._of, self._found = of, self._combine(of)
        return self._found


def derived(knowledge: Known[T] | Unknown, convert: Callable[[T], S]) -> Known[S] | Unknown:
    """The same knowledge about something that follows from it; unknown if it cannot be believed."""
    if isinstance(knowledge, Unknown):
        return knowledge
    try:
        return Known(convert(knowledge.value), knowledge.received)
    except Doubt as doubt:
        return Unknown(doubt.reason, str(doubt), knowledge.received)
