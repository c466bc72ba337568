"""What is known about a robot: a value and when it came, or the reason why it is not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from orchestrator.robots.reasons import Reason

_new = tuple.__new__
"""Half the time of `Known(...)`, for what happens at every look."""
INFINITE = float("inf")
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
    oldest = INFINITE
    for flag in flags:
        if flag.__class__ is Unknown or flag[0]:
            return _set_or_unknown(flags)
        if flag[1] < oldest:  # type: ignore[operator]
            oldest = flag[1]  # type: ignore[assignment]
    return _new(Known, (False, oldest)) if flags else Unknown(Reason.NOT_REPORTED, "no source for it")


def _set_or_unknown(flags: list[Known[bool] | Unknown]) -> Known[bool] | Unknown:
    for flag in flags:
        if isinstance(flag, Known) and flag.value:
            return flag
    return next(flag for flag in flags if isinstance(flag, Unknown))


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
        self._oldest = INFINITE

    def __call__(self) -> Known[Any] | Unknown:
        of, changed = self._of, False
        for place, read in self._reads:
            found, last = read(), of[place]
            if found is last:
                continue
            of[place] = found
            # Nothing follows from a report that says the same while another part is older anyway.
            if not (found.__class__ is last.__class__ is Known and found[0] == last[0] and last[1] > self._oldest):
                changed = True
        if changed:
            self._found = found = self._combine(of)
            self._oldest = found[1] if isinstance(found, Known) else INFINITE
        return self._found


def derived(knowledge: Known[T] | Unknown, convert: Callable[[T], S]) -> Known[S] | Unknown:
    """The same knowledge about something that follows from it; unknown if it cannot be believed."""
    if isinstance(knowledge, Unknown):
        return knowledge
    try:
        return _new(Known, (convert(knowledge[0]), knowledge[1]))
    except Doubt as doubt:
        return Unknown(doubt.reason, str(doubt), knowledge.received)
