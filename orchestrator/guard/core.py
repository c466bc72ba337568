"""The guard's core: a pure state machine, `(state, event, now) -> (state, outputs, reports)`.

The very same class runs in unit tests, in virtual time and in the guard process.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from orchestrator.guard import arming, base_task, events, hands, leasing, remote, stops, streams, watching
from orchestrator.guard.config import GuardConfig, rules_for
from orchestrator.guard.freshness import Freshness
from orchestrator.guard.modes import ACTIVE, Mode
from orchestrator.guard.outputs import Output, Report
from orchestrator.guard.rules import RULES, Rule
from orchestrator.guard.state import State
from orchestrator.guard.turn import Setting, Turn
from orchestrator.robots.profile import Profile

Step = tuple[State, list[Output], list[Report]]

HANDLERS: dict[type[events.Event], Callable[[Turn, Any], None]] = {
    events.Observation: watching.observation,
    events.BadSample: watching.bad_sample,
    events.WriterReady: watching.writer_ready,
    events.CallAnswered: streams.call_answered,
    events.ForeignWriters: watching.foreign_writers,
    events.RobotRebooted: watching.rebooted,
    events.LateFlags: watching.late_flags,
    events.Mismatch: watching.mismatch,
    events.AuditState: watching.audit_state,
    events.HandNotTold: lambda turn, event: hands.forget(turn, event.hand),
    events.RunConnected: leasing.connected,
    events.RunBegan: leasing.began,
    events.IntentAsked: leasing.asked,
    events.StreamEnded: leasing.stream_ended,
    events.Heartbeat: leasing.heartbeat,
    events.RunEnded: leasing.ended,
    events.RunGone: leasing.gone,
    events.Acknowledge: arming.acknowledge,
    events.AskClearErrors: arming.clear_errors,
    events.AskPreflight: arming.ask_preflight,
    events.Arm: arming.arm,
    events.Disarm: arming.disarm,
    events.Choose: arming.choose,
    events.Pause: arming.pause,
    events.Resume: arming.resume,
    events.Stop: arming.stop,
    events.Tick: lambda turn, event: None,
}


class Core:
    """Decides; remembers nothing but the robot's profile and the guard file."""

    def __init__(self, profile: Profile, config: GuardConfig, rules: tuple[Rule, ...] = RULES) -> None:
        self.setting = Setting(profile, config, rules_for(config, profile), rules)
        roles = self.setting.robot.roles
        self.vital = tuple(roles[role] for role in watching.VITAL if role in roles)
        """The sources without which the robot is stopped."""
        self._known_due: tuple[State, float] = (State(), math.inf)
        self._known_stale: tuple[dict[str, Freshness], float] = ({}, math.inf)
        self._known_blind: tuple[State, float] = (State(), math.inf)

    def step(self, state: State, event: events.Event, now: float) -> Step:
        """What becomes of the guard when this happens, what leaves, and what is reported."""
        turn = Turn(self.setting, state, now)
        if self.is_due(state, now):
            self._overdue(turn)  # what time alone brings about comes first: a late event finds the world as it is
        HANDLERS[type(event)](turn, event)
        if self.is_due(turn.state, now):
            self._overdue(turn)
        return turn.state, turn.outputs, turn.reports

    def beat(self, state: State, event: events.Heartbeat, now: float) -> State | None:
        """The state after a heartbeat that brings nothing else about; None: it takes a whole step.

        All it does is put off the time at which the run counts as hung: nothing falls due earlier than before.
        """
        if event.streams or state.streams or event.epoch != state.epoch or state.run is None or self.is_due(state, now):
            return None
        beaten = replace(state, heartbeat=now)
        self._known_due = (beaten, self._known_due[1])
        return beaten

    def is_due(self, state: State, now: float) -> bool:
        """Whether a `Tick` would bring anything about."""
        if now < self.next_due(state):
            return False
        self._known_due = (state, self._due(state))  # what is known may be too early since a heartbeat
        return now >= self._known_due[1]

    def _overdue(self, turn: Turn) -> None:
        leasing.watch_heartbeat(turn)
        watching.watch_vitals(turn)
        watching.watch_pairs(turn)
        watching.watch_suspect(turn)
        watching.watch_charge(turn)
        streams.advance(turn)
        stops.advance(turn)
        leasing.repeat_pending(turn)
        base_task.watch(turn)
        remote.watch(turn)
        arming.lapse(turn)

    def next_due(self, state: State) -> float:
        """When a `Tick` must come at the latest, unless something else happens before; sometimes a little early."""
        known, due = self._known_due
        if known is not state:  # asked three times about every state
            due = self._due(state)
            self._known_due = (state, due)
        return due

    def _due(self, state: State) -> float:
        timing = self.setting.config.timing
        due = min(leasing.due(state, timing), state.frame_due, state.zero_due, self.stale_at(state))
        due = min(due, watching.due(state, self.setting.config))
        if state.streams:
            due = min(due, streams.due(state.streams, timing.stream))
        if state.stop is not None:
            due = min(due, stops.due(state.stop))
        if state.task is not None:
            due = min(due, self.blind_at(state))
        if state.rearming.step != "none":
            due = min(due, state.rearming.since + timing.rearm)
        return due

    def stale_at(self, state: State) -> float:
        """When the first vital source turns stale, unless something new comes before."""
        if state.mode is not Mode.DISARMED and state.mode not in ACTIVE:
            return math.inf
        known, at = self._known_stale
        if known is not state.sources:
            at = self._first_stale(state.sources)
            self._known_stale = (state.sources, at)
        return at

    def blind_at(self, state: State) -> float:
        """When the base has not been heard for so long that its task is cancelled."""
        known, at = self._known_blind
        if known.sources is not state.sources or known.task is not state.task or known.mode is not state.mode:
            at = base_task.blind_at(state, self.setting)
            self._known_blind = (state, at)
        return at

    def _first_stale(self, sources: dict[str, Freshness]) -> float:
        relied_on = self.vital[1:] if self.setting.robot.emergency == "on_change" else self.vital
        return min([sources[name].stale_at for name in relied_on if name in sources], default=math.inf)
