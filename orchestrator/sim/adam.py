"""The simulated PND Adam."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orchestrator.robots.pads import ADAM_FULL_SCALE
from orchestrator.sim.battery import Battery
from orchestrator.sim.hands import Hand
from orchestrator.sim.joints import Joints
from orchestrator.sim.noise import Noise
from orchestrator.sim.pad import ADAM_BUTTONS, Pad
from orchestrator.sim.template import Numbers, Template, blank
from orchestrator.sim.twin import Twin
from orchestrator.wire.pnd_adam import MotorState_

_CHORDS = {
    frozenset({"lt", "b"}): ("damping", {"damping", "zero", "motion", "developer"}),
    frozenset({"a"}): ("zero", {"damping", "motion"}),
    frozenset({"x"}): ("motion", {"zero"}),
    frozenset({"lo", "ro"}): ("developer", {"damping"}),
}
"""The pad's way between the modes: what it leads to, and from where."""
_STATE_RATE = 1000.0
_HAND_RATE = 100.0
_MOTOR_NOISE = (2e-4, 2e-3, 2e-2, 2e-2)
"""q, dq, ddq and tau_est stand side by side."""
_IMU_NOISE = (1e-4,) * 4 + (2e-3,) * 3 + (2e-2,) * 3 + (1e-4,) * 3
_GRAVITY = 9.81


class AdamTwin(Twin):
    """An Adam. It obeys in developer mode only, which no topic shows; the twin starts in it."""

    offers = frozenset({"damping", "battery", "fall"})
    buttons = ADAM_BUTTONS

    def build(self) -> None:
        profile = self.profile
        self.mode = "developer"
        self.joints = Joints(profile.joints)
        self.hands = {side: Hand(len(profile.hands.fingers)) for side in profile.hands.order} if profile.hands else {}
        self.battery = Battery()
        self.pad = Pad()
        self.tilt = 0.0
        self.motor_errors = [0] * len(profile.joints)
        self.enabled = np.ones(len(profile.joints), bool)
        self.live(self.joints, self.battery, *self.hands.values())
        self.publish("rt/lowstate", _STATE_RATE, LowState(self), self._shown)
        self.take("rt/lowcmd", self._move, partly=lambda m: self._move(m, part=0.5))
        if self.hands:
            self.publish("rt/handstate", _HAND_RATE, HandState(self), self._hands_shown)
            self.take("rt/handcmd", self._move_hands, partly=lambda m: self._move_hands(m, part=0.5))

    # What people do to it.

    def hand(self, side: str) -> Hand:
        return self.hands[side]

    def press(self, *buttons: str) -> None:
        """Hold buttons of the pad down; some together change the mode, whichever was pressed first."""
        self.advance()
        self.pad.press(*buttons)
        for chord, (mode, sources) in _CHORDS.items():
            if chord <= self.pad.held and not chord.isdisjoint(buttons) and self.mode in sources:
                self.mode = mode
                break
        self.update()

    def release(self, *buttons: str) -> None:
        self.pad.release(*buttons)
        self.update()

    def push(self, **axes: float) -> None:
        """Push sticks of the pad: `push(lx=0.5)`."""
        self.pad.push(**axes)
        self.update()

    def press_emergency(self, kind: str = "damping") -> None:
        """No topic reports a stop: the operator sends the robot into damping by pad."""
        self.press("lt", "b")

    def release_emergency(self, kind: str = "damping") -> None:
        self.release("lt", "b")

    def fail_motor(self, name: str, code: int = 1) -> None:
        """An actuator reports an error code and no longer moves."""
        self.motor_errors[[joint.name for joint in self.profile.joints].index(name)] = code
        self.update()

    def fall(self) -> None:
        self.tilt = 1.4
        self.update()

    # Commands.

    def _move(self, message: Any, part: float = 1.0) -> None:
        if self.mode != "developer" or len(message.motor_cmd) != len(self.profile.joints):
            return
        where, angles = [], []
        for joint, command in enumerate(message.motor_cmd[: round(len(message.motor_cmd) * part)]):
            self.enabled[joint] = command.mode == 1
            if command.mode == 1 and command.kp > 0.0 and math.isfinite(command.q) and not self.motor_errors[joint]:
                where.append(joint)
                angles.append(command.q)
        if where:
            self.joints.follow(np.array(where), np.array(angles))

    def _move_hands(self, message: Any, part: float = 1.0) -> None:
        hands = self.profile.hands
        if hands is None or self.mode != "developer":
            return
        closed, span = np.array(hands.closed), np.array(hands.open) - np.array(hands.closed)
        positions = np.array(message.position, float).reshape(len(hands.order), -1)
        for side, position in zip(hands.order, positions):
            hand = self.hands[side]
            hand.move(hand.opening + part * ((position - closed) / span - hand.opening))

    # Consequences, and what the topics show.

    def react(self) -> None:
        if self.mode == "zero":
            self.joints.home()
        elif self.mode == "damping":
            self.joints.stay(slice(None))
        limp = ~self.enabled | (np.array(self.motor_errors) != 0)
        if limp.any():
            self.joints.stay(limp)

    def status(self) -> str:
        return f"{self.mode} mode, battery {self.battery.level:.0f} %"

    def _shown(self) -> tuple[object, ...]:
        return (*self.motor_errors, self.battery.low, self.pad.changes, self.tilt)

    def _hands_shown(self) -> tuple[object, ...]:
        return tuple((hand.moving, hand.holding) for hand in self.hands.values())


class LowState:
    """Joints, IMU, pad and battery in one message."""

    def __init__(self, twin: AdamTwin) -> None:
        self._twin = twin
        count = len(twin.profile.joints)
        message = blank(twin.topics["rt/lowstate"].type)
        message.motor_state = [MotorState_(1, 0.0, 0.0, 0.0, 0.0, 0, 0) for _ in range(count)]
        message.battery_data.status = "discharging"
        self._template = template = Template(message)
        self._tick = template.numbers("tick")
        self._motors = template.table("motor_state[*].q", len(_MOTOR_NOISE))
        self._modes = template.numbers("motor_state[*].mode")
        self._errors = template.numbers("motor_state[*].state")
        self._imu = template.stretch("imu_state.quaternion", len(_IMU_NOISE))
        self._pad = template.numbers("wireless_remote")
        self._battery = template.numbers("battery_data.timestamp_ms"), template.stretch("battery_data.voltage", 4)
        self._noise = Noise(twin.seed + 1, *_MOTOR_NOISE, rows=count, code="f")
        self._imu_noise = Noise(twin.seed + 2, *_IMU_NOISE, code="f")
        self._clean = np.zeros((count, len(_MOTOR_NOISE)), "f")
        self._pad_changes = -1

    def __call__(self) -> bytes:
        twin = self._twin
        if twin.joints.take_news():
            joints = twin.joints
            self._clean[:, 0], self._clean[:, 1], self._clean[:, 3] = joints.q, joints.dq, joints.tau
        np.add(self._clean, self._noise.draw(), out=self._motors)
        self._modes[:] = twin.enabled
        self._errors[:] = twin.motor_errors
        np.add(self._upright(), self._imu_noise.draw(), out=self._imu)
        milliseconds = int(twin.uptime * 1000.0 + 1e-6)
        self._tick[0] = milliseconds & 0xFFFFFFFF
        stamp, readings = self._battery
        battery = twin.battery
        stamp[0] = milliseconds
        power = battery.voltage * battery.current
        readings[:] = (battery.voltage, battery.current, power, power * twin.uptime / 3600.0)
        if self._pad_changes != twin.pad.changes:
            self._pad_changes = twin.pad.changes
            _show_pad(self._pad, twin.pad)
        return self._template.data()

    def _upright(self) -> Numbers:
        """Quaternion (w x y z), gyroscope, accelerometer and yaw, pitch, roll stand side by side."""
        roll = self._twin.tilt
        imu = np.zeros(len(_IMU_NOISE), "f")
        imu[0], imu[1] = math.cos(roll / 2), math.sin(roll / 2)
        imu[8], imu[9] = math.sin(roll) * _GRAVITY, math.cos(roll) * _GRAVITY
        imu[12] = roll
        return imu


def _show_pad(view: Numbers, pad: Pad) -> None:
    """Nineteen numbers; in the older firmware the same ones scaled, the first of forty, as far as is known."""
    values = np.array(pad.adam())
    scale = 1.0 if view.dtype.kind == "f" else ADAM_FULL_SCALE
    view[: len(values)] = values * scale


class HandState:
    def __init__(self, twin: AdamTwin) -> None:
        hands = twin.profile.hands
        assert hands is not None
        self._hands = [twin.hands[side] for side in hands.order]
        self._template = Template(blank(twin.topics["rt/handstate"].type))
        self._positions = self._template.numbers("position")
        self._closed, self._span = np.array(hands.closed), np.array(hands.open) - np.array(hands.closed)

    def __call__(self) -> bytes:
        self._positions[:] = np.concatenate(
            [np.round(self._closed + hand.opening * self._span) for hand in self._hands]
        )
        return self._template.data()
