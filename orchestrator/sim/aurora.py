"""The simulated Fourier robots: GR-1, GR-2, GR-3 and N1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from orchestrator.robots.families import AURORA_GROUPS
from orchestrator.sim.aurora_state import (
    ARMS,
    MOTION_ERROR,
    MOTION_IDLE,
    MOTION_MOVING,
    AuroraState,
    BaseData,
    CartesianState,
    ContactData,
    GroupState,
    MotorConfiguration,
    StandPoseState,
    TrueData,
)
from orchestrator.sim.fsm import StateMachine
from orchestrator.sim.hands import Hand
from orchestrator.sim.joints import Joints
from orchestrator.sim.reach import Reach
from orchestrator.sim.stand_pose import StandPose
from orchestrator.sim.twin import Twin
from orchestrator.sim.walking import Walking
from orchestrator.wire import fourier_msgs

DEFAULT, JOINT_STAND, PD_STAND, WALK, SECURITY, USER_CMD, UPPER_USER_CMD = 0, 1, 2, 3, 9, 10, 11
UPPER_DEFAULT, UPPER_REMOTE, UPPER_MOVE = 0, 2, 4
BY_DDS = 2
"""The velocity source that listens to commands."""
_FROM: dict[int, set[int]] = {
    DEFAULT: {JOINT_STAND, PD_STAND, USER_CMD, UPPER_USER_CMD},
    JOINT_STAND: {PD_STAND, USER_CMD, UPPER_USER_CMD},
    PD_STAND: {JOINT_STAND, WALK, USER_CMD, UPPER_USER_CMD},
    WALK: {PD_STAND},
    SECURITY: {JOINT_STAND},
    USER_CMD: {JOINT_STAND, PD_STAND, UPPER_USER_CMD},
    UPPER_USER_CMD: {JOINT_STAND, PD_STAND, USER_CMD},
}
"""Where each state leads besides default and security; Fourier documents only the usual way up (docs/simulation.md)."""
_TIMES = {JOINT_STAND: 1.0, PD_STAND: 1.0, WALK: 0.5, SECURITY: 0.05}
_CHORDS = {
    frozenset({"lb", "rb"}): DEFAULT,
    frozenset({"lb", "a"}): JOINT_STAND,
    frozenset({"lb", "b"}): PD_STAND,
    frozenset({"rb", "a"}): WALK,
    frozenset({"lt", "rt"}): SECURITY,
}
"""What the operator's joystick asks for."""
_UPPER_GROUPS = {"waist", "head", "left_arm", "right_arm", "left_hand", "right_hand"}
_POSES_WHILE_WALKING = {"GR-3"}
"""Robots that take stand poses while their walking controller stands still."""
_RATE = 500.0
_HEIGHT = 0.95
_OLD_VELOCITY_TIME = 1.0
"""s a velocity holds on firmware whose command has no duration: unknown, so our choice."""
_WIRE_GROUPS = {wire: name for name, wire in AURORA_GROUPS.items()}
_MOTOR_MODE: Any = fourier_msgs.MotorMode


class AuroraTwin(Twin):
    """A robot under Fourier's Aurora."""

    offers = frozenset({"security", "fall"})

    def build(self) -> None:
        profile = self.profile
        known = frozenset(profile.fsm.values())
        self.fsm = StateMachine(DEFAULT, known, self._allowed, lambda state: _TIMES.get(state, 0.3))
        self.upper_state = UPPER_DEFAULT
        self.velocity_source = 0
        self.fallen = False
        self.joints = Joints(profile.joints)
        self.hands = {side: Hand(len(profile.hands.fingers)) for side in profile.hands.order} if profile.hands else {}
        assert profile.stand_pose is not None
        self.stand = StandPose(profile.stand_pose)
        self.walking = Walking(profile.velocity)
        self.arms = {arm: Reach((0.2, side * 0.25, 0.1, 0.0, 0.0, 0.0, 1.0)) for arm, side in zip(ARMS, (1.0, -1.0))}
        self._slices = self._lay_out()
        self.group_order = (*profile.groups, *(f"{side}_hand" for side in self.hands))
        self.group_sizes = {name: self._size(name) for name in AURORA_GROUPS if name in self.group_order}
        self.gains = {name: (np.zeros(size), np.zeros(size)) for name, size in self.group_sizes.items()}
        self.motor_errors = {name: [0] * size for name, size in self.group_sizes.items()}
        self.motor_mode = dict.fromkeys(self.group_sizes, _MOTOR_MODE.PD)
        self.configuration_changes = 0
        self.live(self.fsm, self.joints, self.stand, self.walking, *self.hands.values(), *self.arms.values())
        self._publish_all()
        self._take_all()

    def _lay_out(self) -> dict[str, slice]:
        slices, first = {}, 0
        for name in self.profile.groups:
            count = len(self.profile.group(name))
            slices[name] = slice(first, first + count)
            first += count
        return slices

    def _size(self, group: str) -> int:
        if group in self._slices:
            return len(self.profile.group(group))
        assert self.profile.hands is not None
        return len(self.profile.hands.fingers)

    def _publish_all(self) -> None:
        self.publish("aurora_state", _RATE, AuroraState(self), self.shown_state)
        self.publish("robot_stand_pose_state", _RATE, StandPoseState(self), self._stand_shown)
        streams: dict[str, Any] = {
            "base_data_pub": BaseData,
            "contact_data_pub": ContactData,
            "robot_control_group_state": GroupState,
            "robot_cartesian_state": CartesianState,
            "true_data_pub": TrueData,
        }
        for name, kind in streams.items():
            self.publish(name, _RATE, kind(self), lambda: None)
        self.publish("robot_motor_cfg_group_state", 1.0, MotorConfiguration(self), lambda: None)

    def _take_all(self) -> None:
        self.take("whole_body_fsm_state_change_cmd", lambda m: self.request_fsm(m.desired_state))
        self.take("upper_body_fsm_state_change_cmd", lambda m: self._set_upper(m.desired_state))
        self.take("velocity_source_cmd", lambda m: self._set_source(m.desired_source))
        self.take("velocity_cmd", self._walk)
        self.take("robot_stand_pose_cmd", self._pose)
        self.take("robot_control_group_cmd", self._move_groups, partly=lambda m: self._move_groups(m, part=0.5))
        self.take("robot_motor_cfg_group_cmd", self._configure)
        self.take("move_command_data", self._move, partly=lambda m: self._move(m, part=0.5))

    # What people do to it.

    def hand(self, side: str) -> Hand:
        return self.hands[side]

    def press(self, *buttons: str) -> None:
        """Press buttons of the joystick together: some ask for a state."""
        state = _CHORDS.get(frozenset(buttons))
        if state is not None:
            self.change_fsm(state)

    def change_fsm(self, state: int) -> None:
        """Somebody else asks for a state."""
        self.advance()
        self.request_fsm(state)
        self.update()

    def press_emergency(self, kind: str = "security") -> None:
        """Somebody presses the stop: Aurora goes into security protection at once."""
        self.advance()
        self.fsm.force(SECURITY, self.uptime)
        self.update()

    def release_emergency(self, kind: str = "security") -> None:
        """Nothing to release: security protection ends by asking for another state."""

    def fall(self) -> None:
        self.advance()
        self.fallen = True
        self.update()

    def fail_motor(self, name: str, code: int = 1) -> None:
        """A motor reports an error: its group stops."""
        joint = next(joint for joint in self.profile.joints if joint.name == name)
        names = [member.name for member in self.profile.group(joint.group)]
        self.motor_errors[joint.group][names.index(name)] = code
        self.configuration_changes += 1
        self.update()

    # Commands.

    def _allowed(self, state: int, to: int) -> bool:
        if to in (DEFAULT, SECURITY) or to == state:
            return True
        if to == WALK and not self.stand.stable:
            return False
        return to in _FROM.get(state, set())

    def request_fsm(self, state: int) -> bool:
        return self.fsm.request(state, self.uptime)

    def _set_upper(self, state: int) -> None:
        if self.allows_upper and state in self.profile.upper_fsm.values():
            self.upper_state = state

    def _set_source(self, source: int) -> None:
        if source in self.profile.velocity_sources.values():
            self.velocity_source = source

    def _walk(self, message: Any) -> None:
        duration = getattr(message, "duration", _OLD_VELOCITY_TIME)
        usable = math.isfinite(message.vx + message.vy + message.yaw + duration)
        if usable and self.fsm.state == WALK and self.velocity_source == BY_DDS:
            self.walking.go(message.vx, message.vy, message.yaw, duration, self.uptime)

    def _pose(self, message: Any) -> None:
        states = {PD_STAND, WALK} if self.profile.model in _POSES_WHILE_WALKING else {PD_STAND}
        pose = (message.delta_z, message.delta_pitch, message.delta_yaw)
        if self.fsm.state in states and self.stand.stable and math.isfinite(sum(pose)):
            self.stand.move(pose)

    def _obeys(self, group: str) -> bool:
        """Whether a group takes joint positions now (docs/simulation.md)."""
        if any(self.motor_errors[group]):
            return False
        if self.fsm.state == USER_CMD:
            return True
        if group not in _UPPER_GROUPS:
            return False
        standing = self.fsm.state == PD_STAND and self.stand.stable
        remote = self.fsm.state == WALK and self.upper_state == UPPER_REMOTE
        return standing or remote or self.fsm.state == UPPER_USER_CMD

    def _move_groups(self, message: Any, part: float = 1.0) -> None:
        for command in message.group_cmd:
            group = _WIRE_GROUPS.get(command.group_name)
            if group in self.group_sizes and self._obeys(group):
                self._follow(group, np.array(command.position), 1.0, part)

    def _follow(self, group: str, position: Any, speed: float, part: float) -> None:
        """Whole groups only; with `part`, they stop on the way."""
        if len(position) != self.group_sizes[group] or not np.isfinite(position).all():
            return
        if group in self._slices:
            where = self._slices[group]
            start = self.joints.q[where]
            self.joints.follow(where, start + part * (position - start), speed)
            return
        hand, (closed, span) = self.hands[group.removesuffix("_hand")], self._finger_range()
        target = np.divide(position - closed, span, out=np.ones(len(span)), where=span != 0.0)
        hand.move(hand.opening + part * (target - hand.opening))

    def _finger_range(self) -> tuple[Any, Any]:
        assert self.profile.hands is not None
        closed = np.array(self.profile.hands.closed)
        return closed, np.array(self.profile.hands.open) - closed

    def _configure(self, message: Any) -> None:
        if self.fsm.state not in (USER_CMD, UPPER_USER_CMD):
            return
        for command in message.group_cmd:
            group = _WIRE_GROUPS.get(command.group_name)
            size = self.group_sizes.get(group or "", -1)
            given = (*command.pd_kp, *command.pd_kd)
            if group is not None and len(command.pd_kp) == len(command.pd_kd) == size and np.isfinite(given).all():
                self.gains[group] = (np.array(command.pd_kp), np.array(command.pd_kd))
                self.configuration_changes += 1

    def _move(self, message: Any, part: float = 1.0) -> None:
        """MoveCommand: the robot itself drives groups to joint positions or arms to poses, at a thousandth's speed."""
        if not (self.profile.move_command and self.fsm.state == WALK and self.upper_state == UPPER_MOVE):
            return
        joint_move = message.move_type == 0
        commands = message.joint_commands.group_cmd if joint_move else message.cartesian_commands.cartesian_cmd
        speeds = message.joint_commands.ex_data if joint_move else message.cartesian_commands.ex_data
        for number, command in enumerate(commands):
            group = _WIRE_GROUPS.get(command.group_name)
            if command.group_motion_state != MOTION_MOVING or group not in self.group_sizes:
                continue
            speed = _speed(speeds[number].arg_double if len(speeds) > number else ())
            if joint_move:
                self._follow(group, np.array(command.position), speed, part)
            elif group in self.arms and len(command.pose) == 7 and np.isfinite(command.pose).all():
                self.arms[group].go(tuple(map(float, command.pose)), speed, self.uptime)

    # Consequences.

    def react(self) -> None:
        now, state = self.uptime, self.fsm.state
        if state in (PD_STAND, WALK) and not self.fallen:
            self.stand.rise(self.fsm.entered if state == PD_STAND else now)
        else:
            self.stand.give_way()
        if state != WALK and self.walking.moving:
            self.walking.halt(now)
        if not self.allows_upper:
            self.upper_state = UPPER_DEFAULT
        if state == JOINT_STAND:
            self.joints.home()
        elif state in (DEFAULT, SECURITY):
            self.joints.stay(slice(None))
            for arm in self.arms.values():
                arm.stay()

    @property
    def allows_upper(self) -> bool:
        return self.fsm.state in (PD_STAND, WALK) and self.stand.stable

    @property
    def standing(self) -> bool:
        return self.fsm.state in (PD_STAND, WALK) and not self.fallen

    # What the topics show.

    def shown_state(self) -> tuple[int, int, int, bool]:
        return (self.velocity_source, self.fsm.state, self.upper_state, self.allows_upper)

    def _stand_shown(self) -> tuple[object, ...]:
        level = self.stand.level
        return (level >= self.stand.stance, level == self.stand.full, level == 0, self.stand.arrived)

    def tilt(self) -> tuple[float, float, float]:
        """Roll, pitch and yaw of the body."""
        return (1.4 if self.fallen else 0.0, self.stand.pose[1], self.walking.yaw + self.stand.pose[2])

    def position(self) -> tuple[float, float, float]:
        return (self.walking.x, self.walking.y, 0.2 if self.fallen else _HEIGHT + self.stand.pose[0])

    def take_joint_news(self) -> bool:
        news = [self.joints.take_news(), *(hand.take_news() for hand in self.hands.values())]
        return any(news)

    def joint_motion(self) -> tuple[Any, Any, Any]:
        """Position, velocity and effort of all joints and fingers, in `group_order`."""
        q, dq, tau = [self.joints.q], [self.joints.dq], [self.joints.tau]
        for hand in self.hands.values():
            closed, span = self._finger_range()
            q.append(closed + hand.opening * span)
            dq.append(hand.speed * span)
            tau.append(hand.torque)
        return np.concatenate(q), np.concatenate(dq), np.concatenate(tau)

    def motion_states(self) -> list[int]:
        return [self._motion_state(group) for group in AURORA_GROUPS]

    def _motion_state(self, group: str) -> int:
        if any(self.motor_errors.get(group, ())):
            return MOTION_ERROR
        moving = group in self._slices and self.joints.moving(self._slices[group])
        return MOTION_MOVING if moving or (group in self.arms and self.arms[group].moving) else MOTION_IDLE

    def status(self) -> str:
        names = {number: name for name, number in self.profile.fsm.items()}
        place = f"at {self.walking.x:.2f} {self.walking.y:.2f}"
        return f"{names.get(self.fsm.state)}, upper {self.upper_state}, stable {self.stand.level}, {place}"


def _speed(thousandths: Sequence[float]) -> float:
    """The part of the fastest that a command asks for: all of it where it says nothing, hardly any for nonsense."""
    if not len(thousandths):
        return 1.0
    return min(max(0.01, thousandths[0] / 1000.0), 1.0)
