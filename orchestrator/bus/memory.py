"""A bus in memory, driven by a virtual clock: the same bytes as on DDS, in an order that repeats exactly.

A write arrives as the next thing that happens at the same instant. As on DDS with best-effort readers, what is written
before reader and writer have known each other for 100 ms is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from types import TracebackType
from typing import Any

from orchestrator.bus.contract import READY_AFTER, BusError, Endpoint, Report, Sample, foreign_writer
from orchestrator.bus.reading import Intake
from orchestrator.bus.reporting import Reporting
from orchestrator.clock import VirtualClock
from orchestrator.wire.codec import codec
from orchestrator.wire.topics import Topic

Source = Callable[[], bytes | None]
"""Makes a sample; None if there is nothing to be seen."""
ROUNDING = 1e-6
"""Seconds by which two ways to work out the same time may differ at most."""


class MemoryNetwork:
    """What connects the buses of one test or one virtual mission."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.readers: dict[str, list[MemoryReader]] = {}
        self.writers: dict[str, list[MemoryWriter]] = {}
        self.changed_at = clock.now()
        self._numbers = 0

    def bus(self, name: str) -> MemoryBus:
        """A participant of its own, as a process would have on DDS."""
        return MemoryBus(self, name)

    def number(self) -> int:
        self._numbers += 1
        return self._numbers


class MemoryBus(Reporting):
    """One participant's readers and writers."""

    def __init__(self, network: MemoryNetwork, name: str) -> None:
        super().__init__()
        self.network = network
        self.name = name
        self.clock: VirtualClock = network.clock
        self.woken = False
        self.news = True
        """Whether anything has come, or anybody come or gone, that looks before did not find."""
        self.closed = False
        self.looks: dict[MemoryReader, float] = {}
        """What was looked at since `anything_new` last said yes, and how old it might be."""
        self.fresh_until: float | None = None
        """Until when looks like those find the same; None: to be found out."""
        self._readers: dict[str, MemoryReader] = {}
        self._writers: dict[str, MemoryWriter] = {}

    def reader(self, topic: Topic) -> MemoryReader:
        if topic.name not in self._readers:
            self.network.changed_at = self.clock.now()
            self._readers[topic.name] = reader = MemoryReader(self, topic)
            self.network.readers.setdefault(topic.name, []).append(reader)
            for writer in self.network.writers.get(topic.name, []):
                _meet(writer, reader)
        return self._readers[topic.name]

    def writer(self, topic: Topic) -> MemoryWriter:
        if topic.name not in self._writers:
            self.network.changed_at = self.clock.now()
            self._writers[topic.name] = writer = MemoryWriter(self, topic)
            self.network.writers.setdefault(topic.name, []).append(writer)
            for reader in self.network.readers.get(topic.name, []):
                _meet(writer, reader)
            self._notice_each_other(topic.name)
        return self._writers[topic.name]

    def _notice_each_other(self, topic: str) -> None:
        """Everybody who writes a topic learns of the newcomer, and the newcomer of them."""
        for writer in self.network.writers[topic]:
            if writer.bus is not self:
                self.report(foreign_writer(_endpoint(writer)))
                writer.bus.report(foreign_writer(_endpoint(self._writers[topic])))

    def wait(self, timeout: float) -> bool:
        until = self.clock.now() + timeout
        while not self.woken:
            if not self.clock.step(until):
                break
        now = self.clock.now()
        while self.clock.next_due() == now:  # whoever else hears of this instant hears of it before we act
            self.clock.step(now)
        woken, self.woken = self.woken, False
        return woken

    def wake(self) -> None:
        self.woken = self.news = True

    def anything_new(self) -> bool:
        if not self.news:
            if self.fresh_until is None:
                ends = [reader.fresh_until(age) for reader, age in self.looks.items()]
                self.fresh_until = min(ends, default=-inf) - ROUNDING
            if self.clock.now() < self.fresh_until:
                return False
        for reader, age in self.looks.items():
            reader.newest(age / 2)  # what grows old soon is renewed with the rest: then nothing is new for a while
        self.looks.clear()
        self.fresh_until = None
        self.news = False
        return True

    @property
    def changed_at(self) -> float:
        return self.network.changed_at

    def writers(self, topic: str) -> list[Endpoint]:
        return [_endpoint(writer) for writer in self.network.writers.get(topic, []) if writer.bus is not self]

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        self.network.changed_at = self.clock.now()
        for reader in self._readers.values():
            self.network.readers[reader.topic.name].remove(reader)
            for writer in self.network.writers.get(reader.topic.name, []):
                writer.forget(reader)
        for writer in self._writers.values():
            self.network.writers[writer.topic.name].remove(writer)
            for reader in list(writer.met):
                writer.forget(reader)

    def __enter__(self) -> MemoryBus:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class MemoryReader(Intake):
    """Receives one topic of a memory bus."""

    def __init__(self, bus: MemoryBus, topic: Topic) -> None:
        super().__init__(topic, bus.report)
        self.bus = bus
        self._suppliers: list[MemoryWriter] = []

    def newest(self, age: float = 0.0) -> Sample | None:
        # Called on every look of every node: not a call more than needed, and parts of a sample by their number.
        bus = self.bus
        for writer in self._suppliers:
            newest = self._newest
            if newest is not None and newest[1] == writer.number:
                old = bus.clock.now() - newest[3]
                if old <= age or old <= writer.fresh_for:
                    continue
            writer.supply_to(self)
        if age < bus.looks.get(self, inf):
            bus.looks[self] = age
            bus.fresh_until = None
        return self._newest

    def fresh_until(self, age: float) -> float:
        """Until when a look with this age finds what is here, unless something is sent before."""
        newest = self._newest
        if newest is None or len(self._suppliers) != 1 or newest[1] != self._suppliers[0].number:
            return -inf
        fresh_for = self._suppliers[0].fresh_for
        return newest[3] + (age if age > fresh_for else fresh_for)

    def deliver(self, sample: Sample) -> None:
        bus = self.bus
        if bus.closed:
            return
        bus.news = True
        if self.accept(sample):
            bus.woken = True

    def supplied_by(self, writer: MemoryWriter) -> None:
        self._suppliers.append(writer)

    def no_longer_supplied_by(self, writer: MemoryWriter) -> None:
        if writer in self._suppliers:
            self._suppliers.remove(writer)


class MemoryWriter:
    """Sends one topic of a memory bus."""

    def __init__(self, bus: MemoryBus, topic: Topic) -> None:
        self.bus = bus
        self.topic = topic
        self.number = bus.network.number()
        self.met: dict[MemoryReader, float] = {}
        self._last_match = float("inf")
        self._source: Source | None = None
        self.fresh_for = 0.0
        self._encode = codec(topic.type).encode

    @property
    def matched(self) -> int:
        return len(self.met)

    @property
    def ready(self) -> bool:
        return bool(self.met) and self.bus.clock.now() - self._last_match >= READY_AFTER

    def write(self, message: Any) -> None:
        self.write_bytes(self._encode(message, finite=True))

    def write_bytes(self, data: bytes, age: float = 0.0) -> None:
        if self.bus.closed:
            raise BusError(f"the bus is closed: nothing more can be sent on {self.topic.name}")
        self.bus.clock.at(self.bus.clock.now(), lambda: self._arrive(data, age))

    def supply(self, source: Source, fresh_for: float = 0.0) -> None:
        """In virtual time: make a sample when somebody looks whose newest is older than `fresh_for` seconds."""
        self._source = source
        self.fresh_for = fresh_for
        for reader in self.met:
            reader.supplied_by(self)

    def supply_to(self, reader: MemoryReader) -> None:
        if self._source is None or self.bus.clock.now() - self.met[reader] < READY_AFTER:
            return
        data = self._source()
        if data is not None:
            reader.deliver(self._sample(data))

    def meet(self, reader: MemoryReader) -> None:
        self.met[reader] = self._last_match = self.bus.clock.now()
        reader.matched += 1
        reader.bus.news = True
        if self._source is not None:
            reader.supplied_by(self)

    def forget(self, reader: MemoryReader) -> None:
        if self.met.pop(reader, None) is not None:
            reader.matched -= 1
            reader.bus.news = True
            reader.no_longer_supplied_by(self)

    def _sample(self, data: bytes, age: float = 0.0) -> Sample:
        now = self.bus.clock.now()
        return Sample(data, self.number, round((now - age) * 1e9), now)

    def _arrive(self, data: bytes, age: float) -> None:
        sample = self._sample(data, age)
        for reader, since in list(self.met.items()):
            if sample.received - since >= READY_AFTER:
                reader.deliver(sample)


def _endpoint(writer: MemoryWriter) -> Endpoint:
    return Endpoint(writer.topic.name, codec(writer.topic.type).type_name, writer.bus.name, writer.bus.name)


def _meet(writer: MemoryWriter, reader: MemoryReader) -> None:
    """Match a writer and a reader, as DDS does: by topic name, and by type where it is announced."""
    ours, theirs = writer.topic, reader.topic
    if ours.type is theirs.type or not (ours.announce_type and theirs.announce_type):
        writer.meet(reader)
        return
    name = codec(ours.type).type_name
    for bus, text in (
        (reader.bus, f"{ours.name}: {writer.bus.name} writes another version of {name} than is read here"),
        (writer.bus, f"{ours.name}: {reader.bus.name} reads another version of {name} than is written here"),
    ):
        bus.report(Report("mismatch", ours.name, text))
