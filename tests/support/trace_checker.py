"""An independent judge of a guard: reads only what went in, what came out and which mode was shown.

It shares no rule with the guard. It keeps a small picture of its own (`Picture`) and holds every step against the
invariants of docs/guard.md; each violation begins with the invariant's number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

TTL = 0.2
EPS = 1e-6
SOFT_HOLD = 0.5
NEAR = 0.01
SEVERITY = {"paused": 1, "stopping": 2, "intervened": 3, "fault": 4, "estopped": 5}
ACTIVE = ("armed", "running", "paused")
PERSON = (
    "Acknowledge", "AskClearErrors", "AskPreflight", "Arm", "Disarm", "Choose", "Pause", "Resume", "Stop",
)  # fmt: skip
QUIET_ACTS = ("Acknowledge", "AskPreflight", "Arm", "Choose", "Resume")
TERMINAL = ("completed", "failed", "canceled", "idle", "stopped")
NEEDS = {
    "Velocity": ("emergency", "fsm", "motion"),
    "JointTarget": ("emergency", "fsm", "joints"),
    "MoveToTag": ("emergency", "fsm", "base"),
    "DriveBase": ("emergency", "fsm", "base"),
    "StartRemote": ("emergency", "fsm", "base"),
    "SetFsm": ("emergency", "fsm"),
    "SwitchUpperControl": ("emergency", "fsm", "joints"),
    "HandTarget": ("emergency", "fsm", "hands"),
}
POSES = {
    "StandPose": ("robot_stand_pose_state", "stand", (2,)),
    "MoveHand": ("robot_cartesian_state", "reach", (3,)),
}
"""What the robot drives to by itself: where it shows how far it is, and in which states it goes by it."""
ASKED_ONCE = ("MoveToTag", "RotateBase")


@dataclass(frozen=True)
class Terms:
    """What the judge is told about robot and guard file: numbers from the documents, not from the code."""

    family: str
    base: bool
    roles: tuple[tuple[str, str], ...]
    channels: tuple[str, ...]
    walking: tuple[int, ...]
    """States in which velocities are legal."""
    joints_legal: tuple[int, ...]
    vx: tuple[float, float] | None
    still: float
    stale_cap: float = 0.5
    clear: float = 1.0
    rearm: float = 60.0
    dry_run: bool = False
    limp: tuple[int, ...] = ()
    """States in which the robot has let go."""
    hanging: tuple[str, ...] = ()
    """States in which nothing balances the robot."""
    standing: tuple[int, ...] = ()
    legs: tuple[str, ...] = ()
    lasting: float = 3.0
    """Seconds after which a level of the battery counts."""
    cause: float = 0.3
    """Seconds in which an e-stop may explain that the robot let go."""
    explained: float = 5.0
    """Seconds in which the base may still open a remote session it was asked for."""
    told_again: float = 2.0
    """Seconds after which a base that does not end its remote session must have been told again."""
    grid: float = 0.0
    """Seconds between two looks at the guard."""


class Picture(msgspec.Struct, frozen=True):
    """What the judge remembers."""

    mode: str = "offline"
    flags: tuple[tuple[str, bool], ...] = ()
    latched: tuple[str, ...] = ()
    latched_at: float = math.inf
    """When the first of them came."""
    clear_since: float = math.inf
    acknowledged_at: float = -math.inf
    checked_at: float = -math.inf
    seen: tuple[tuple[str, float], ...] = ()
    facts: tuple[tuple[str, Any], ...] = ()
    ready: frozenset[str] = frozenset()
    foreign: bool = False
    contested: frozenset[str] = frozenset()
    """Command topics that others write."""
    audit: bool = True
    epoch: int = 0
    run: bool = False
    began: bool = False
    heartbeat: float = -math.inf
    streams: tuple[tuple[int, str, float], ...] = ()
    """Open streams: id, kind, last renewal."""
    remote: bool = False
    remote_asked: float = -math.inf
    remote_ended: float = math.inf
    """When the base was told to end the remote session that we asked for, last."""
    poses: tuple[tuple[int, str], ...] = ()
    """Poses the robot was told and may be on its way to: id and command."""
    task: str = "none"
    """none, sent (no sign of it yet) or taken."""
    task_before: int = 0
    called_off: str = ""
    """A task that was cancelled: sent or taken; empty once it is over."""
    owed: bool = False
    """Another was sent before the base had shown that one: it may run both."""
    paused_by_us: bool = False
    resumed: str = ""
    """Told to go on by us and not yet seen to: "told", or "paused again" when a pause of ours followed."""
    orderly: bool = False
    """Whether the last stop followed an orderly end of the run, or a person's disarming."""
    measured: tuple[tuple[str, tuple[float, ...]], ...] = ()
    limp_since: float = math.inf
    """Since when the robot shows that it let go, while it might have moved."""
    cleared: bool = False
    mismatched: frozenset[str] = frozenset()
    critical_since: float = math.inf

    def fact(self, name: str) -> Any:
        return dict(self.facts).get(name)


def name_of(thing: object) -> str:
    return type(thing).__name__


def command_of(output: Any) -> str:
    return name_of(output.intent) if hasattr(output, "intent") else "Joints"


def is_zero(output: Any) -> bool:
    """Whether this output can only make the robot slower."""
    name = command_of(output)
    if name == "Velocity":
        return bool(output.intent.vx == output.intent.vy == output.intent.yaw == 0)
    if name == "DriveBase":
        return bool(output.intent.linear == output.intent.angular == 0)
    return name in ("CancelTask", "PauseTask", "StopRemote")


def check(
    terms: Terms, before: Picture, at: float, event: Any, outputs: list[Any], reports: list[Any], mode: str
) -> tuple[Picture, list[str]]:
    """The picture after a step, and what was wrong in it."""
    seen = _take_in(terms, before, at, event, reports, mode)
    if seen.latched and not before.latched:
        seen = replace(seen, latched_at=at)
    problems = [
        *_numbers(terms, outputs),
        *_latch(terms, before, seen, at, event, outputs, mode),
        *_permission(terms, before, seen, at, event, outputs),
        *_legality(terms, seen, outputs),
        *_tasks(seen, outputs),
        *_called_off(terms, before, seen, outputs),
        *_resumed(before, outputs, mode),
        *_left_behind(seen, reports, mode),
        *_people(terms, before, seen, at, event, outputs, mode),
        *_modes(terms, before, seen, at, event, mode),
        *_intervention(terms, before, seen, outputs, mode),
        *_truth(terms, seen, at, reports),
        *_sickness(terms, before, seen, at, event, outputs, mode),
        *_letting_go(terms, before, seen, at, event, outputs, mode),
        *_ends(terms, before, seen, event, outputs, reports),
        *_poses(terms, before, seen, at, event, outputs, reports),
    ]
    after = _let_out(seen, at, event, outputs, reports)
    problems += _endings(after, at, mode, outputs)
    problems += _remote_goes_on(terms, before, after, at)
    after = _forget_remote(terms, after, at)
    if terms.dry_run and outputs:
        problems.append("I21 published in a dry run")
    return replace(after, mode=mode), problems


# The picture


def _take_in(terms: Terms, picture: Picture, at: float, event: Any, reports: list[Any], mode: str) -> Picture:
    name = name_of(event)
    if name == "Observation":
        return _notice(terms, picture, _observe(picture, at, event), at)
    if name == "LateFlags":
        risen = (channel for channel, on in event.flags.items() if on)
        flags = dict(picture.flags) | {channel: True for channel, on in event.flags.items() if on}
        latched = tuple(sorted({*picture.latched, *risen}))
        return replace(picture, latched=latched, flags=tuple(sorted(flags.items())), clear_since=math.inf)
    if name == "RobotRebooted":
        forgotten = replace(picture, task="none", called_off="", owed=False)
        return replace(forgotten, seen=(), facts=(), flags=(), clear_since=math.inf, run=False, began=False)
    if name == "ForeignWriters":
        return replace(picture, foreign=bool(event.names), contested=event.topics)
    if name == "AuditState":
        return replace(picture, audit=event.works)
    if name == "WriterReady":
        ready = picture.ready | {event.topic} if event.ready else picture.ready - {event.topic}
        fits = picture.mismatched - {event.topic} if event.ready else picture.mismatched
        return replace(picture, ready=ready, mismatched=fits)
    if name == "Mismatch":
        return replace(picture, mismatched=picture.mismatched | {event.topic})
    if name == "Heartbeat" and picture.run and event.epoch == picture.epoch:
        streams = tuple((i, kind, at if i in event.streams else renewed) for i, kind, renewed in picture.streams)
        return replace(picture, heartbeat=at, streams=streams)
    return picture


def _observe(picture: Picture, at: float, event: Any) -> Picture:
    flags = dict(picture.flags) | event.flags
    latched = tuple(sorted({*picture.latched, *(channel for channel, on in event.flags.items() if on)}))
    clear_since = picture.clear_since
    if event.flags:
        clear_since = math.inf if any(flags.values()) else min(clear_since, at)
    measured = picture.measured
    if "joints" in event.facts:
        measured = tuple(sorted(event.facts["joints"].items()))
    kept = {key: value for key, value in event.facts.items() if key not in ("joints", "hands")}
    return replace(
        picture,
        flags=tuple(sorted(flags.items())),
        latched=latched,
        clear_since=clear_since,
        seen=tuple(sorted((dict(picture.seen) | {event.source: at}).items())),
        facts=tuple(sorted((dict(picture.facts) | kept).items())),
        measured=measured,
        **_task_progress(picture, event.facts.get("base")),
    )


def _notice(terms: Terms, before: Picture, seen: Picture, at: float) -> Picture:
    """What the robot shows about its strength: whether it let go, and how full it is."""
    old, new = before.fact("fsm"), seen.fact("fsm")
    limp_since = seen.limp_since
    if new not in terms.limp:
        limp_since = math.inf
    elif old is not None and old not in terms.limp and before.mode in ACTIVE:
        limp_since = at
    power = seen.fact("power")
    critical = power is not None and power.level < 10
    since = min(seen.critical_since, at) if critical else math.inf
    return replace(seen, limp_since=limp_since, critical_since=since)


def _task_progress(picture: Picture, base: Any) -> dict[str, Any]:
    if base is None:
        return {}
    busy = base.device == "tasking" or base.navigation not in TERMINAL or base.task != picture.task_before
    over = base.navigation in TERMINAL and base.device != "tasking"

    def follow(task: str, nothing: str) -> str:
        task = "taken" if busy and task != nothing else task
        return nothing if task == "taken" and over else task

    old = picture.fact("base")
    goes_on = old is not None and (old.navigation, base.navigation) == ("paused", "running")
    paused: dict[str, Any] = {"paused_by_us": picture.paused_by_us}
    if goes_on:
        paused = {"paused_by_us": picture.paused_by_us and picture.resumed == "paused again", "resumed": ""}
    task, called_off = follow(picture.task, "none"), follow(picture.called_off, "")
    if picture.owed and task == "none" and not called_off:
        owed = {"called_off": "sent", "owed": False, "task_before": base.task}
        return {"task": task, **paused, **owed}
    return {"task": task, **paused, "called_off": called_off}


def _let_out(picture: Picture, at: float, event: Any, outputs: list[Any], reports: list[Any]) -> Picture:
    """What leaving outputs and reports change."""
    changes: dict[str, Any] = {}
    streams = {i: (kind, renewed) for i, kind, renewed in picture.streams}
    poses = dict(picture.poses)
    for output in outputs:
        command = command_of(output)
        if command == "StartRemote":
            changes |= {"remote": True, "remote_asked": at, "remote_ended": math.inf}
        elif command == "StopRemote":
            changes |= {"remote": False, "remote_ended": at}
        elif command in ASKED_ONCE:
            base = picture.fact("base")
            changes |= {"task": "sent", "task_before": base.task if base else 0, "paused_by_us": False, "resumed": ""}
            changes |= {"called_off": "", "owed": picture.owed or picture.called_off == "sent"}
        elif command == "CancelTask" and picture.task != "none":
            changes |= {"called_off": picture.task, "task": "none" if picture.task == "sent" else picture.task}
        elif command == "PauseTask":
            base = picture.fact("base")
            changes["paused_by_us"] = picture.paused_by_us or base is None or base.navigation != "paused"
            changes["resumed"] = "paused again" if picture.resumed == "told" else picture.resumed
        elif command == "ResumeTask" and output.role == "command":
            changes["resumed"] = "told"
        elif command == "ClearErrors" and output.id:
            changes["cleared"] = True
    for report in reports:
        if report.kind == "lease":
            held = report.value.isdigit()
            changes |= {"run": held, "began": False}
            changes["epoch"] = int(report.value) if held else picture.epoch
        if report.kind == "ended":
            streams.pop(report.id, None)
            poses.pop(report.id, None)
        if report.kind == "stop":
            changes["orderly"] = name_of(event) in ("RunEnded", "Disarm")
    if name_of(event) == "IntentAsked" and any(r.kind == "sent" and r.id == event.id for r in reports):
        kind = name_of(event.intent)
        if kind in ("Velocity", "DriveBase", "JointTarget", "JointPath"):
            streams[event.id] = (kind, at)
        if kind in POSES:
            poses = {i: other for i, other in poses.items() if other != kind} | {event.id: kind}
    if name_of(event) in ("RunBegan", "Choose") and any(r.kind == "mode" and r.value == "running" for r in reports):
        changes |= {"began": True, "heartbeat": at}
    if name_of(event) == "Acknowledge" and any(r.value == "acknowledged" for r in reports):
        changes["acknowledged_at"] = at
    if name_of(event) == "AskPreflight" and all(r.value == "ok" for r in reports if r.kind == "preflight"):
        changes["checked_at"] = at
    if any(r.kind == "rearm" and r.value == "armed" for r in reports):
        changes |= {"cleared": False, "limp_since": math.inf}
        if picture.task == "sent":
            changes |= {"task": "none", "called_off": "sent"}
        poses = {}
        changes |= {"latched": (), "latched_at": math.inf, "acknowledged_at": -math.inf, "checked_at": -math.inf}
    changes["poses"] = tuple(sorted(poses.items()))
    changes["streams"] = tuple((i, kind, renewed) for i, (kind, renewed) in sorted(streams.items()))
    return replace(picture, **changes)


# The invariants


def _plain_numbers(value: Any) -> Iterator[float]:
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _plain_numbers(item)
    elif hasattr(value, "__struct_fields__"):
        for field in value.__struct_fields__:
            yield from _plain_numbers(getattr(value, field))


def _numbers(terms: Terms, outputs: list[Any]) -> Iterator[str]:
    for output in outputs:
        if not all(math.isfinite(n) for n in _plain_numbers(getattr(output, "intent", None) or output.groups)):
            yield f"I1 {command_of(output)} with a number that is not finite"
        if command_of(output) == "Velocity" and terms.vx and not terms.vx[0] <= output.intent.vx <= terms.vx[1]:
            yield f"I1 velocity {output.intent.vx} beyond the limits"


def _latch(
    terms: Terms, before: Picture, seen: Picture, at: float, event: Any, outputs: list[Any], mode: str
) -> Iterator[str]:
    if name_of(event) in ("Observation", "LateFlags") and any(event.flags.values()):
        if mode != "estopped":
            yield f"I4 an e-stop sample did not latch: {mode}"
        fresh = {c for c, on in event.flags.items() if on} - set(before.latched)
        if fresh and terms.base and not terms.dry_run and "CancelTask" not in map(command_of, outputs):
            yield "I13 an e-stop without a stop to the base"
    if not seen.latched:
        return
    for output in outputs:
        clears = command_of(output) == "ClearErrors" and seen.acknowledged_at > -math.inf
        holds = output.role == "stop" and command_of(output) in ("Joints", "HandTarget")
        if not (is_zero(output) or holds or clears):
            yield f"I2 {command_of(output)} while latched"
        if holds and {"hard", "di"} & set(seen.latched):
            yield "I2 joints commanded after a hard e-stop"
        if holds and at - seen.latched_at > SOFT_HOLD + EPS:
            yield "I2 joints commanded long after an e-stop"


def _permission(
    terms: Terms, before: Picture, seen: Picture, at: float, event: Any, outputs: list[Any]
) -> Iterator[str]:
    for output in outputs:
        command = command_of(output)
        if output.role == "stop" or command == "ClearErrors" or is_zero(output):
            continue
        if not seen.run:
            yield f"I5 {command} without a lease"
        if output.role == "command" and getattr(event, "epoch", None) != seen.epoch:
            yield f"I5 {command} with an old epoch"
        if not seen.audit and output.role == "command":
            yield f"I15 {command} without a working audit"
        if before.mode not in ("running",):
            yield f"I2 {command} while {before.mode}"
        heard = dict(seen.seen)
        for role, source in terms.roles:
            if role in NEEDS.get(command, ("emergency",)) and at - heard.get(source, -math.inf) > terms.stale_cap + EPS:
                yield f"I6 {command} with {role} stale"
        for channel in terms.channels:
            if dict(seen.flags).get(channel) is None:
                yield f"I6 {command} with e-stop channel {channel} not known"


def _legality(terms: Terms, seen: Picture, outputs: list[Any]) -> Iterator[str]:
    fsm, base = seen.fact("fsm"), seen.fact("base")
    for output in outputs:
        if output.role == "stop":
            continue
        command = command_of(output)
        if command == "Velocity" and not is_zero(output):
            if fsm not in terms.walking:
                yield f"I7 a velocity in state {fsm}"
            if terms.family == "aurora" and seen.fact("velocity_source") != 2:
                yield "I7 a velocity with another velocity source"
        if command == "Joints" and terms.family == "atom" and not seen.fact("upper_control"):
            yield "I7 joints without upper control"
        if command == "Joints" and terms.joints_legal and fsm not in terms.joints_legal:
            yield f"I7 joints in state {fsm}"
        if command == "SetFsm" and output.intent.state in terms.hanging and fsm in terms.standing:
            yield f"I7 {output.intent.state} although the robot stands"
        if command in ASKED_ONCE and fsm not in terms.joints_legal:
            yield f"I7 a task for the base in state {fsm}"
        if command == "DriveBase" and not is_zero(output) and (base is None or base.work_mode != 3):
            yield "I7 remote drive without a remote session"
        if command in ("Velocity", "DriveBase", "MoveToTag", "SetFsm", "StartRemote") and not seen.ready:
            yield f"I7 {command} with nobody listening"


def _tasks(seen: Picture, outputs: list[Any]) -> Iterator[str]:
    base = seen.fact("base")
    for output in outputs:
        if command_of(output) in ASKED_ONCE:
            if seen.task != "none":
                yield "I8 a second task for the base"
            if base is None or base.device != "devidle" or base.navigation not in TERMINAL or base.work_mode != 0:
                yield "I8 a task for a base that is not idle"
            if output.role != "command":
                yield "I14 a task was sent again"
        if command_of(output) == "ResumeTask" and not seen.paused_by_us:
            yield "H29 resumed what somebody else paused"


def _called_off(terms: Terms, before: Picture, seen: Picture, outputs: list[Any]) -> Iterator[str]:
    """The base takes a cancel only while it drives: what was cancelled before is cancelled when it begins."""
    old, base = before.fact("base"), seen.fact("base")
    begins = base is not None and base != old and base.navigation == "running"
    if begins and seen.called_off and not terms.dry_run and "CancelTask" not in map(command_of, outputs):
        yield "I25 a task that was cancelled runs"


def _resumed(before: Picture, outputs: list[Any], mode: str) -> Iterator[str]:
    """To end a paused task a stop may resume it: after an orderly end alone, and its end goes out with it."""
    commands = [command_of(o) for o in outputs]
    if not any(command_of(o) == "ResumeTask" and o.role == "stop" for o in outputs):
        return
    if not before.orderly or mode != "stopping":
        yield f"I26 a stop resumed the base's task while {mode}"
    if "CancelTask" not in commands[commands.index("ResumeTask") :]:
        yield "I26 a stop resumed the base's task and did not end it"


def _left_behind(seen: Picture, reports: list[Any], mode: str) -> Iterator[str]:
    """Nobody is told that all is well while the base has a task of ours."""
    base, said = seen.fact("base"), {(report.kind, report.value) for report in reports}
    ours = seen.task == "taken" or seen.called_off
    if (
        "stopped" not in {kind for kind, _ in said}
        or mode == "paused"
        or not ours
        or ("warning", "left behind") in said
    ):
        return
    if base is not None and base.navigation == "paused":
        yield "I26 a paused task is left behind in silence"


def _people(
    terms: Terms, before: Picture, seen: Picture, at: float, event: Any, outputs: list[Any], mode: str
) -> Iterator[str]:
    name = name_of(event)
    if name in QUIET_ACTS and any(o.role == "command" for o in outputs):
        yield f"I3 {name} alone moved something"
    if name == "AskClearErrors" and any(o.role == "command" and command_of(o) != "ClearErrors" for o in outputs):
        yield "I3 clearing errors moved something"
    if name == "Stop" and terms.base and not terms.dry_run and "CancelTask" not in map(command_of, outputs):
        yield "I13 a person's stop was held back"
    if mode == "armed" and before.mode != "armed":
        if name != "Arm":
            yield f"I3 armed by {name}"
        if before.latched and before.acknowledged_at == -math.inf:
            yield "I2 armed after an e-stop that nobody acknowledged"
        if at - before.checked_at > terms.rearm + EPS:
            yield "2.5 armed without a recent preflight"
        if at - seen.clear_since < terms.clear - EPS:
            yield "2.5 armed before the e-stop was clear for long enough"
        if seen.foreign:
            yield "H22 armed beside another commander"
        if seen.mismatched:
            yield "H16 armed although types do not fit"
    if mode == "running" and before.mode != "running" and name not in ("RunBegan", "Choose", "Resume"):
        yield f"I3 running because of {name}"


def _modes(terms: Terms, before: Picture, seen: Picture, at: float, event: Any, mode: str) -> Iterator[str]:
    old, new = SEVERITY.get(before.mode, 0), SEVERITY.get(mode, 0)
    person = name_of(event) in PERSON
    if old >= 3 and new < old and not person:
        yield f"I17 {before.mode} became {mode} without a person"
    if old >= 3 and new < old and person and (name_of(event) != "Acknowledge" or mode != "disarmed"):
        yield f"I17 {name_of(event)} led from {before.mode} to {mode}"
    if (
        before.mode == "estopped"
        and mode == "disarmed"
        and (any(on for _, on in seen.flags) or at - seen.clear_since < terms.clear - EPS)
    ):
        yield "2.5 acknowledged while the e-stop was not clear for long enough"
    if mode in ("running", "paused") and at - max(seen.heartbeat, before.heartbeat) > TTL + EPS and before.began:
        yield "H38 running although the run is hung"
    if mode in ACTIVE and before.mode in ACTIVE:
        heard = dict(seen.seen)
        for role, source in terms.roles:
            if role in ("emergency", "fsm") and at - heard.get(source, -math.inf) > terms.stale_cap + EPS:
                yield f"H10 {mode} although {role} is stale"
        if seen.foreign:
            yield f"H22 {mode} beside another commander"
    if name_of(event) == "RunGone" and event.epoch == before.epoch and before.run and mode in ("running", "paused"):
        yield "H34 still running although the run is gone"
    if name_of(event) == "RobotRebooted" and mode in ACTIVE:
        yield "H14 active after a restart of the robot"


def _intervention(terms: Terms, before: Picture, seen: Picture, outputs: list[Any], mode: str) -> Iterator[str]:
    if mode == "intervened" and any(command_of(o) in ("SetFsm", "SwitchUpperControl") for o in outputs):
        yield "I16 wrote back after an intervention"
    if before.mode == "intervened" and any(o.role != "stop" for o in outputs):
        yield "I16 commanded after an intervention"
    if before.mode not in ACTIVE or mode != "intervened" or terms.dry_run:
        return
    cancels = "CancelTask" in map(command_of, outputs)
    if "rt/amr/cmd" in seen.contested and cancels:
        yield "I16 fought over the base"
    if "rt/amr/cmd" not in seen.contested and seen.task != "none" and not seen.called_off and not cancels:
        yield "I16 left the base to drive on with a task of ours"


def _truth(terms: Terms, seen: Picture, at: float, reports: list[Any]) -> Iterator[str]:
    if any(report.kind == "stopped" for report in reports):
        speed = seen.fact("speed")
        if speed is None or speed > terms.still:
            yield f"I24 said stopped at a speed of {speed}"


def _ends(
    terms: Terms, before: Picture, seen: Picture, event: Any, outputs: list[Any], reports: list[Any]
) -> Iterator[str]:
    """A stream that ends has a last word: zero, or hold."""
    open_streams = {i: kind for i, kind, _ in before.streams}
    ended = {r.id for r in reports if r.kind == "ended" and r.value != "replaced"} & set(open_streams)
    let_go = seen.limp_since < math.inf or seen.fact("upper_control") is False
    powerless = {"hard", "di"} & set(seen.latched) or name_of(event) == "RobotRebooted" or let_go
    for number in ended:
        kind = open_streams[number]
        wanted = {"Velocity": "Velocity", "DriveBase": "DriveBase"}.get(kind, "Joints")
        if wanted == "Joints" and powerless:
            continue
        last = [o for o in outputs if command_of(o) == wanted and o.role == "stop"]
        if not last or (wanted != "Joints" and not all(is_zero(o) for o in last)):
            yield f"I10 {kind} ended without zero or hold"


def _poses(
    terms: Terms, before: Picture, seen: Picture, at: float, event: Any, outputs: list[Any], reports: list[Any]
) -> Iterator[str]:
    """A stop ends a pose where the robot is seen to be, if that is known; and whoever asked for it is told."""
    told = [o for o in outputs if command_of(o) in POSES and o.role == "stop"]
    for output in told:
        topic, fact, _ = POSES[command_of(output)]
        here = seen.fact(fact)
        wanted = here[output.intent.arm] if fact == "reach" and here else here
        numbers = tuple(_plain_numbers(output.intent))[: len(wanted or ())]
        if wanted is None or max(map(abs, map(float.__sub__, numbers, map(float, wanted)))) > NEAR:
            yield f"I10 {command_of(output)} of a stop is not where the robot is"
        if at - dict(seen.seen).get(topic, -math.inf) > terms.stale_cap + EPS:
            yield f"I6 {command_of(output)} of a stop although {topic} is stale"
        if name_of(event) == "RobotRebooted":
            yield f"H14 {command_of(output)} to a robot that was restarted"
    if not any(r.kind == "stop" for r in reports):
        return
    ended = {r.id for r in reports if r.kind == "ended"}
    for number, command in before.poses:
        topic, _, states = POSES[command]
        heard = at - dict(seen.seen).get(topic, -math.inf) < 0.1 - EPS
        spared = seen.latched or name_of(event) == "RobotRebooted" or seen.fact("fsm") not in states
        if number not in ended:
            yield f"I10 {command} goes on after a stop"
        if heard and not spared and command not in map(command_of, told) and not terms.dry_run:
            yield f"I10 {command} was not stopped"


def _in_remote(picture: Picture) -> bool:
    base = picture.fact("base")
    return base is not None and base.work_mode == 3


def _remote_goes_on(terms: Terms, before: Picture, after: Picture, at: float) -> Iterator[str]:
    """A base that is in a remote session of ours which was ended is told so until it is out of it."""
    told, ours = after.remote_ended, after.remote_asked > -math.inf
    if after.remote or not ours or not _in_remote(after) or "rt/amr/cmd" in after.contested:
        return
    if not _in_remote(before) and at < after.remote_asked + terms.explained - EPS and told < at - EPS:
        yield "I9 a remote session that opened after its end goes on"
    if at - told > terms.told_again + terms.grid + EPS:
        yield "I9 a remote session goes on and the base is not told again"


def _forget_remote(terms: Terms, picture: Picture, at: float) -> Picture:
    """It is over once the base can open it no more, or when somebody else has taken the base."""
    closed = not picture.remote and not _in_remote(picture) and picture.fact("base") is not None
    over = closed and at >= picture.remote_asked + terms.explained - EPS
    if over or (not picture.remote and "rt/amr/cmd" in picture.contested):
        return replace(picture, remote_asked=-math.inf, remote_ended=math.inf)
    return picture


def _endings(after: Picture, at: float, mode: str, outputs: list[Any]) -> Iterator[str]:
    for _, kind, renewed in after.streams:
        if at - renewed > TTL + EPS:
            yield f"I10 {kind} goes on without being renewed"
        if mode != "running":
            yield f"I10 {kind} goes on while {mode}"
    if after.remote and mode != "running":
        yield f"I9 the remote session stays open while {mode}"
    ends = [o for o in outputs if o.role == "stop"]
    if any(command_of(o) == "StopRemote" for o in ends) and "DriveBase" not in map(command_of, ends):
        yield "I9 a remote session closed without zero"


def _sickness(
    terms: Terms, before: Picture, seen: Picture, at: float, event: Any, outputs: list[Any], mode: str
) -> Iterator[str]:
    errors = seen.fact("errors") or {}
    for output in outputs:
        command = command_of(output)
        mends = command in ("ClearErrors", "EnableMotors")
        if errors and not mends and output.role != "stop" and not is_zero(output):
            yield f"H32 {command} while motors report errors"
        if command == "ClearErrors" and not errors and not seen.fact("unhealthy"):
            yield "H32 cleared errors although there were none"
        if command == "ClearErrors" and output.id and before.cleared and not output.intent.confirmed:
            yield "H32 cleared errors a second time"
    old = before.fact("errors") or {}
    if name_of(event) == "Observation" and (set(errors) - set(old)) & set(terms.legs) and mode in ACTIVE:
        yield "H32 active although a leg reports an error"
    if mode in ACTIVE and before.mode in ACTIVE and at - seen.critical_since > terms.lasting + EPS:
        yield "H27 active with a critical battery"


def _letting_go(
    terms: Terms, before: Picture, seen: Picture, at: float, event: Any, outputs: list[Any], mode: str
) -> Iterator[str]:
    """A robot that has let go is told nothing more, and blamed on nobody before its e-stop could have been seen."""
    if seen.limp_since == math.inf or before.mode not in ACTIVE:
        return
    if mode == "intervened" and at - seen.limp_since < terms.cause - EPS and not seen.foreign:
        yield "H2 called an intervention what may be an e-stop"
    if mode in ACTIVE and at - seen.limp_since > terms.cause + EPS and at > seen.limp_since:
        yield "H21 active although somebody made the robot let go"
    for output in outputs:
        if output.role != "stop" and not is_zero(output):
            yield f"H2 {command_of(output)} to a robot that let go"
        if output.role == "stop" and command_of(output) == "Joints" and mode in ACTIVE:
            yield "H1 joints held although the robot let go"


# The audit


def unrecorded(published: list[tuple[float, str]], records: list[dict[str, Any]]) -> list[str]:
    """Commands on the wire, as (time, intent), that have no audit record of their own, not later than themselves."""
    left = [(record["at"], record["command"]["intent"]) for record in records if "command" in record]
    missing = []
    for at, intent in published:
        found = next((entry for entry in left if entry[1] == intent and entry[0] <= at + EPS), None)
        if found is None:
            missing.append(f"I15 {intent} at {at:.3f} s without a record")
        else:
            left.remove(found)
    return missing
