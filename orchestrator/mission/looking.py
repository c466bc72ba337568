"""A look at a robot that nobody on its network notices: what preflight finds, and how the robot is."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

from orchestrator.bus.contract import BusError
from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import DdsSettings
from orchestrator.guard.config import load_guard_config
from orchestrator.guard.driver import Guard
from orchestrator.guard.preflight import Line, preflight
from orchestrator.mission.likeness import Likeness, likeness
from orchestrator.robots.commander import Receipt
from orchestrator.robots.intents import AnyIntent
from orchestrator.robots.profile import Profile
from orchestrator.robots.robot import Robot
from orchestrator.wire.topics import Topic

PATIENCE = 10.0
"""Seconds a robot has to show that it could be armed."""


class Looked(NamedTuple):
    """What was seen of a robot."""

    lines: list[Line]
    """Every line of preflight."""
    shown: Likeness

    @property
    def problems(self) -> list[Line]:
        return [line for line in self.lines if not line.ok]


def look_at(profile: Profile, network: DdsSettings) -> Looked:
    """Watch until preflight finds nothing wrong, or for a while. No command topic gets a writer."""
    with closing(ReadOnlyBus(network, name="orchestrator dry run")) as bus:
        guard = Guard(profile, replace(load_guard_config(), dry_run=True), bus, _NoAudit())
        robot = Robot(profile, bus, _NoCommander())
        until = bus.clock.now() + PATIENCE
        while True:
            bus.wait(max(0.0, min(guard.next_due() - bus.clock.now(), 0.02)))
            if bus.clock.now() < guard.next_due():
                continue
            guard.run_due()
            found = Looked(preflight(guard.core.setting, guard.state, bus.clock.now()), likeness(robot))
            if not found.problems or bus.clock.now() > until:
                return found


class ReadOnlyBus(DdsBus):
    """A bus on which nothing can be sent: not even a writer is made, because a second commander alarms the first."""

    def writer(self, topic: Topic) -> NoWriter:  # type: ignore[override]  # less than a DdsWriter, on purpose
        return NoWriter(self, topic)


class NoWriter:
    """Knows only whether somebody would listen."""

    number = 0

    def __init__(self, bus: DdsBus, topic: Topic) -> None:
        self._bus = bus
        self.topic = topic

    @property
    def matched(self) -> int:
        return len(self._bus.readers(self.topic.name))

    @property
    def ready(self) -> bool:
        return self.matched > 0

    def write(self, message: Any) -> None:
        raise BusError(f"nothing is sent on {self.topic.name}: this is a dry run")

    def write_bytes(self, data: bytes, age: float = 0.0) -> None:
        self.write(data)


class _NoAudit:
    """Nothing leaves, so nothing is recorded."""

    def append(self, record: dict[str, Any]) -> None:
        pass

    def sync(self) -> None:
        pass


class _NoCommander:
    """A robot that is only looked at."""

    def send(self, intent: AnyIntent) -> Receipt:
        raise BusError("this is a dry run")

    def end(self, receipt: Receipt) -> None:
        pass
