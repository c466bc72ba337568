"""What a simulated Atom shows: its models as the bytes of Dobot's state topics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.robots.profile import Hands
from orchestrator.sim.hands import Hand
from orchestrator.sim.noise import Noise
from orchestrator.sim.template import Template, blank, has_field

if TYPE_CHECKING:
    from orchestrator.sim.atom import AtomTwin

MOTORS = 29
LOWER = slice(0, 12)
UPPER = slice(12, 29)
_MIT_MODE = 11
"""What the drives report while they follow positions with gains (CiA 402 display mode)."""
_MOTOR_NUMBERS = 7
"""q, dq, ddq, tau_est, q_raw, dq_raw, ddq_raw stand side by side."""
_MOTOR_NOISE = (2e-4, 2e-3, 2e-2, 2e-2, 2e-4, 2e-3, 2e-2)
_IMU_NOISE = (1e-4,) * 4 + (2e-3,) * 3 + (2e-2,) * 3 + (1e-4,) * 3
"""Quaternion (w x y z), gyroscope, accelerometer and rpy stand side by side."""
_GRAVITY = 9.81


def _motors(message: Any, name: str) -> None:
    for motor in getattr(message, name):
        motor.mode = _MIT_MODE
        motor.mcu_temp = motor.mos_temp = motor.motor_temp = 38
        motor.bus_voltage = 48


class _Body:
    """What upper and lower state have in common."""

    def __init__(self, twin: AtomTwin, topic: str, part: slice, seed: int) -> None:
        self.twin = twin
        message = self.message = blank(twin.topics[topic].type)
        _motors(message, "motor_state")
        message.bms_state.battery_health = 100
        message.bms_state.cells_voltage = [3700] * 16
        if has_field(type(message), "robot_type"):
            message.robot_type = twin.profile.model.upper()
        self.template = Template(message)
        self.motors = twin.motors[part]
        self._noise = Noise(seed, *_MOTOR_NOISE, rows=part.stop - part.start, code="f")
        self._table = self.template.table("motor_state[*].q", _MOTOR_NUMBERS)
        self._fsm = self.template.numbers("fsm_id")
        self._level = self.template.numbers("bms_state.battery_level")
        self._beat = self.template.numbers("bms_state.heartbeat")
        self._pad = self.template.numbers("wireless_remote")
        self._pad_changes = self._shown_beat = -1

    def refresh(self) -> None:
        """Write what changes only now and then; the twin asks for it whenever something may have changed."""
        twin = self.twin
        self._fsm[0] = twin.fsm.state
        if self._pad_changes != twin.pad.changes:
            self._pad_changes = twin.pad.changes
            self._pad[:] = np.frombuffer(twin.pad.dobot(), np.uint8)

    def patch(self) -> None:
        """Write what is always new: the battery ten times a second, the motors' noise."""
        beat = int(self.twin.advanced_to * 10) & 0xFFFF
        if beat != self._shown_beat:
            self._shown_beat = self._beat[0] = beat
            self._level[0] = round(self.twin.battery.level)
        np.add(self.motors, self._noise.draw(), out=self._table)


class UpperState(_Body):
    def __init__(self, twin: AtomTwin) -> None:
        super().__init__(twin, "rt/upper/state", UPPER, twin.seed + 1)
        self._control = self.template.numbers("is_upper_control")

    def refresh(self) -> None:
        super().refresh()
        self._control[0] = self.twin.upper_control

    def __call__(self) -> bytes:
        self.patch()
        return self.template.data()


class LowerState(_Body):
    def __init__(self, twin: AtomTwin) -> None:
        super().__init__(twin, "rt/lower/state", LOWER, twin.seed + 2)
        self._imu_noise = Noise(twin.seed + 3, *_IMU_NOISE, code="f")
        self._imu = self.template.stretch("imu_state.quaternion", len(_IMU_NOISE))
        self._clean = np.zeros(len(_IMU_NOISE), "f")
        self._clean[7:10] = (0.0, 0.0, _GRAVITY)
        self._clean_for: tuple[float, float] | None = None

    def __call__(self) -> bytes:
        self.patch()
        motion = self.twin.heading, self.twin.turning
        if motion != self._clean_for:
            self._clean_for = motion
            yaw, turn = motion
            clean = self._clean
            clean[0], clean[3] = math.cos(yaw / 2), math.sin(yaw / 2)
            clean[6], clean[12] = turn, math.remainder(yaw, math.tau)
        np.add(self._clean, self._imu_noise.draw(), out=self._imu)
        return self.template.data()


class HandsState:
    def __init__(self, twin: AtomTwin, hands: Hands) -> None:
        message = blank(twin.topics["rt/hands/state"].type)
        _motors(message, "hands")
        self._template = Template(message)
        self._hands: list[Hand] = [twin.hands[side] for side in hands.order]
        self._closed = np.array(hands.closed)
        self._span = np.array(hands.open) - self._closed
        self._table = self._template.table("hands[*].q", _MOTOR_NUMBERS)
        self._noise = Noise(twin.seed + 4, *_MOTOR_NOISE, rows=len(self._table), code="f")
        self._clean = np.zeros(self._table.shape, "f")

    def __call__(self) -> bytes:
        fingers = len(self._closed)
        for first, hand in enumerate(self._hands):
            if not hand.take_news():
                continue
            rows = self._clean[first * fingers : (first + 1) * fingers]
            rows[:, 0] = rows[:, 4] = self._closed + hand.opening * self._span
            rows[:, 1] = rows[:, 5] = hand.speed * self._span
            rows[:, 3] = hand.torque
        np.add(self._clean, self._noise.draw(), out=self._table)
        return self._template.data()


class NodesState:
    """The drives: encoded again when one has changed, otherwise only a temperature flickers."""

    def __init__(self, twin: AtomTwin) -> None:
        self._twin = twin
        self._type = twin.topics["rt/main/nodes/state"].type
        self._noise = Noise(twin.seed + 5, 1.0)
        self._shown: object = None

    def __call__(self) -> bytes:
        shown = self._twin.drives.shown()
        if shown != self._shown:
            self._shown = shown
            self._template = Template(self._message())
            self._temperature = self._template.numbers("waist.motor_temp")
        self._temperature[0] = 38 + round(abs(self._noise.draw()[0]))
        return self._template.data()

    def _message(self) -> Any:
        drives, message = self._twin.drives, blank(self._type)
        axes = [*message.left_leg, *message.right_leg, message.waist]
        axes += [*message.left_arm, *message.right_arm, *message.head]
        for motor, axis in enumerate(axes):
            axis.servo_state, axis.node_state = drives.servo[motor], drives.node[motor]
            axis.error_code, axis.warn_code = drives.error[motor], drives.warning[motor]
            axis.display_op_mode = _MIT_MODE
            axis.is_virtual = motor not in self._twin.present
            axis.mcu_temp = axis.mos_temp = axis.motor_temp = 38
            axis.bus_voltage = 48
        for slave, error in zip(message.ecat2can, drives.slave_error):
            slave.slave_state, slave.error_code = 0 if error else 1, error
        return message


class EmergencyState:
    def __init__(self, twin: AtomTwin) -> None:
        self._twin = twin
        kind = twin.topics["rt/emergency/state"].type
        self._template = Template(blank(kind))
        self._flags = {
            name: self._template.numbers(f"{name}_emergency_triggered")
            for name in ("soft", "hard", "amr", "di")
            if has_field(kind, f"{name}_emergency_triggered")
        }

    def __call__(self) -> bytes:
        for name, flag in self._flags.items():
            flag[0] = name in self._twin.pressed
        return self._template.data()


class AmrState:
    def __init__(self, twin: AtomTwin) -> None:
        self._twin = twin
        kind = twin.topics["rt/amr/state"].type
        self._template = template = Template(blank(kind))
        self._noise = Noise(twin.seed + 6, 1e-3, 1e-3, 5e-4, 0.02, 0.05)
        self._head = template.packer("device_status", "IIfffHxxfff")
        self._events = template.packer("amr_event.emergency_stop_pressed", "5?")
        self._errors = template.numbers("error_code")
        self._task = template.packer("task_id", "II")
        self._velocity = template.packer("velocity.linear_vel", "ff") if has_field(kind, "velocity") else None

    def __call__(self) -> bytes:
        base, noise = self._twin.base, self._noise.draw().tolist()
        battery, (x, y, heading) = base.battery, base.pose
        self._head(
            base.device.value,
            base.reported.value,
            battery.level,
            battery.voltage + noise[3],
            battery.current + noise[4],
            int(self._twin.uptime * 40 + 1e-6) & 0xFFFF,
            x + noise[0],
            y + noise[1],
            heading + noise[2],
        )
        pressed = "amr_event" in self._twin.pressed
        self._events(pressed, False, base.blocked, battery.low, base.blocked)
        self._errors[:] = 0
        self._errors[: len(base.errors)] = base.errors
        self._task(base.task_id, base.work_mode)
        if self._velocity is not None:
            self._velocity(*base.velocity)
        return self._template.data()


class PowerState:
    def __init__(self, twin: AtomTwin) -> None:
        self._twin = twin
        message = blank(twin.topics["rt/power/state"].type)
        message.power_supply_state = 1
        message.weak_power_voltage, message.strong_power_voltage = 2400, 4800
        self._template = Template(message)
        self._beat = self._template.numbers("heartbeat")

    def __call__(self) -> bytes:
        self._beat[0] = int(self._twin.uptime * 5) & 0xFFFF
        return self._template.data()
