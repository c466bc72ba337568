"""One state topic of a robot as it comes in: is it fresh, alive and in order, and has its sender restarted?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.bus.contract import Reader, Sample
from orchestrator.clock import Clock
from orchestrator.robots.knowledge import Unknown
from orchestrator.robots.reasons import Reason
from orchestrator.wire.codec import codec
from orchestrator.wire.errors import WireError

INFINITE = float("inf")
LEAST_LIMIT = 0.1
MOST_LIMIT = 0.5
"""Stale after 5 periods, but not before the least and not after the most, in seconds (docs/state.md)."""
MISSED_SLOW = 2.5
"""Topics slower than that: stale after so many periods."""
CONTENT = MOST_LIMIT / MISSED_SLOW
"""Age in seconds at which a sample will still do for a state: a topic that comes this often counts as periodic."""
SURELY_FRESH = 0.4
"""The same where the vendor says that it is periodic: by the next heartbeat but one it is not stale yet."""
LATE = 0.25
"""Seconds of delay beyond the shortest seen."""
DRIFT = 1e-4
"""How fast two clocks may drift apart."""
RESTART = 5_000_000_000
"""A writer's own time that goes back this far (ns) was set or began anew; less is a sample that came late."""


@dataclass(frozen=True)
class Life:
    """How a topic shows that its sender is alive."""

    period: float | None
    """Seconds between samples as the vendor says; None: not documented, perhaps only on change."""
    heartbeat: tuple[str, ...] = ()
    """Fields that change from sample to sample, the quickest first. Always zero: the sender does not fill them."""
    counter: str | None = None
    """A field that only goes forward unless the sender has restarted."""
    wraps: int | None = None
    """The counter begins again after so many."""
    noisy: bool = False
    """It carries measured numbers that never repeat exactly, so an unchanged message is a frozen one."""


class Pulse:
    """Notices when something that should change stands still: fields, or without any the whole message."""

    def __init__(self, reader: Reader, paths: tuple[str, ...], after: float) -> None:
        of = codec(reader.topic.type)
        reads: list[Callable[[bytes], object]] = [of.field(path, plain=True) for path in paths] or [bytes]
        self._quickest, *self._others = reads
        self._value: object = None
        self._data = b""
        self._filled: bool | None = None
        """Whether there is anything but zeros in it; not known before it is asked for."""
        self._after = after
        self._moved = 0.0

    def still(self, sample: Sample) -> float | None:
        """For how long it has stood still at this sample, if for too long."""
        data, received = sample[0], sample[3]
        value = self._quickest(data)
        if value != self._value or (self._others and self._other_changed(data)):
            self._value, self._data, self._filled = value, data, None
            self._moved = received
            return None
        if self._filled is None:
            self._filled = self._is_filled(data)
        if not self._filled:
            self._moved = received
        still = received - self._moved
        return still if still > self._after else None

    def _other_changed(self, data: bytes) -> bool:
        return any(read(data) != read(self._data) for read in self._others)

    def _is_filled(self, data: bytes) -> bool:
        values = [read(data) for read in (self._quickest, *self._others)]
        return any(any(value) if isinstance(value, tuple) else value for value in values)


class Counter:
    """Notices when a number that should only go forward goes back."""

    def __init__(self, reader: Reader, path: str, wraps: int | None, period: float | None) -> None:
        self._read = codec(reader.topic.type).field(path, plain=True)
        self._wraps = wraps
        self._last = 0
        self._tells_for = (wraps or INFINITE) / 2 * (period or INFINITE) / 2
        """Seconds in which it cannot have gone half round, even if it counts two with every sample."""

    def went_back(self, data: bytes, gap: float) -> bool:
        """`gap`: seconds since the sample before. After a long one forward and back look the same."""
        last, self._last = self._last, self._read(data)
        if self._wraps is None:
            return bool(self._last < last)
        half = self._wraps // 2
        return bool(last and gap < self._tells_for and (self._last - last) % self._wraps >= half)

    def forget(self) -> None:
        self._last = 0


class Feed:
    """The newest sample of a topic that can be believed, or why there is none.

    Parts of a sample are taken by their number where every sample passes: by name takes three times as long.
    """

    def __init__(self, reader: Reader, clock: Clock, life: Life, restarted: Callable[[str], None]) -> None:
        self.reader = reader
        self.topic = reader.topic
        self.sample: Sample | None = None
        self.limit = _limit(life.period, life.period) if life.period is not None else INFINITE
        self._now = clock.now
        self._life = life
        self._restarted = restarted
        self._looked_at: Sample | None = None
        self._content_with = self._enough()
        self._gap = life.period or 0.0
        self._count = 0
        self._shortest = INFINITE
        self._pulse = _pulse(reader, life)
        self._counter = Counter(reader, life.counter, life.wraps, life.period) if life.counter else None
        self._documented = life.period is not None
        self._trouble: Unknown | None = None
        self._good_until = -INFINITE
        """Until when the newest sample may be believed."""
        self._handlers: list[Callable[[Sample], None]] = []
        self._is_stream = reader.topic.kind == "stream"
        if not self._is_stream:
            reader.on_sample(self._take)

    def look(self, closely: bool = True) -> Sample | Unknown:
        """The newest sample, if it is fresh and alive. For what is a state, not a measurement, a little old will do."""
        newest = self.reader.newest(0.0 if closely else self._content_with)
        if self._is_stream and newest is not self._looked_at:
            self._look_at(newest)
        sample = self.sample
        if sample is not None and self._now() <= self._good_until and (self._documented or self.reader.matched):
            return sample
        return self._doubtful(sample)

    def on_sample(self, handler: Callable[[Sample], None]) -> None:
        """Event topics: hand on every sample that came in order."""
        self._handlers.append(handler)

    def _take(self, sample: Sample) -> None:
        last = self.sample
        if last is not None and not self._in_order(last, sample):
            return
        received = sample[3]
        self.sample = sample
        self._good_until = received + self.limit
        gap = received - last[3] if last is not None else 0.0
        delay = received - sample[2] * 1e-9
        shortest = self._shortest + DRIFT * gap
        self._shortest = shortest = delay if delay < shortest else shortest
        self._trouble = None if delay - shortest <= LATE else self._late(sample, delay - shortest)
        if last is not None and not self._is_stream:  # of a stream only the samples somebody looked at are seen
            self._learn_period(gap)
        if self._pulse is not None and (still := self._pulse.still(sample)) is not None:
            self._trouble = self._frozen(sample, still)
        self._good_until = received + self.limit if self._trouble is None else -INFINITE
        if self._counter is not None and self._counter.went_back(sample[0], gap):
            self._restarted(f"{self._life.counter} on {self.topic.name} went back")
        for handler in self._handlers:
            handler(sample)

    def _in_order(self, last: Sample, sample: Sample) -> bool:
        if sample[1] != last[1]:
            self._begin_anew(f"{self.topic.name} comes from another writer")
        elif sample[2] < last[2]:
            if last.source_time - sample.source_time < RESTART:
                return False
            self._begin_anew(f"the time of the writer of {self.topic.name} went back")
        return True

    def _begin_anew(self, why: str) -> None:
        self._shortest = INFINITE
        if self._counter is not None:
            self._counter.forget()
        self._restarted(why)

    def _late(self, sample: Sample, delay: float) -> Unknown:
        return Unknown(Reason.LATE, f"{self.topic.name} arrives {delay:.2f} s late", sample.received)

    def _frozen(self, sample: Sample, still: float) -> Unknown:
        text = f"the heartbeat on {self.topic.name} has stood still for {still:.2f} s"
        return Unknown(Reason.FROZEN, text, sample.received)

    def _learn_period(self, gap: float) -> None:
        self._count += 1
        self._gap += 0.1 * (gap - self._gap)
        if self._life.period is not None:
            limit = _limit(self._life.period, self._gap)
            if limit == self.limit:
                return
            self.limit = limit
        else:
            periodic = self._count >= 5 and self._gap <= MOST_LIMIT / MISSED_SLOW
            self.limit = MOST_LIMIT if periodic else INFINITE
        self._content_with = self._enough()

    def _enough(self) -> float:
        """Seconds: how old a sample may be for a state."""
        return CONTENT if self._life.period is None else min(self.limit, SURELY_FRESH)

    def _look_at(self, newest: Sample | None) -> None:
        self._looked_at = newest
        if newest is None:
            return
        try:
            self._take(newest)
        except WireError as error:
            self.reader.reject(error)

    def _doubtful(self, sample: Sample | None) -> Unknown:
        name = self.topic.name
        if sample is None:
            return Unknown(Reason.NO_SAMPLE, f"nothing has come on {name} yet")
        age = self._now() - sample.received
        if age > self.limit:
            return Unknown(Reason.STALE, f"nothing has come on {name} for {age:.2f} s", sample.received)
        return self._trouble or Unknown(Reason.STALE, f"nobody writes {name} any more", sample.received)


def _limit(known: float, learned: float) -> float:
    limit = 5 * (known if known > learned else learned)
    limit = LEAST_LIMIT if limit < LEAST_LIMIT else MOST_LIMIT if limit > MOST_LIMIT else limit
    return limit if limit > MISSED_SLOW * known else MISSED_SLOW * known


def _pulse(reader: Reader, life: Life) -> Pulse | None:
    if life.heartbeat:
        return Pulse(reader, life.heartbeat, max(3 * (life.period or 0.0), 0.3))
    return Pulse(reader, (), 1.0) if life.noisy else None
