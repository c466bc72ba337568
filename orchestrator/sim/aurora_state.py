"""What a simulated Aurora robot shows: its models as the bytes of Fourier's state topics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.robots.families import AURORA_GROUPS
from orchestrator.sim.noise import Noise
from orchestrator.sim.template import Template, blank
from orchestrator.wire.fourier_msgs import CartesianState as CartesianGroup
from orchestrator.wire.fourier_msgs import ControlGroupState, MotorCfgGroupState

if TYPE_CHECKING:
    from orchestrator.sim.aurora import AuroraTwin

_GRAVITY = 9.81
_WEIGHT = 600.0
"""N, shared by both feet."""
_JITTER = 5e-5
"""s between the instant and its stamp: no real program stamps at exact times."""
MOTION_IDLE, MOTION_MOVING, MOTION_ERROR = 0, 1, 3
ARMS = ("left_arm", "right_arm")


class _Stamped:
    """A message with a header."""

    def __init__(self, twin: AuroraTwin, topic: str) -> None:
        self.twin = twin
        self.message: Any = blank(twin.topics[topic].type)
        self.seed = twin.seed + sum(topic.encode())

    def finish(self) -> None:
        """The message is laid out: its numbers change from now on, its lengths do not."""
        self.template = Template(self.message)
        self._stamp = self.template.packer("header.stamp.sec", "iI")
        self._jitter = Noise(self.seed, _JITTER)
        self._last = 0.0

    def data(self) -> bytes:
        self._last = max(self._last, self.twin.uptime + abs(self._jitter.draw()[0]))
        seconds = int(self._last)
        self._stamp(seconds, int((self._last - seconds) * 1e9))
        return self.template.data()


class AuroraState(_Stamped):
    def __init__(self, twin: AuroraTwin) -> None:
        super().__init__(twin, "aurora_state")
        self.finish()
        names = ("velocity_command_source", "whole_body_fsm_state", "upper_body_fsm_state", "allow_upper_body_override")
        self._numbers = [self.template.numbers(name) for name in names]

    def __call__(self) -> bytes:
        for number, value in zip(self._numbers, self.twin.shown_state()):
            number[0] = value
        return self.data()


class StandPoseState(_Stamped):
    def __init__(self, twin: AuroraTwin) -> None:
        super().__init__(twin, "robot_stand_pose_state")
        self.finish()
        self._pose = [self.template.numbers(name) for name in ("delta_z", "delta_pitch", "delta_yaw")]
        self._level = self.template.numbers("stable_level")

    def __call__(self) -> bytes:
        stand = self.twin.stand
        for number, value in zip(self._pose, stand.pose):
            number[0] = value
        self._level[0] = stand.level
        return self.data()


class BaseData(_Stamped):
    def __init__(self, twin: AuroraTwin) -> None:
        super().__init__(twin, "base_data_pub")
        sizes = {"quat_xyzw": 4, "quat_wxyz": 4}
        self._names = (
            "quat_xyzw",
            "quat_wxyz",
            "rpy",
            "omega_W",
            "acc_W",
            "omega_B",
            "acc_B",
            "vel_W",
            "pos_W",
            "vel_B",
        )
        for name in self._names:
            setattr(self.message, name, [0.0] * sizes.get(name, 3))
        self.finish()
        self._view, self._where = self.template.doubles(*self._names)
        self._noise = Noise(self.seed, *[2e-4] * 3, *[2e-3] * 3, *[2e-2] * 3, *[2e-3] * 3)

    def __call__(self) -> bytes:
        walking, noise = self.twin.walking, self._noise.draw().tolist()
        roll, pitch, yaw = (angle + error for angle, error in zip(self.twin.tilt(), noise))
        x, y, z, w = quaternion(roll, pitch, yaw)
        omega = (noise[3], noise[4], noise[5] + walking.turn)
        acceleration = (noise[6], noise[7], noise[8] + _GRAVITY)
        body = (noise[9] + walking.vx, noise[10] + walking.vy, noise[11])
        turning = (*omega, *acceleration, *omega, *acceleration)
        moving = (*turned(body, yaw), *self.twin.position(), *body)
        self._view[self._where] = (x, y, z, w, w, x, y, z, roll, pitch, yaw, *turning, *moving)
        return self.data()


class ContactData(_Stamped):
    def __init__(self, twin: AuroraTwin) -> None:
        super().__init__(twin, "contact_data_pub")
        self.message.contact_force, self.message.contact_prob = [0.0] * 12, [0.0] * 2
        self.finish()
        self._force, self._prob = self.template.numbers("contact_force"), self.template.numbers("contact_prob")
        self._noise = Noise(self.seed, *[2.0] * 12)

    def __call__(self) -> bytes:
        standing = float(self.twin.standing)
        self._force[:] = self._noise.draw()
        self._force[[2, 8]] += standing * _WEIGHT / 2
        self._prob[:] = standing
        return self.data()


class GroupState(_Stamped):
    """Joints by group, in Aurora's order; groups the robot lacks are left out."""

    def __init__(self, twin: AuroraTwin) -> None:
        super().__init__(twin, "robot_control_group_state")
        sizes = [(AURORA_GROUPS[name], size) for name, size in twin.group_sizes.items()]
        self.message.group_motion_state = [0] * len(AURORA_GROUPS)
        self.message.group_state = [ControlGroupState(name, *[[0.0] * size for _ in range(6)]) for name, size in sizes]
        self.finish()
        self._motion = self.template.numbers("group_motion_state")
        self._level = self.template.numbers("stable_level")
        numbers = [f"{kind}_{name}" for kind in ("joint", "motor") for name in ("position", "velocity", "effort")]
        order = [n for name in twin.group_order for n, group in enumerate(twin.group_sizes) if group == name]
        self._view, self._where = self.template.doubles(
            *(f"group_state[{n}].{name}" for name in numbers for n in order)
        )
        self._noise = Noise(self.seed, *[2e-4] * len(self._where))
        self._clean = np.zeros(len(self._where))

    def __call__(self) -> bytes:
        if self.twin.take_joint_news():
            motion = self.twin.joint_motion()
            self._clean = np.concatenate((*motion, *motion))
        self._view[self._where] = self._clean + self._noise.draw()
        self._motion[:] = self.twin.motion_states()
        self._level[0] = self.twin.stand.level
        return self.data()


class CartesianState(_Stamped):
    def __init__(self, twin: AuroraTwin) -> None:
        super().__init__(twin, "robot_cartesian_state")
        self.message.group_motion_state = [0] * len(AURORA_GROUPS)
        self.message.cartesian_state = [
            CartesianGroup(AURORA_GROUPS[arm], [0.0] * 7, [0.0] * 6, [0.0] * 6) for arm in twin.arms
        ]
        self.finish()
        self._motion = self.template.numbers("group_motion_state")
        self._level = self.template.numbers("stable_level")
        self._poses = [self.template.numbers(f"cartesian_state[{n}].pose") for n in range(len(twin.arms))]
        self._noise = Noise(self.seed, *[1e-4] * 7)

    def __call__(self) -> bytes:
        for view, arm in zip(self._poses, self.twin.arms.values()):
            view[:] = arm.pose + self._noise.draw()
        self._motion[:] = self.twin.motion_states()
        self._level[0] = self.twin.stand.level
        return self.data()


class MotorConfiguration(_Stamped):
    """Gains and errors of the motors: encoded again when they have changed."""

    def __init__(self, twin: AuroraTwin) -> None:
        super().__init__(twin, "robot_motor_cfg_group_state")
        self._changes = -1

    def __call__(self) -> bytes:
        twin = self.twin
        if self._changes != twin.configuration_changes:
            self._changes = twin.configuration_changes
            self.message.group_state = [
                MotorCfgGroupState(
                    AURORA_GROUPS[name], twin.motor_mode[name], list(twin.motor_errors[name]),
                    [0.0] * size, [0.0] * size, [0.0] * size, list(twin.gains[name][0]), list(twin.gains[name][1]),
                )
                for name, size in twin.group_sizes.items()
            ]  # fmt: skip
            self.finish()
        return self.data()


class TrueData(_Stamped):
    def __init__(self, twin: AuroraTwin) -> None:
        super().__init__(twin, "true_data_pub")
        self._names = ("vel_B", "vel_W", "pos_W", "contact_fz", "contact_prob")
        for name in self._names:
            setattr(self.message, name, [0.0] * (2 if name.startswith("contact") else 3))
        self.finish()
        self._views = [self.template.numbers(name) for name in self._names]

    def __call__(self) -> bytes:
        walking, standing = self.twin.walking, float(self.twin.standing)
        body = np.array((walking.vx, walking.vy, 0.0))
        values = (body, turned(body, walking.yaw), self.twin.position(), standing * _WEIGHT / 2, standing)
        for view, value in zip(self._views, values):
            view[:] = value
        return self.data()


def quaternion(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """x y z w of a rotation about z, then y, then x."""
    cr, sr = math.cos(roll / 2), math.sin(roll / 2)
    cp, sp = math.cos(pitch / 2), math.sin(pitch / 2)
    cy, sy = math.cos(yaw / 2), math.sin(yaw / 2)
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


def turned(vector: Any, yaw: float) -> tuple[float, float, float]:
    """A vector of the body's frame in the world's."""
    cos, sin = math.cos(yaw), math.sin(yaw)
    return (cos * vector[0] - sin * vector[1], sin * vector[0] + cos * vector[1], vector[2])
