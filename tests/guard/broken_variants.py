"""Guards that are broken on purpose, and the campaign that must notice every one of them.

`python -m tests.guard.broken_variants` prints which invariant caught which variant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from msgspec.structs import replace as changed

from orchestrator.guard import (
    arming,
    base_task,
    config,
    core,
    events,
    leasing,
    limits,
    remote,
    rules,
    stops,
    streams,
    watching,
)
from orchestrator.guard.modes import Mode
from orchestrator.guard.outputs import Send
from orchestrator.guard.state import State
from orchestrator.guard.turn import Turn
from orchestrator.robots import intents as i
from tests.support.exploration import JudgedWorld, play, quick_config

STORIES = (
    "start, ask velocity, run 1.3 s, forget streams",
    "start, ask joints, run 1.3 s, soft e-stop, wait 1.3 s, release, run 1.3 s, ask velocity, acknowledge",
    "start, ask joints, run 1.3 s, hard e-stop, run 1.3 s",
    "start, ask joints, run 1.3 s, soft e-stop, run 1.3 s, park, run 1.3 s, base e-stop pulse, run 1.3 s",
    "start, soft e-stop, release, acknowledge, preflight, arm",
    "start, soft e-stop, release, run 1.3 s, run 1.3 s, ask velocity",
    "start, soft e-stop, release, run 1.3 s, run 1.3 s, arm, ask velocity",
    "start, soft e-stop, run 1.3 s, release, run 1.3 s, acknowledge, preflight, arm, choose restart",
    "soft e-stop, release, wait 1.3 s",
    "start, base e-stop pulse, run 1.3 s, ask velocity",
    "start, ask NaN",
    "start, ask too fast",
    "start, old run asks",
    "connect, ask fsm",
    "start, pause, ask velocity, run 1.3 s, ask velocity",
    "start, ask velocity, pause, run 1.3 s, resume",
    "start, ask velocity, pause, run 1.3 s",
    "start, base silent, ask move",
    "start, deaf, ask fsm",
    "start, ask fsm, ask velocity, fsm ready, run 1.3 s, ask velocity, run 1.3 s",
    "start, ask move, ask move",
    "start, base completed, ask move, base idle, ask move",
    "start, ask move, run 1.3 s, run 1.3 s",
    "start, ask move, base busy, base paused, ask resume",
    "start, ask move, run 1.3 s, run 1.3 s, base queuing, base busy",
    "start, ask move, base queuing, limp, soft e-stop, base busy, run 1.3 s",
    "start, ask move, run 1.3 s, ask move, base busy, base idle, base busy",
    "start, ask move, base busy, pause, base paused, end, run 1.3 s",
    "start, ask move, base busy, pause, base paused, gone, run 1.3 s",
    "start, ask move, base busy, pause, base paused, end, soft e-stop, run 1.3 s",
    "start, ask move, base busy, base paused, end, run 1.3 s",
    "start, ask move, base busy, base paused, pause, end, run 1.3 s",
    "start, audit full, ask move",
    "start, ask remote, base remote, ask drive, run 1.3 s, stop",
    "start, ask remote, base remote, ask drive, foreign, run 1.3 s, alone, run 1.3 s",
    "start, ask remote, base remote, ask drive, forget streams",
    "start, ask remote, base remote, ask drive, forget streams, run 1.3 s, run 1.3 s, base idle, run 1.3 s",
    "start, ask remote, stop, run 0.3 s, base remote, run 1.3 s",
    "start, wait 1.3 s",
    "start, silence",
    "start, foreign, run 1.3 s",
    "start, ask move, base busy, foreign, run 1.3 s",
    "start, ask move, base busy, foreign arms, run 1.3 s",
    "start, ask velocity, fsm ready, run 1.3 s, fsm walk, run 1.3 s",
    "foreign, start",
    "start, unhealthy, run 1.3 s, healthy, run 1.3 s",
    "start, reboot, run 1.3 s",
    "start, ask move, base busy, moving, stop, wait 1.3 s, stop, stop, wait 1.3 s",
    "stop, stop",
    "wait 1.3 s, clear errors",
    "preflight, wait 2.6 s, arm",
    "preflight, soft e-stop, release, arm",
    "connect, preflight, arm, run 1.3 s, begin, gone",
    "start, ask joints, upper control off, run 1.3 s",
    "start, ask joints, run 1.3 s, gone",
    "fsm ready, start, ask walk, ask velocity",
    "start, arm error, ask velocity",
    "start, arm error, ask clear, ask clear",
    "start, ask clear",
    "start, leg error",
    "start, battery critical, run 1.3 s",
    "start, ask velocity, limp, ask velocity",
    "start, ask joints, limp, soft e-stop, run 1.3 s",
    "start, limp, run 1.3 s",
    "start, late flag, run 1.3 s",
    "mismatch, start",
)  # fmt: skip
POSES = (
    "fsm ready, start, ask stand pose, bent, arm error, run 1.3 s",
    "start, ask move hand, arm error, run 1.3 s",
    "fsm ready, start, ask stand pose, pose silent, arm error",
    "fsm ready, start, ask stand pose, bent, moving, soft e-stop, run 1.3 s",
    "fsm ready, start, ask stand pose, reboot",
    "fsm ready, start, ask user_cmd",
)
"""Stories of a robot that drives to poses by itself."""


def campaign(rule_set: tuple[rules.Rule, ...] = rules.RULES) -> Iterator[str]:
    """Every story, in earnest and as a dry run; what is wrong in them."""
    guard_file = quick_config()
    for story in STORIES:
        yield from play(JudgedWorld("atom_w", guard_file, rule_set), story)
    for story in POSES:
        yield from play(JudgedWorld("gr2", guard_file, rule_set), story)
    dry = JudgedWorld("atom_w", replace(guard_file, dry_run=True), rule_set)
    yield from play(dry, "start, ask velocity, stop, soft e-stop")


# The variants

Patch = pytest.MonkeyPatch
VARIANTS: dict[str, Variant] = {}


@dataclass(frozen=True)
class Variant:
    patch: Callable[[Patch], None]
    without: tuple[str, ...] = ()
    """Rules that are left out."""

    def rules(self) -> tuple[rules.Rule, ...]:
        return tuple(rule for rule in rules.RULES if rule.name not in self.without)


def _nothing(*args: Any, **kwargs: Any) -> None:
    pass


def handle(patch: Patch, event: type[events.Event], handler: Callable[[Turn, Any], None]) -> None:
    handlers: dict[Any, Any] = {**core.HANDLERS, event: handler}
    patch.setattr(core, "HANDLERS", handlers)


def variant(name: str, *without: str) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    def add(patch: Callable[[Patch], None]) -> Callable[[Patch], None]:
        VARIANTS[name] = Variant(patch, without)
        return patch

    return add


def leave_out(name: str, *without: str) -> None:
    VARIANTS[name] = Variant(_nothing, without)


def silenced(name: str, module: Any, function: str) -> None:
    """A variant in which one function does nothing."""
    VARIANTS[name] = Variant(lambda patch: patch.setattr(module, function, _nothing))


def handled(name: str, event: type[events.Event], handler: Callable[[Turn, Any], None]) -> None:
    """A variant that handles one event wrongly."""
    VARIANTS[name] = Variant(lambda patch: handle(patch, event, handler))


leave_out("no limits", "limits")
leave_out("no lease", "lease")
leave_out("no mode", "mode")
leave_out("no freshness", "fresh")
leave_out("sends to nobody", "writer_ready")
leave_out("no interlock", "interlock")
leave_out("tasks are queued", "one_outstanding")
leave_out("no audit", "audit")
silenced("no latch", watching, "latch")
silenced("a hung run is not noticed", leasing, "watch_heartbeat")
silenced("a stale robot is not noticed", watching, "watch_vitals")
silenced("re-arming never lapses", arming, "lapse")
silenced("the base is not stopped", stops, "_stop_base")
silenced("streams do not end with a stop", stops, "_end_what_goes_on")
silenced("an intervention is ignored", watching, "intervene")
silenced("streams go on after an intervention", stops, "release_streams")
handled("a restart of the robot is ignored", events.RobotRebooted, _nothing)
handled("a lost run is ignored", events.RunGone, _nothing)


@variant("NaN passes a clamp", "finite")
def _(patch: Patch) -> None:
    def outside(name: str, value: float, allowed: Any) -> str | None:
        return "outside" if value < allowed.low or value > allowed.high else None

    patch.setattr(limits, "_outside", outside)


@variant("only the newest flag counts")
def _(patch: Patch) -> None:
    def observation(turn: Turn, event: Any) -> None:
        watching.observation(turn, event)
        if event.flags and not any(event.flags.values()) and turn.state.mode is Mode.ESTOPPED:
            turn.enter(Mode.DISARMED, "released", acknowledged=True)

    handle(patch, events.Observation, observation)


@variant("release re-arms")
def _(patch: Patch) -> None:
    def observation(turn: Turn, event: Any) -> None:
        watching.observation(turn, event)
        if event.flags and not any(turn.state.flags.values()) and turn.state.latched:
            turn.change(latched=frozenset())
            turn.enter(Mode.ARMED, "released", acknowledged=True)

    handle(patch, events.Observation, observation)


@variant("an e-stop is ignored unless armed")
def _(patch: Patch) -> None:
    latch = watching.latch
    patch.setattr(watching, "latch", lambda t, c: None if t.state.mode is Mode.DISARMED else latch(t, c))


@variant("a pause ends by itself")
def _(patch: Patch) -> None:
    def heartbeat(turn: Turn, event: Any) -> None:
        leasing.heartbeat(turn, event)
        if turn.state.mode is Mode.PAUSED:
            turn.enter(Mode.RUNNING, "resumed", acknowledged=True)

    handle(patch, events.Heartbeat, heartbeat)


@variant("a fault clears by itself")
def _(patch: Patch) -> None:
    health = watching._health

    def clears(turn: Turn, before: Any) -> None:
        health(turn, before)
        if turn.state.mode is Mode.FAULT and turn.state.observed.unhealthy is None:
            turn.enter(Mode.DISARMED, "healthy again", acknowledged=True)

    patch.setattr(watching, "_health", clears)


@variant("an intervention ends by itself")
def _(patch: Patch) -> None:
    def foreign(turn: Turn, event: Any) -> None:
        watching.foreign_writers(turn, event)
        if not event.names and turn.state.mode is Mode.INTERVENED:
            turn.enter(Mode.DISARMED, "alone again", acknowledged=True)

    handle(patch, events.ForeignWriters, foreign)


@variant("fights an intervention")
def _(patch: Patch) -> None:
    intervene = watching.intervene

    def fight(turn: Turn, why: str) -> None:
        intervene(turn, why)
        turn.send(i.SetFsm("walk"), "stop", why)

    patch.setattr(watching, "intervene", fight)


@variant("acknowledged too early")
def _(patch: Patch) -> None:
    patch.setattr(arming, "_not_over", _nothing)


@variant("armed without preflight")
def _(patch: Patch) -> None:
    def arm(turn: Turn, event: Any) -> None:
        if turn.state.mode is Mode.DISARMED:
            turn.change(latched=frozenset())
            turn.report("rearm", "armed", value="armed")
            turn.enter(Mode.ARMED, "armed", acknowledged=True)

    handle(patch, events.Arm, arm)


@variant("armed straight from an e-stop")
def _(patch: Patch) -> None:
    def arm(turn: Turn, event: Any) -> None:
        if turn.state.mode is Mode.ESTOPPED:
            turn.change(latched=frozenset())
            turn.enter(Mode.ARMED, "armed", acknowledged=True)
        else:
            arming.arm(turn, event)

    handle(patch, events.Arm, arm)


@variant("preflight overlooks another commander")
def _(patch: Patch) -> None:
    from orchestrator.guard import preflight

    patch.setattr(preflight, "_alone", lambda state: preflight.Line("alone", None, ""))


@variant("runs as soon as it is armed")
def _(patch: Patch) -> None:
    def arm(turn: Turn, event: Any) -> None:
        arming.arm(turn, event)
        if turn.state.mode is Mode.ARMED:
            turn.enter(Mode.RUNNING, "armed", acknowledged=True)

    handle(patch, events.Arm, arm)


@variant("streams never expire")
def _(patch: Patch) -> None:
    patch.setattr(streams, "_over", lambda turn, stream: None)


@variant("streams outlive their state", "")
def _(patch: Patch) -> None:
    patch.setattr(streams, "FRAME_RULES", frozenset())


@variant("streams end without a last word")
def _(patch: Patch) -> None:
    def end(turn: Turn, stream: Any, reason: str) -> None:
        turn.change(streams=tuple(each for each in turn.state.streams if each.id != stream.id))
        turn.report("ended", reason, stream.id, "ended")

    patch.setattr(streams, "end", end)


@variant("the remote session stays open")
def _(patch: Patch) -> None:
    patch.setattr(remote, "end", lambda t, cause: t.send(i.DriveBase(0.0, 0.0), "stop", cause))


@variant("the remote session closes without zero")
def _(patch: Patch) -> None:
    def end(turn: Turn, cause: str) -> None:
        turn.send(i.StopRemote(), "stop", cause)
        turn.change(remote=None, streams=())

    patch.setattr(remote, "end", end)


@variant("the end of a remote session is told once")
def _(patch: Patch) -> None:
    patch.setattr(remote, "_insist", lambda turn, session: turn.change(remote=changed(session, end_due=math.inf)))


@variant("a remote session that opens after its end is left alone")
def _(patch: Patch) -> None:
    patch.setattr(remote, "progress", lambda turn, before: None)


@variant("joints are held after a hard e-stop")
def _(patch: Patch) -> None:
    patch.setattr(stops, "HARD", frozenset())


@variant("a robot that is latched is parked")
def _(patch: Patch) -> None:
    begin = stops.begin

    def forget(turn: Turn, *args: Any, **kwargs: Any) -> None:
        latched = turn.state.latched
        turn.change(latched=frozenset())
        begin(turn, *args, **kwargs)
        turn.change(latched=latched)

    patch.setattr(stops, "begin", forget)


@variant("a robot that stands is let fall")
def _(patch: Patch) -> None:
    patch.setattr(config.RobotRules, "drops", lambda self, state, before: None)


@variant("the robot goes on to a pose after a stop")
def _(patch: Patch) -> None:
    patch.setattr(stops, "_poses_on_the_way", lambda turn: ())


@variant("a stop leaves the robot its pose")
def _(patch: Patch) -> None:
    patch.setattr(stops, "_where_it_is", lambda intent, turn: intent)


@variant("a stop believes an old pose")
def _(patch: Patch) -> None:
    patch.setattr(stops, "topic_problem", _nothing)


@variant("a robot that has let go is told a pose")
def _(patch: Patch) -> None:
    held = stops._poses_on_the_way

    def careless(turn: Turn) -> tuple[Any, ...]:
        flags = turn.state.flags
        turn.change(flags={})
        poses = held(turn)
        turn.change(flags=flags)
        return poses

    patch.setattr(stops, "_poses_on_the_way", careless)


@variant("velocity is not zeroed by a stop")
def _(patch: Patch) -> None:
    begin = stops.begin

    def careless(turn: Turn, *args: Any, **kwargs: Any) -> None:
        turn.change(moved=turn.state.moved - {"Velocity"})
        begin(turn, *args, **kwargs)

    patch.setattr(stops, "begin", careless)


@variant("the heartbeat comes from a thread, whether the tree is ticked or not")
def _(patch: Patch) -> None:
    step = core.Core.step

    def beaten(self: core.Core, state: State, event: events.Event, now: float) -> core.Step:
        kept = tuple(changed(stream, renewed=now) for stream in state.streams)
        return step(self, changed(state, heartbeat=now, streams=kept), event, now)

    patch.setattr(core.Core, "step", beaten)


@variant("says stopped without looking")
def _(patch: Patch) -> None:
    patch.setattr(stops, "is_still", lambda turn: True)


@variant("believes its own echo")
def _(patch: Patch) -> None:
    remember = leasing._remember

    def echo(turn: Turn, number: int, intent: Any) -> None:
        remember(turn, number, intent)
        if isinstance(intent, i.SetFsm):
            fsm = turn.setting.profile.fsm[intent.state]
            turn.change(observed=changed(turn.state.observed, fsm=fsm))

    patch.setattr(leasing, "_remember", echo)


@variant("takes an old COMPLETED for the end of the task")
def _(patch: Patch) -> None:
    def progress(turn: Turn, before: Any) -> None:
        base = turn.state.observed.base
        if base is not None and base != before and base.navigation in ("completed", "idle"):
            turn.change(task=None)

    patch.setattr(base_task, "progress", progress)


@variant("a cancelled task that begins drives on")
def _(patch: Patch) -> None:
    progress = base_task.progress

    def once(turn: Turn, before: Any) -> None:
        outputs = len(turn.outputs)
        progress(turn, before)
        del turn.outputs[outputs:]

    patch.setattr(base_task, "progress", once)


@variant("a task that the base does not take is forgotten")
def _(patch: Patch) -> None:
    patch.setattr(base_task, "never_shown", _nothing)


@variant("a task is forgotten when another follows")
def _(patch: Patch) -> None:
    remember = leasing._remember

    def forget(turn: Turn, number: int, intent: Any) -> None:
        remember(turn, number, intent)
        if turn.state.task is not None:
            turn.change(task=changed(turn.state.task, behind=False))

    patch.setattr(leasing, "_remember", forget)


@variant("a paused task is resumed, whatever ended it")
def _(patch: Patch) -> None:
    begin = stops.begin
    patch.setattr(stops, "begin", lambda turn, *args, **kwargs: begin(turn, *args, **(kwargs | {"orderly": True})))


@variant("a paused task is resumed after an e-stop")
def _(patch: Patch) -> None:
    def go_on(turn: Turn) -> bool:
        turn.send(i.ResumeTask(), "stop", "end it")
        return True

    patch.setattr(base_task, "_go_on", go_on)


@variant("a paused task that somebody else paused is resumed")
def _(patch: Patch) -> None:
    patch.setattr(base_task, "TO_GO_ON", base_task.TO_GO_ON - {"one_outstanding"})


@variant("a pause of somebody else's is claimed")
def _(patch: Patch) -> None:
    patch.setattr(base_task, "paused", lambda turn: turn.change(paused_task=True))


@variant("a paused task is resumed and not ended")
def _(patch: Patch) -> None:
    def cancel(turn: Turn, cause: str, sends: int = 1) -> None:
        if not (
            turn.outputs and isinstance(turn.outputs[-1], Send) and isinstance(turn.outputs[-1].intent, i.ResumeTask)
        ):
            whole(turn, cause, sends)

    whole = base_task.cancel
    patch.setattr(base_task, "cancel", cancel)


@variant("a paused task is left behind in silence")
def _(patch: Patch) -> None:
    patch.setattr(base_task, "left_behind", lambda state: "")


@variant("fights over the base")
def _(patch: Patch) -> None:
    patch.setattr(base_task, "contested", lambda turn: False)


@variant("leaves the base its task whoever takes the robot")
def _(patch: Patch) -> None:
    patch.setattr(base_task, "contested", lambda turn: True)


@variant("a robot that lets go leaves its base to drive")
def _(patch: Patch) -> None:
    patch.setattr(base_task, "let_go", lambda turn, cause: turn.change(task=None))


@variant("sends a task again")
def _(patch: Patch) -> None:
    def again(turn: Turn) -> None:
        task = turn.state.task
        if task and not task.accepted and not task.cancelled and turn.now >= task.sent + 0.5:
            turn.change(task=changed(task, sent=math.inf))
            turn.send(i.MoveToTag(12, None), "repeat", "MoveToTag", task.id)

    patch.setattr(base_task, "watch", again)


@variant("resumes what somebody else paused", "one_outstanding")
def _(patch: Patch) -> None:
    pass


@variant("a second stop is held back")
def _(patch: Patch) -> None:
    def stop(turn: Turn, event: Any) -> None:
        if turn.state.stop is None or turn.now - turn.state.stop.began > 1.0:
            arming.stop(turn, event)

    handle(patch, events.Stop, stop)


@variant("a stop needs a lease")
def _(patch: Patch) -> None:
    def stop(turn: Turn, event: Any) -> None:
        if turn.state.run is not None:
            arming.stop(turn, event)

    handle(patch, events.Stop, stop)


@variant("clearing errors stands the robot up")
def _(patch: Patch) -> None:
    def clear(turn: Turn, event: Any) -> None:
        arming.clear_errors(turn, event)
        turn.send(i.SetFsm("ready"), "command", "recover")

    handle(patch, events.AskClearErrors, clear)


@variant("resuming sends the last velocity again")
def _(patch: Patch) -> None:
    def resume(turn: Turn, event: Any) -> None:
        arming.resume(turn, event)
        turn.send(i.Velocity(0.1, 0.0, 0.0), "command", "resume")

    handle(patch, events.Resume, resume)


@variant("a dry run publishes", "dry_run")
def _(patch: Patch) -> None:
    def send(turn: Turn, intent: Any, role: Any, cause: str, id: int = 0, record: bool = True) -> None:  # noqa: A002
        turn.outputs.append(Send(intent, role, id, cause, record, False))

    patch.setattr(Turn, "send", send)


@variant("a refused command is sent all the same")
def _(patch: Patch) -> None:
    patch.setattr(leasing, "first_refusal", _nothing)


silenced("errors are no interlock", rules, "_trouble")
silenced("a critical battery is ignored", watching, "watch_charge")
silenced("a robot that let go is commanded on", watching, "_changed_by_itself")
silenced("nobody asks why the robot let go", watching, "watch_suspect")
handled("a flag in an overtaken sample does not count", events.LateFlags, _nothing)


@variant("errors are cleared again and again")
def _(patch: Patch) -> None:
    remember = leasing._remember

    def forget(turn: Turn, number: int, intent: Any) -> None:
        remember(turn, number, intent)
        turn.change(cleared=False)

    patch.setattr(leasing, "_remember", forget)


@variant("a leg's error is taken for an arm's")
def _(patch: Patch) -> None:
    troubles = watching._new_troubles
    patch.setattr(
        watching, "_new_troubles", lambda t, b: dict.fromkeys(["left_arm"], "error") if troubles(t, b) else {}
    )


@variant("what an e-stop brings about is called an intervention")
def _(patch: Patch) -> None:
    patch.setattr(watching, "_changed_by_itself", lambda t, what, new: watching.intervene(t, f"{what} became {new}"))


@variant("joints are held although the robot let go")
def _(patch: Patch) -> None:
    release = stops.release_streams
    patch.setattr(stops, "release_streams", lambda turn, cause, joints=True: release(turn, cause))


@variant("preflight overlooks a type that does not fit")
def _(patch: Patch) -> None:
    from orchestrator.guard import preflight

    patch.setattr(preflight, "_types", lambda state: preflight.Line("types", None, ""))


def caught(name: str) -> Iterator[str]:
    """What the campaign finds wrong with a variant."""
    broken = VARIANTS[name]
    with pytest.MonkeyPatch.context() as patch:
        broken.patch(patch)
        yield from campaign(broken.rules())


if __name__ == "__main__":
    for variant_name in VARIANTS:
        found = sorted({problem.split(" ")[0] for problem in caught(variant_name)})
        print(f"{'caught' if found else 'MISSED':7} {variant_name}: {', '.join(found)}")
