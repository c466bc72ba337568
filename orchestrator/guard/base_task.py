"""The task of a wheeled base: whether it was taken, and that it ends once it is called off.

The base takes a cancel only while the task runs (docs/robots.md), and a single message may be lost.
"""

from __future__ import annotations

import math

from msgspec.structs import replace

from orchestrator.guard.config import Timing
from orchestrator.guard.modes import ACTIVE, Mode
from orchestrator.guard.policy import WRITES
from orchestrator.guard.rules import ask_for, first_refusal
from orchestrator.guard.state import TERMINAL, Base, State, Task
from orchestrator.guard.turn import Setting, Turn
from orchestrator.robots.intents import CancelTask, ResumeTask

GIVEN_UP = {"given_up": True, "cancelled": "the base did not take the task", "cancel_due": math.inf}
PAUSED = "a task of ours is paused on the base: whoever resumes it there makes it drive on"
BUSY = frozenset({"queuing", "running", "paused", "waiting_confirm"})
TO_GO_ON = frozenset({"latch", "fresh", "writer_ready", "interlock", "one_outstanding", "dry_run"})
"""The rules by which a paused task may go on for an instant."""


def cancel(turn: Turn, cause: str, sends: int = 1) -> None:
    """Tell the base to end its task, and see to it that it does."""
    turn.send(CancelTask(), "stop", cause)
    task = turn.state.task
    if task is not None:
        due = turn.now + turn.setting.config.timing.resend
        turn.change(task=replace(task, cancelled=cause, cancels=sends, cancel_due=due))


def paused(turn: Turn) -> None:
    """The task is paused by us, unless somebody else has done so before."""
    state, base = turn.state, turn.state.observed.base
    ours = state.paused_task or base is None or base.navigation != "paused"
    turn.change(paused_task=state.task is not None and ours)
    if state.task is not None and state.task.to_go_on == "told":
        turn.change(task=replace(state.task, to_go_on="paused again"))


def resumed(turn: Turn) -> None:
    """The run has told it to go on: until that is seen, the pause it ends is still ours."""
    if turn.state.task is not None:
        turn.change(task=replace(turn.state.task, to_go_on="told"))


def _went_on(turn: Turn, task: Task) -> Task:
    """Whoever resumed it, the next pause may be somebody else's; unless ours is already on its way."""
    turn.change(paused_task=turn.state.paused_task and task.to_go_on == "paused again")
    task = replace(task, to_go_on="")
    turn.change(task=task)
    return task


def progress(turn: Turn, before: Base | None) -> None:
    """A task is accepted on fresh evidence only, and over when the base is at rest after that."""
    base, task = turn.state.observed.base, turn.state.task
    if base is None or base == before or task is None:
        return
    if before is not None and (before.navigation, base.navigation) == ("paused", "running"):
        task = _went_on(turn, task)
    if not task.accepted and _shows(base, task):
        task = replace(task, accepted=True)
        turn.change(task=task)
        turn.report("evidence", "the base took the task", task.id, "evidence")
        if task.given_up:
            turn.report("warning", "the base took a task long after it was sent: it is cancelled", value="late task")
    if _at_rest(base):
        intervention = base.navigation == "canceled" and not task.cancelled and turn.state.mode in ACTIVE
        if task.accepted and not intervention:
            _end(turn, task, base)
    elif base.navigation == "running" and task.cancelled:
        cancel(turn, task.cancelled)  # it could not cancel what it had not begun: now it can


def _shows(base: Base, task: Task) -> bool:
    return base.device == "tasking" or base.navigation in BUSY or base.task != task.task_before


def _at_rest(base: Base) -> bool:
    return base.navigation in TERMINAL and base.device != "tasking"


def _end(turn: Turn, task: Task, base: Base) -> None:
    """It is over; one that the base never showed may have come first, and then this one is still to come."""
    left = replace(task, task_before=base.task, accepted=False, behind=False, **GIVEN_UP) if task.behind else None
    turn.change(task=left, paused_task=False)


def never_shown(task: Task | None) -> Task | None:
    """What remains of a task when everything begins anew: if the base takes it after all, it is cancelled."""
    return None if task is None or task.accepted else replace(task, **GIVEN_UP)


def let_go(turn: Turn, cause: str) -> None:
    """Somebody else has the robot: a task of ours ends, unless it is the base they command: nobody fights over that."""
    task, base = turn.state.task, turn.state.observed.base
    if task is None:
        return
    if task.accepted and base is not None and _at_rest(base):
        _end(turn, task, base)
    elif contested(turn):
        turn.change(task=task if task.accepted else never_shown(task))
    elif task.cancel_due == math.inf:
        cancel(turn, cause)


def contested(turn: Turn) -> bool:
    """Whether somebody else commands the base as well."""
    return not turn.state.contested.isdisjoint(WRITES[turn.setting.profile.family].get(CancelTask, ()))


def goes_on(turn: Turn) -> str:
    """What people must know of a task that is left to whoever commands the base; empty when there is none."""
    task = turn.state.task
    if task is None or not contested(turn):
        return ""
    return f"{left_behind(turn.state)}; somebody else commands it: end it there, or with `orchestrator stop`"


def watch(turn: Turn) -> None:
    """A task the base does not take, is silent about or goes on with is cancelled."""
    timing, task = turn.setting.config.timing, turn.state.task
    if task is None:
        return
    if turn.now >= blind_at(turn.state, turn.setting):
        _cancel_blindly(turn, task)
    elif turn.now >= task.cancel_due:
        _insist(turn, task)
    elif not task.accepted and not task.cancelled and turn.now >= task.sent + timing.accept:
        cancel(turn, "the base did not take the task")
        turn.report("no_evidence", "the base did not take the task", task.id, "no_evidence")
    elif not task.accepted and not task.given_up and turn.now >= task.sent + timing.explained:
        turn.change(task=never_shown(task), paused_task=False)  # others may follow; it is not forgotten


def _cancel_blindly(turn: Turn, task: Task) -> None:
    why = "the base has fallen silent"
    turn.send(CancelTask(), "stop", why)
    turn.change(task=replace(task, cancelled=why, cancelled_blindly=turn.now))
    turn.report("warning", f"{why}: its task is cancelled", task.id, "silent")


def _insist(turn: Turn, task: Task) -> None:
    """A base that does not end its task although it was told to is told again, a few times."""
    base, again = turn.state.observed.base, task.cancels <= turn.setting.config.timing.resends
    status = base.navigation if base is not None else ""
    if again and (status == "running" or (status == "paused" and _go_on(turn))):
        cancel(turn, task.cancelled, task.cancels + 1)
    else:
        turn.change(task=replace(task, cancel_due=math.inf))


def _go_on(turn: Turn) -> bool:
    """Let a paused task run, so that the base takes its end, which follows at once; False if that must not be.

    Only what we have paused ourselves, and only when the run ended in good order or a person disarmed the robot:
    whatever else ends a task may have a reason why nothing must move.
    """
    setting, state = turn.setting, turn.state
    if state.mode is not Mode.STOPPING or state.stop is None or not state.stop.orderly:
        return False
    ask = ask_for(ResumeTask(), state.epoch, turn.now, state, setting.profile, setting.config, setting.robot)
    if first_refusal(ask, tuple(rule for rule in setting.rules if rule.name in TO_GO_ON)):
        return False
    turn.send(ResumeTask(), "stop", state.stop.cause)
    return True


def ends(state: State) -> bool:
    """Whether the base is still being told to end its task."""
    return state.task is not None and state.task.cancel_due < math.inf


def left_behind(state: State) -> str:
    """What people must know about a task of ours that is not over; empty when there is none."""
    task, base = state.task, state.observed.base
    if task is None:
        return ""
    if not task.accepted:
        return "a task the base never showed may still begin"
    if base is not None and base.navigation == "paused":
        return PAUSED
    return "a task of ours still runs on the base"


def blind_at(state: State, setting: Setting) -> float:
    """When the task of a base that is not heard is cancelled, and cancelled again: queued, it is deaf to that."""
    source = state.sources.get(setting.robot.roles.get("base", ""))
    if state.task is None or state.task.given_up or source is None or state.mode not in ACTIVE:
        return math.inf
    return max(source.stale_at, state.task.cancelled_blindly) + setting.config.timing.accept


def due(task: Task, timing: Timing) -> float:
    """When the task needs attention next, silence of the base aside."""
    if task.accepted or task.given_up:
        return task.cancel_due
    return min(task.cancel_due, task.sent + (timing.explained if task.cancelled else timing.accept))
