"""One step of the guard in the making: the state so far, what leaves and what is reported."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from orchestrator.guard.config import GuardConfig, RobotRules
from orchestrator.guard.modes import LATCHING, Mode, severity
from orchestrator.guard.outputs import Joints, Output, Report, ReportKind, Role, Send
from orchestrator.guard.policy import POLICIES, RPC, WRITES
from orchestrator.guard.rules import CALMING_RULES, RULES, Rule
from orchestrator.guard.state import Angles, State
from orchestrator.robots.intents import AnyIntent, Velocity
from orchestrator.robots.profile import Profile

RPC_VELOCITY_RATE = 5.0
"""Times a second a velocity is renewed over JSON-RPC; the robot keeps each for a second."""

DRIVE_RATE = 10.0
"""Times a second a remote velocity of the base is repeated; the base itself keeps the last one."""


@dataclass(frozen=True)
class Setting:
    """What does not change while the guard runs."""

    profile: Profile
    config: GuardConfig
    robot: RobotRules
    rules: tuple[Rule, ...] = RULES
    calming_rules: tuple[Rule, ...] = CALMING_RULES
    priority: str = "that of the run"
    """What scheduling the guard got, for people."""
    audit: str = "in memory"
    """Where its records are and by which guard file it decides, for people."""

    @cached_property
    def velocity_by_rpc(self) -> bool:
        return RPC in WRITES[self.profile.family].get(Velocity, ())

    @cached_property
    def velocity_rate(self) -> float:
        return RPC_VELOCITY_RATE if self.velocity_by_rpc else self.config.stop.velocity_rate

    @cached_property
    def uses_rpc(self) -> bool:
        routes = WRITES[self.profile.family]
        return self.profile.rpc is not None and any(RPC in routes[intent] and self.takes(intent) for intent in routes)

    @cached_property
    def commands(self) -> tuple[str, ...]:
        """The topics this robot is commanded on."""
        writes = WRITES[self.profile.family]
        taken = {route for intent, routes in writes.items() if self.takes(intent) for route in routes}
        return tuple(sorted(taken - {RPC}))

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The joint groups we may hold."""
        never = {*self.robot.legs, *self.profile.read_only_groups}
        return tuple(group for group in self.profile.groups if group not in never)

    def takes(self, intent: type[AnyIntent]) -> bool:
        """Whether this robot has a way to be told so."""
        return intent in WRITES[self.profile.family] and intent.__name__ in self.robot.permit


class Turn:
    """Collects what one event leads to."""

    __slots__ = ("now", "outputs", "reports", "setting", "state")

    def __init__(self, setting: Setting, state: State, now: float) -> None:
        self.setting = setting
        self.state = state
        self.now = now
        self.outputs: list[Output] = []
        self.reports: list[Report] = []

    def change(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)

    def enter(self, mode: Mode, reason: str, acknowledged: bool = False) -> None:
        """Go to a mode; from one that latches, a milder one is reached only through a person's acknowledgement."""
        if self.state.mode in LATCHING and severity(mode) < severity(self.state.mode) and not acknowledged:
            return
        if (mode, reason) != (self.state.mode, self.state.reason):
            self.change(mode=mode, reason=reason)
            self.report("mode", f"{mode.value}: {reason}" if reason else mode.value, value=mode.value)

    def report(self, kind: ReportKind, text: str, id: int = 0, value: str = "") -> None:  # noqa: A002
        self.reports.append(Report(kind, text, id, value))

    def send(self, intent: AnyIntent, role: Role, cause: str, id: int = 0, record: bool = True) -> None:  # noqa: A002
        """Let an intent out; in a dry run nothing leaves."""
        if not self.setting.config.dry_run:
            sync = role == "command" and not POLICIES[type(intent)].idempotent
            self.outputs.append(Send(intent, role, id, cause, record, sync))

    def send_joints(
        self, groups: dict[str, Angles], stiffness: float, damping: float | None, role: Role, cause: str, record: bool
    ) -> None:
        if groups and not self.setting.config.dry_run:
            self.outputs.append(Joints(tuple(sorted(groups.items())), stiffness, damping, role, 0, cause, record))
