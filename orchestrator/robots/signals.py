"""Single values of a robot's state: where each stands on the wire, and what makes it believable."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from orchestrator.bus.contract import Sample
from orchestrator.robots.feed import Feed, Pulse
from orchestrator.robots.knowledge import Doubt, Known, Unknown
from orchestrator.robots.reasons import Reason
from orchestrator.wire.codec import codec
from orchestrator.wire.errors import WireError
from orchestrator.wire.topics import Topic

_new = tuple.__new__
Convert = Callable[[Any], Any]
"""From what is on the wire to what it means; raises Doubt for what cannot be."""


Reads = Callable[[bytes], Any]
"""Gives a value for the bytes of a message."""


@dataclass(frozen=True)
class Signal:
    """Where one value stands on the wire."""

    topic: str
    path: str
    convert: Convert | None = None
    heartbeat: str | None = None
    """A field of its own that shows this part is alive, such as a battery's."""
    steady: ClassVar[bool] = False
    """Dear to read, in a message that seldom changes: not read again while it is the same."""

    def reader(self, topic: Topic) -> Reads:
        return codec(topic.type).field(self.path, plain=True)


@dataclass(frozen=True)
class Whole(Signal):
    """A value that needs the whole message."""

    steady = True

    def reader(self, topic: Topic) -> Reads:
        of = codec(topic.type)
        return lambda data: of.decode(data)  # not of.decode itself: it changes once it is compiled


@dataclass(frozen=True)
class Several(Signal):
    """Several signals of one topic together."""

    parts: tuple[Signal, ...] = ()
    steady = True

    def reader(self, topic: Topic) -> Reads:
        parts = [(part.reader(topic), part.convert) for part in self.parts]
        return lambda data: [read(data) if convert is None else convert(read(data)) for read, convert in parts]


@dataclass(frozen=True)
class Member(Signal):
    """A value of the element of a sequence that carries a certain name; `path` has `{}` for its index."""

    name_path: str = ""
    name: str = ""

    def reader(self, topic: Topic) -> Reads:
        return _NamedElement(topic, self)


class _NamedElement:
    """Finds its element by name, and looks again when it is not where it was."""

    MOST = 32

    def __init__(self, topic: Topic, signal: Member) -> None:
        self._codec = codec(topic.type)
        self._signal = signal
        self._aim(0)

    def _aim(self, index: int) -> None:
        self._name = self._codec.field(self._signal.name_path.format(index), plain=True)
        self._value = self._codec.field(self._signal.path.format(index), plain=True)

    def __call__(self, data: bytes) -> Any:
        try:
            found = self._name(data) == self._signal.name
        except WireError:
            found = False
        if not found:
            self._search(data)
        return self._value(data)

    def _search(self, data: bytes) -> None:
        for index in range(self.MOST):
            self._aim(index)
            try:
                if self._name(data) == self._signal.name:
                    return
            except WireError:
                break
        self._aim(0)
        raise Doubt(Reason.NOT_REPORTED, f"the robot reports no {self._signal.name}")


class BoundSignal:
    """One value of one robot, read straight from the newest believable sample."""

    def __init__(self, feed: Feed, signal: Signal) -> None:
        self.feed = feed
        self.signal = signal
        self._read = signal.reader(feed.topic)
        self._convert = signal.convert
        self._steady = signal.steady
        self._sample: Sample | None = None
        self._knowledge: Known[Any] | Unknown = Unknown(Reason.NO_SAMPLE, "")
        self._pulse = Pulse(feed.reader, (signal.heartbeat,), 1.0) if signal.heartbeat else None

    def __call__(self) -> Known[Any] | Unknown:
        sample = self.feed.look()
        if sample is self._sample:
            return self._knowledge
        if isinstance(sample, Unknown):
            return sample
        self._knowledge = found = self._same(sample) if self._steady else self.of(sample)
        self._sample = sample
        return found

    def _same(self, sample: Sample) -> Known[Any] | Unknown:
        """The same value again if the message is the same."""
        known, last = self._knowledge, self._sample
        if last is not None and sample.data == last.data and isinstance(known, Known):
            return Known(known.value, sample.received)
        return self.of(sample)

    def of(self, sample: Sample) -> Known[Any] | Unknown:
        """What a certain sample says."""
        try:
            value = self._read(sample.data)
            if self._pulse is not None:
                self._pulse.feel(sample)
                if self._pulse.stood_still(sample) is not None:
                    return self._unknown(sample, Reason.FROZEN, f"{self.signal.heartbeat} stands still")
            if self._convert is not None:
                value = self._convert(value)
            return _new(Known, (value, sample.received))  # half the time of Known(...), on every look
        except Doubt as doubt:
            if doubt.reason not in (Reason.UNKNOWN_STATE, Reason.NOT_REPORTED):  # those are news, not mistakes
                type_name = codec(self.feed.topic.type).type_name
                self.feed.reader.reject(WireError(type_name, self.signal.path, None, str(doubt)))
            return self._unknown(sample, doubt.reason, str(doubt))
        except WireError as error:
            self.feed.reader.reject(error)
            enum = "is not a value of" in error.problem
            return self._unknown(sample, Reason.UNKNOWN_STATE if enum else Reason.BAD_SAMPLE, str(error))

    def watch(self) -> None:
        """Let a change of this value end the bus' wait (event topics only)."""
        self.feed.reader.watch(self.signal.path)

    def _unknown(self, sample: Sample, reason: Reason, text: str) -> Unknown:
        return Unknown(reason, f"{self.feed.topic.name}: {text}", sample.received)


# What makes a value believable


def finite(low: float = -math.inf, high: float = math.inf) -> Convert:
    """A number within physical bounds."""

    def check(value: float) -> float:
        if low <= value <= high and -math.inf < value < math.inf:
            return value
        return _bad_number(value, low, high)

    return check


def numbers(count: int, low: float = -1e6, high: float = 1e6) -> Convert:
    """So many numbers within physical bounds, as a tuple."""

    def check(values: tuple[float, ...]) -> tuple[float, ...]:
        if len(values) != count:
            raise Doubt(Reason.BAD_SAMPLE, f"{len(values)} values instead of {count}")
        for value in values:
            if not low <= value <= high:
                _bad_number(value, low, high)
        return values

    return check


def part(count: int, start: int, end: int, low: float = -1e6, high: float = 1e6) -> Convert:
    """Some of `count` numbers only."""
    check = numbers(end - start, low, high)

    def cut(values: tuple[float, ...]) -> Any:
        if len(values) != count:
            raise Doubt(Reason.BAD_SAMPLE, f"{len(values)} values instead of {count}")
        return check(values[start:end])

    return cut


def quaternion(values: tuple[float, ...]) -> tuple[float, ...]:
    """A rotation: four numbers of length one."""
    length = math.hypot(*values)  # infinite or NaN if one of them is
    if len(values) != 4 or not 0.95 <= length <= 1.05:
        raise Doubt(Reason.OUT_OF_RANGE, f"{len(values)} numbers of length {length:.3f} are no rotation")
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


def lower_name(member: Any) -> str:
    """A vendor's enumeration value as a word."""
    return str(member.name).lower()


def _bad_number(value: float, low: float, high: float) -> float:
    if not math.isfinite(value):
        raise Doubt(Reason.NOT_FINITE, f"{value} is not a finite number")
    raise Doubt(Reason.OUT_OF_RANGE, f"{value:g} is not between {low:g} and {high:g}")
