"""Dobot Atom and Atom-W: which topic and field says what."""

from __future__ import annotations

from typing import Any

from orchestrator.robots.axes import axes_of, existing
from orchestrator.robots.families import ATOM_FIRST_INDEX
from orchestrator.robots.feed import Life
from orchestrator.robots.knowledge import Doubt
from orchestrator.robots.profile import Profile
from orchestrator.robots.reasons import Reason
from orchestrator.robots.signals import (
    MOST,
    Convert,
    Numbers,
    Signal,
    Vouched,
    Whole,
    finite,
    lower_name,
    named,
    numbers,
    quaternion,
)
from orchestrator.robots.state.pad import atom_pad

LOWER, UPPER, AMR = "rt/lower/state", "rt/upper/state", "rt/amr/state"

LIVES = {
    LOWER: Life(0.0012, noisy=True),
    UPPER: Life(0.0012, noisy=True),
    "rt/hands/state": Life(0.008),
    "rt/main/nodes/state": Life(0.2),
    "rt/emergency/state": Life(None),  # no document says how often, or whether only on change
    AMR: Life(0.025, heartbeat=("basic_status.heartbeat",), counter="basic_status.heartbeat", wraps=2**16),
}

LOWER_JOINTS = 12
UPPER_JOINTS = 17

_MOTION = {"q": ("q", 10.0), "qd": ("dq", 100.0), "qdd": ("ddq", 1e5), "tau": ("tau_est", 2000.0)}
_FINGERS = {
    "hand": ("q", 10.0),
    "hand_velocity": ("dq", 100.0),
    "hand_acceleration": ("ddq", 1e5),
    "hand_effort": ("tau_est", 2000.0),
}
_IMU = ("imu_state.gyroscope", "imu_state.accelerometer")
"""Measured numbers: while they repeat exactly, nothing is measured."""
_BATTERY = ("bms_state.heartbeat",)
SERVO_OFF, SERVO_ENABLED, NODE_OPERATIONAL, SLAVE_OPERATIONAL = 0, 3, 5, 1


def signals(profile: Profile) -> dict[str, Signal]:
    """Every value an Atom reports."""
    table = {
        "fsm.id": Signal(LOWER, "fsm_id"),
        "fsm.state": Signal(LOWER, "fsm_id", named(profile.fsm)),
        "upper.control": Signal(UPPER, "is_upper_control"),
        "base.quaternion": Signal(LOWER, "imu_state.quaternion", quaternion, noise=_IMU),
        "base.acceleration": Signal(LOWER, "imu_state.accelerometer", numbers(3, -500, 500), noise=_IMU),
        "battery.level": Signal(LOWER, "bms_state.battery_level", battery_percent, heartbeat=_BATTERY, state=True),
        "battery.alarms": Signal(LOWER, "bms_state.bms_alarms"),
        "errors": Whole("rt/main/nodes/state", "", node_errors(profile)),
        "motors.enabled": Whole("rt/main/nodes/state", "", motors_enabled(profile)),
    }
    flags = ["soft", "hard", "amr"] + ([] if "emergency_3" in profile.variants else ["di"])
    table |= {
        f"emergency.{flag}": Signal("rt/emergency/state", f"{flag}_emergency_triggered", state=True) for flag in flags
    }
    table |= _joints(profile) | atom_pad(LOWER)
    if profile.hands is not None:
        table |= _hands(profile.hands.order, len(profile.hands.fingers))
    if profile.base is not None:
        table |= _base("amr_v2" in profile.variants)
    return table


def battery_percent(raw: int) -> float:
    """Documents say percent, robots in the field send values above 100: those are hundredths (unconfirmed)."""
    level = raw / 100 if raw > 100 else float(raw)
    if level > 100:
        raise Doubt(Reason.OUT_OF_RANGE, f"battery level {raw}")
    return level


def node_errors(profile: Profile) -> Convert:
    """What is wrong with which axis or bus coupler; warnings alone are no errors."""
    return _node_errors(profile, (SERVO_ENABLED,))


def errors_to_clear(profile: Profile) -> Convert:
    """Those that clearing may mend: a motor that is merely off is for EnableMotors."""
    return _node_errors(profile, (SERVO_ENABLED, SERVO_OFF))


def _node_errors(profile: Profile, servo_states: tuple[int, ...]) -> Convert:
    axes = axes_of(profile)

    def problems(nodes: Any) -> tuple[str, ...]:
        wrong = ((axis.name, _axis_errors(shown, servo_states)) for axis, shown in existing(axes, nodes))
        return tuple(f"{name}: {', '.join(what)}" for name, what in wrong if what) + _bus_errors(nodes)

    return problems


def _bus_errors(nodes: Any) -> tuple[str, ...]:
    return tuple(
        f"ecat2can {number}: state {slave.slave_state}, error {slave.error_code:#x}"
        for number, slave in enumerate(nodes.ecat2can, start=1)
        if not slave.is_virtual and (slave.slave_state != SLAVE_OPERATIONAL or slave.error_code)
    )


def motors_enabled(profile: Profile) -> Convert:
    axes = axes_of(profile)
    return lambda nodes: tuple(shown.servo_state == SERVO_ENABLED for _, shown in existing(axes, nodes))


def _axis_errors(axis: Any, servo_states: tuple[int, ...]) -> list[str]:
    wrong = [
        f"{name} {code:#x}"
        for name in ("error_code", "pos_err_code", "vel_err_code", "torque_err_code")
        if (code := getattr(axis, name))
    ]
    if axis.servo_state not in servo_states:
        wrong.append(f"servo state {axis.servo_state}")
    if axis.node_state != NODE_OPERATIONAL:
        wrong.append(f"node state {axis.node_state}")
    return wrong


def topic_of(group: str) -> str:
    """Which topic a joint group is reported on."""
    return LOWER if ATOM_FIRST_INDEX[group] < LOWER_JOINTS else UPPER


def _joints(profile: Profile) -> dict[str, Signal]:
    table = {}
    for group in profile.groups:
        topic = topic_of(group)
        first, count = {LOWER: (0, LOWER_JOINTS), UPPER: (LOWER_JOINTS, UPPER_JOINTS)}[topic]
        start = ATOM_FIRST_INDEX[group] - first
        for name, (field, bound) in _MOTION.items():
            check = Numbers(count, start, start + len(profile.group(group)), -bound, bound)
            table[f"{name}.{group}"] = Signal(topic, f"motor_state[*].{field}", check)
    return table


def _hands(order: tuple[str, ...], fingers: int) -> dict[str, Signal]:
    table = {}
    total = fingers * len(order)
    for place, side in enumerate(order):
        for name, (field, bound) in _FINGERS.items():
            check = Numbers(total, place * fingers, (place + 1) * fingers, -bound, bound)
            table[f"{name}.{side}"] = Signal("rt/hands/state", f"hands[*].{field}", check)
    return table


_BASE_IS_SANE = (
    Signal(AMR, "device_status"),
    Signal(AMR, "navigation_status"),
    Signal(AMR, "position", numbers(3, -MOST, MOST)),
    Signal(AMR, "basic_status.battery_level", finite(0, 10_000)),
    Signal(AMR, "amr_event.low_battery"),
)
"""What the guard looks at in a report of the base, with its bounds: both must take the same reports for nonsense."""


def _base(newer: bool) -> dict[str, Signal]:
    table = {
        "amr.device": Signal(AMR, "device_status", lower_name),
        "amr.navigation": Signal(AMR, "navigation_status", lower_name),
        "amr.position": Signal(AMR, "position", numbers(3, -1e4, 1e4)),
        "amr.task": Signal(AMR, "task_id"),
        "amr.mode": Signal(AMR, "work_mode"),
        "amr.errors": Signal(AMR, "error_code", lambda codes: tuple(code for code in codes if code)),
        "amr.battery": Signal(AMR, "basic_status.battery_level", finite(0, 100)),
        "amr.blocked": Signal(AMR, "amr_event.path_blocked"),
        "amr.obstacle": Signal(AMR, "amr_event.obstacle_detected"),
        "amr.low_battery": Signal(AMR, "amr_event.low_battery"),
        "emergency.base": Vouched(AMR, "amr_event.emergency_stop_pressed", state=True, others=_BASE_IS_SANE),
    }
    if newer:
        table["amr.speed"] = Signal(AMR, "velocity.linear_vel", finite(-10, 10))
        table["amr.turn"] = Signal(AMR, "velocity.angular_vel", finite(-20, 20))
    return table
