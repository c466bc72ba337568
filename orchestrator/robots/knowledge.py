"""What is known about a robot: a value and when it came, or the reason why it is not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from orchestrator.robots.reasons import Reason

_new = tuple.__new__
"""Half the time of `Known(...)`, for what happens at every look."""
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
        elif flag.received < oldest:
            oldest = flag.received
    if unknown is not None:
        return unknown
    return _new(Known, (False, oldest)) if flags else Unknown(Reason.NOT_REPORTED, "no source for it")


class Derived:
    """Reads something that follows from something else, and works it out once per report."""

    def __init__(self, read: Read, convert: Callable[[Any], Any]) -> None:
        self._read = read
        self._convert = convert
        self._of: Known[Any] | Unknown | None = None
        self._found: Known[Any] | Unknown = Unknown(Reason.NO_SAMPLE, "")

    def __call__(self) -> Known[Any] | Unknown:
        knowledge = self._read()
        if knowledge is self._of:
            return self._found
        self._of = knowledge
        self._found = found = derived(knowledge, self._convert)
        return found


class Combined:
    """Reads something that follows from the values of several things, as old as the oldest of them (or one of them)."""

    def __init__(self, reads: Sequence[Read], combine: Callable[[list[Any]], Known[Any] | Unknown]) -> None:
        self._reads = list(enumerate(reads))
        self._combine = combine
        self._of: list[Any] = [None] * len(reads)
        self._found: Known[Any] | Unknown = combine([])

    def __call__(self) -> Known[Any] | Unknown:
        of, changed = self._of, False
        for place, read in self._reads:
            found, last = read(), of[place]
            if found is not last:
                of[place] = found
                changed = changed or not self._same(found, last)
        if changed:
            self._found = self._combine(of)
        return self._found

    def _same(self, found: Any, last: Any) -> bool:
        """Whether nothing follows from a new report: it says the same, and another part is older anyway."""
        return (
            found.__class__ is last.__class__ is self._found.__class__ is Known
            and found[0] == last[0]
            and last[1] > self._found[1]
        )


def derived(knowledge: Known[T] | Unknown, convert: Callable[[T], S]) -> Known[S] | Unknown:
    """The same knowledge about something that follows from it; unknown if it cannot be believed."""
    if isinstance(knowledge, Unknown):
        return knowledge
    try:
        return _new(Known, (convert(knowledge.value), knowledge.received))
    except Doubt as doubt:
        return Unknown(doubt.reason, str(doubt), knowledge.received)
