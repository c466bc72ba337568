"""What the run does: connect, begin, ask, renew, end; and what follows when it falls silent."""

from __future__ import annotations

import math

from msgspec.structs import replace

from orchestrator.guard import base_task, hands, remote, stops, streams
from orchestrator.guard.config import Timing
from orchestrator.guard.events import Heartbeat, IntentAsked, RunBegan, RunConnected, RunEnded, RunGone, StreamEnded
from orchestrator.guard.modes import Mode
from orchestrator.guard.outputs import HUNG, SLOW_DISK
from orchestrator.guard.policy import POLICIES
from orchestrator.guard.rules import ask_for, first_refusal
from orchestrator.guard.state import Pending, Remote, State, Task
from orchestrator.guard.turn import Turn
from orchestrator.guard.watching import evidence, wanted_value
from orchestrator.robots.intents import (
    AnyIntent,
    CancelTask,
    ClearErrors,
    EnableMotors,
    HandTarget,
    MoveHand,
    PauseTask,
    ResumeTask,
    StandPose,
    StartRemote,
    StopRemote,
    Stream,
)

UNDER_WAY = frozenset({Mode.RUNNING, Mode.PAUSED})


def connected(turn: Turn, event: RunConnected) -> None:
    state = turn.state
    if state.run is not None:
        turn.report("refused", f"the lease is held by {state.run}", value="lease")
        return
    turn.change(epoch=state.epoch + 1, run=event.run, began=False, heartbeat=turn.now, choice_due=False, under_way={})
    turn.report("lease", f"{event.run} holds the lease", value=str(turn.state.epoch))


def _holds_lease(turn: Turn, epoch: int) -> bool:
    return turn.state.run is not None and epoch == turn.state.epoch


def began(turn: Turn, event: RunBegan) -> None:
    state = turn.state
    if not _holds_lease(turn, event.epoch) or state.mode is not Mode.ARMED or state.choice_due:
        turn.report("refused", f"a run cannot begin: the robot is {state.mode.value}", value="begin")
        return
    turn.change(began=True, heartbeat=turn.now)
    turn.enter(Mode.RUNNING, f"{state.run} began")


def heartbeat(turn: Turn, event: Heartbeat) -> None:
    if _holds_lease(turn, event.epoch):
        turn.change(heartbeat=turn.now)
        streams.renew(turn, event.streams)


def ended(turn: Turn, event: RunEnded) -> None:
    if _holds_lease(turn, event.epoch):
        _leave(turn, turn.setting.config.on.run_ended, "the run ended", orderly=True)


def gone(turn: Turn, event: RunGone) -> None:
    if _holds_lease(turn, event.epoch):
        _leave(turn, turn.setting.config.on.run_gone, "the run is gone")


def watch_heartbeat(turn: Turn) -> None:
    if turn.now >= hung_at(turn.state, turn.setting.config.timing):
        _leave(turn, turn.setting.config.on.run_hung, SLOW_DISK if turn.state.syncing else HUNG)


def hung_at(state: State, timing: Timing) -> float:
    """When the run counts as hung; it must be heard from its beginning on."""
    return state.heartbeat + timing.heartbeat if state.run is not None and state.began else math.inf


def _leave(turn: Turn, profile: str, why: str, orderly: bool = False) -> None:
    """The lease falls back; whatever of ours moves is stopped."""
    mode = turn.state.mode
    turn.change(epoch=turn.state.epoch + 1, run=None, began=False, choice_due=False)
    turn.report("lease", why, value="lost")
    if mode in UNDER_WAY:
        stops.begin(turn, profile, why, orderly=orderly)
        turn.enter(Mode.STOPPING, why)
    elif mode is Mode.ARMED:
        turn.enter(Mode.DISARMED, why)


# Commands


def asked(turn: Turn, event: IntentAsked) -> None:
    """A command of the run: all rules, then out."""
    setting, intent = turn.setting, event.intent
    ask = ask_for(intent, event.epoch, turn.now, turn.state, setting.profile, setting.config, setting.robot)
    refusal = first_refusal(ask, setting.calming_rules if ask.policy.calms else setting.rules)
    if refusal is not None:
        turn.report("refused", f"{refusal.rule}: {refusal.text}", event.id, refusal.rule)
        return
    if not ask.policy.calms:
        recent = (*turn.state.within_a_second(turn.now), turn.now)
        turn.change(recent=recent, stop=None)  # what is left of a stop must not work against it
    if isinstance(intent, Stream):
        streams.start(turn, event.id, intent)
    else:
        _send(turn, event.id, intent)
    turn.report("sent", type(intent).__name__, event.id, "sent")


def _send(turn: Turn, id: int, intent: AnyIntent) -> None:  # noqa: A002
    if isinstance(intent, StopRemote):
        remote.end(turn, "asked by the run")
        return
    turn.send(intent, "command", type(intent).__name__, id)
    _remember(turn, id, intent)


def _remember(turn: Turn, id: int, intent: AnyIntent) -> None:  # noqa: A002
    """What this command makes us expect, or leaves us to clean up."""
    state, now = turn.state, turn.now
    if wanted := wanted_value(turn, intent):
        what, value = wanted
        turn.change(wanted=state.wanted | {what: value}, asked=state.asked | {what: now})
        _expect(turn, id, intent, what)
    elif POLICIES[type(intent)].task:
        base = state.observed.base
        assert base is not None
        turn.change(task=Task(id, now, base.task, behind=state.task is not None), paused_task=False)
        turn.change(moved=state.moved | {"base"})
    elif isinstance(intent, StartRemote):
        turn.change(remote=Remote(now), under_way=state.under_way | {"remote": id})
    elif isinstance(intent, ClearErrors):
        turn.change(cleared=True)
    elif isinstance(intent, EnableMotors):
        turn.change(asked=state.asked | {"motors": now})
    elif isinstance(intent, HandTarget):
        holds = {hand: hold for hand, hold in state.hand_holds.items() if hand != intent.hand}
        what = hands.resource(intent.hand)
        turn.change(hand_holds=holds, under_way=state.under_way | {what: id})
        hands.tell(turn, intent.hand, intent.opening)
    elif isinstance(intent, StandPose | MoveHand):
        what = streams.resource(intent)
        under_way, posing = state.under_way | {what: id}, state.posing | {what: intent}
        unwanted = state.unwanted - {what}
        turn.change(moved=state.moved | {what}, under_way=under_way, posing=posing, unwanted=unwanted)
    elif isinstance(intent, CancelTask) and state.task is not None:
        turn.change(task=replace(state.task, cancelled="cancelled by the run"))
    elif isinstance(intent, PauseTask):
        base_task.paused(turn)
    elif isinstance(intent, ResumeTask):
        base_task.resumed(turn)


def _expect(turn: Turn, id: int, intent: AnyIntent, what: str) -> None:  # noqa: A002
    """Repeat it until the robot shows it; a newer wish for the same thing replaces the older."""
    wanted = wanted_value(turn, intent)
    assert wanted is not None
    older = [each for each in turn.state.pending if (wanted_value(turn, each.intent) or ("",))[0] == what]
    if not older and getattr(turn.state.observed, what) == wanted[1]:
        turn.change(wanted={key: value for key, value in turn.state.wanted.items() if key != what})
        return
    timing = turn.setting.config.timing
    settles = max((each.sent + timing.evidence for each in older), default=-math.inf)
    pending = Pending(id, intent, turn.now, turn.now + timing.resend, 1, settles)
    turn.change(pending=(*(each for each in turn.state.pending if each not in older), pending))


def repeat_pending(turn: Turn) -> None:
    """Commands without evidence go out again a few times; each passes the rules once more."""
    timing, setting = turn.setting.config.timing, turn.setting
    if any(turn.now >= pending.due for pending in turn.state.pending):
        evidence(turn)
    for pending in turn.state.pending:
        if turn.now < pending.due:
            continue
        rest = tuple(each for each in turn.state.pending if each is not pending)
        ask = ask_for(
            pending.intent, turn.state.epoch, turn.now, turn.state, setting.profile, setting.config, setting.robot
        )
        refusal = first_refusal(ask, tuple(rule for rule in setting.rules if rule.name != "rate"))
        late = turn.now >= pending.sent + timing.evidence
        if refusal or late:
            why = f"{refusal.rule}: {refusal.text}" if refusal else f"sent {pending.sends} times, no effect seen"
            turn.change(pending=rest)
            turn.report("no_evidence", why, pending.id, "no_evidence")
        else:
            turn.send(pending.intent, "repeat", type(pending.intent).__name__, pending.id)
            again = pending.sends + 1 < timing.resends
            due = turn.now + timing.resend if again else pending.sent + timing.evidence
            turn.change(pending=(*rest, replace(pending, due=due, sends=pending.sends + 1)))


def stream_ended(turn: Turn, event: StreamEnded) -> None:
    if _holds_lease(turn, event.epoch):
        for stream in turn.state.streams:
            if stream.id == event.id:
                streams.end(turn, stream, streams.WANTED_NO_MORE)
        stops.end_pose(turn, event.id)


def due(state: State, timing: Timing) -> float:
    """When the run, its commands or the base need attention next."""
    first = hung_at(state, timing)
    for pending in state.pending:
        first = min(first, pending.due)
    if state.task is not None:
        first = min(first, base_task.due(state.task, timing))
    if state.remote is not None:
        first = min(first, remote.due(state, timing))
    return first
