"""RobotData: one numpy view of the robot at an instant, laid out alike for every vendor.

Joints are in the profile's order. What a vendor does not report, or what is not known now, is None, never zero;
`unknown` says why.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.robots.capabilities.body import pitch_of, roll_of, yaw_of
from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.profile import Profile
from orchestrator.robots.robot import Robot
from orchestrator.robots.state import State

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JoyStickData:
    linear_cmd: Array | None
    """What the sticks ask for: forward, left and turning left, each from -1 to 1."""


@dataclass(frozen=True)
class FsmState:
    whole_body: str | None
    upper_body: str | None
    velocity_source: str | None


@dataclass(frozen=True)
class HardwareState:
    """Joint positions (rad), velocities, accelerations and torques (Nm)."""

    q: Array | None
    qd: Array | None
    qdd: Array | None
    tau: Array | None


@dataclass(frozen=True)
class Gains:
    kp: Array | None
    kd: Array | None


@dataclass(frozen=True)
class HandData:
    """One hand's fingers, in the profile's unit and order."""

    position: Array | None
    velocity: Array | None
    acceleration: Array | None
    effort: Array | None


@dataclass(frozen=True)
class GeneralizedState:
    """Base and joints in one vector."""

    q: Array | None
    """Position, quaternion x y z w, joints."""
    qd: Array | None
    """Linear and angular velocity in the base's own frame, joints."""
    tau: Array | None
    """Six zeros, joints."""


@dataclass(frozen=True)
class BaseData:
    """The base in the world (_W) and in its own frame (_B), SI units."""

    R: Array | None
    """Base to world."""
    quat_xyzw: Array | None
    quat_wxyz: Array | None
    grav_proj: Array | None
    """Which way is down, seen from the base."""
    rpy: Array | None
    omega_W: Array | None
    acc_W: Array | None
    omega_B: Array | None
    acc_B: Array | None
    vel_W: Array | None
    pos_W: Array | None
    vel_B: Array | None


@dataclass(frozen=True)
class ContactData:
    """Left foot, then right foot."""

    contact_force: Array | None
    """2 x 6: force and torque."""
    contact_prob: Array | None


@dataclass(frozen=True)
class JointLimits:
    lower: Array
    upper: Array
    effort: Array
    """NaN where nobody knows it."""
    velocity: Array


@dataclass(frozen=True)
class RobotData:
    """Everything at an instant."""

    joints: tuple[str, ...]
    groups: dict[str, slice]
    """Where each joint group stands in the joint arrays."""
    joystick: JoyStickData
    fsm: FsmState
    hardware: HardwareState
    gains: Gains
    hands: dict[str, HandData]
    generalized: GeneralizedState
    base: BaseData
    contact: ContactData
    joint_limits: JointLimits
    unknown: dict[str, Unknown] = field(default_factory=dict)
    """What the robot should report but is not known now, by signal."""


def robot_data(robot: Robot) -> RobotData:
    """Look at everything the robot reports."""
    look = _Look(robot.state)
    profile = robot.profile
    hardware = HardwareState(*(look.joints(part, profile) for part in ("q", "qd", "qdd", "tau")))
    base = _base(look)
    return RobotData(
        joints=tuple(joint.name for joint in profile.joints),
        groups=_slices(profile),
        joystick=JoyStickData(look.array("sticks")),
        fsm=FsmState(look.value("fsm.state"), _upper(look), look.value("velocity.source")),
        hardware=hardware,
        gains=Gains(look.joints("kp", profile), look.joints("kd", profile)),
        hands=_hands(look, profile),
        generalized=_generalized(base, hardware),
        base=base,
        contact=ContactData(_feet(look.array("contact.force")), look.array("contact.probability")),
        joint_limits=joint_limits(profile),
        unknown=look.unknown,
    )


class _Look:
    """Reads signals, and remembers what was not known."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.unknown: dict[str, Unknown] = {}

    def value(self, name: str) -> Any:
        if not self._state.has(name):
            return None
        found = self._state.read(name)
        if isinstance(found, Known):
            return found.value
        self.unknown[name] = found
        return None

    def array(self, name: str) -> Array | None:
        value = self.value(name)
        return None if value is None else np.array(value, dtype=float)

    def joints(self, part: str, profile: Profile) -> Array | None:
        """All groups one after the other; None unless all are known."""
        found = [self.array(f"{part}.{group}") for group in profile.groups]
        known = [array for array in found if array is not None]
        return np.concatenate(known) if known and len(known) == len(found) else None


def _slices(profile: Profile) -> dict[str, slice]:
    found, start = {}, 0
    for group in profile.groups:
        end = start + len(profile.group(group))
        found[group] = slice(start, end)
        start = end
    return found


def _upper(look: _Look) -> str | None:
    state: str | None = look.value("upper.state")
    control = look.value("upper.control")
    if control is None:
        return state
    return "on" if control else "off"


def _base(look: _Look) -> BaseData:
    wxyz = look.array("base.quaternion")
    rotation = None if wxyz is None else rotation_of(wxyz)
    own = {name: look.array(f"base.{name}") for name in ("omega", "acceleration", "velocity")}
    world = {name: look.array(f"base.{name}_world") for name in own}
    for name, vector in own.items():
        if world[name] is None and vector is not None and rotation is not None:
            world[name] = rotation @ vector
    return BaseData(
        R=rotation,
        quat_xyzw=None if wxyz is None else np.roll(wxyz, -1),
        quat_wxyz=wxyz,
        grav_proj=None if rotation is None else rotation.T @ np.array([0.0, 0.0, -1.0]),
        rpy=None if wxyz is None else _angles(wxyz),
        omega_W=world["omega"],
        acc_W=world["acceleration"],
        omega_B=own["omega"],
        acc_B=own["acceleration"],
        vel_W=world["velocity"],
        pos_W=look.array("base.position"),
        vel_B=own["velocity"],
    )


def _angles(wxyz: Array) -> Array:
    w, x, y, z = wxyz
    return np.array([angle((w, x, y, z)) for angle in (roll_of, pitch_of, yaw_of)])


def rotation_of(wxyz: Array) -> Array:
    """The matrix of a quaternion, from the base to the world."""
    w, x, y, z = wxyz / np.linalg.norm(wxyz)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _generalized(base: BaseData, hardware: HardwareState) -> GeneralizedState:
    tau = None if hardware.tau is None else np.concatenate([np.zeros(6), hardware.tau])
    q = _together(base.pos_W, base.quat_xyzw, hardware.q)
    return GeneralizedState(q, _together(base.vel_B, base.omega_B, hardware.qd), tau)


def _together(*parts: Array | None) -> Array | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if len(known) == len(parts) else None


def _feet(force: Array | None) -> Array | None:
    return None if force is None else force.reshape(2, 6)


def _hands(look: _Look, profile: Profile) -> dict[str, HandData]:
    sides = profile.hands.order if profile.hands is not None else ()
    parts = ("hand", "hand_velocity", "hand_acceleration", "hand_effort")
    return {side: HandData(*(look.array(f"{part}.{side}") for part in parts)) for side in sides}


def joint_limits(profile: Profile) -> JointLimits:
    joints = profile.joints
    return JointLimits(
        lower=np.array([joint.position.low for joint in joints]),
        upper=np.array([joint.position.high for joint in joints]),
        effort=np.array([np.nan if joint.torque is None else joint.torque for joint in joints]),
        velocity=np.array([np.nan if joint.velocity is None else joint.velocity for joint in joints]),
    )
