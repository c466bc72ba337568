"""A leaf on a simulated robot in virtual time, through the real guard: what it says, and what reached the robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from orchestrator.bus.memory import MemoryNetwork
from orchestrator.clock import VirtualClock
from orchestrator.guard.commander import InProcessCommander
from orchestrator.guard.config import GuardConfig, load_guard_config
from orchestrator.guard.driver import Guard
from orchestrator.guard.events import Arm, AskPreflight
from orchestrator.guard.modes import Mode
from orchestrator.leaf import Leaf, Status
from orchestrator.mission.virtual import TwinRpc
from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import load_profile
from orchestrator.robots.robot import Robot
from orchestrator.sim import make_twin
from orchestrator.sim.faults import inject

TICK = 0.05


@cache
def profile(name: str) -> Profile:
    return load_profile(name)


@cache
def guard_config() -> GuardConfig:
    return load_guard_config()


class Stage:
    """One robot with its guard and a run that is armed; `twin` is the robot, `sent` what the guard let out to it."""

    def __init__(
        self,
        robot: str,
        allow: tuple[str, ...] = (),
        at_first: Callable[[Any], object] = lambda twin: None,
        config: GuardConfig | None = None,
        confirmed: bool = False,
        seed: int = 0,
        **changes: Any,
    ) -> None:
        """`at_first` does something to the robot before it is armed; `changes` are to its profile.

        `confirmed`: a person agrees to every leaf.
        """
        self.confirmed = confirmed
        self.profile = replace(profile(robot), **changes)
        self.clock = VirtualClock()
        network = MemoryNetwork(self.clock)
        self.twin: Any = make_twin(self.profile, network.bus("robot"), self.clock, seed)
        self.twin.start()
        at_first(self.twin)
        self.folder: Path | None = None
        """Where the tree of its leaves would be."""
        self.records: list[dict[str, Any]] = []
        config = config or guard_config()
        config = replace(config, allow=replace(config.allow, **dict.fromkeys(allow, True)))
        rpc = TwinRpc(self.twin, self.clock) if self.profile.rpc else None
        self.guard = Guard(self.profile, config, network.bus("guard"), self, rpc)
        self.commander = InProcessCommander(self.guard, self.clock)
        self.bus = network.bus("run")
        self.robot = Robot(self.profile, self.bus, self.commander)
        self._arm()

    def append(self, record: dict[str, Any]) -> None:
        """The guard's audit."""
        self.records.append(record)

    def sync(self) -> None:
        """It is in memory."""

    def _arm(self) -> None:
        self.wait(1.6)
        self.guard.handle(AskPreflight("somebody"))
        self.guard.handle(Arm("somebody"))
        self.commander.begin()
        assert self.guard.state.mode is Mode.RUNNING, (self.guard.state.reason, self.commander.reports[-20:])

    # Time

    def wait(self, seconds: float) -> None:
        """Let time pass as a run that ticks but does nothing."""
        until = self.clock.now() + seconds
        while self.clock.now() < until - 1e-9:
            self._tick(until)

    def _tick(self, until: float) -> None:
        due = min(self.clock.now() + TICK, until)
        while self.clock.now() < due - 1e-9:
            self.bus.wait(due - self.clock.now())
        self.commander.heartbeat()

    def hurt(self, fault: str) -> None:
        """Put a fault into the robot, from now on."""
        inject(self.twin, f"{fault}@{self.clock.now() - self.twin.started_at}s" if "@" not in fault else fault)
        self.clock.advance(0.0)

    # Leaves

    def leaf(self, kind: type[Leaf], **values: Any) -> Play:
        leaf = kind(self.robot, _complete(kind, values), self.folder)
        leaf.confirmed = self.confirmed
        return Play(self, leaf)

    def play(self, kind: type[Leaf], **values: Any) -> Play:
        """A leaf from its start to its end."""
        return self.leaf(kind, **values).finish()

    def prepare(self, *leaves: tuple[type[Leaf], Mapping[str, Any]]) -> Stage:
        """Leaves that must succeed before the one the test is about; what they sent is forgotten."""
        for kind, values in leaves:
            done = self.play(kind, **values)
            assert done.status is Status.SUCCESS, (kind.__name__, done)
        self.records.clear()
        return self

    @property
    def sent(self) -> list[str]:
        """What left for the robot, in order, by the guard's audit; a stream counts once for its start and its end."""
        return [record["command"]["intent"] if "command" in record else "Joints" for record in self.records]

    def last(self, kind: str) -> dict[str, Any]:
        """The newest command of a kind."""
        found = [record["command"] for record in self.records if "command" in record]
        return next(command for command in reversed(found) if command["intent"] == kind)


def _complete(kind: type[Leaf], values: Mapping[str, Any]) -> dict[str, Any]:
    params = kind.declaration.params
    unknown = set(values) - set(params)
    assert not unknown, f"{kind.__name__} has no parameters {unknown}"
    return {name: param.default for name, param in params.items()} | dict(values)


class Play:
    """One leaf under way."""

    def __init__(self, stage: Stage, leaf: Leaf) -> None:
        self.stage = stage
        self.leaf = leaf
        self.status = Status.RUNNING
        self.seen: list[str] = []
        """What it waited for on its way."""
        self.took = 0.0
        self._began: float | None = None

    def start(self) -> Play:
        self._began = self.stage.clock.now()
        self.leaf.start()
        self._step()
        return self

    def go(self, seconds: float) -> Play:
        """Some time of it, or to its end."""
        until = self.stage.clock.now() + seconds
        return self.until(lambda: self.stage.clock.now() >= until - 1e-9)

    def until(self, holds: Callable[[], bool]) -> Play:
        """Until something holds, or to its end."""
        if self._began is None:
            self.start()
        while self.status is Status.RUNNING and not holds():
            self.stage.wait(TICK)
            self._step()
        return self

    def finish(self, within: float = 400.0) -> Play:
        """To its end, as the engine would: with its own timeout."""
        limit = self.leaf.time_limit or within
        if self._began is None:
            self.start()
        assert self._began is not None
        end = self._began + limit
        self.until(lambda: self.stage.clock.now() >= end)
        if self.status is Status.RUNNING:
            self.status = self.leaf.fail("timeout", f"it took longer than {limit:g} s")
        self.took = self.stage.clock.now() - self._began
        return self.stop()

    def stop(self) -> Play:
        self.leaf.stop()
        return self

    def _step(self) -> None:
        self.status = self.leaf.step()
        if self.status is Status.RUNNING and self.leaf.reason and self.leaf.reason not in self.seen:
            self.seen.append(self.leaf.reason)

    @property
    def reason(self) -> str:
        return self.leaf.reason

    def __repr__(self) -> str:
        leaf = self.leaf
        return f"<{type(leaf).__name__} {self.status.value} {leaf.reason!r} {leaf.message!r} {leaf.result!r}>"
