"""What connects a twin to its bus: outlets for state, inlets for commands. Faults are put in here, not in models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from orchestrator.bus.contract import Bus, Sample, Writer
from orchestrator.wire.codec import codec
from orchestrator.wire.topics import Topic


class Send(Protocol):
    """Sends a sample on, as old as it has become on its way."""

    def __call__(self, data: bytes, age: float = 0.0) -> None: ...


Action = Callable[[Any], object]


SampleFault = Callable[[bytes, Send], None]
"""Does something else with a sample than sending it."""
CommandFault = Callable[["Command", Any, Action], None]
"""Does something else with a command than executing it."""


def nothing(message: Any) -> None:
    """What a robot does about a command it does not acknowledge."""


class Outlet:
    """Where the samples of one state topic leave the twin."""

    def __init__(self, topic: Topic) -> None:
        self.topic = topic
        self.faults: tuple[SampleFault, ...] = ()
        self._write: Send = _nowhere

    def connect(self, bus: Bus) -> Writer:
        writer = bus.writer(self.topic)
        self._write = writer.write_bytes
        return writer

    def disconnect(self) -> None:
        self._write = _nowhere

    def send(self, data: bytes) -> None:
        if self.faults:
            _through(self.faults, data, 0.0, self._out)
        else:
            self._write(data)

    def _out(self, data: bytes, age: float = 0.0) -> None:
        self._write(data, age)


def _nowhere(data: bytes, age: float = 0.0) -> None:
    """Where a silent robot sends."""


def _through(faults: tuple[SampleFault, ...], data: bytes, age: float, send: Send) -> None:
    if not faults:
        send(data, age)
    else:
        faults[0](data, lambda data, more=0.0: _through(faults[1:], data, age + more, send))


@dataclass
class Command:
    """One command a twin takes, by topic or by JSON-RPC: what it does, and the less that a fault can make of it."""

    name: str
    execute: Action
    acknowledge: Action = nothing
    """Look as if it were taken, and do nothing."""
    partly: Action | None = None
    """Do a part of it only, where that means something."""
    refuse: Action = nothing
    """Say no, where the robot can."""
    faults: tuple[CommandFault, ...] = field(default=())

    def __call__(self, message: Any) -> None:
        self._through(self.faults, message)

    def _through(self, faults: tuple[CommandFault, ...], message: Any) -> None:
        if not faults:
            self.execute(message)
        else:
            faults[0](self, message, lambda changed: self._through(faults[1:], changed))


class Inlet:
    """Where the samples of one command topic reach the twin."""

    def __init__(self, topic: Topic, command: Command) -> None:
        self.topic = topic
        self.command = command
        self._connected = 0

    def connect(self, bus: Bus, own: int | None) -> None:
        """`own`: the number of the twin's own writer on this topic, if it has one; what that sends is no command."""
        self._connected += 1
        connection = self._connected
        decode = codec(self.topic.type).decode

        def receive(sample: Sample) -> None:
            if connection == self._connected and sample.writer != own:
                self.command(decode(sample.data))

        bus.reader(self.topic).on_sample(receive)

    def disconnect(self) -> None:
        self._connected += 1
