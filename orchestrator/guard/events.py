"""What can happen to the guard: the robot shows something, the run asks, a person acts, time passes."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from orchestrator.robots.intents import AnyIntent


class Event(msgspec.Struct, frozen=True):
    """Something the guard reacts to."""


# The robot


class Observation(Event, frozen=True):
    """One good sample of a source: emergency flags it carries, and facts (fields of `Observed`)."""

    source: str
    facts: dict[str, Any]
    flags: dict[str, bool]
    """Emergency channels in this very sample; a single True latches."""
    counter: int | None = None
    """The source's own liveness counter or stamp."""
    lag: float | None = None
    """Arrival minus the writer's own time, in seconds from an arbitrary origin."""
    noisy: bool = False
    """The counter is a checksum of a sample that is never the same twice."""


class LateFlags(Event, frozen=True):
    """Emergency channels in a sample that was overtaken by a newer one: nothing else in it counts any more."""

    flags: dict[str, bool]


class Mismatch(Event, frozen=True):
    """The robot uses another type or quality of service on a topic: nothing gets through."""

    topic: str
    text: str


class BadSample(Event, frozen=True):
    """A sample that could not be believed."""

    source: str


class WriterReady(Event, frozen=True):
    """Whether a command written to this topic would arrive."""

    topic: str
    ready: bool


class CallAnswered(Event, frozen=True):
    """What the robot said to a call of its JSON-RPC, or that it said nothing."""

    id: int
    """The run's number of the intent; 0 when the guard called by itself."""
    problem: str | None
    """None: it took it."""


class HandNotTold(Event, frozen=True):
    """A command to a hand was let out, but never left."""

    hand: str


class ForeignWriters(Event, frozen=True):
    """Who else writes our command topics now."""

    names: tuple[str, ...]
    topics: frozenset[str] = frozenset()
    """Which of them."""


class RobotRebooted(Event, frozen=True):
    why: str


class AuditState(Event, frozen=True):
    """Whether the audit file takes records."""

    works: bool


# The run


class RunConnected(Event, frozen=True):
    run: str


class RunBegan(Event, frozen=True):
    epoch: int


class IntentAsked(Event, frozen=True):
    epoch: int
    id: int
    intent: AnyIntent


class StreamEnded(Event, frozen=True):
    """The run no longer wants a stream, or a pose the robot drives to by itself."""

    epoch: int
    id: int


class Heartbeat(Event, frozen=True):
    """A finished tick; renews the streams the tree still holds."""

    epoch: int
    streams: tuple[int, ...]


class RunEnded(Event, frozen=True):
    """The orderly end."""

    epoch: int


class RunGone(Event, frozen=True):
    """The connection to the run broke."""

    epoch: int


# People


class Act(Event, frozen=True):
    """What a person did; `who` is shown in the audit."""

    who: str


class Acknowledge(Act, frozen=True):
    reason: str


class AskClearErrors(Act, frozen=True):
    """One click, one clear."""


class AskPreflight(Act, frozen=True):
    pass


class Arm(Act, frozen=True):
    pass


class Disarm(Act, frozen=True):
    pass


class Choose(Act, frozen=True):
    """What becomes of the mission after an e-stop."""

    choice: Literal["abort", "restart", "resume"]


class Pause(Act, frozen=True):
    pass


class Resume(Act, frozen=True):
    pass


class Stop(Act, frozen=True):
    profile: Literal["hold", "park", "drop"] = "hold"


class Tick(Event, frozen=True):
    """Time passed; due at `Core.next_due`."""
