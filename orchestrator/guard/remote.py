"""The remote session of a wheeled base: confirmed in time, and closed for certain.

The base keeps the last remote velocity until it is told otherwise (docs/robots.md), and a single message may be lost.
"""

from __future__ import annotations

import math

from msgspec.structs import replace

from orchestrator.guard import base_task
from orchestrator.guard.config import Timing
from orchestrator.guard.rules import staleness
from orchestrator.guard.state import REMOTE_MODE, Base, Remote, State
from orchestrator.guard.turn import Turn
from orchestrator.robots.intents import DriveBase, StopRemote

WAITS_FOR_ITS_KEY = "waiting_confirm"
DRIVES_ON = "PRESS HARDWARE E-STOP: the base does not end its remote session and may drive on"
LEFT_OPEN = "a remote session of ours is open on the base: it may drive on, and takes no tasks"


def end(turn: Turn, cause: str) -> None:
    """Zero, then close; and again until the base shows that it is out of it."""
    turn.send(DriveBase(0.0, 0.0), "stop", cause)
    turn.send(StopRemote(), "stop", cause)
    remote = turn.state.remote
    if remote is not None:
        ended_at = remote.ended_at if remote.ended else turn.now
        remote = replace(remote, ended=cause, ended_at=ended_at)
        remote = replace(remote, end_due=turn.now + _pause(remote, turn))
    turn.change(remote=remote, streams=tuple(s for s in turn.state.streams if not isinstance(s.intent, DriveBase)))


def _pause(remote: Remote, turn: Turn) -> float:
    timing = turn.setting.config.timing
    return timing.resend if is_being_ended(remote, turn.now, timing) else timing.accept


def is_being_ended(remote: Remote, now: float, timing: Timing) -> bool:
    """Whether it was told just now: it may still take it."""
    return now < remote.ended_at + timing.accept


def may_be_open(state: State) -> bool:
    """Whether a session of ours goes on, by what the base shows if it was told to end it."""
    remote, base = state.remote, state.observed.base
    return remote is not None and (not remote.ended or base is None or _shows(base))


def _shows(base: Base) -> bool:
    waits = base.navigation == WAITS_FOR_ITS_KEY and base.device != "tasking"  # a task may wait for its own, too
    return base.work_mode == REMOTE_MODE or waits


def progress(turn: Turn, before: Base | None) -> None:
    """The base could not end what it had not begun: now it can."""
    remote, base = turn.state.remote, turn.state.observed.base
    if remote is None or not remote.ended or base is None or base == before or base_task.contested(turn):
        return
    opens = base.work_mode == REMOTE_MODE and (before is None or before.work_mode != REMOTE_MODE)
    if opens or (_shows(base) and not (before is not None and _shows(before))):
        turn.change(remote=replace(remote, ended_at=turn.now))
        end(turn, remote.ended)


def watch(turn: Turn) -> None:
    """One that nobody confirms is ended; one that was ended and goes on is told again."""
    remote = turn.state.remote
    if remote is None or turn.now < due(turn.state, turn.setting.config.timing):
        return
    if not remote.ended:
        end(turn, "remote drive was not confirmed")
    elif not may_be_open(turn.state):
        _forget(turn, remote)
    elif base_task.contested(turn):
        later = turn.now + turn.setting.config.timing.accept
        turn.change(remote=replace(remote, end_due=later))  # nobody fights over it; a stop ends it all the same
    else:
        _insist(turn, remote)


def _forget(turn: Turn, remote: Remote) -> None:
    """As long as the base may still open it, it is remembered."""
    begins_until = remote.since + turn.setting.config.timing.explained
    over = turn.now >= begins_until
    turn.change(remote=None if over else replace(remote, end_due=begins_until))


def _insist(turn: Turn, remote: Remote) -> None:
    setting, state = turn.setting, turn.state
    heard = staleness(state, "base", turn.now, setting.config, setting.robot) is None
    drives = heard and state.observed.base is not None and state.observed.base.work_mode == REMOTE_MODE
    if drives and not is_being_ended(remote, turn.now, setting.config.timing):
        turn.report("press_hardware_estop", DRIVES_ON, value="remote")
    end(turn, remote.ended)


def ends(turn: Turn) -> bool:
    """Whether a session that was ended is still open: a base that stands in it may drive on at any time."""
    remote, base = turn.state.remote, turn.state.observed.base
    if remote is None or not may_be_open(turn.state) or base_task.contested(turn):
        return False
    in_remote = base is not None and base.work_mode == REMOTE_MODE
    return in_remote or is_being_ended(remote, turn.now, turn.setting.config.timing)


def left_behind(state: State) -> str:
    """What people must know about a session that has not ended; empty when there is none."""
    return LEFT_OPEN if may_be_open(state) else ""


def due(state: State, timing: Timing) -> float:
    """When the session needs attention next."""
    remote, base = state.remote, state.observed.base
    if remote is None:
        return math.inf
    if remote.ended:
        return remote.end_due
    confirmed = base is not None and base.work_mode == REMOTE_MODE
    return math.inf if confirmed else remote.since + timing.confirm
