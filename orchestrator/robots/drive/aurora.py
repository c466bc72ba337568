"""Intents to messages of Fourier's Aurora, as its own client 0.1.8 sends them."""

from __future__ import annotations

from typing import cast

from orchestrator.robots.drive.sending import (
    CannotSend,
    Makers,
    Message,
    Positions,
    Sending,
    finger_positions,
    finite,
    group_of,
    held,
    number_of,
    of_length,
)
from orchestrator.robots.families import AURORA_GROUPS
from orchestrator.robots.intents import (
    HandTarget,
    MoveHand,
    SetFsm,
    SetGains,
    SetUpperFsm,
    SetVelocitySource,
    StandPose,
    Velocity,
)
from orchestrator.robots.profile import Profile
from orchestrator.wire.builtin_interfaces import Time
from orchestrator.wire.fourier_msgs import (
    CartesianCmd,
    ControlGroupCmd,
    MotorCfgGroupCmd,
    MotorMode,
    MoveCommand,
    RobotCartesianCmd,
    RobotControlGroupCmd,
    RobotMotorCfgGroupCmd,
    RobotStandPoseCmd,
    UpperBodyFsmStateChangeCmd,
    VelocityCmd,
    VelocitySourceCmd,
    WholeBodyFsmStateChangeCmd,
    no_duration,
)
from orchestrator.wire.std_msgs import BaseDataType, Header

_IDLE, _MOVES = 0, 1
_TO_POSE, _STRAIGHT = 1, 2
_FULL_SPEED = 1000.0
_MOVE_GROUPS = {"left_arm": _FULL_SPEED, "right_arm": _FULL_SPEED, "head": 400.0, "waist": 500.0}
"""The groups of a MoveCommand in the client's order, with the speeds it sends for those that take no part."""
_NO_POSE = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]


def _header() -> Header:
    """Fourier's client sends an empty one."""
    return Header(Time(sec=0, nanosec=0), frame_id="")


def _set_fsm(profile: Profile, intent: SetFsm, sending: Sending) -> list[Message]:
    state = number_of(profile.fsm, intent.state, "state")
    return [("whole_body_fsm_state_change_cmd", WholeBodyFsmStateChangeCmd(_header(), state))]


def _set_upper_fsm(profile: Profile, intent: SetUpperFsm, sending: Sending) -> list[Message]:
    state = number_of(profile.upper_fsm, intent.state, "upper-body state")
    return [("upper_body_fsm_state_change_cmd", UpperBodyFsmStateChangeCmd(_header(), state))]


def _set_velocity_source(profile: Profile, intent: SetVelocitySource, sending: Sending) -> list[Message]:
    source = number_of(profile.velocity_sources, intent.source, "velocity source")
    return [("velocity_source_cmd", VelocitySourceCmd(_header(), source))]


def _velocity(profile: Profile, intent: Velocity, sending: Sending) -> list[Message]:
    vx, vy, yaw = finite(intent.vx, "vx"), finite(intent.vy, "vy"), finite(intent.yaw, "yaw")
    if "no_duration" in profile.variants:
        return [("velocity_cmd", no_duration.VelocityCmd(_header(), vx, vy, yaw))]
    return [("velocity_cmd", VelocityCmd(_header(), vx, vy, yaw, duration=finite(sending.valid_for, "valid_for")))]


def _stand_pose(profile: Profile, intent: StandPose, sending: Sending) -> list[Message]:
    pose = RobotStandPoseCmd(
        _header(),
        delta_z=finite(intent.dz, "dz"),
        delta_pitch=finite(intent.pitch, "pitch"),
        delta_yaw=finite(intent.yaw, "yaw"),
    )
    return [("robot_stand_pose_cmd", pose)]


def _group(name: str, q: list[float], motion_state: int) -> ControlGroupCmd:
    """Velocity and effort empty and modes 0, as the client sends them although the guide calls them essential."""
    return ControlGroupCmd(
        group_name=AURORA_GROUPS[name],
        group_motion_state=motion_state,
        control_type=0,
        motor_mode=0,
        position=q,
        velocity=[],
        effort=[],
    )


def _groups(groups: list[ControlGroupCmd]) -> list[Message]:
    return [("robot_control_group_cmd", RobotControlGroupCmd(_header(), group_cmd=groups, ex_data=[]))]


def joint_messages(profile: Profile, positions: Positions, sending: Sending) -> list[Message]:
    """Whole groups; those that are not named are left alone."""
    if not positions:
        raise CannotSend("no joint group is named")
    return _groups(
        [
            _group(name, of_length(q, len(group_of(profile, name)), f"position of {name}"), _IDLE)
            for name, q in positions.items()
        ]
    )


def _hand_target(profile: Profile, intent: HandTarget, sending: Sending) -> list[Message]:
    return _groups([_group(f"{intent.hand}_hand", finger_positions(profile, intent.hand, intent.opening), _IDLE)])


def _set_gains(profile: Profile, intent: SetGains, sending: Sending) -> list[Message]:
    count = len(group_of(profile, intent.group))
    gains = MotorCfgGroupCmd(
        group_name=AURORA_GROUPS[intent.group],
        mode=cast(MotorMode, MotorMode.DISABLE),  # what the client leaves there; the robot goes by the gains
        pos_kp=[],
        pos_ki=[],
        pos_kd=[],
        pd_kp=of_length(intent.kp, count, "kp"),
        pd_kd=of_length(intent.kd, count, "kd"),
    )
    return [("robot_motor_cfg_group_cmd", RobotMotorCfgGroupCmd(_header(), group_cmd=[gains], ex_data=[]))]


def _move_hand(profile: Profile, intent: MoveHand, sending: Sending) -> list[Message]:
    if not profile.move_command:
        raise CannotSend(f"{profile.model} does not plan arm movements to poses")
    if intent.arm not in ("left_arm", "right_arm"):
        raise CannotSend(f'a pose is for left_arm or right_arm, not for "{intent.arm}"')
    move = MoveCommand(
        _header(),
        move_type=_STRAIGHT if intent.straight else _TO_POSE,
        joint_commands=_idle_joints(profile, sending),
        cartesian_commands=_arm_poses(intent),
        ex_data=[],
    )
    return [("move_command_data", move)]


def _idle_joints(profile: Profile, sending: Sending) -> RobotControlGroupCmd:
    """No group takes part; the client sends zeros here, we send where each one is."""
    groups = [_group(name, held(sending.joints, name, len(profile.group(name))), _IDLE) for name in _MOVE_GROUPS]
    return RobotControlGroupCmd(_header(), group_cmd=groups, ex_data=[_speed(value) for value in _MOVE_GROUPS.values()])


def _arm_poses(intent: MoveHand) -> RobotCartesianCmd:
    if not 0.0 <= intent.speed <= 1.0:
        raise CannotSend(f"speed is {intent.speed}: a fraction of full speed is between 0 and 1")
    pose = of_length(intent.pose, 7, "pose")
    arms = ("left_arm", "right_arm")
    return RobotCartesianCmd(
        _header(),
        coordinate_system=0,
        cartesian_cmd=[
            _arm_pose(arm, pose, _MOVES) if arm == intent.arm else _arm_pose(arm, _NO_POSE, _IDLE) for arm in arms
        ],
        ex_data=[_speed(_FULL_SPEED * intent.speed if arm == intent.arm else _FULL_SPEED) for arm in arms],
    )


def _arm_pose(arm: str, pose: list[float], motion_state: int) -> CartesianCmd:
    return CartesianCmd(AURORA_GROUPS[arm], group_motion_state=motion_state, pose=pose, twist=[], wrench=[])


def _speed(thousandths: float) -> BaseDataType:
    return BaseDataType(arg_int=[], arg_double=[thousandths], arg_string=[])


MESSAGES: Makers = {
    SetFsm: _set_fsm,
    SetUpperFsm: _set_upper_fsm,
    SetVelocitySource: _set_velocity_source,
    Velocity: _velocity,
    StandPose: _stand_pose,
    HandTarget: _hand_target,
    SetGains: _set_gains,
    MoveHand: _move_hand,
}
