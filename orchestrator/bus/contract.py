"""What a bus is: DDS in earnest, memory in tests and in virtual time, one interface for both.

One thread waits (`Bus.wait`); everything that arrives is handled there, in the order of arrival. Event topics are taken
completely and handed to their handlers sample by sample; streams keep only their newest sample, which is looked at when
somebody asks. All bytes stay raw until a field is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol

from orchestrator.clock import Clock
from orchestrator.wire.errors import WireError
from orchestrator.wire.topics import Topic


class BusError(Exception):
    """The bus cannot do what was asked; one sentence that a person can act on."""


class Sample(NamedTuple):
    """One received message, still as bytes."""

    data: bytes
    writer: int
    """Identifies the writer on this bus."""
    source_time: int
    """When it was written, by the writer's own clock, in nanoseconds: to compare samples of one writer only."""
    received: float
    """When it was taken here, by the bus' clock."""


@dataclass(frozen=True)
class Endpoint:
    """A reader or writer somebody has on the bus."""

    topic: str
    type_name: str
    participant: str
    """Identifies the program it belongs to."""
    name: str
    """What that program calls itself, if it does."""
    type_number: str = ""
    """The number of the type it announces (wire/announced.py), if it announces one."""
    host: str = ""
    process: str = ""
    """Where that program runs and its process number, as far as it tells them."""

    @property
    def who(self) -> str:
        """That program, so that a person finds it."""
        number = f"process {self.process}" if self.process else ""
        place = " on ".join(filter(None, (number, self.host)))
        return (self.name or f"participant {self.participant}") + (f" ({place})" if place else "")


@dataclass(frozen=True)
class Program:
    """Somebody on the bus."""

    name: str
    host: str
    process: str
    """Name, host and process number, as far as it tells them."""


@dataclass(frozen=True)
class Report:
    """Something about the bus that a person should know."""

    kind: Literal["bad_sample", "mismatch", "foreign_writer"]
    topic: str
    text: str


def foreign_writer(other: Endpoint) -> Report:
    """Somebody else commands the robot too."""
    who = other.name or f"participant {other.participant}"
    return Report("foreign_writer", other.topic, f"{other.topic}: {who} writes this command topic beside us")


class Reader(Protocol):
    """Receives one topic."""

    topic: Topic
    matched: int
    """How many writers it has now."""
    received: int
    """How many samples have come so far, bad ones included."""
    bad: int
    """How many of them were not what the type says."""

    def newest(self, age: float = 0.0) -> Sample | None:
        """The newest sample there is. In virtual time one is made for those who look, unless they are content with
        the last one because it is not older than `age` seconds."""

    def on_sample(self, handler: Callable[[Sample], None]) -> None:
        """Event topics: call this for every sample, in order, from `Bus.wait`. A WireError of this topic's type that
        it raises is a bad sample; whatever else it raises goes on to whoever waits."""

    def watch(self, path: str) -> None:
        """Event topics: a change of this field ends `Bus.wait`."""

    def reject(self, error: WireError) -> None:
        """Whoever reads a field and finds the sample bad says so here: it is counted and reported."""


class Writer(Protocol):
    """Sends one topic."""

    topic: Topic
    number: int
    """What its samples carry as `Sample.writer`, on this bus."""

    @property
    def matched(self) -> int: ...

    @property
    def ready(self) -> bool:
        """Whether a command sent now would arrive: a reader has been matched for 100 ms, also after every re-match."""

    def write(self, message: Any) -> None:
        """Encode and send; NaN and infinities are refused with WireError."""

    def write_bytes(self, data: bytes, age: float = 0.0) -> None:
        """Send bytes that are encoded already; as if written `age` seconds ago, for simulated delays."""


class Bus(Protocol):
    """Readers and writers of topics, and waiting for what they bring."""

    @property
    def clock(self) -> Clock: ...

    def reader(self, topic: Topic) -> Reader: ...

    def writer(self, topic: Topic) -> Writer: ...

    def wait(self, timeout: float) -> bool:
        """Handle what arrives until a watched field changed or somebody called `wake` (True), or time is up (False)."""

    def wake(self) -> None:
        """End the current or next `wait`; from any thread."""

    def anything_new(self) -> bool:
        """Whether looks may find anything else than they did before this was last asked.

        In virtual time, where samples are made for those who look, all that was looked at since is brought up to date
        together when the first of it has grown old.
        """

    def on_report(self, handler: Callable[[Report], None]) -> None: ...

    @property
    def changed_at(self) -> float:
        """When a reader or writer of anybody may last have come or gone."""

    def writers(self, topic: str) -> list[Endpoint]:
        """Who else writes this topic: our own writers on this bus are left out."""

    def close(self) -> None: ...

    def __enter__(self) -> Bus: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


READY_AFTER = 0.1
"""Seconds a reader must have been matched before a best-effort reader surely gets what is written (docs/wire.md)."""
