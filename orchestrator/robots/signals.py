"""Single values of a robot's state: where each stands on the wire, and what makes it believable."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Protocol

from orchestrator.bus.contract import Sample
from orchestrator.robots.feed import Feed, Pulse
from orchestrator.robots.knowledge import Doubt, Known, Unknown
from orchestrator.robots.profile import Range
from orchestrator.robots.reasons import Reason
from orchestrator.wire.codec import codec
from orchestrator.wire.errors import WireError
from orchestrator.wire.fields import ElementReader, NoElement
from orchestrator.wire.topics import Topic

_new = tuple.__new__
"""Half the time of `Known(...)`, for what happens on every look."""
MOST = sys.float_info.max
Convert = Callable[[Any], Any]
"""From what is on the wire to what it means; raises Doubt for what cannot be."""


class Reads(Protocol):
    """Gives a value for the bytes of a message."""

    @property
    def read(self) -> Callable[[bytes], Any]:
        """May change from message to message."""


@dataclass(frozen=True)
class Signal:
    """Where one value stands on the wire."""

    topic: str
    path: str
    convert: Convert | Numbers | None = None
    heartbeat: tuple[str, ...] = ()
    """Fields of its own that show this part is alive, such as a battery's counter."""
    noise: tuple[str, ...] = ()
    """Measured numbers that never repeat exactly for long; looked at when the value itself has repeated."""
    state: bool = False
    """Not measured but set: in simulation a change of it is sent at once, so that nobody has to look closely."""
    steady: ClassVar[bool] = False
    """Dear to read, in a message that seldom changes: not read again while it is the same."""

    def reader(self, topic: Topic) -> Reads:
        return codec(topic.type).field(self.path, plain=True)

    @property
    def meaning(self) -> Convert | None:
        return self.convert.giving("values") if isinstance(self.convert, Numbers) else self.convert


@dataclass
class _Function:
    """A way of reading that stays the same."""

    read: Callable[[bytes], Any]


@dataclass(frozen=True)
class Whole(Signal):
    """A value that needs the whole message."""

    steady = True

    def reader(self, topic: Topic) -> Reads:
        of = codec(topic.type)
        return _Function(lambda data: of.decode(data))  # not of.decode itself: that would compile it now


@dataclass(frozen=True)
class Several(Signal):
    """Several signals of one topic together."""

    parts: tuple[Signal, ...] = ()
    steady = True

    def reader(self, topic: Topic) -> Reads:
        parts = [(part.reader(topic), part.meaning) for part in self.parts]
        return _Function(
            lambda data: [
                reader.read(data) if convert is None else convert(reader.read(data)) for reader, convert in parts
            ]
        )


@dataclass(frozen=True)
class Vouched(Signal):
    """An alarm that counts only in a message in which other values can be true: random bytes raise alarms as well.

    While it is not raised the others are not read: that costs nothing.
    """

    others: tuple[Signal, ...] = ()

    def reader(self, topic: Topic) -> Reads:
        own = super().reader(topic)
        others = [(other.reader(topic), other.meaning) for other in self.others]

        def read(data: bytes) -> Any:
            raised = own.read(data)
            if raised:
                for reader, check in others:
                    value = reader.read(data)
                    if check is not None:
                        check(value)
            return raised

        return _Function(read)


@dataclass(frozen=True)
class Member(Signal):
    """A value of the element of a sequence that carries a certain name; the paths have `{}` for its index."""

    name_path: str = ""
    name: str = ""

    def reader(self, topic: Topic) -> Reads:
        return ElementReader(codec(topic.type).shape, self.path, self.name_path, self.name)


class BoundSignal:
    """One value of one robot, read straight from the newest believable sample."""

    def __init__(self, feed: Feed, signal: Signal) -> None:
        self.feed = feed
        self.signal = signal
        self._look = feed.look
        self._closely = not signal.state
        self._reader = signal.reader(feed.topic)
        self._convert = signal.meaning
        self._find = self._same if signal.steady else self.of
        self._sample: Sample | None = None
        self._knowledge: Known[Any] | Unknown = Unknown(Reason.NO_SAMPLE, "")
        self._signs = signal.heartbeat or signal.noise
        self._pulse = Pulse(feed.reader, self._signs, 1.0) if self._signs else None
        self._last: Any = None

    def __call__(self) -> Known[Any] | Unknown:
        sample = self._look(self._closely)
        if sample is self._sample:
            return self._knowledge
        if isinstance(sample, Unknown):
            return sample
        self._knowledge = found = self._find(sample)
        self._sample = sample
        return found

    def _same(self, sample: Sample) -> Known[Any] | Unknown:
        """The same value again if the message is the same."""
        known, last = self._knowledge, self._sample
        if last is not None and sample.data == last.data and isinstance(known, Known):
            return _new(Known, (known.value, sample.received))
        return self.of(sample)

    def of(self, sample: Sample) -> Known[Any] | Unknown:
        """What a certain sample says."""
        # By number, not by name: a third of the time, on every look.
        try:
            value = self._reader.read(sample[0])
            if self._pulse is not None and self._stands_still(value, sample, self._pulse):
                return self._unknown(sample, Reason.FROZEN, f"{' and '.join(self._signs)} stood still")
            if self._convert is not None:
                value = self._convert(value)
            return _new(Known, (value, sample[3]))
        except Doubt as doubt:
            if doubt.reason not in (Reason.UNKNOWN_STATE, Reason.NOT_REPORTED):  # those are news, not mistakes
                type_name = codec(self.feed.topic.type).type_name
                self.feed.reader.reject(WireError(type_name, self.signal.path, None, str(doubt)))
            return self._unknown(sample, doubt.reason, str(doubt))
        except WireError as error:
            self.feed.reader.reject(error)
            enum = "is not a value of" in error.problem
            return self._unknown(sample, Reason.UNKNOWN_STATE if enum else Reason.BAD_SAMPLE, str(error))
        except NoElement:
            return self._unknown(sample, Reason.NOT_REPORTED, "the robot reports no " + self._missing())

    def _stands_still(self, value: Any, sample: Sample, pulse: Pulse) -> bool:
        if self.signal.noise and value != self._last:
            self._last = value
            return False
        return pulse.still(sample) is not None

    def _missing(self) -> str:
        names = [part.name for part in (self.signal, *getattr(self.signal, "parts", ())) if isinstance(part, Member)]
        return " or ".join(names)

    def watch(self) -> None:
        """Let a change of this value end the bus' wait (event topics only)."""
        self.feed.reader.watch(self.signal.path)

    def _unknown(self, sample: Sample, reason: Reason, text: str) -> Unknown:
        return Unknown(reason, f"{self.feed.topic.name}: {text}", sample.received)


# What makes a value believable


def finite(low: float = -MOST, high: float = MOST) -> Convert:
    """A number within physical bounds."""

    def check(value: float) -> float:
        return value if low <= value <= high else _bad_number(value, low, high)

    return check


@dataclass(frozen=True)
class Numbers:
    """Some of the numbers that stand together, each within physical bounds, as a tuple."""

    total: int
    """How many stand there."""
    start: int
    end: int
    low: float
    high: float

    def giving(self, result: str, bounds: Sequence[Range] = ()) -> Convert:
        """Gives what an expression says: `values` are the numbers, `v0`, `v1`, ... each of them.

        Written out as code, because this runs for every sample that is looked at: a loop takes three times as long.
        """
        names = [f"v{place}" for place in range(self.end - self.start)]
        limits = [(limit.low, limit.high) for limit in bounds] or [(self.low, self.high)] * len(names)
        believable = [f"{low!r} <= {name} <= {high!r}" for name, (low, high) in zip(names, limits)]
        code = f"""
def check(values):
    if len(values) != {self.total}:
        miscounted(values)
    {", ".join(names)}, = values = values[{self.start}:{self.end}]
    if not ({" and ".join(believable)}):
        refuse(values)
    return {result}
"""
        found: dict[str, Any] = {"miscounted": self._miscounted, "refuse": lambda values: _refuse(values, limits)}
        exec(compile(code, f"<{self}>", "exec"), found)
        check: Convert = found["check"]
        return check

    def _miscounted(self, values: tuple[float, ...]) -> None:
        raise Doubt(Reason.BAD_SAMPLE, f"{len(values)} values instead of {self.total}")


def numbers(count: int, low: float, high: float) -> Numbers:
    """All the numbers that stand there."""
    return Numbers(count, 0, count, low, high)


def quaternion(values: Any) -> Any:
    """A rotation: four numbers of length one."""
    length = math.hypot(*values)  # infinite or NaN if one of them is
    if len(values) != 4 or not 0.95 <= length <= 1.05:
        reason = Reason.OUT_OF_RANGE if math.isfinite(length) else Reason.NOT_FINITE
        raise Doubt(reason, f"{len(values)} numbers of length {length:.3f} are no rotation")
    return values


def named(names: dict[str, int]) -> Convert:
    """A state by its name in the profile; a number without a name is not known."""
    by_number = {number: name for name, number in names.items()}

    def check(number: int) -> str:
        try:
            return by_number[number]
        except KeyError:
            raise Doubt(Reason.UNKNOWN_STATE, f"state {number} has no name in the profile") from None

    return check


@cache
def lower_name(member: Any) -> str:
    """A vendor's enumeration value as a word."""
    return str(member.name).lower()


def _refuse(values: tuple[float, ...], limits: list[tuple[float, float]]) -> None:
    for value, (low, high) in zip(values, limits):
        if not low <= value <= high:
            _bad_number(value, low, high)


def _bad_number(value: float, low: float, high: float) -> float:
    if not math.isfinite(value):
        raise Doubt(Reason.NOT_FINITE, f"{value} is not a finite number")
    raise Doubt(Reason.OUT_OF_RANGE, f"{value:g} is not between {low:g} and {high:g}")
