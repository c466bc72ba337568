"""Stops: HOLD, PARK and DROP, what each robot is sent for them, and whether they had an effect.

Nothing here asks a rule: a stop is never refused, delayed or counted.
"""

from __future__ import annotations

import math

from msgspec.structs import replace

from orchestrator.guard import base_task, hands, remote, streams
from orchestrator.guard.modes import Mode
from orchestrator.guard.policy import POSES
from orchestrator.guard.rules import ask_for, out_of_place, staleness, topic_problem
from orchestrator.guard.state import Hold, Stopping
from orchestrator.guard.turn import Turn
from orchestrator.robots.intents import (
    AnyIntent,
    MoveHand,
    PauseTask,
    SetFsm,
    StandPose,
    SwitchUpperControl,
    Velocity,
)

HARD = frozenset({"hard", "di"})
"""Channels after which joints are left alone: power is likely off, and a target would jump when it returns."""


def begin(
    turn: Turn,
    profile: str,
    cause: str,
    *,
    joints: bool = True,
    base: str = "cancel",
    asked: bool = False,
    orderly: bool = False,
) -> None:
    """Stop the robot: `base` says whether its task is cancelled or paused, `asked` that a person or an e-stop did.

    A robot that is latched may have let go, so it is not parked, and nothing of it is held that is not held already.
    """
    setting, state, now = turn.setting, turn.state, turn.now
    config = setting.config.stop
    drove_velocity = "Velocity" in state.moved
    poses: tuple[AnyIntent, ...] = ()
    if state.latched:
        profile = "hold"
    if not joints:
        turn.change(holds={}, hand_holds={}, frame_due=math.inf)
    elif not state.latched:
        _hold_what_we_moved(turn)
        poses = _poses_on_the_way(turn)
    _end_what_goes_on(turn, cause)
    velocity = setting.takes(Velocity) and (drove_velocity or setting.robot.hold.always_zero_velocity)
    turn.change(
        pending=(),  # what we wanted before may still come about, by our hand
        stop=Stopping(
            profile=profile,
            cause=cause,
            began=now,
            joints=joints,
            velocity_until=now + config.velocity_for if velocity else -math.inf,
            velocity_due=now if velocity else math.inf,
            orderly=orderly,
            stage="hold",
            stage_began=now,
            poses=poses,
            check_due=now + config.check_after,
            repeats=0,
            still_since=math.inf,
            outcome="open",
        ),
    )
    turn.report("stop", f"{profile}: {cause}", value=profile)
    _send_once(turn, base, asked)
    if profile == "drop":
        _drop(turn)


def _end_what_goes_on(turn: Turn, cause: str) -> None:
    goes_on = {hands.resource(hand) for hand in hands.left_alone(turn)}
    under_way = turn.state.under_way
    cut_off = [number for what, number in under_way.items() if what not in goes_on]
    for number in (*(stream.id for stream in turn.state.streams), *cut_off):
        turn.report("ended", cause, number, "stopped")
    streams.no_more_zeros(turn)
    turn.change(streams=(), under_way={what: number for what, number in under_way.items() if what in goes_on})


def _hold_what_we_moved(turn: Turn) -> None:
    """Joints where they are now, whole groups, only those we moved (or all of one message) and never legs.

    A hand that rests keeps what it was told: it may hold something.
    """
    setting, state = turn.setting, turn.state
    ours = {group for group in setting.groups if group in state.moved or group in state.holds}
    if ours and setting.robot.hold.whole:
        ours = set(setting.groups)
    seen = state.observed
    streams.hold_groups(turn, {g: streams.whereabouts(turn, g) for g in setting.groups if g in ours & set(seen.joints)})
    until = turn.now + (setting.robot.hold.duration or math.inf)
    left_alone = hands.left_alone(turn)
    turn.change(hand_holds={})
    for hand, q in seen.hands.items():
        if hands.resource(hand) in state.moved and hand not in left_alone:
            turn.change(hand_holds=turn.state.hand_holds | {hand: Hold(q, until)})
            hands.tell(turn, hand, q)


def _poses_on_the_way(turn: Turn) -> tuple[AnyIntent, ...]:
    """The robot has no word for "stop" on its own way to a pose: it is told to be where it is.

    Only in a state in which it goes by such a command at all: after an e-stop it has let go or fallen.
    """
    setting, state, now = turn.setting, turn.state, turn.now
    if any(state.flags.values()):
        return ()
    poses = []
    for intent in state.posing.values():
        ask = ask_for(intent, state.epoch, now, state, setting.profile, setting.config, setting.robot)
        topic = POSES[type(intent)]
        if out_of_place(ask):
            continue
        if problem := topic_problem(state, topic, now, setting.config):
            _say_it_goes_on(turn, intent, problem)
        else:
            poses.append(_where_it_is(intent, turn))
    return tuple(poses)


def _say_it_goes_on(turn: Turn, intent: AnyIntent, problem: str) -> None:
    text = f"{type(intent).__name__} cannot be stopped: where the robot is, {POSES[type(intent)]}, is {problem}"
    turn.report("warning", text, value="not held")


def end_pose(turn: Turn, number: int) -> None:
    """A pose the run no longer wants, by its command: it ends, at the latest when the robot shows where it is."""
    state = turn.state
    what = next((what for what, each in state.under_way.items() if each == number and what in state.posing), None)
    if what is None:
        return
    under_way = {name: each for name, each in state.under_way.items() if name != what}
    turn.change(under_way=under_way, unwanted=state.unwanted | {what})
    turn.report("ended", streams.WANTED_NO_MORE, number, "ended")
    end_unwanted(turn)
    if what in turn.state.unwanted:
        intent = state.posing[what]
        problem = topic_problem(state, POSES[type(intent)], turn.now, turn.setting.config)
        _say_it_goes_on(turn, intent, problem or "not known")


def end_unwanted(turn: Turn) -> None:
    """Poses nobody wants any more end where the robot shows it is, unless it has let go or is somebody else's."""
    if turn.state.mode not in (Mode.RUNNING, Mode.PAUSED, Mode.STOPPING) or turn.state.suspect is not None:
        return
    for what in sorted(turn.state.unwanted):
        _end_where_it_is(turn, what)


def _end_where_it_is(turn: Turn, what: str) -> None:
    setting, state = turn.setting, turn.state
    intent = state.posing.get(what)
    if intent is not None:
        ask = ask_for(intent, state.epoch, turn.now, state, setting.profile, setting.config, setting.robot)
        if not out_of_place(ask):
            if topic_problem(state, POSES[type(intent)], turn.now, setting.config):
                return
            turn.send(_where_it_is(intent, turn), "stop", streams.WANTED_NO_MORE)
    turn.change(unwanted=turn.state.unwanted - {what})


def _where_it_is(intent: StandPose | MoveHand, turn: Turn) -> AnyIntent:
    seen = turn.state.observed
    if isinstance(intent, MoveHand):
        return replace(intent, pose=seen.reach[intent.arm])
    limits = turn.setting.profile.stand_pose
    assert seen.stand is not None and limits is not None
    return StandPose(*limits.nearest(seen.stand))


def _send_once(turn: Turn, base: str, asked: bool) -> None:
    """The messages a stop consists of, at its beginning and whenever it is repeated."""
    stop = turn.state.stop
    assert stop is not None
    if stop.velocity_until > turn.now:
        turn.send(Velocity(0.0, 0.0, 0.0), "stop", stop.cause)
        turn.change(stop=replace(stop, velocity_due=turn.now + 1 / turn.setting.velocity_rate))
    if turn.setting.profile.base is not None:
        _stop_base(turn, stop.cause, base, asked)
    for pose in stop.poses:
        turn.send(pose, "stop", stop.cause)
    if turn.state.holds or turn.state.hand_holds:
        streams.frame(turn, record=True, role_is_stop=True)


def _stop_base(turn: Turn, cause: str, how: str, asked: bool) -> None:
    state = turn.state
    if remote.may_be_open(state):
        remote.end(turn, cause)
    task = state.task
    if how == "pause" and task is not None and not task.cancelled:
        turn.send(PauseTask(), "stop", cause)
        base_task.paused(turn)
    elif asked or task is not None:
        if task is not None and not task.cancelled:
            turn.report("ended", cause, task.id, "stopped")
        base_task.cancel(turn, cause)


def _drop(turn: Turn) -> None:
    stop, drop = turn.state.stop, turn.setting.robot.drop
    assert stop is not None
    if drop.fsm is not None:
        turn.send(SetFsm(drop.fsm), "stop", stop.cause)
    hands.forget_all(turn)
    turn.change(stop=replace(stop, stage="dropped", stage_began=turn.now))


def advance(turn: Turn) -> None:
    """Go on with a stop: repeat what must be repeated, look for the effect, park when standing still."""
    stop = turn.state.stop
    if stop is None:
        return
    if turn.now >= stop.velocity_due:
        _repeat_zero(turn, stop)
    _notice_stillness(turn)
    if stop.outcome == "open":
        _park(turn)
        _check_effect(turn)


def _repeat_zero(turn: Turn, stop: Stopping) -> None:
    if turn.now >= stop.velocity_until:
        turn.change(stop=replace(stop, velocity_due=math.inf))
        return
    turn.send(Velocity(0.0, 0.0, 0.0), "stop", stop.cause, record=False)
    turn.change(stop=replace(stop, velocity_due=turn.now + 1 / turn.setting.velocity_rate))


def is_still(turn: Turn) -> bool | None:
    """Whether the robot stands still; None when it does not tell."""
    setting, state = turn.setting, turn.state
    if staleness(state, motion_role(setting.robot.roles), turn.now, setting.config, setting.robot):
        return None
    speed, base = state.observed.speed, state.observed.base
    if base is not None and base.navigation in ("queuing", "running"):
        return False  # it may be about to drive on
    return None if speed is None else speed <= setting.robot.still


def _is_queued_in_a_pause(turn: Turn) -> bool:
    """A base takes a pause only once it drives: until then its task waits, and nothing is wrong."""
    seen, paused = turn.state.observed, turn.state.mode is Mode.PAUSED
    queued = paused and seen.base is not None and seen.base.navigation == "queuing"
    return queued and seen.speed is not None and seen.speed <= turn.setting.robot.still


def motion_role(roles: dict[str, str]) -> str:
    """Which role tells how fast the robot moves."""
    return next(role for role in ("motion", "base", "joints") if role in roles)


def _notice_stillness(turn: Turn) -> None:
    stop = turn.state.stop
    assert stop is not None
    still = is_still(turn)
    if not still and stop.still_since < math.inf:
        turn.change(stop=replace(stop, still_since=math.inf))
    elif still and stop.still_since == math.inf:
        turn.change(stop=replace(stop, still_since=turn.now))


def _park(turn: Turn) -> None:
    """The stages after HOLD, for a robot that stands still."""
    stop, config = turn.state.stop, turn.setting.config.stop
    assert stop is not None
    if stop.profile != "park":
        return
    park = turn.setting.robot.park
    if stop.stage == "hold":
        if turn.now - stop.still_since < config.still_for:
            return
        if park.rest is not None and turn.state.holds:
            turn.change(stop=replace(stop, stage="ramp", stage_began=turn.now))
        else:
            _park_by_fsm(turn)
    elif stop.stage == "ramp" and turn.now - stop.stage_began >= _ramp_time(turn):
        turn.change(stop=replace(stop, stage="limp", stage_began=turn.now))
    elif stop.stage == "limp" and turn.now - stop.stage_began >= config.limp_over:
        streams.frame(turn, record=True, role_is_stop=True)
        turn.change(stop=replace(stop, stage="parked"), holds={}, hand_holds={}, frame_due=math.inf)


def _ramp_time(turn: Turn) -> float:
    ways = [
        abs(a - b)
        for group, hold in turn.state.holds.items()
        for a, b in zip(hold.q, streams.rest(turn, group, hold.q))
    ]
    return max(ways, default=0.0) / turn.setting.config.stop.ramp


def _park_by_fsm(turn: Turn) -> None:
    stop, state, park = turn.state.stop, turn.state, turn.setting.robot.park
    assert stop is not None
    numbers = turn.setting.profile.fsm
    if park.fsm is not None and state.observed.fsm in [numbers[name] for name in park.from_fsm]:
        turn.send(SetFsm(park.fsm), "stop", stop.cause)
    if park.release_upper and state.observed.upper_control and turn.setting.takes(SwitchUpperControl):
        turn.send(SwitchUpperControl(enabled=False), "stop", stop.cause)
    turn.change(stop=replace(stop, stage="parked", stage_began=turn.now))


def _check_effect(turn: Turn) -> None:
    stop = turn.state.stop
    assert stop is not None
    if turn.now < stop.check_due:
        return
    if stop.stage in PARKING:
        turn.change(stop=replace(stop, check_due=turn.now + turn.setting.config.stop.repeat_every))
        return
    still = is_still(turn)
    ends = base_task.ends(turn.state) or remote.ends(turn)
    if still and (stop.profile != "park" or stop.stage == "parked") and not ends:
        _finish(turn, "stopped")
    elif still or (still is not None and _is_queued_in_a_pause(turn)):
        turn.change(stop=replace(stop, check_due=turn.now + turn.setting.config.stop.repeat_every))
    elif stop.repeats < turn.setting.config.stop.repeats:
        _repeat(turn)
    elif still is None:
        _finish(turn, "unverified")
    else:
        _escalate(turn)


def _repeat(turn: Turn) -> None:
    """No effect seen yet: the same stop once more."""
    stop, config = turn.state.stop, turn.setting.config.stop
    assert stop is not None
    velocity = stop.velocity_until > -math.inf
    turn.change(
        stop=replace(
            stop,
            repeats=stop.repeats + 1,
            check_due=turn.now + config.repeat_every,
            velocity_until=turn.now + config.velocity_for if velocity else stop.velocity_until,
        )
    )
    paused = turn.state.mode is Mode.PAUSED
    _send_once(turn, "pause" if paused else "cancel", asked=not paused and turn.state.mode is not Mode.INTERVENED)
    if stop.stage == "dropped":
        _drop(turn)


def _escalate(turn: Turn) -> None:
    stop, config = turn.state.stop, turn.setting.config
    assert stop is not None
    harder = config.stop.escalate
    allowed = stop.joints and not turn.state.latched and (harder != "drop" or config.allow.drop)
    if allowed and ORDER.index(harder) > ORDER.index(stop.profile):
        begin(turn, harder, f"{stop.cause}; {stop.profile} had no effect", asked=True)
    else:
        _finish(turn, "ineffective")


ORDER = ("none", "hold", "park", "drop")
PARKING = ("ramp", "limp")
"""Stages in which joints move on purpose."""


def _finish(turn: Turn, outcome: str) -> None:
    """Say what came of the stop: never "stopped" without evidence."""
    stop = turn.state.stop
    assert stop is not None
    turn.change(stop=replace(stop, outcome=outcome, check_due=math.inf))
    stopping = turn.state.mode is Mode.STOPPING
    if outcome == "stopped":
        turn.report("stopped", f"the robot stands still: {stop.cause}", value=stop.cause)
        if turn.state.mode is not Mode.PAUSED and (left := base_task.left_behind(turn.state)):
            turn.report("warning", left, value="left behind")
        if left := remote.left_behind(turn.state):
            turn.report("warning", left, value="left behind")
        if stopping:
            turn.enter(Mode.DISARMED, stop.cause)
        return
    if outcome == "ineffective":
        turn.report("press_hardware_estop", "PRESS HARDWARE E-STOP: the robot still moves after a stop")
    else:
        turn.report("unverified", f"whether the robot stands still is not known: {stop.cause}")
    if stopping and not turn.state.moved and outcome == "unverified":
        turn.enter(Mode.DISARMED, stop.cause)
    elif turn.state.mode in (Mode.STOPPING, Mode.RUNNING, Mode.PAUSED, Mode.INTERVENED):
        turn.enter(Mode.FAULT, f"stop {outcome}: {stop.cause}")


def release_streams(turn: Turn, cause: str, joints: bool = True) -> None:
    """Somebody else commands the robot: our streams end with one zero or hold each, the base's task is cancelled.

    Without `joints` not even that is sent to them: a robot that has let go would jump when its power returns.
    """
    for stream in turn.state.streams:
        if joints or stream.motion is None:
            streams.end(turn, stream, cause)
        else:
            turn.report("ended", cause, stream.id, "ended")
    if turn.state.remote is not None and not turn.state.remote.ended:
        remote.end(turn, cause)
    streams.no_more_zeros(turn)
    turn.change(streams=(), holds={}, hand_holds={}, frame_due=math.inf, pending=(), wanted={})
    hands.forget_all(turn)
    base_task.let_go(turn, cause)


def due(stop: Stopping) -> float:
    """When a stop needs attention next."""
    return min(stop.velocity_due, stop.check_due)
