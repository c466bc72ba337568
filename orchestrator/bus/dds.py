"""The bus on real DDS."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, Literal

from cyclonedds.builtin import (
    BuiltinDataReader,
    BuiltinTopicDcpsParticipant,
    BuiltinTopicDcpsPublication,
    BuiltinTopicDcpsSubscription,
)
from cyclonedds.core import DDSException, DDSStatus, Entity
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic as DdsTopic
from cyclonedds.util import duration

from orchestrator.bus import cyclone
from orchestrator.bus.contract import READY_AFTER, BusError, Endpoint, Program, Report, Sample, foreign_writer
from orchestrator.bus.reading import Intake
from orchestrator.bus.reporting import Reporting
from orchestrator.bus.settings import DdsSettings
from orchestrator.clock import Clock, RealClock
from orchestrator.wire.announced import type_number
from orchestrator.wire.codec import codec
from orchestrator.wire.topics import Topic

_DEPTH = 512
"""Samples an event topic may bring between two looks: half a second at 1 kHz."""
_SLICE = 0.05
"""Seconds after which a wait looks for what only the reliable readers have."""
DENSE = 2500.0
"""Samples a second: more than any robot sends. What comes faster is better taken in batches."""
_ALIVE = 16
_ANY_ENCODING = Policy.DataRepresentation(use_cdrv0_representation=True, use_xcdrv2_representation=True)
_BEST_EFFORT = Policy.Reliability.BestEffort
_RELIABLE = Policy.Reliability.Reliable(duration(milliseconds=10))
_RELIABILITY, _TYPE_CONSISTENCY = 11, 24
_POLICIES = {4: "deadline", 8: "liveliness", 2: "durability", 6: "ownership", 23: "data representation"}


def _reader_qos(reliability: Any, depth: int) -> Qos:
    return Qos(reliability, Policy.Durability.Volatile, Policy.History.KeepLast(depth), _ANY_ENCODING)


def _writer_qos(name: str) -> Qos:
    return Qos(
        _RELIABLE,
        Policy.Durability.Volatile,  # a restarted robot must never be handed an old command
        Policy.History.KeepLast(1),
        Policy.DataRepresentation(use_cdrv0_representation=True),  # all vendors read XCDR1
        Policy.EntityName(name),
    )


class _Domains:
    """DDS domains of this process: the first bus on a domain configures it, the last one ends it."""

    _lock = threading.Lock()
    _open: ClassVar[dict[int, tuple[Domain, DdsSettings, int]]] = {}

    @classmethod
    def enter(cls, settings: DdsSettings) -> None:
        with cls._lock:
            if settings.domain in cls._open:
                domain, known, users = cls._open[settings.domain]
                if known != settings:
                    raise BusError(f"domain {settings.domain} is open in this process with other settings: {known}")
                cls._open[settings.domain] = (domain, known, users + 1)
                return
            try:
                domain = Domain(settings.domain, settings.xml())
            except DDSException as error:
                raise BusError(f"DDS domain {settings.domain} cannot be opened: {error}") from None
            cls._open[settings.domain] = (domain, settings, 1)

    @classmethod
    def leave(cls, settings: DdsSettings) -> None:
        with cls._lock:
            domain, known, users = cls._open.pop(settings.domain)
            if users > 1:
                cls._open[settings.domain] = (domain, known, users - 1)
            else:
                cyclone.forget_types(settings.domain)


class DdsBus(Reporting):
    """One DDS participant with its readers and writers. One thread calls `wait`; writing and `wake` may be anywhere.

    Where more samples come than any robot sends, and bring nothing anybody waits for, they are taken in batches
    `breather` seconds apart: five topics at 1 kHz then cost a third less. 0 switches that off.
    """

    def __init__(
        self, settings: DdsSettings, name: str = "orchestrator", clock: Clock | None = None, breather: float = 0.003
    ) -> None:
        super().__init__()
        self.settings = settings
        self._breather = breather
        self.name = name
        self.clock: Clock = clock or RealClock()
        self._woken = False
        self._next_look = 0.0
        self._received = 0
        self._crowded = False
        self._closed = False
        self._readers: dict[str, DdsStream | DdsEvents] = {}
        self._writers: dict[str, DdsWriter] = {}
        self._topics: dict[str, DdsTopic[Any]] = {}
        self._entities: list[Entity] = []
        _Domains.enter(settings)
        try:
            self.participant = DomainParticipant(settings.domain, Qos(Policy.EntityName(name)))
        except DDSException:
            _Domains.leave(settings)
            raise BusError(
                f"no place left on DDS domain {settings.domain}: all its ports on {settings.interface} are in use, "
                "or it cannot be bound"
            ) from None
        self._waitset = cyclone.WaitSet(self.participant)
        self._publications = _Directory(self, BuiltinTopicDcpsPublication, self._noticed_writer)
        self._subscriptions = _Directory(self, BuiltinTopicDcpsSubscription, None)

    def reader(self, topic: Topic) -> DdsStream | DdsEvents:
        if topic.name not in self._readers:
            kind = DdsStream if topic.kind == "stream" else DdsEvents
            self._readers[topic.name] = kind(self, topic)
        return self._readers[topic.name]

    def writer(self, topic: Topic) -> DdsWriter:
        if topic.name not in self._writers:
            self._writers[topic.name] = DdsWriter(self, topic)
            for other in self.writers(topic.name):
                self.report(foreign_writer(other))
        return self._writers[topic.name]

    def wait(self, timeout: float) -> bool:
        clock, waitset = self.clock.now, self._waitset
        now = clock()
        until = now + timeout
        while True:
            began = now
            if now >= self._next_look:  # before, not after: whoever is woken has something better to do
                self._look()
            rung = waitset.wait(0.0 if self._woken or until <= now else min(until - now, _SLICE))
            if rung or self._woken:
                self._woken = False
                return True
            now = clock()
            if now >= until:
                return False
            if self._crowded and now - began < self._breather:
                time.sleep(min(self._breather, until - now))
                now = clock()

    def _look(self) -> None:
        """Take in what no wake-up brought: samples that only a reliable reader still got."""
        now = self.clock.now()
        for reader in self._readers.values():
            reader.look()
        received = sum(reader.received for reader in self._readers.values())
        self._crowded = received - self._received > DENSE * (now - self._next_look + _SLICE)
        self._received, self._next_look = received, now + _SLICE

    def wake(self) -> None:
        self._waitset.ring()

    def changed(self) -> None:
        self._woken = True

    def anything_new(self) -> bool:
        return True  # on a robot's network something always comes

    @property
    def changed_at(self) -> float:
        return self.clock.now()  # only DDS knows, and tells when it is asked

    def writers(self, topic: str) -> list[Endpoint]:
        return self._publications.on(topic)

    def readers(self, topic: str) -> list[Endpoint]:
        """Who else reads this topic."""
        return self._subscriptions.on(topic)

    def programs(self) -> list[Program]:
        """Who else is on the domain."""
        return self._publications.programs()

    def _noticed_writer(self, other: Endpoint) -> None:
        if other.topic in self._writers:
            self.report(foreign_writer(other))

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        cyclone.delete(self.participant, self._entities)
        _Domains.leave(self.settings)

    def __enter__(self) -> DdsBus:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # For the readers and writers of this bus.

    def dds_topic(self, topic: Topic) -> DdsTopic[Any]:
        if topic.name not in self._topics:
            make = DdsTopic if topic.announce_type else cyclone.topic_without_type
            self._topics[topic.name] = made = make(self.participant, topic.name, topic.type)
            self._entities.append(made)
        return self._topics[topic.name]

    def keep(self, entity: Entity) -> None:
        self._entities.append(entity)

    def on_data(self, reader: Entity, action: Callable[[], None]) -> None:
        self._waitset.on_data(reader, action)

    def on_status(self, entity: Entity, mask: int, action: Callable[[], None]) -> None:
        self._waitset.on_status(entity, mask, action)

    def mismatch(self, topic: Topic, policy: int, ours: Literal["reader", "writer"]) -> None:
        """Report that somebody's reader or writer on our topic does not fit ours."""
        others = self._publications if ours == "reader" else self._subscriptions
        who = ", ".join(sorted({other.name or other.participant for other in others.on(topic.name)}))
        whose = f" ({'written' if ours == 'reader' else 'read'} by {who})" if who else ""
        if policy == _TYPE_CONSISTENCY:
            why = f"the other side uses another version of {codec(topic.type).type_name}"
        else:
            why = f"the other side's {_POLICIES.get(policy, f'policy {policy}')} does not fit"
        self.report(Report("mismatch", topic.name, f"{topic.name}{whose}: no connection, {why}"))


class DdsStream(Intake):
    """A topic of which only the newest sample counts; it is taken when somebody looks."""

    def __init__(self, bus: DdsBus, topic: Topic) -> None:
        super().__init__(topic, bus.report)
        self._bus = bus
        self._reader = _make_reader(bus, topic, _reader_qos(_BEST_EFFORT, 1))
        self._ref = self._reader._ref
        _watch_reader(bus, self._reader, self)

    def newest(self, age: float = 0.0) -> Sample | None:
        for data, info in cyclone.take(self._ref):
            if info.valid_data:
                self.received += 1
                now = self._bus.clock.now()
                self._newest = Sample(data, info.publication_handle, info.source_timestamp, now)
        return self._newest

    def look(self) -> None:
        pass


class DdsEvents(Intake):
    """A topic of which every sample counts.

    Two readers: a best-effort one matches any writer and wakes us at once; a reliable one matches reliable writers only
    (the vendors' default), loses nothing, and is looked at now and then for what the first one did not get. A sample
    that both bring is recognised by its writer and its source time.
    """

    def __init__(self, bus: DdsBus, topic: Topic) -> None:
        super().__init__(topic, bus.report)
        self._bus = bus
        self._quick = _make_reader(bus, topic, _reader_qos(_BEST_EFFORT, _DEPTH))
        self._sure = _make_reader(bus, topic, _reader_qos(_RELIABLE, _DEPTH))
        self._only_quick: dict[tuple[int, int], None] = {}
        self._only_sure: dict[tuple[int, int], None] = {}
        bus.on_data(self._quick, self._look_quick)
        _watch_reader(bus, self._quick, self)

    def _look_quick(self) -> None:
        self._take_in(self._quick._ref, self._only_quick, self._only_sure)

    def look(self) -> None:
        self._look_quick()
        self._take_in(self._sure._ref, self._only_sure, self._only_quick)
        for seen in (self._only_quick, self._only_sure):
            while len(seen) > 4 * _DEPTH:
                del seen[next(iter(seen))]

    def _take_in(
        self, reader: int, seen: dict[tuple[int, int], None], seen_by_other: dict[tuple[int, int], None]
    ) -> None:
        now = self._bus.clock.now()
        for data, info in cyclone.take(reader):
            if not info.valid_data:
                continue
            key = (info.publication_handle, info.source_timestamp)
            if key in seen_by_other:
                del seen_by_other[key]
                continue
            seen[key] = None
            newest = self._newest
            if self.accept(Sample(data, *key, now)):
                self._bus.changed()
            if newest is not None and newest.writer == key[0] and newest.source_time > key[1]:
                self._newest = newest  # this one was lost and sent again: it counts, but is not the newest


def _make_reader(bus: DdsBus, topic: Topic, qos: Qos) -> DataReader[Any]:
    reader: DataReader[Any] = DataReader(bus.participant, bus.dds_topic(topic), qos=qos)
    bus.keep(reader)
    return reader


def _watch_reader(bus: DdsBus, reader: DataReader[Any], intake: Intake) -> None:
    def look() -> None:
        intake.matched = reader.get_subscription_matched_status().current_count
        status = reader.get_requested_incompatible_qos_status()
        if status.total_count_change:
            bus.mismatch(intake.topic, status.last_policy_id, "reader")

    bus.on_status(reader, DDSStatus.SubscriptionMatched | DDSStatus.RequestedIncompatibleQos, look)


class DdsWriter:
    """Sends one topic, reliably, and never blocks for longer than ten milliseconds."""

    def __init__(self, bus: DdsBus, topic: Topic) -> None:
        self.topic = topic
        self._bus = bus
        of = bus.dds_topic(topic)
        with cyclone.QOS:
            self._writer: DataWriter[Any] = DataWriter(bus.participant, of, qos=_writer_qos(bus.name))
        bus.keep(self._writer)
        self._ref = self._writer._ref
        self.number = self._writer.instance_handle % 2**64
        self._encode = codec(topic.type).encode
        self._matches = 0
        self._last_match = 0.0
        self.matched = 0
        mask = DDSStatus.PublicationMatched | DDSStatus.OfferedIncompatibleQos
        bus.on_status(self._writer, mask, self._look)

    @property
    def ready(self) -> bool:
        self._look_who_reads()
        return self.matched > 0 and self._bus.clock.now() - self._last_match >= READY_AFTER

    def write(self, message: Any) -> None:
        cyclone.write(self._ref, self._encode(message, finite=True))

    def write_bytes(self, data: bytes, age: float = 0.0) -> None:
        cyclone.write(self._ref, data, age)

    def _look_who_reads(self) -> None:
        status = self._writer.get_publication_matched_status()
        if status.total_count != self._matches:
            self._matches, self._last_match = status.total_count, self._bus.clock.now()
        self.matched = status.current_count

    def _look(self) -> None:
        self._look_who_reads()
        trouble = self._writer.get_offered_incompatible_qos_status()
        if trouble.total_count_change and trouble.last_policy_id != _RELIABILITY:
            self._bus.mismatch(self.topic, trouble.last_policy_id, "writer")


@dataclass
class _Directory:
    """Who writes, or who reads, what on the domain: from DDS' own discovery."""

    bus: DdsBus
    source: Any
    on_new: Callable[[Endpoint], None] | None

    def __post_init__(self) -> None:
        self._reader = BuiltinDataReader(self.bus.participant, self.source)
        self._programs = BuiltinDataReader(self.bus.participant, BuiltinTopicDcpsParticipant)
        self.bus.keep(self._reader)
        self.bus.keep(self._programs)
        self._own = str(self.bus.participant.guid)
        self._known: dict[str, Endpoint] = {}
        self.bus.on_data(self._reader, self._look)

    def on(self, topic: str) -> list[Endpoint]:
        """Other programs' endpoints on a topic."""
        self._look()
        return [endpoint for endpoint in self._known.values() if endpoint.topic == topic]

    def programs(self) -> list[Program]:
        found = [program for program in self._all_programs() if str(program.key) != self._own]
        return [_program(each.qos) for each in found if each.sample_info.instance_state == _ALIVE]

    def _look(self) -> None:
        with cyclone.QOS:
            news = self._reader.take(N=100)
        for found in news:
            key = str(found.key)
            if found.sample_info.instance_state != _ALIVE:
                self._known.pop(key, None)
            elif str(found.participant_key) != self._own:
                self._meet(key, found)

    def _meet(self, key: str, found: Any) -> None:
        program = self._program(found.participant_key)
        endpoint = Endpoint(
            found.topic_name,
            found.type_name,
            str(found.participant_key),
            _entity_name(found.qos) or program.name,
            type_number(found.type_id) if found.type_id is not None else "",
            program.host,
            program.process,
        )
        new = key not in self._known
        self._known[key] = endpoint
        if new and self.on_new is not None:
            self.on_new(endpoint)

    def _program(self, key: Any) -> Program:
        for found in self._all_programs():
            if found.key == key:
                return _program(found.qos)
        return Program("", "", "")

    def _all_programs(self) -> list[Any]:
        with cyclone.QOS:
            found: list[Any] = self._programs.read(N=100)
        return found


def _entity_name(qos: Qos) -> str:
    return str(qos[Policy.EntityName].name) if Policy.EntityName in qos else ""


def _program(qos: Qos) -> Program:
    said = {policy.key: policy.value for policy in qos if isinstance(policy, Policy.Property)}
    return Program(_entity_name(qos), said.get("__Hostname", ""), said.get("__Pid", ""))
