"""Streams: frames at the robot's rate while somebody renews them, zero or hold when nobody does."""

from __future__ import annotations

import math

from msgspec.structs import replace

from orchestrator.guard import remote
from orchestrator.guard.events import CallAnswered
from orchestrator.guard.freshness import Freshness
from orchestrator.guard.motion import commanded, furthest_off, joint_stream, plan, starting_point
from orchestrator.guard.outputs import ANSWER, NOT_FOLLOWED, Role
from orchestrator.guard.rules import ask_for, first_refusal, staleness
from orchestrator.guard.state import Angles, Hold, Stream
from orchestrator.guard.turn import DRIVE_RATE, Turn
from orchestrator.robots.intents import (
    AnyIntent,
    DriveBase,
    HandTarget,
    JointPath,
    JointTarget,
    MoveHand,
    Velocity,
)
from orchestrator.robots.motion import Motion

FRAME_RULES = frozenset({"latch", "fresh", "writer_ready", "interlock"})
"""What must still hold for every frame of a stream."""


def resource(intent: AnyIntent) -> str:
    """What a stream or a pose occupies: one at a time may move it."""
    if isinstance(intent, MoveHand):
        return f"MoveHand {intent.arm}"
    return intent.group if isinstance(intent, JointTarget | JointPath) else type(intent).__name__


def start(turn: Turn, id: int, intent: AnyIntent) -> None:  # noqa: A002
    """Begin a stream, in place of the one that had the same resource; its first frame leaves at once."""
    now, state = turn.now, turn.state
    motion = _motion(turn, intent)
    replaced = [stream for stream in state.streams if resource(stream.intent) == resource(intent)]
    kept = tuple(stream for stream in state.streams if stream not in replaced)
    for stream in replaced:
        turn.report("ended", "replaced by a new one", stream.id, "replaced")
    if isinstance(intent, Velocity):
        no_more_zeros(turn)
    stream = Stream(id, intent, now, now, now, motion)
    turn.change(streams=(*kept, stream), moved=state.moved | {resource(intent)})
    if motion is not None:
        if motion.note:
            turn.report("warning", motion.note, id, "slower")
        frame(turn, record=True)
    else:
        _repeat(turn, stream, record=True)


def _motion(turn: Turn, intent: AnyIntent) -> Motion | None:
    if not isinstance(intent, JointTarget | JointPath):
        return None
    config = turn.setting.config
    start = starting_point(turn.state, intent.group, turn.now, config.limits.first_step)
    assert start is not None  # the rule of continuity has seen to it
    return plan(intent, start, turn.setting.profile)


def renew(turn: Turn, ids: tuple[int, ...]) -> None:
    if turn.state.streams:
        turn.change(
            streams=tuple(
                replace(stream, renewed=turn.now) if stream.id in ids else stream for stream in turn.state.streams
            )
        )


def advance(turn: Turn) -> None:
    """Send every frame that is due, and end the streams that may not go on."""
    for stream in turn.state.streams:
        if reason := _over(turn, stream):
            end(turn, stream, reason)
        elif stream.motion is None and turn.now >= stream.due:
            _repeat(turn, stream, record=False)
    if turn.now >= turn.state.frame_due:
        frame(turn, record=False)
    if turn.now >= turn.state.zero_due:
        _zero_again(turn)


def _zero_again(turn: Turn) -> None:
    """A robot whose firmware knows no end of a velocity walks on for ever if the one zero is lost (docs/robots.md)."""
    turn.send(Velocity(0.0, 0.0, 0.0), "stop", "the velocity is over", record=False)
    zeros, timing = turn.state.zeros - 1, turn.setting.config.timing
    turn.change(zeros=zeros, zero_due=turn.now + timing.resend if zeros else math.inf)


def no_more_zeros(turn: Turn) -> None:
    """Whoever walks now, or sees to a stop, is not to be held up."""
    turn.change(zeros=0, zero_due=math.inf)


def _over(turn: Turn, stream: Stream) -> str | None:
    setting, state = turn.setting, turn.state
    if turn.now >= stream.renewed + setting.config.timing.stream:
        return "not renewed"
    ask = ask_for(stream.intent, state.epoch, turn.now, state, setting.profile, setting.config, setting.robot)
    refusal = first_refusal(ask, tuple(rule for rule in setting.rules if rule.name in FRAME_RULES))
    return f"{refusal.rule}: {refusal.text}" if refusal else None


BELIEVED_AFTER = 0.05
"""Seconds after which joints that are off are believed to be: a single report may be wrong."""


def joints_reported(turn: Turn, heard: Freshness) -> None:
    """Motions that the robot does not follow end: it would jump to where they are by then, or push on."""
    if heard.counter is not None and heard.counter_changed != turn.now:
        return  # the same report again
    for stream in turn.state.streams:
        if stream.motion is not None:
            _check_it_follows(turn, stream, stream.motion)


def _check_it_follows(turn: Turn, stream: Stream, motion: Motion) -> None:
    config, group = turn.setting.config, resource(stream.intent)
    time, measured = turn.now - stream.began, turn.state.observed.joints.get(group, ())
    off = furthest_off(motion, time, config.timing.follow, measured, config.limits.follow)
    if off is None:
        if stream.off_since < math.inf:
            _change(turn, replace(stream, off_since=math.inf))
    elif turn.now - stream.off_since >= BELIEVED_AFTER:
        joint, distance = turn.setting.profile.group(group)[off[0]].name, off[1]
        end(turn, stream, f"{joint} does not follow: it is {distance:.2f} rad from where it should be", NOT_FOLLOWED)
    elif stream.off_since == math.inf:
        _change(turn, replace(stream, off_since=turn.now))


def _change(turn: Turn, changed: Stream) -> None:
    turn.change(streams=tuple(changed if each.id == changed.id else each for each in turn.state.streams))


def _repeat(turn: Turn, stream: Stream, record: bool) -> None:
    """One message of a velocity."""
    rate = turn.setting.velocity_rate if isinstance(stream.intent, Velocity) else DRIVE_RATE
    turn.send(stream.intent, "stream", type(stream.intent).__name__, stream.id, record)
    _change(turn, replace(stream, due=turn.now + 1 / rate))


def call_answered(turn: Turn, event: CallAnswered) -> None:
    """A stream the robot does not take ends; what shows its effect is judged by that, and an answer is only told."""
    stream = next((stream for stream in turn.state.streams if stream.id == event.id), None)
    if stream is None:
        if event.problem:
            turn.report("warning", event.problem, event.id, ANSWER)
    elif event.problem:
        end(turn, stream, event.problem)
    elif not stream.answered:
        _change(turn, replace(stream, answered=True))
        turn.report("evidence", "the robot took it", stream.id, "evidence")


def end(turn: Turn, stream: Stream, reason: str, value: str = "ended") -> None:
    """End a stream as it must end: zero velocity, or hold."""
    hold = _arrived(stream, turn.now) if reason == WANTED_NO_MORE else None
    here = whereabouts(turn, resource(stream.intent)) if stream.motion is not None else ()
    turn.change(streams=tuple(each for each in turn.state.streams if each.id != stream.id))
    match stream.intent:
        case Velocity():
            turn.send(Velocity(0.0, 0.0, 0.0), "stop", reason, stream.id)
            if not turn.setting.velocity_by_rpc:  # those calls are answered, and made again if not
                timing = turn.setting.config.timing
                turn.change(zeros=timing.resends, zero_due=turn.now + timing.resend)
        case DriveBase():
            remote.end(turn, reason)
        case JointTarget(group=group) | JointPath(group=group):
            hold_groups(turn, {group: hold or here})
            frame(turn, record=True, role_is_stop=True)
    turn.report("ended", reason, stream.id, value)


WANTED_NO_MORE = "no longer wanted"


def _arrived(stream: Stream, now: float) -> Angles | None:
    """Where a motion has come to its end, if it has."""
    motion = stream.motion
    return motion.positions[-1] if motion is not None and now - stream.began >= motion.duration else None


def whereabouts(turn: Turn, group: str) -> Angles:
    """Where a group is: as measured, or as commanded when that is newer than the last measurement."""
    setting, state = turn.setting, turn.state
    if staleness(state, "joints", turn.now, setting.config, setting.robot):
        return commanded(state, group, turn.now) or state.observed.joints[group]
    return state.observed.joints[group]


def hold_groups(turn: Turn, groups: dict[str, Angles]) -> None:
    """Hold these groups for as long as the robot needs it."""
    duration = turn.setting.robot.hold.duration
    until = math.inf if duration is None else turn.now + duration
    holds = turn.state.holds | {group: Hold(q, until) for group, q in groups.items()}
    turn.change(holds=holds, frame_due=turn.now)


def _groups(turn: Turn) -> dict[str, Angles]:
    """Every group that must be in the next frame, with its angles."""
    state, now = turn.state, turn.now
    groups = {group: hold.q for group, hold in state.holds.items() if now < hold.until}
    for stream in state.streams:
        if stream.motion is not None:
            groups[resource(stream.intent)] = stream.motion.at(now - stream.began)
    return groups


def _hold_the_rest(turn: Turn) -> None:
    """One message carries every group: those nobody moves are held where they are while others move."""
    state, setting = turn.state, turn.setting
    moving = any(stream.motion for stream in state.streams)
    if not setting.robot.hold.whole or not moving:
        return
    until = turn.now + (setting.robot.hold.duration or math.inf)
    holds = dict(state.holds)
    for group in setting.groups:
        if joint_stream(state, group) is None:
            held = holds.get(group)
            q = held.q if held is not None and turn.now < held.until else state.observed.joints.get(group)
            if q is not None:
                holds[group] = Hold(q, until)
    turn.change(holds=holds)


def frame(turn: Turn, record: bool, role_is_stop: bool = False) -> None:
    """One frame of joint angles: streams where they are by now, held groups, held hands."""
    _hold_the_rest(turn)
    state, setting, now = turn.state, turn.setting, turn.now
    groups = _groups(turn)
    holds = {group: hold for group, hold in state.holds.items() if now < hold.until}
    hands = {hand: hold for hand, hold in state.hand_holds.items() if now < hold.until}
    moving = any(stream.motion for stream in state.streams)
    role: Role = "stream" if moving and not role_is_stop else "stop"
    rate = setting.profile.command_rate if moving else setting.robot.hold.rate
    stiffness, damping = stiffness_now(turn)
    turn.send_joints(ramped(turn, groups), stiffness, damping, role, "frame", record)
    for hand, hold in hands.items():
        turn.send(HandTarget(hand, hold.q), "stop", "frame", record=record)
    turn.change(holds=holds, hand_holds=hands, frame_due=now + 1 / rate if groups or hands else math.inf)


def stiffness_now(turn: Turn) -> tuple[float, float | None]:
    """Full, but falling to nothing while parking and none at all after a drop."""
    stop = turn.state.stop
    if stop is None or stop.stage not in ("limp", "dropped"):
        return 1.0, None
    if stop.stage == "dropped":
        return 0.0, turn.setting.robot.drop.damping
    return max(0.0, 1.0 - (turn.now - stop.stage_began) / turn.setting.config.stop.limp_over), None


def ramped(turn: Turn, groups: dict[str, Angles]) -> dict[str, Angles]:
    """Held groups on their way to the rest pose, if the robot is being parked."""
    stop = turn.state.stop
    if stop is None or stop.stage not in ("ramp", "limp"):
        return groups
    elapsed = math.inf if stop.stage == "limp" else turn.now - stop.stage_began
    return {
        group: tuple(_towards(a, b, elapsed * turn.setting.config.stop.ramp) for a, b in zip(q, rest(turn, group, q)))
        for group, q in groups.items()
    }


def rest(turn: Turn, group: str, here: Angles) -> Angles:
    pose = turn.setting.robot.park.rest
    return turn.setting.profile.poses.get(pose or "", {}).get(group, here)


def _towards(here: float, there: float, step: float) -> float:
    return there if abs(there - here) <= step else here + math.copysign(step, there - here)


def due(streams: tuple[Stream, ...], expiry: float) -> float:
    """When the first of them expires or is sent again."""
    first = math.inf
    for stream in streams:
        first = min(first, stream.renewed + expiry)
        if stream.motion is None:
            first = min(first, stream.due)
    return first
