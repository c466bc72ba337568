"""Fourier Aurora: which topic and field says what."""

from __future__ import annotations

from orchestrator.robots.families import AURORA_GROUPS as GROUPS
from orchestrator.robots.families import AURORA_SECURITY
from orchestrator.robots.feed import Life
from orchestrator.robots.profile import Profile
from orchestrator.robots.signals import Convert, Member, Numbers, Several, Signal, finite, named, numbers, quaternion

_STAMP = ("header.stamp.nanosec", "header.stamp.sec")
_STAMPED = Life(0.002, heartbeat=_STAMP, counter="header.stamp.sec")

LIVES = {
    "aurora_state": _STAMPED,
    "robot_stand_pose_state": _STAMPED,
    "base_data_pub": _STAMPED,
    "contact_data_pub": _STAMPED,
    "robot_control_group_state": _STAMPED,
    "robot_cartesian_state": _STAMPED,
    "true_data_pub": _STAMPED,
    "robot_motor_cfg_group_state": Life(1.0, heartbeat=_STAMP, counter="header.stamp.sec"),
}

MOTION_MOVE, MOTION_ERROR = 1, 3

_VECTORS: dict[str, tuple[str, Convert | Numbers]] = {
    "base.rpy": ("rpy", numbers(3, -7, 7)),
    "base.quaternion": ("quat_wxyz", quaternion),
    "base.position": ("pos_W", numbers(3, -1e4, 1e4)),
    "base.velocity": ("vel_B", numbers(3, -20, 20)),
    "base.velocity_world": ("vel_W", numbers(3, -20, 20)),
    "base.omega": ("omega_B", numbers(3, -50, 50)),
    "base.omega_world": ("omega_W", numbers(3, -50, 50)),
    "base.acceleration": ("acc_B", numbers(3, -500, 500)),
    "base.acceleration_world": ("acc_W", numbers(3, -500, 500)),
}
_IMU = ("omega_B", "acc_B")
"""Measured numbers: while they repeat exactly, nothing is measured, though the stamps go on."""
_MOTION = {"q": ("joint_position", 10.0), "qd": ("joint_velocity", 100.0), "tau": ("joint_effort", 2000.0)}


def signals(profile: Profile) -> dict[str, Signal]:
    """Every value an Aurora robot reports."""
    state, stand = "aurora_state", "robot_stand_pose_state"
    table: dict[str, Signal] = {
        "fsm.id": Signal(state, "whole_body_fsm_state"),
        "fsm.state": Signal(state, "whole_body_fsm_state", named(profile.fsm)),
        "upper.state": Signal(state, "upper_body_fsm_state", named(profile.upper_fsm)),
        "upper.override": Signal(state, "allow_upper_body_override"),
        "velocity.source": Signal(state, "velocity_command_source", named(profile.velocity_sources)),
        "emergency.security": Signal(state, "whole_body_fsm_state", lambda number: number == AURORA_SECURITY),
        "stand.dz": Signal(stand, "delta_z", finite(-1, 1)),
        "stand.pitch": Signal(stand, "delta_pitch", finite(-2, 2)),
        "stand.yaw": Signal(stand, "delta_yaw", finite(-2, 2)),
        "stand.level": Signal(stand, "stable_level"),
        "contact.force": Signal("contact_data_pub", "contact_force", numbers(12, -1e5, 1e5)),
        "contact.probability": Signal("contact_data_pub", "contact_prob", numbers(2, 0, 1)),
        "motion": Signal("robot_control_group_state", "group_motion_state", numbers(len(GROUPS), 0, 255)),
        "true.position": Signal("true_data_pub", "pos_W", numbers(3, -1e4, 1e4)),
        "true.velocity": Signal("true_data_pub", "vel_B", numbers(3, -20, 20)),
    }
    table |= {name: Signal("base_data_pub", path, check, noise=_IMU) for name, (path, check) in _VECTORS.items()}
    for group in profile.groups:
        table |= _group(group, len(profile.group(group)))
    for side in profile.hands.order if profile.hands is not None else ():
        table |= _hand(side, len(profile.hands.fingers) if profile.hands is not None else 0)
    table["motor.errors"] = Several(
        "robot_motor_cfg_group_state", "", parts=tuple(table[f"motor_error.{group}"] for group in profile.groups)
    )
    return table | {f"end.{arm}": _cartesian(arm) for arm in ("left_arm", "right_arm") if arm in profile.groups}


def _group(group: str, count: int) -> dict[str, Signal]:
    found: dict[str, Signal] = {
        f"{part}.{group}": _member(group, path, count, bound) for part, (path, bound) in _MOTION.items()
    }
    for part, path in {"kp": "pd_kp", "kd": "pd_kd", "motor_error": "motor_error"}.items():
        found[f"{part}.{group}"] = Member(
            "robot_motor_cfg_group_state",
            f"group_state[{{}}].{path}",
            numbers(count, 0, 2**32),
            name_path="group_state[{}].group_name",
            name=GROUPS[group],
        )
    return found


def _hand(side: str, count: int) -> dict[str, Signal]:
    group = f"{side}_hand"
    return {
        f"hand.{side}": _member(group, "joint_position", count, 10.0),
        f"hand_velocity.{side}": _member(group, "joint_velocity", count, 100.0),
        f"hand_effort.{side}": _member(group, "joint_effort", count, 2000.0),
    }


def _member(group: str, path: str, count: int, bound: float) -> Member:
    return Member(
        "robot_control_group_state",
        f"group_state[{{}}].{path}",
        numbers(count, -bound, bound),
        name_path="group_state[{}].group_name",
        name=GROUPS[group],
    )


def _cartesian(arm: str) -> Member:
    return Member(
        "robot_cartesian_state",
        "cartesian_state[{}].pose",
        numbers(7, -100, 100),
        name_path="cartesian_state[{}].group_name",
        name=GROUPS[arm],
    )
