"""Intents to messages of Dobot's Atom and Atom-W, and to calls of its JSON-RPC."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

from orchestrator.robots.drive.sending import (
    CannotSend,
    Makers,
    Message,
    Params,
    ParamsOf,
    Positions,
    Sending,
    both_hands,
    commanded_or_held,
    finite,
    group_of,
    number_of,
    whole,
)
from orchestrator.robots.families import ATOM_FIRST_INDEX
from orchestrator.robots.intents import (
    CancelTask,
    ClearErrors,
    DriveBase,
    EnableMotors,
    HandTarget,
    Intent,
    MoveToTag,
    PauseTask,
    ResumeTask,
    RotateBase,
    SaveMap,
    SetBaseAcceleration,
    SetBaseDeceleration,
    SetBaseSpeed,
    SetFsm,
    StartMapping,
    StartRemote,
    StopMapping,
    StopRemote,
    SubscribeLaser,
    SwitchUpperControl,
    Velocity,
)
from orchestrator.robots.profile import Base, Profile
from orchestrator.wire import dobot_atom
from orchestrator.wire.dobot_atom import (
    ClearErrors_,
    EnableMotors_,
    HandsCmd_,
    MotorCmd_,
    SetFsmId_,
    SwitchUpperControl_,
    UpperCmd_,
    amr_v2,
    fsm_v1,
    fsm_v3,
)

_MOTOR_ON = 1  # what Dobot's own programs send
_MOTORS = 29
_UPPER_GROUPS = ("waist", "left_arm", "right_arm", "head")
_CLEAR_ALL = 1  # any value clears; Dobot's library sends 1
_NO_ACTION = ""


def _set_fsm(profile: Profile, intent: SetFsm, sending: Sending) -> list[Message]:
    state = number_of(profile.fsm, intent.state, "state")
    if "fsm_v1" in profile.variants:
        return [("rt/set/fsm/id", fsm_v1.SetFsmId_(id=state))]
    if "fsm_v3" in profile.variants:
        idle = cast(fsm_v3.WorkingState, fsm_v3.WorkingState.HIDLE)
        return [("rt/set/fsm/id", fsm_v3.SetFsmId_(id=state, current_action=_NO_ACTION, state=idle))]
    return [("rt/set/fsm/id", SetFsmId_(id=state, current_action=_NO_ACTION))]


def _switch_upper_control(profile: Profile, intent: SwitchUpperControl, sending: Sending) -> list[Message]:
    return [("rt/switch/upper/control", SwitchUpperControl_(flag=intent.enabled))]


def _clear_errors(profile: Profile, intent: ClearErrors, sending: Sending) -> list[Message]:
    return [("rt/clear/errors", ClearErrors_(msg_id=_CLEAR_ALL))]


def _enable_motors(profile: Profile, intent: EnableMotors, sending: Sending) -> list[Message]:
    """Motors that the robot does not have stay off."""
    if len(intent.enabled) != len(profile.joints):
        raise CannotSend(f"enabled has {len(intent.enabled)} values, not {len(profile.joints)}")
    wanted = iter(intent.enabled)
    flags = [False] * _MOTORS
    for group in profile.groups:
        first = ATOM_FIRST_INDEX[group]
        for index in range(first, first + len(profile.group(group))):
            flags[index] = next(wanted)
    return [("rt/enable/motors", EnableMotors_(flag=flags))]


def _motor(q: float, kp: float | None, kd: float | None, tau: float | None, what: str) -> MotorCmd_:
    """`q` is known to be finite: it comes from a list that was looked through."""
    if kp is None or kd is None or tau is None:
        raise CannotSend(f"{what} has no gains in the profile")
    return MotorCmd_(mode=_MOTOR_ON, q=q, dq=0.0, tau=tau, kp=kp, kd=kd)


def joint_messages(profile: Profile, positions: Positions, sending: Sending) -> list[Message]:
    """All 17 motors of the upper body, the waist first; groups that are not commanded are held."""
    for name in positions:
        group_of(profile, name)
    joints = [joint for group in _UPPER_GROUPS for joint in profile.group(group)]
    q = commanded_or_held(profile, positions, sending, _UPPER_GROUPS)
    motors = [_motor(value, joint.kp, joint.kd, 0.0, joint.name) for value, joint in zip(q, joints, strict=True)]
    return [("rt/upper/cmd", UpperCmd_(motor_cmd=motors))]


def _hand_target(profile: Profile, intent: HandTarget, sending: Sending) -> list[Message]:
    positions = both_hands(profile, intent.hand, intent.opening, sending)
    hands = profile.hands
    assert hands is not None
    fingers = [_motor(value, hands.kp, hands.kd, hands.tau, "hand") for value in positions]
    return [("rt/hands/cmd", HandsCmd_(hands=fingers))]


# The wheeled base. Its command numbers changed between firmware generations: always taken by name.


def _base_of(profile: Profile) -> Base:
    if profile.base is None:
        raise CannotSend(f"{profile.model} has no wheeled base")
    return profile.base


def _amr(
    profile: Profile, sending: Sending, command: str, target: int, linear: float, angular: float, theta: float
) -> list[Message]:
    """One command to the base; what a command does not use is zero, as Dobot's library sends it."""
    _base_of(profile)
    wire = amr_v2 if "amr_v2" in profile.variants else dobot_atom
    order = wire.AMRCommand_(
        command_type=getattr(wire.AMRCommandType, command),
        target_id=whole(target, 32, "tag"),
        linear_vel=finite(linear, "linear"),
        angular_vel=finite(angular, "angular"),
        command_id=whole(sending.command_id, 32, "command_id"),
        timestamp=whole(sending.timestamp, 64, "timestamp"),
        theta=finite(theta, "heading"),
    )
    return [("rt/amr/cmd", order)]


def heading_in_degrees(heading: float | None) -> float:
    """A heading for the wire: above 0 up to 360 degrees, because 0 there means that it is left open."""
    if heading is None:
        return 0.0
    return round(math.degrees(finite(heading, "heading")), 4) % 360.0 or 360.0


def _move_to_tag(profile: Profile, intent: MoveToTag, sending: Sending) -> list[Message]:
    return _amr(profile, sending, "MOVE_TO_TAG", intent.tag, 0.0, 0.0, heading_in_degrees(intent.heading))


def _rotate(profile: Profile, intent: RotateBase, sending: Sending) -> list[Message]:
    if not _base_of(profile).rotate:
        raise CannotSend("this base cannot turn on the spot by command")
    return _amr(profile, sending, "ROTATE", 0, 0.0, 0.0, math.degrees(finite(intent.angle, "angle")))


def _subscribe_laser(profile: Profile, intent: SubscribeLaser, sending: Sending) -> list[Message]:
    return _amr(profile, sending, "SUBSCRIBE_LASER" if intent.enabled else "UNSUBSCRIBE_LASER", 0, 0.0, 0.0, 0.0)


def _plain(command: str) -> Callable[[Profile, Intent, Sending], list[Message]]:
    return lambda profile, intent, sending: _amr(profile, sending, command, 0, 0.0, 0.0, 0.0)


def _speeds(command: str) -> Callable[[Profile, Any, Sending], list[Message]]:
    return lambda profile, intent, sending: _amr(profile, sending, command, 0, intent.linear, intent.angular, 0.0)


MESSAGES: Makers = {
    SetFsm: _set_fsm,
    SwitchUpperControl: _switch_upper_control,
    ClearErrors: _clear_errors,
    EnableMotors: _enable_motors,
    HandTarget: _hand_target,
    MoveToTag: _move_to_tag,
    CancelTask: _plain("CANCEL_TASK"),
    PauseTask: _plain("PAUSE_TASK"),
    ResumeTask: _plain("RESUME_TASK"),
    RotateBase: _rotate,
    SetBaseSpeed: _speeds("SET_VEL"),
    SetBaseAcceleration: _speeds("SET_ACCEL"),
    SetBaseDeceleration: _speeds("SET_DECEL"),
    StartRemote: _plain("START_REMOTE"),
    DriveBase: _speeds("REMOTE_CONTROL"),
    StopRemote: _plain("STOP_REMOTE"),
    SubscribeLaser: _subscribe_laser,
    StartMapping: _plain("START_MAPPING"),
    SaveMap: _plain("SAVE_MAP"),
    StopMapping: _plain("STOP_MAPPING"),
}


# JSON-RPC.


def _fsm_of(profile: Profile, intent: SetFsm, sending: Sending) -> Params:
    return {"fsm_id": number_of(profile.fsm, intent.state, "state")}


def _upper_control_of(profile: Profile, intent: SwitchUpperControl, sending: Sending) -> Params:
    return {"is_on": intent.enabled}


def _velocity_of(profile: Profile, intent: Velocity, sending: Sending) -> Params:
    return {
        "vx": finite(intent.vx, "vx"),
        "vy": finite(intent.vy, "vy"),
        "vyaw": finite(intent.yaw, "yaw"),
        "duration": finite(sending.valid_for, "valid_for"),
    }


CALLS: dict[type[Intent], tuple[str, ParamsOf]] = {
    SetFsm: ("SetFsmId", _fsm_of),
    SwitchUpperControl: ("SwitchUpperLimbControl", _upper_control_of),
    Velocity: ("SetVel", _velocity_of),
}
"""The method for an intent, and what makes its parameters."""
