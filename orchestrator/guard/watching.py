"""What the robot shows, and what follows: latch, intervention, fault, evidence that a command worked."""

from __future__ import annotations

import math
from typing import Any

from msgspec.structs import replace

from orchestrator.guard import base_task, hands, remote, stops, streams
from orchestrator.guard.config import Battery, GuardConfig
from orchestrator.guard.events import (
    AuditState,
    BadSample,
    ForeignWriters,
    LateFlags,
    Mismatch,
    Observation,
    RobotRebooted,
    WriterReady,
)
from orchestrator.guard.freshness import NEVER_HEARD
from orchestrator.guard.modes import ACTIVE, Mode
from orchestrator.guard.outputs import LET_GO
from orchestrator.guard.rules import staleness
from orchestrator.guard.state import REMOTE_MODE, Base, Charge, Observed, Pending, Power, State, Suspect
from orchestrator.guard.turn import Turn
from orchestrator.robots.intents import SetFsm, SetUpperFsm, SetVelocitySource, SwitchUpperControl
from orchestrator.robots.profile import Profile

VITAL = ("emergency", "fsm")
"""Without these nothing about the robot is certain: losing one stops it."""


def observation(turn: Turn, event: Observation) -> None:
    if event.facts.get("stranger") is not None and turn.state.mode in ACTIVE:
        late_flags(turn, LateFlags(event.flags))
        bad_sample(turn, BadSample(event.source))  # it was ours when it was armed: what has moved must not be forgotten
        return
    before = turn.state.observed
    heard = turn.state.sources.get(event.source, NEVER_HEARD)
    heard = heard.seen(turn.now, event.counter, event.lag, turn.setting.config.stale, event.noisy)
    turn.change(sources=turn.state.sources | {event.source: heard})
    if event.source in turn.state.mismatched:
        turn.change(mismatched=_without(turn.state.mismatched, event.source))
    if event.flags:
        _emergency(turn, event.flags)
    if _differs(before, event.facts):
        turn.change(observed=replace(before, **event.facts))
        evidence(turn)
        base_task.progress(turn, before.base)
        remote.progress(turn, before.base)
        _intervention(turn, before)
        _health(turn, before)
        _power(turn, before)
    if "joints" in event.facts and turn.state.streams:
        streams.joints_reported(turn, heard)
    if turn.state.unwanted:
        stops.end_unwanted(turn)
    if "hands" in event.facts:
        hands.observed(turn, event.facts["hands"])
    _pad(turn, event.facts)
    if turn.state.mode is Mode.OFFLINE and not vital_problem(turn):
        turn.enter(Mode.DISARMED, "robot found")


def _differs(before: Observed, facts: dict[str, Any]) -> bool:
    return any(getattr(before, name) != value for name, value in facts.items())


# Emergency stop


def late_flags(turn: Turn, event: LateFlags) -> None:
    """A flag latches however late it comes; that it was clear at some time is no news."""
    if any(event.flags.values()):
        _emergency(turn, {channel: on for channel, on in event.flags.items() if on})


def _emergency(turn: Turn, flags: dict[str, bool]) -> None:
    """Any flag in any sample latches; only a person's arming takes it back."""
    state = turn.state
    known = state.flags | flags
    if known == state.flags and not any(known.values()) and state.clear_since < math.inf:
        return  # clear as before
    if any(known.values()):
        clear_since = math.inf
    else:
        clear_since = min(state.clear_since, turn.now)
    risen = {channel for channel, on in flags.items() if on and not state.flags.get(channel)}
    new = {channel for channel, on in flags.items() if on} - state.latched
    turn.change(flags=known, clear_since=clear_since)
    if risen or new:
        latch(turn, frozenset(risen | new))
    _compare(turn)


def _compare(turn: Turn) -> None:
    """Note since when two channels of one button differ."""
    state = turn.state
    if _differing(turn):
        if state.disagree_since == math.inf:
            turn.change(disagree_since=turn.now)
    elif state.disagree_since < math.inf:
        turn.change(disagree_since=math.inf)


def _differing(turn: Turn) -> list[tuple[str, ...]]:
    """Pairs of channels of which both are known, and one is triggered."""
    flags = turn.state.flags
    return [pair for pair in turn.setting.robot.pairs if {flags.get(channel) for channel in pair} == {True, False}]


def watch_pairs(turn: Turn) -> None:
    """Channels that differ for too long: one of them is broken, and nobody can tell which."""
    state = turn.state
    if state.disagree_since == -math.inf or turn.now < state.disagree_since + turn.setting.config.timing.disagree:
        return
    why = f"e-stop channels disagree: {'; '.join(' and '.join(pair) for pair in _differing(turn))}"
    turn.change(disagree_since=-math.inf)
    turn.report("warning", why, value="disagree")
    if state.mode in ACTIVE:
        stops.begin(turn, "hold", why, asked=True)
    turn.enter(Mode.FAULT, why)
    if turn.state.mode is Mode.ESTOPPED:
        turn.enter(Mode.ESTOPPED, f"{turn.state.reason}; {why}")


def latch(turn: Turn, channels: frozenset[str]) -> None:
    names = ", ".join(sorted(channels))
    latched = turn.state.latched | channels
    joints = not latched & stops.HARD
    turn.change(rearming=State().rearming, choice_due=False, suspect=None)
    turn.report("emergency", f"e-stop: {names}", value=names)
    stops.begin(turn, "hold", f"e-stop {names}", joints=joints, asked=True)
    _silence_after(turn)
    hands.forget_all(turn)
    turn.change(latched=latched)
    turn.enter(Mode.ESTOPPED, f"e-stop {', '.join(sorted(latched))}")


SOFT_HOLD = 0.5
"""Seconds for which joints are held after an e-stop; then nothing more is sent to them."""


def _silence_after(turn: Turn) -> None:
    until = turn.now + SOFT_HOLD
    state = turn.state
    turn.change(
        holds={group: replace(hold, until=min(hold.until, until)) for group, hold in state.holds.items()},
        hand_holds={hand: replace(hold, until=min(hold.until, until)) for hand, hold in state.hand_holds.items()},
    )


# Somebody else


def _intervention(turn: Turn, before: Observed) -> None:
    """A change of state that we did not ask for means that somebody else commands the robot: never fight."""
    if turn.state.mode not in ACTIVE:
        return
    now_seen = turn.state.observed
    for what in ("fsm", "upper_fsm", "velocity_source", "upper_control"):
        old, new = getattr(before, what), getattr(now_seen, what)
        if old is not None and new is not None and old != new and not _explained(turn, what, new):
            _changed_by_itself(turn, what, new)
            return
    if now_seen.base is not None and now_seen.base != before.base:
        _base_intervention(turn, now_seen.base)


def _changed_by_itself(turn: Turn, what: str, new: int | bool) -> None:
    """An e-stop makes a robot let go too, and its flag may come later: nothing is sent while that is not known."""
    robot, numbers = turn.setting.robot, turn.setting.profile.fsm
    lets_go = new in [numbers[name] for name in robot.limp] if what == "fsm" else what == "upper_control" and not new
    why = f"{what} became {_named(turn.setting.profile, what, new)}"
    if not lets_go:
        intervene(turn, why)
    elif turn.state.suspect is None:
        stops.release_streams(turn, why, joints=False)
        turn.change(suspect=Suspect(why, turn.now))
        turn.report("warning", f"the robot let go: {why}, or by an e-stop", value=LET_GO)


def _named(profile: Profile, what: str, new: int | bool) -> str:
    """A state nobody knows is perhaps nobody's doing but nonsense; the robot is left alone all the same."""
    names = {"fsm": profile.fsm, "upper_fsm": profile.upper_fsm, "velocity_source": profile.velocity_sources}
    if what not in names:
        return f"{'on' if new else 'off'} by another hand"
    name = next((name for name, number in names[what].items() if number == new), None)
    return f"{name} by another hand" if name else f"{new}, a state without a name in the profile"


def watch_suspect(turn: Turn) -> None:
    """No e-stop explains why the robot let go: it was somebody else."""
    suspect = turn.state.suspect
    if suspect is None or turn.now < suspect.since + turn.setting.config.timing.cause:
        return
    turn.change(suspect=None)
    if turn.state.mode in ACTIVE:
        intervene(turn, suspect.why)


def _explained(turn: Turn, what: str, value: int | bool) -> bool:
    """It is what we asked for, on the way there, or goes along with a change of the whole-body state we asked for."""
    state, within = turn.state, turn.setting.config.timing.explained
    recently = {asked for asked, at in state.asked.items() if turn.now - at <= within}
    if state.reached.get(what) == value:
        return what in recently
    return (what in state.wanted and what in recently) or (what != "fsm" and "fsm" in recently)


def _base_intervention(turn: Turn, base: Base) -> None:
    state = turn.state
    if base.work_mode != 0 and not (base.work_mode == REMOTE_MODE and state.remote is not None):
        intervene(turn, f"the base went to work mode {base.work_mode} by another hand")
    elif state.task and state.task.accepted and not state.task.cancelled and base.navigation == "canceled":
        intervene(turn, "the base's task was cancelled by another hand")
    elif base.navigation == "paused" and state.task and not state.paused_task:
        turn.report("warning", "the base's task was paused by another hand; it is not resumed by us", value="paused")


def intervene(turn: Turn, why: str) -> None:
    turn.change(suspect=None)
    stops.release_streams(turn, why)
    turn.enter(Mode.INTERVENED, "; ".join(filter(None, (why, base_task.goes_on(turn)))))


def _pad(turn: Turn, facts: dict[str, Any]) -> None:
    """Two samples in a row with a stick moved are a person taking over."""
    if "pad" not in facts:
        return
    samples = turn.state.pad_samples + 1 if facts["pad"] else 0
    if samples != turn.state.pad_samples:
        turn.change(pad_samples=min(samples, 2))
    if samples >= 2 and turn.state.mode in ACTIVE:
        intervene(turn, "somebody moves the pad's sticks")


def foreign_writers(turn: Turn, event: ForeignWriters) -> None:
    turn.change(foreign=event.names, contested=event.topics)
    if event.names and turn.state.mode in ACTIVE:
        intervene(turn, f"commanded by {', '.join(event.names)} as well")


# Faults


def vital_problem(turn: Turn) -> str | None:
    setting = turn.setting
    for role in VITAL:
        problem = staleness(turn.state, role, turn.now, setting.config, setting.robot)
        if problem and problem != "late":  # one late sample refuses commands, but is no reason to stop the robot
            return f"{role} ({setting.robot.roles[role]}) is {problem}"
    return None


def watch_vitals(turn: Turn) -> None:
    mode = turn.state.mode
    if mode is not Mode.DISARMED and mode not in ACTIVE:
        return
    problem = vital_problem(turn)
    if problem is None:
        return
    if mode is Mode.DISARMED:
        turn.change(rearming=replace(turn.state.rearming, step="none"))
        turn.enter(Mode.ESTOPPED if turn.state.latched else Mode.OFFLINE, problem)
    else:
        _fail(turn, turn.setting.config.on.stale, problem)


def _health(turn: Turn, before: Observed) -> None:
    """A node that is lost or a leg's motor that fails is a fault; with another motor's error all is held instead."""
    seen = turn.state.observed
    if turn.state.mode not in ACTIVE:
        return
    if seen.unhealthy and seen.unhealthy != before.unhealthy:
        _fail(turn, turn.setting.config.on.unhealthy, seen.unhealthy)
    elif troubles := _new_troubles(turn, before):
        if set(troubles) & set(turn.setting.robot.legs):
            _fail(turn, turn.setting.config.on.unhealthy, "; ".join(troubles.values()))
        else:
            _hold_the_sick(turn, "; ".join(troubles.values()))


def _new_troubles(turn: Turn, before: Observed) -> dict[str, str]:
    """Groups whose motors report errors, or are off without our doing, since just now."""
    state, seen = turn.state, turn.state.observed
    ours = turn.now - state.asked.get("motors", -math.inf) <= turn.setting.config.timing.explained
    off = {} if ours else {group: text for group, text in seen.off.items() if group not in before.off}
    return off | {group: text for group, text in seen.errors.items() if group not in before.errors}


def _hold_the_sick(turn: Turn, why: str) -> None:
    """Everything is held; until the errors are cleared the rule of interlocks lets nothing move."""
    turn.report("warning", f"{why}; nothing moves until it is cleared", value="errors")
    if turn.state.mode is Mode.RUNNING:
        stops.begin(turn, turn.setting.config.on.unhealthy, why)


def _fail(turn: Turn, profile: str, why: str) -> None:
    stops.begin(turn, profile, why)
    turn.enter(Mode.FAULT, why)


# Power


LEVELS = ("good", "low", "critical")


def _power(turn: Turn, before: Observed) -> None:
    """What the batteries say counts once it has lasted for a while."""
    state, seen = turn.state, turn.state.observed
    if seen.power is before.power and seen.base_power is before.base_power:
        return
    worst = max(
        (
            battery_level(turn.setting.config.battery, each, state.charge.level)
            for each in (seen.power, seen.base_power)
            if each is not None
        ),
        key=LEVELS.index,
        default="good",
    )
    if worst != state.charge.seen:
        turn.change(charge=Charge(state.charge.level, worst, turn.now))


def battery_level(limits: Battery, power: Power, now: str) -> str:
    """good, low or critical; better than now only when above the threshold by the hysteresis."""
    counted = ~sum(1 << bit for bit in limits.ignored_alarms)
    if power.alarms & counted or power.level < limits.critical + limits.hysteresis * (now == "critical"):
        return "critical"
    return "low" if power.low or power.level < limits.low + limits.hysteresis * (now != "good") else "good"


def watch_charge(turn: Turn) -> None:
    charge, config = turn.state.charge, turn.setting.config
    if charge.seen == charge.level or turn.now < charge.since + config.battery.lasting:
        return
    turn.change(charge=Charge(charge.seen, charge.seen, turn.now))
    why = f"the battery is {charge.seen}"
    turn.report("warning", why, value=f"battery {charge.seen}")
    if charge.seen == "critical" and turn.state.mode in ACTIVE:
        _fail(turn, config.on.battery, why)


def bad_sample(turn: Turn, event: BadSample) -> None:
    heard = turn.state.sources.get(event.source, NEVER_HEARD)
    turn.change(sources=turn.state.sources | {event.source: heard.spoilt(turn.now, turn.setting.config.stale)})
    watch_vitals(turn)


def rebooted(turn: Turn, event: RobotRebooted) -> None:
    """A robot that starts again knows nothing of what we asked: all of that is void, and so is the lease."""
    mode, stop, why = turn.state.mode, turn.state.stop, f"the robot was restarted: {event.why}"
    if mode in ACTIVE or (stop is not None and stop.outcome == "open"):
        stops.begin(turn, "hold", why, joints=False, asked=True)
        turn.enter(Mode.FAULT, why)
    turn.change(
        holds={}, hand_holds={}, frame_due=math.inf, moved=frozenset(), posing={}, told={}, resting={},
        observed=Observed(), sources={}, flags={}, clear_since=math.inf, task=None, paused_task=False, asked={},
        robot_epoch=turn.state.robot_epoch + 1, rearming=replace(turn.state.rearming, step="none"),
        suspect=None, disagree_since=math.inf, charge=State().charge,
    )  # fmt: skip
    _lose_lease(turn)
    if mode is Mode.DISARMED:
        turn.enter(Mode.ESTOPPED if turn.state.latched else Mode.OFFLINE, why)


def _lose_lease(turn: Turn) -> None:
    if turn.state.run is not None:
        turn.report("lease", f"{turn.state.run} lost the lease", value="lost")
    turn.change(epoch=turn.state.epoch + 1, run=None, began=False, choice_due=False)


def writer_ready(turn: Turn, event: WriterReady) -> None:
    ready = turn.state.ready | {event.topic} if event.ready else turn.state.ready - {event.topic}
    turn.change(ready=ready)
    if event.ready and event.topic in turn.state.mismatched:
        turn.change(mismatched=_without(turn.state.mismatched, event.topic))


def mismatch(turn: Turn, event: Mismatch) -> None:
    """Kept until something gets through on that topic after all."""
    turn.change(mismatched=turn.state.mismatched | {event.topic: event.text})
    turn.report("warning", event.text, value="mismatch")


def _without(texts: dict[str, str], topic: str) -> dict[str, str]:
    return {name: text for name, text in texts.items() if name != topic}


def audit_state(turn: Turn, event: AuditState) -> None:
    if not event.works and turn.state.audit_works:
        turn.report("warning", "the audit file takes no records: no new motion, stops still work", value="audit")
    turn.change(audit_works=event.works)


def due(state: State, config: GuardConfig) -> float:
    """When what the robot shows needs attention next, even if it goes on showing it."""
    suspect, charge, first = state.suspect, state.charge, math.inf
    if suspect is not None:
        first = suspect.since + config.timing.cause
    if charge.seen != charge.level:
        first = min(first, charge.since + config.battery.lasting)
    if state.disagree_since > -math.inf:
        first = min(first, state.disagree_since + config.timing.disagree)
    return first


# Evidence


def wanted_value(turn: Turn, intent: object) -> tuple[str, int | bool] | None:
    """What the robot will show once this intent has worked, where it shows that at all."""
    profile = turn.setting.profile
    match intent:
        case SetFsm(state):
            return "fsm", profile.fsm[state]
        case SetUpperFsm(state):
            return "upper_fsm", profile.upper_fsm[state]
        case SetVelocitySource(source):
            return "velocity_source", profile.velocity_sources[source]
        case SwitchUpperControl(enabled):
            return "upper_control", enabled
    return None


def evidence(turn: Turn) -> None:
    """What was asked for is there."""
    state = turn.state
    open_still = {_about(turn, pending) for pending in state.pending if turn.now < pending.settles}
    shown = {what for what, value in state.wanted.items() if getattr(state.observed, what) == value}
    met = shown - open_still
    if not met:
        return
    done = [pending for pending in state.pending if _about(turn, pending) in met]
    for pending in done:
        turn.report("evidence", "the robot shows it", pending.id, "evidence")
    turn.change(
        wanted={what: value for what, value in state.wanted.items() if what not in met},
        reached=state.reached | {what: state.wanted[what] for what in met},
        pending=tuple(pending for pending in state.pending if pending not in done),
    )


def _about(turn: Turn, pending: Pending) -> str | None:
    wanted = wanted_value(turn, pending.intent)
    return wanted[0] if wanted else None
