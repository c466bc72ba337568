"""The guard is killed at every record of its audit: no task is sent twice, and a new guard sends nothing by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.bus.memory import MemoryNetwork
from orchestrator.clock import VirtualClock
from orchestrator.guard.commander import InProcessCommander
from orchestrator.guard.driver import Guard
from orchestrator.guard.events import Arm, AskPreflight
from orchestrator.journal.audit import AuditFile, read
from orchestrator.robots import intents as i
from orchestrator.robots.profiles import load_profile
from orchestrator.wire.dobot_atom import DeviceStatus_, NavigationStatus_
from tests.support.guard_world import default_config
from tests.support.scripted_atom import ScriptedAtom


class Killed(BaseException):
    """The process is gone, in the middle of whatever it did."""


class DeadlyAudit(AuditFile):
    """Kills its guard at one call: before the record is written, after it, or after it is on the disk."""

    def __init__(self, path: Path, deadly: int, moment: str) -> None:
        super().__init__(path)
        self.calls, self._deadly, self._moment = 0, deadly, moment

    def append(self, record: dict[str, Any]) -> None:
        self.calls += 1
        self._die("before")
        super().append(record)
        self._die("after")

    def sync(self) -> None:
        super().sync()
        self._die("synced")

    def _die(self, moment: str) -> None:
        if self.calls == self._deadly and self._moment == moment:
            raise Killed


class Life:
    """One guard from its start to its end, on a network that outlives it."""

    def __init__(self, network: MemoryNetwork, audit: AuditFile) -> None:
        self.network, self.clock, self._audit = network, network.clock, audit
        self.bus = network.bus("guard")
        self.guard = Guard(load_profile("atom_w"), default_config(), self.bus, audit)
        self.run = InProcessCommander(self.guard, self.clock)

    def go(self, seconds: float) -> None:
        for _ in range(round(seconds / 0.05)):
            self.bus.wait(0.05)
            self.run.heartbeat()

    def die(self) -> None:
        self.guard.run_due = lambda: None  # type: ignore[method-assign]
        self.bus.close()
        self._audit.close()  # the kernel does


def mission(life: Life, robot: ScriptedAtom) -> None:
    """Two tasks, a state and an arm: every kind of record."""
    life.go(1.5)
    life.guard.handle(AskPreflight("op"))
    life.guard.handle(Arm("op"))
    life.run.begin()
    for tag in (12, 15):
        life.run.send(i.MoveToTag(tag, None))
        robot.base.device_status, robot.base.navigation_status = DeviceStatus_.TASKING, NavigationStatus_.RUNNING
        life.go(0.2)
        robot.base.device_status, robot.base.navigation_status = DeviceStatus_.DEVIDLE, NavigationStatus_.COMPLETED
        life.go(0.2)
    life.run.send(i.SetFsm("ready"))
    robot.lower.fsm_id = 2
    life.go(0.1)
    life.run.send(i.HandTarget("right", (0.5,) * 6))
    life.run.finish()
    life.go(2.5)


def killed(folder: Path, deadly: int, moment: str) -> tuple[list[str], list[str], list[str], bool]:
    """Tasks the robot got before and after the death, what is recorded, and whether the guard died at all."""
    network = MemoryNetwork(VirtualClock())
    robot = ScriptedAtom(network)
    path = folder / f"{deadly} {moment}"
    first = Life(network, DeadlyAudit(path, deadly, moment))
    died = False
    try:
        mission(first, robot)
    except Killed:
        died = True
    first.die()
    network.clock.advance(0.1)
    before = robot.base_commands()
    second = Life(network, AuditFile(path))
    second.go(3.0)
    records = [record["command"]["intent"] for record in read(path).records if "command" in record]
    return before, robot.base_commands()[len(before) :], records, died


@pytest.mark.parametrize("moment", ["before", "after", "synced"])
def test_killed_at_every_record_nothing_is_sent_twice(tmp_path: Path, moment: str) -> None:
    deadly = died = 0
    while True:
        deadly += 1
        before, after, records, dead = killed(tmp_path, deadly, moment)
        tasks = before.count("MOVE_TO_TAG")
        assert tasks <= records.count("MoveToTag") <= 2, "each task on the wire has a record of its own in front of it"
        assert after == [], "a new guard sends nothing by itself, whatever it finds"
        died += dead
        if not dead and deadly > 5:
            break
    assert died >= {"before": 5, "after": 5, "synced": 2}[moment]
