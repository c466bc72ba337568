"""Sends every topic to a second process and back: does DDS work on this machine, with all our types?

`python -m orchestrator.bus.exchange DOMAIN TAG` is that second process: it decodes, encodes and returns what it gets.
"""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace

from orchestrator.bus.contract import BusError, Sample
from orchestrator.bus.dds import DdsBus, DdsEvents, DdsWriter
from orchestrator.bus.settings import DdsSettings, loopback
from orchestrator.wire.codec import codec
from orchestrator.wire.example import example
from orchestrator.wire.topics import FAMILIES, VARIANTS, Topic

_THERE, _BACK = "exchange/there/", "exchange/back/"
_START_TIMEOUT, _REPLY_TIMEOUT = 20.0, 5.0


@dataclass(frozen=True)
class Exchanged:
    """One topic that went there and back."""

    label: str
    topic: Topic
    size: int
    round_trip: float | None
    """Seconds, or None if no answer came."""
    same: bool


def all_topics() -> dict[str, Topic]:
    """Every topic of every robot and firmware generation."""
    defaults = {f"{family}: {name}": topic for family, table in FAMILIES.items() for name, topic in table.items()}
    variants = {
        f"{family}: {name} ({variant})": topic.under(f"{variant}/")
        for family, known in VARIANTS.items()
        for variant, table in known.items()
        for name, topic in table.items()
    }
    return defaults | variants


def exchange(settings: DdsSettings | None = None) -> Iterator[Exchanged]:
    """Start the second process, then send topic after topic there and wait for it to come back."""
    settings = settings or loopback(domain=100 + os.getpid() % 100, tag=f"exchange-{uuid.uuid4()}")
    table = all_topics()
    with DdsBus(settings, name="exchange") as bus:
        writers = {label: bus.writer(topic.under(_THERE)) for label, topic in table.items()}
        readers = {label: _reader(bus, topic, _BACK) for label, topic in table.items()}
        command = [sys.executable, "-P", "-m", __spec__.name, str(settings.domain), settings.tag]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as second:
            try:
                _until_ready(bus, list(writers.values()), list(readers.values()), second)
                for label, topic in table.items():
                    yield _there_and_back(bus, label, topic, writers[label], readers[label])
            finally:
                assert second.stdin is not None
                second.stdin.close()  # its sign to leave


def _reader(bus: DdsBus, topic: Topic, prefix: str) -> DdsEvents:
    reader = bus.reader(replace(topic, kind="event").under(prefix))
    assert isinstance(reader, DdsEvents)
    return reader


def _until_ready(
    bus: DdsBus, writers: list[DdsWriter], readers: list[DdsEvents], second: subprocess.Popen[bytes]
) -> None:
    until = bus.clock.now() + _START_TIMEOUT
    while not (all(writer.ready for writer in writers) and all(reader.matched for reader in readers)):
        if second.poll() is not None or bus.clock.now() > until:
            raise BusError("the second process did not get ready: is loopback traffic blocked on this machine?")
        bus.wait(0.02)
    bus.wait(0.2)  # its writers know our readers by then


def _there_and_back(bus: DdsBus, label: str, topic: Topic, writer: DdsWriter, reader: DdsEvents) -> Exchanged:
    data = codec(topic.type).encode(example(topic.type))
    answers: list[Sample] = []

    def answer(sample: Sample) -> None:
        answers.append(sample)
        bus.wake()

    reader.on_sample(answer)
    for _ in range(2):  # the first one also makes both sides compile their codec
        answers.clear()
        start = bus.clock.now()
        writer.write_bytes(data)
        bus.wait(_REPLY_TIMEOUT)
    if not answers:
        return Exchanged(label, topic, len(data), None, same=False)
    return Exchanged(label, topic, len(data), answers[0].received - start, same=answers[0].data == data)


def _echo(domain: int, tag: str) -> None:
    """Return every sample, through our own decoder and encoder, until standard input is closed."""
    with DdsBus(loopback(domain, tag), name="echo") as bus:
        for topic in all_topics().values():
            writer = bus.writer(topic.under(_BACK))
            known = codec(topic.type)

            def send_back(sample: Sample, writer: DdsWriter = writer, known: object = known) -> None:
                writer.write_bytes(known.encode(known.decode(sample.data)))  # type: ignore[attr-defined]

            _reader(bus, topic, _THERE).on_sample(send_back)
        os.set_blocking(sys.stdin.fileno(), False)
        while sys.stdin.buffer.read() != b"":
            bus.wait(0.1)


if __name__ == "__main__":
    _echo(int(sys.argv[1]), sys.argv[2])
