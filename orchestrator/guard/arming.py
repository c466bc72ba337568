"""What people do: acknowledge, clear errors, preflight, arm, choose; pause, resume, stop, disarm.

After an e-stop only this way leads back, one act at a time, and none of these acts moves the robot.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from orchestrator.guard import base_task, hands, stops
from orchestrator.guard.events import Acknowledge, Act, Arm, AskClearErrors, AskPreflight, Choose, Disarm, Pause, Resume
from orchestrator.guard.events import Stop as StopAct
from orchestrator.guard.modes import ACTIVE, LATCHING, Mode
from orchestrator.guard.preflight import preflight
from orchestrator.guard.rules import staleness
from orchestrator.guard.state import Rearming, State
from orchestrator.guard.turn import Turn
from orchestrator.robots.intents import ClearErrors

NOT_BEGUN = State().rearming


def _refuse(turn: Turn, act: Act, why: str) -> None:
    turn.report("refused", f"{_in_words(act)}: {why}", value=type(act).__name__)


def _in_words(act: Act) -> str:
    """What a person calls it: Clear errors, not AskClearErrors."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(act).__name__.removeprefix("Ask")).capitalize()


def acknowledge(turn: Turn, event: Acknowledge) -> None:
    """The first step: somebody has seen why the robot stopped."""
    mode = turn.state.mode
    if mode not in LATCHING:
        _refuse(turn, event, f"there is nothing to acknowledge, the robot is {mode.value}")
    elif problem := _not_over(turn):
        _refuse(turn, event, problem)
    else:
        turn.change(rearming=Rearming("acknowledged", turn.now, mode))
        turn.report(
            "rearm",
            f"{event.who} acknowledged {mode.value} ({turn.state.reason})"
            + (f": {event.reason}" if event.reason else ""),
            value="acknowledged",
        )
        turn.enter(Mode.DISARMED, f"{mode.value} acknowledged by {event.who}", acknowledged=True)


def _not_over(turn: Turn) -> str | None:
    """Why it is too early to acknowledge."""
    state, setting = turn.state, turn.setting
    if state.stop is not None and state.stop.outcome == "open":
        return "the stop is still under way"
    if state.mode is Mode.INTERVENED and state.foreign:
        return f"{', '.join(state.foreign)} still commands the robot"
    if problem := staleness(state, "emergency", turn.now, setting.config, setting.robot):
        return f"the e-stop topic is {problem}"
    if any(state.flags.get(channel) is None for channel in setting.robot.channels):
        return "an e-stop channel is not known"
    if any(state.flags.values()):
        return "an e-stop is still triggered"
    if turn.now - state.clear_since < setting.config.timing.clear:
        return f"the e-stop has been clear for less than {setting.config.timing.clear:g} s"
    return None


def clear_errors(turn: Turn, event: AskClearErrors) -> None:
    """An optional step: errors are never cleared by themselves, and once for each time somebody asks."""
    if turn.state.mode is not Mode.DISARMED or not turn.setting.takes(ClearErrors):
        _refuse(turn, event, "errors are cleared on a disarmed robot that can do so")
    elif not turn.state.audit_works:
        _refuse(turn, event, "the audit file takes no records")
    elif not (turn.state.observed.errors or turn.state.observed.unhealthy):
        _refuse(turn, event, "there is nothing to clear")
    else:
        _step_on(turn)
        turn.report("rearm", f"{event.who} cleared errors", value="clear_errors")
        turn.send(ClearErrors(confirmed=True), "command", f"asked by {event.who}")


def _step_on(turn: Turn) -> None:
    turn.change(rearming=replace(turn.state.rearming, since=turn.now))


def ask_preflight(turn: Turn, event: AskPreflight) -> None:
    if turn.state.mode not in (Mode.DISARMED, Mode.OFFLINE):
        _refuse(turn, event, f"the robot is {turn.state.mode.value}")
        return
    lines = preflight(turn.setting, turn.state, turn.now)
    for line in lines:
        turn.report("preflight", f"{line.name}: {line.problem or line.evidence}", value="ok" if line.ok else "problem")
    if turn.state.mode is Mode.DISARMED and all(line.ok for line in lines):
        turn.change(rearming=replace(turn.state.rearming, step="checked", since=turn.now))


def arm(turn: Turn, event: Arm) -> None:
    state = turn.state
    if state.mode is not Mode.DISARMED or state.rearming.step != "checked":
        _refuse(
            turn, event, "preflight comes first" if state.mode is Mode.DISARMED else f"the robot is {state.mode.value}"
        )
        return
    if problems := [line for line in preflight(turn.setting, state, turn.now) if not line.ok]:
        turn.change(rearming=replace(state.rearming, step="acknowledged"))
        _refuse(turn, event, "; ".join(f"{line.name}: {line.problem}" for line in problems))
        return
    choice = bool(state.latched) and state.run is not None and state.began
    turn.change(
        latched=frozenset(), rearming=NOT_BEGUN, choice_due=choice, moved=hands.of(state.moved), posing={},
        stop=None, wanted={}, reached={}, pad_samples=0, suspect=None, cleared=False,
        task=base_task.never_shown(state.task), paused_task=False,
    )  # fmt: skip
    turn.report("rearm", f"armed by {event.who}", value="armed")
    turn.enter(Mode.ARMED, f"armed by {event.who}")


def choose(turn: Turn, event: Choose) -> None:
    """What becomes of the mission that an e-stop interrupted."""
    if turn.state.mode is not Mode.ARMED or not turn.state.choice_due:
        _refuse(turn, event, "there is nothing to choose")
        return
    turn.change(choice_due=False, heartbeat=turn.now)
    turn.report("choice", f"{event.who} chose to {event.choice}", value=event.choice)
    if event.choice == "abort":
        turn.change(began=False)
        turn.enter(Mode.DISARMED, f"mission aborted by {event.who}")
    else:
        turn.enter(Mode.RUNNING, f"{event.choice} chosen by {event.who}")


def pause(turn: Turn, event: Pause) -> None:
    if turn.state.mode is not Mode.RUNNING:
        _refuse(turn, event, f"the robot is {turn.state.mode.value}")
        return
    stops.begin(turn, "hold", f"paused by {event.who}", base="pause")
    turn.enter(Mode.PAUSED, f"paused by {event.who}")


def resume(turn: Turn, event: Resume) -> None:
    """Commands may pass again; nothing moves until the run asks."""
    if turn.state.mode is not Mode.PAUSED:
        _refuse(turn, event, f"the robot is {turn.state.mode.value}")
        return
    turn.change(stop=None)
    turn.enter(Mode.RUNNING, f"resumed by {event.who}")


def stop(turn: Turn, event: StopAct) -> None:
    """A person's stop is sent in every mode."""
    profile, cause = event.profile, f"stopped by {event.who}"
    if profile == "drop" and not turn.setting.config.allow.drop:
        turn.report("warning", "allow.drop is off in the guard file: hold instead", value="drop")
        profile = "hold"
    joints = not turn.state.latched & stops.HARD
    stops.begin(turn, profile, cause, joints=joints, asked=True)
    if turn.state.mode in ACTIVE or turn.state.mode is Mode.STOPPING:
        turn.enter(Mode.STOPPING, cause)
    elif turn.state.mode is Mode.DISARMED:
        turn.change(rearming=replace(turn.state.rearming, step=_before_preflight(turn.state.rearming)))


def _before_preflight(rearming: Rearming) -> str:
    return "acknowledged" if rearming.step == "checked" else rearming.step


def disarm(turn: Turn, event: Disarm) -> None:
    cause = f"disarmed by {event.who}"
    if turn.state.mode in ACTIVE:
        stops.begin(turn, "hold", cause, orderly=True)
        turn.enter(Mode.STOPPING, cause)
    elif turn.state.mode is Mode.DISARMED:
        turn.change(rearming=replace(turn.state.rearming, step=_before_preflight(turn.state.rearming)))
    else:
        _refuse(turn, event, f"the robot is {turn.state.mode.value}")


def lapse(turn: Turn) -> None:
    """Too long between two steps: from the beginning."""
    state = turn.state
    if state.rearming.step == "none" or turn.now < state.rearming.since + turn.setting.config.timing.rearm:
        return
    back = state.rearming.back_to
    turn.change(rearming=NOT_BEGUN)
    turn.report("rearm", "too long between two steps: from the beginning", value="lapsed")
    if state.mode is Mode.DISARMED and back is not Mode.DISARMED:
        turn.enter(back, f"not re-armed within {turn.setting.config.timing.rearm:g} s")
