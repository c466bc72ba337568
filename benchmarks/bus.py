"""The bus between real processes on loopback, against bare cyclonedds-python measured in the same run."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cyclonedds._clayer import ddspy_take, ddspy_write
from cyclonedds.core import Listener, ReadCondition, WaitSet
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic as DdsTopic

from benchmarks import Row, at_least, at_most, report
from orchestrator.bus import Sample
from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import DdsSettings, loopback
from orchestrator.wire.codec import codec
from orchestrator.wire.example import example
from orchestrator.wire.topics import Topic, topics

ATOM = topics("atom")
PING = ATOM["rt/lower/state"]
FOLLOWED = [ATOM[f"rt/{name}/state"] for name in ("lower", "upper", "hands", "amr", "emergency")]
WATCHED = {
    "rt/lower/state": "fsm_id",
    "rt/upper/state": "is_upper_control",
    "rt/hands/state": "hands[0].mode",
    "rt/amr/state": "navigation_status",
    "rt/emergency/state": "soft_emergency_triggered",
}
_ANY = 0x7F
_SECONDS = 4.0


def rows() -> list[Row]:
    return [*_ping_pong(), *_following(), _memory(), *_first_commands()]


# Child processes: this module runs as `python -m benchmarks.bus ROLE DOMAIN TAG`, until its standard input is closed.


@contextlib.contextmanager
def _child(role: str, settings: DdsSettings) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "benchmarks.bus", role, str(settings.domain), settings.tag]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if process.stdout.readline() != "up\n":
            raise RuntimeError(f"the {role} process did not start")
        yield process
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()


def _private() -> DdsSettings:
    return loopback(domain=100 + os.getpid() % 20 + 3, tag=f"bench-{uuid.uuid4()}")


def _told_to_stop() -> Callable[[], bool]:
    os.set_blocking(sys.stdin.fileno(), False)
    return lambda: sys.stdin.buffer.read() == b""


# Round trip.


def _ping_pong() -> list[Row]:
    data = codec(PING.type).encode(example(PING.type))
    bare_settings, our_settings = _private(), _private()
    our_settings = loopback(our_settings.domain + 30, our_settings.tag)
    bare: list[float] = []
    ours: list[float] = []
    with (
        _child("bare_echo", bare_settings),
        _child("our_echo", our_settings),
        _BareSide(bare_settings, "ping", "pong") as bare_side,
        _OurSide(our_settings) as our_side,
    ):
        for _ in range(8):
            bare.append(_median(lambda: bare_side.round_trip(data), 250))
            ours.append(_median(lambda: our_side.round_trip(data), 250))
    ratios = [our / their for our, their in zip(ours, bare, strict=True)]
    return [
        report("round trip, bare raw WaitSet, p50", statistics.median(bare) * 1e6, "us"),
        report("round trip, our bus with a watched field, p50", statistics.median(ours) * 1e6, "us"),
        at_most("round trip, ours / bare", statistics.median(ratios), "x", 1.3),
    ]


def _median(action: Callable[[], None], count: int) -> float:
    times = []
    for _ in range(count):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
        time.sleep(0.0005)
    return statistics.median(times)


class _BareSide:
    """cyclonedds-python as it comes, with raw samples and a WaitSet: the fastest it offers."""

    def __init__(self, settings: DdsSettings, send: str, receive: str) -> None:
        self._domain = Domain(settings.domain, settings.xml())
        self._participant = DomainParticipant(settings.domain)
        self._writer = DataWriter(self._participant, DdsTopic(self._participant, send, PING.type))
        self._reader = DataReader(self._participant, DdsTopic(self._participant, receive, PING.type))
        self._waitset = WaitSet(self._participant)
        self._condition = ReadCondition(self._reader, _ANY)
        self._waitset.attach(self._condition)

    def __enter__(self) -> _BareSide:
        while not (self._writer.get_matched_subscriptions() and self._reader.get_matched_publications()):
            time.sleep(0.01)
        time.sleep(0.3)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def round_trip(self, data: bytes) -> None:
        ddspy_write(self._writer._ref, data)
        self.receive()

    def receive(self, timeout: float = 1.0) -> bytes | None:
        self._waitset.wait(int(timeout * 1e9))
        samples = ddspy_take(self._reader._ref, _ANY, 1)
        return samples[0][0] if samples and samples[0][1].valid_data else None

    def send(self, data: bytes) -> None:
        ddspy_write(self._writer._ref, data)


class _OurSide:
    """The same through our bus: the answer's watched field changes, and that ends the wait."""

    def __init__(self, settings: DdsSettings) -> None:
        self._bus = DdsBus(settings, "bench")
        self._writer = self._bus.writer(Topic("ping", PING.type, "command"))
        self._reader = self._bus.reader(Topic("pong", PING.type, "event"))
        self._reader.watch("fsm_id")
        self._number = 0

    def __enter__(self) -> _OurSide:
        while not (self._writer.ready and self._reader.matched):
            self._bus.wait(0.01)
        self._bus.wait(0.3)
        return self

    def __exit__(self, *_: object) -> None:
        self._bus.close()

    def round_trip(self, data: bytes) -> None:
        self._number = (self._number + 1) % 60_000
        self._writer.write_bytes(data[:4] + self._number.to_bytes(2, "little") + data[6:])
        self._bus.wait(1.0)


def _bare_echo(settings: DdsSettings) -> None:
    side = _BareSide(settings, "pong", "ping")
    print("up", flush=True)
    stop = _told_to_stop()
    while not stop():
        data = side.receive(0.2)
        while data is not None:
            side.send(data)
            data = side.receive(0.2)


def _our_echo(settings: DdsSettings) -> None:
    with DdsBus(settings, "echo") as bus:
        writer = bus.writer(Topic("pong", PING.type, "command"))
        reader = bus.reader(Topic("ping", PING.type, "event"))
        reader.watch("fsm_id")
        reader.on_sample(lambda sample: writer.write_bytes(sample.data))
        print("up", flush=True)
        stop = _told_to_stop()
        while not stop():
            while bus.wait(0.2):
                pass


# Following five topics at 1 kHz.


def _following() -> list[Row]:
    settings = _private()
    naive: list[dict[str, float]] = []
    ours: list[dict[str, float]] = []
    with _child("publish", settings):
        for _ in range(3):
            naive.append(_follow("follow_naively", settings))
            ours.append(_follow("follow", settings))
    cpu, naive_cpu = (statistics.median(run["cpu"] for run in runs) for runs in (ours, naive))
    per_sample = [statistics.median(run["cpu"] / run["rate"] for run in runs) for runs in (naive, ours)]
    ratio = naive_cpu / cpu
    return [
        report("five topics at 1 kHz, listener + library take", naive_cpu * 100, "% of a core"),
        report(
            "five topics at 1 kHz, samples it keeps up with", statistics.median(r["rate"] for r in naive), "per second"
        ),
        report(
            "five topics at 1 kHz, our bus, all as events",
            cpu * 100,
            "% of a core",
        ),
        at_least("five topics at 1 kHz, naive / ours", ratio, "x", 6),
        report("five topics at 1 kHz, naive / ours, per sample taken", per_sample[0] / per_sample[1], "x"),
        at_most("five topics at 1 kHz, event samples missed", sum(run["missed"] for run in ours), "samples", 0),
        report("five topics at 1 kHz, event samples received", sum(run["received"] for run in ours), "samples"),
    ]


def _follow(role: str, settings: DdsSettings) -> dict[str, float]:
    with _child(role, settings) as process:
        assert process.stdout is not None
        result: dict[str, float] = json.loads(process.stdout.readline())
        return result


def _publish(settings: DdsSettings) -> None:
    """Five topics at 1 kHz, numbered so that a missing sample shows."""
    with DdsBus(settings, "robot") as bus:
        writers = [bus.writer(topic) for topic in FOLLOWED]
        messages = [codec(topic.type).encode(example(topic.type)) for topic in FOLLOWED]
        print("up", flush=True)
        stop = _told_to_stop()
        due, number = time.perf_counter(), 0
        while number % 500 or not stop():
            for writer, message in zip(writers, messages, strict=True):
                writer.write_bytes(_numbered(message, number))
            number += 1
            due += 0.001
            time.sleep(max(0.0, due - time.perf_counter()))


def _numbered(data: bytes, number: int) -> bytes:
    """The last four bytes of these messages are free to use; in the shortest one they are booleans."""
    if len(data) > 8:
        return data[:-4] + number.to_bytes(4, "little")
    return data[:-4] + bytes((number >> bit) & 1 for bit in range(4))


def _missed(samples: list[Sample]) -> int:
    """How many numbers are missing, from 0.2 s after the first sample on."""
    in_order = sorted(samples, key=lambda sample: sample.source_time)
    settled = [sample.data for sample in in_order if sample.source_time - in_order[0].source_time > 2e8]
    if len(settled[0]) > 8:
        numbers, period = [int.from_bytes(data[-4:], "little") for data in settled], 2**32
    else:
        numbers, period = [sum(bit << place for place, bit in enumerate(data[-4:])) for data in settled], 16
    return sum((after - before - 1) % period for before, after in itertools.pairwise(numbers))


def _measure(tick: Callable[[], None], taken: Callable[[], int]) -> tuple[float, float]:
    """CPU use and samples taken per second over the measured seconds, at 50 ticks a second."""
    for _ in range(50):
        tick()
    before, start, had = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter(), taken()
    while time.perf_counter() - start < _SECONDS:
        tick()
    after, seconds = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter() - start
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu / seconds, (taken() - had) / seconds


def _follow_naively(settings: DdsSettings) -> None:
    domain = Domain(settings.domain, settings.xml())
    participant = DomainParticipant(settings.domain)
    newest: dict[str, Any] = {}
    taken = [0]

    class Keep(Listener):  # type: ignore[misc]
        def on_data_available(self, reader: Any) -> None:
            for sample in reader.take(N=10) if reader else ():
                newest[reader.topic.name] = sample
                taken[0] += 1

    readers = [DataReader(participant, DdsTopic(participant, t.name, t.type), listener=Keep()) for t in FOLLOWED]
    print("up", flush=True)
    cpu, rate = _measure(lambda: time.sleep(0.02), lambda: taken[0])
    print(json.dumps({"cpu": cpu, "rate": rate}), flush=True)
    os._exit(0 if readers and domain else 1)


def _follow_ours(settings: DdsSettings) -> None:
    with DdsBus(settings, "run") as bus:
        readers = [bus.reader(topic) for topic in FOLLOWED]
        fields = [codec(topic.type).field(WATCHED[topic.name], plain=True) for topic in FOLLOWED]
        samples: list[list[Sample]] = [[] for _ in FOLLOWED]
        for reader, seen in zip(readers, samples, strict=True):
            reader.watch(WATCHED[reader.topic.name])
            reader.on_sample(seen.append)
        print("up", flush=True)

        def tick() -> None:
            bus.wait(0.02)
            for reader, field in zip(readers, fields, strict=True):
                sample = reader.newest()
                if sample is not None:
                    field(sample.data)

        cpu, rate = _measure(tick, lambda: sum(reader.received for reader in readers))
        missed = sum(_missed(seen) for seen in samples)
        received = sum(len(seen) for seen in samples)
        print(json.dumps({"cpu": cpu, "rate": rate, "received": received, "missed": missed}), flush=True)


# Memory, and the first command.


def _memory() -> Row:
    """Resident memory after 100,000 writes and takes, against after the first 10,000."""
    settings = _private()
    topic = ATOM["rt/clear/errors"]
    with DdsBus(settings, "writer") as sender, DdsBus(settings, "reader") as receiver:
        writer, reader = sender.writer(topic), receiver.reader(topic)
        while not writer.ready:
            sender.wait(0.01)
        data = codec(topic.type).encode(example(topic.type))

        def some(count: int) -> int:
            for _ in range(count):
                writer.write_bytes(data)
                reader.look()
            return _resident()

        before = some(10_000)
        return at_most("memory growth over 100,000 write+take", (some(100_000) - before) / 1024, "MB", 0.5)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() // 1024


def _first_commands() -> list[Row]:
    """The first write once `ready`: after a new writer, and after the robot's reader went away and came back."""
    settings = _private()
    lost, sent = 0, 0
    with _child("listen", settings) as listener, DdsBus(settings, "commander") as bus:
        assert listener.stdin is not None
        assert listener.stdout is not None
        writers = [bus.writer(_command(number)) for number in range(50)]
        for number in range(10):
            if number:  # the robot reboots: its readers are deleted and made again
                listener.stdin.write("again\n")
                listener.stdin.flush()
                listener.stdout.readline()
            while not all(writer.ready for writer in writers):
                bus.wait(0.005)
            for writer in writers:
                writer.write(writer.topic.type(number))
                sent += 1
            listener.stdin.write("count\n")
            listener.stdin.flush()
            lost += len(writers) - int(listener.stdout.readline())
    return [
        report("first command after start or re-match, sent", sent, "commands"),
        at_most("first command after start or re-match, lost", lost, "commands", 0),
    ]


def _command(number: int) -> Topic:
    return ATOM["rt/clear/errors"].under(f"{number}/")


def _listen(settings: DdsSettings) -> None:
    """A robot with best-effort readers, as the vendors' are."""
    domain = Domain(settings.domain, settings.xml())
    participant = DomainParticipant(settings.domain)
    known = [DdsTopic(participant, _command(number).name, _command(number).type) for number in range(50)]
    readers = [DataReader(participant, topic) for topic in known]
    print("up", flush=True)
    for line in sys.stdin:
        if line == "again\n":
            del readers
            time.sleep(0.05)
            readers = [DataReader(participant, topic) for topic in known]
            print("ok", flush=True)
        else:
            time.sleep(0.1)
            print(sum(bool(reader.take(N=5)) for reader in readers), flush=True)
    del readers, domain


_ROLES: dict[str, Callable[[DdsSettings], None]] = {
    "bare_echo": _bare_echo,
    "our_echo": _our_echo,
    "publish": _publish,
    "follow_naively": _follow_naively,
    "follow": _follow_ours,
    "listen": _listen,
}

if __name__ == "__main__":
    _ROLES[sys.argv[1]](loopback(int(sys.argv[2]), sys.argv[3]))
