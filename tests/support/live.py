"""A simulated robot in a process of its own, and somebody on its DDS network who watches and commands it."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from orchestrator.bus.dds import DdsBus
from orchestrator.clock import RealClock
from orchestrator.robots.profiles import load_profile
from orchestrator.sim.process import private_network
from orchestrator.sim.template import blank
from orchestrator.wire.codec import codec
from orchestrator.wire.topics import Topic, topics

PATIENCE = 30.0
"""s after which a test gives up on something that takes a moment."""


SIM = [sys.executable, "-m", "orchestrator.cli", "sim"]


@contextmanager
def simulated(robot: str, *faults: str, more: Sequence[str] = ()) -> Iterator[Observer]:
    """`orchestrator sim` on a private network, and an observer there."""
    profile, tag = load_profile(robot), f"test-{uuid.uuid4()}"
    command = [*SIM, robot, "--tag", tag, *(part for fault in faults for part in ("--fault", fault)), *more]
    pipe = subprocess.PIPE
    with (
        DdsBus(private_network(profile, tag), "run") as bus,
        subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process,
    ):
        assert process.stdout is not None
        try:
            first = process.stdout.readline()
            yield Observer(bus, topics(profile.family, profile.variants, profile.prefix), process, first)
        finally:
            process.terminate()


class Observer:
    """Reads and commands one robot."""

    def __init__(self, bus: DdsBus, topics: dict[str, Topic], process: subprocess.Popen[str], first_line: str) -> None:
        self.bus = bus
        self.topics = topics
        self.process = process
        self.first_line = first_line

    def until(self, happened: Callable[[], bool]) -> None:
        end = RealClock.now() + PATIENCE
        while not happened():
            assert RealClock.now() < end, "it did not happen"
            self.bus.wait(0.01)

    def see(self, topic: str, expected: Callable[[Any], bool] = lambda message: True) -> Any:
        """The first message from now on that is as expected."""
        reader = self.bus.reader(self.topics[topic])
        decode = codec(self.topics[topic].type).decode
        found: list[Any] = []

        def look() -> bool:
            sample = reader.newest()
            if sample is not None and expected(decode(sample.data)):
                found.append(decode(sample.data))
            return bool(found)

        self.until(look)
        return found[0]

    def tell(self, topic: str, **fields: Any) -> None:
        writer = self.bus.writer(self.topics[topic])
        self.until(lambda: writer.ready)
        message = blank(self.topics[topic].type)
        for name, value in fields.items():
            setattr(message, name, value)
        writer.write(message)
