"""A robot, a run and people around the guard's core, in virtual time and without any bus."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from orchestrator.guard.config import GuardConfig, load_guard_config
from orchestrator.guard.core import Core
from orchestrator.guard.events import (
    Arm,
    AskPreflight,
    Event,
    Heartbeat,
    IntentAsked,
    Observation,
    RunBegan,
    RunConnected,
    Tick,
    WriterReady,
)
from orchestrator.guard.outputs import Output, Report
from orchestrator.guard.policy import RPC
from orchestrator.guard.rules import RULES, Rule
from orchestrator.guard.state import Base, Power, State
from orchestrator.robots.intents import AnyIntent
from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import load_profile

IDLE = Base("devidle", "idle", 0, 0)


@cache
def profile(name: str) -> Profile:
    return load_profile(name)


@cache
def default_config() -> GuardConfig:
    return load_guard_config()


def with_allowed(config: GuardConfig, *names: str) -> GuardConfig:
    return replace(config, allow=replace(config.allow, **dict.fromkeys(names, True)))


@dataclass
class Shown:
    """What the robot shows in its next samples."""

    fsm: int
    flags: dict[str, bool]
    upper_control: bool = True
    velocity_source: int = 2
    upper_fsm: int = 0
    stand: tuple[float, float, float] = (0.0, 0.0, 0.0)
    reach: tuple[float, ...] = (0.2, 0.25, 0.1, 0.0, 0.0, 0.0, 1.0)
    base: Base = IDLE
    speed: float = 0.0
    unhealthy: str | None = None
    errors: dict[str, str] = field(default_factory=dict)
    power: Power = field(default_factory=lambda: Power(80))
    silent: tuple[str, ...] = ()


@dataclass
class Entry:
    """One step, as somebody outside sees it."""

    at: float
    event: Event
    outputs: list[Output]
    reports: list[Report]
    mode: str


@dataclass
class World:
    """The core with everything around it that it needs to be armed and to run."""

    robot: str = "atom_w"
    config: GuardConfig = field(default_factory=default_config)
    rules: tuple[Rule, ...] = RULES
    now: float = 100.0
    state: State = field(default_factory=State)
    trace: list[Entry] = field(default_factory=list)
    last_id: int = 0
    grid: float = 0.05
    """Seconds between two heartbeats."""
    beats_per_sample: int = 1

    def __post_init__(self) -> None:
        self.profile = self.robot_profile()
        self.core = Core(self.profile, self.config, self.rules)
        robot = self.core.setting.robot
        fsm = self.profile.fsm.get("walk", 0)
        self.shown = Shown(fsm, dict.fromkeys(robot.channels, False))

    def robot_profile(self) -> Profile:
        return profile(self.robot)

    # One step

    def do(self, event: Event) -> Entry:
        self.state, outputs, reports = self.core.step(self.state, event, self.now)
        entry = Entry(self.now, event, outputs, reports, self.state.mode.value)
        self.trace.append(entry)
        return entry

    def ask(self, intent: AnyIntent, epoch: int | None = None) -> Entry:
        self.last_id += 1
        return self.do(IntentAsked(self.state.epoch if epoch is None else epoch, self.last_id, intent))

    def beat(self) -> Entry:
        return self.do(Heartbeat(self.state.epoch, tuple(stream.id for stream in self.state.streams)))

    # The robot

    def facts(self) -> dict[str, tuple[dict[str, Any], dict[str, bool]]]:
        """What each source would say now: facts and flags."""
        shown, robot = self.shown, self.core.setting.robot
        by_role: dict[str, dict[str, Any]] = {
            "emergency": {},
            "fsm": {"fsm": shown.fsm, "power": shown.power},
            "joints": {"joints": {group: self.measured(group) for group in self.profile.groups}},
            "hands": {"hands": {hand: self.opening() for hand in ("left", "right")}},
            "nodes": {"unhealthy": shown.unhealthy, "errors": shown.errors},
            "base": {"base": shown.base},
            "motion": {},
        }
        if self.profile.family == "aurora":
            by_role["joints"] |= {"errors": shown.errors} | (by_role["hands"] if self.profile.hands else {})
            by_role["fsm"] |= {"velocity_source": shown.velocity_source, "upper_fsm": shown.upper_fsm}
        if self.profile.family == "atom":
            by_role["joints"] |= {"upper_control": shown.upper_control}
        moves = next(role for role in ("motion", "base", "joints") if role in robot.roles)
        by_role[moves] = by_role[moves] | {"speed": shown.speed}
        said: dict[str, tuple[dict[str, Any], dict[str, bool]]] = {}
        for role, source in robot.roles.items():
            facts, flags = said.get(source, ({}, {}))
            if role == "emergency":
                flags = {name: on for name, on in shown.flags.items() if name != "amr_event"}
            if role == "base":
                flags = {"amr_event": shown.flags["amr_event"]}
            said[source] = (facts | by_role[role], flags)
        if self.profile.family == "aurora":
            said["robot_stand_pose_state"] = ({"stand": shown.stand}, {})
            said["robot_cartesian_state"] = ({"reach": dict.fromkeys(("left_arm", "right_arm"), shown.reach)}, {})
        return said

    def measured(self, group: str) -> tuple[float, ...]:
        return tuple(joint.position.low / 2 + joint.position.high / 2 for joint in self.profile.group(group))

    def opening(self) -> tuple[float, ...]:
        return (0.5,) * len(self.profile.hands.fingers) if self.profile.hands else ()

    def sample(self) -> None:
        """One sample of every source that is not silent."""
        for source, (facts, flags) in self.facts().items():
            if source not in self.shown.silent:
                self.do(Observation(source, facts, flags))

    # Time

    def wait(self, seconds: float, samples: bool = True, beats: bool = False) -> None:
        """Let time pass: every due moment is ticked, sources and run speak on their grid."""
        until = self.now + seconds
        speak = self.now + self.grid
        spoken, ticked = 0, False
        while True:
            due = max(self.core.next_due(self.state), self.now)
            if due <= self.now and ticked:
                self.overdue()
                due = math.inf
            nxt = min(due, speak, until)
            self.now = nxt
            if nxt == until and due > until and speak > until + 1e-9:
                return
            ticked = due <= nxt
            if ticked:
                self.do(Tick())
            if speak <= nxt + 1e-9:
                speak += self.grid
                spoken += 1
                if samples and spoken % self.beats_per_sample == 0:
                    self.sample()
                if beats and self.state.run is not None:
                    self.beat()
            if nxt >= until:
                return

    def overdue(self) -> None:
        """Something is still due right after it was done."""
        raise AssertionError("the guard would spin")

    # The way to a running mission

    def connect(self) -> None:
        for topic in (*self.core.setting.commands, RPC):
            self.do(WriterReady(topic, True))
        self.sample()
        self.wait(1.2)

    def arm(self) -> None:
        self.do(AskPreflight("op"))
        self.do(Arm("op"))

    def run(self) -> World:
        """Connected, armed and running."""
        self.connect()
        self.do(RunConnected("run"))
        self.arm()
        self.do(RunBegan(self.state.epoch))
        assert self.state.mode == "running", (self.state.mode, self.state.reason, self.trace[-3:])
        return self


def intents_out(entry: Entry) -> list[str]:
    """Names of what left, in order."""
    return [type(output.intent).__name__ if hasattr(output, "intent") else "Joints" for output in entry.outputs]
