"""PND Adam: which topic and field says what."""

from __future__ import annotations

from orchestrator.robots.feed import Life
from orchestrator.robots.profile import Profile
from orchestrator.robots.signals import Numbers, Signal, finite, numbers, quaternion
from orchestrator.robots.state.pad import adam_pad

STATE, HANDS = "rt/lowstate", "rt/handstate"

LIVES = {
    STATE: Life(0.001, heartbeat=("tick",), counter="tick", wraps=2**32),
    HANDS: Life(None),  # no document says how often
}

_MOTION = {"q": ("q", 10.0), "qd": ("dq", 100.0), "qdd": ("ddq", 1e5), "tau": ("tau_est", 2000.0)}


def signals(profile: Profile) -> dict[str, Signal]:
    """Every value an Adam reports. It has no state machine and no emergency topic: those are pseudo-sources."""
    battery, imu = ("battery_data.timestamp_ms",), ("imu_state.gyroscope", "imu_state.accelerometer")
    table = {
        "base.quaternion": Signal(STATE, "imu_state.quaternion", quaternion, noise=imu),
        "base.omega": Signal(STATE, "imu_state.gyroscope", numbers(3, -50, 50), noise=imu),
        "base.acceleration": Signal(STATE, "imu_state.accelerometer", numbers(3, -500, 500), noise=imu),
        "battery.voltage": Signal(STATE, "battery_data.voltage", finite(0, 200), heartbeat=battery),
        "battery.current": Signal(STATE, "battery_data.current", finite(-500, 500), heartbeat=battery),
        "motor.states": Signal(STATE, "motor_state[*].state", numbers(len(profile.joints), 0, 2**32)),
        "motors.enabled": Signal(STATE, "motor_state[*].mode", lambda modes: tuple(mode == 1 for mode in modes)),
        "emergency.motors": Signal(STATE, "motor_state[*].state", any),
    }
    start = 0
    for group in profile.groups:
        end = start + len(profile.group(group))
        for name, (field, bound) in _MOTION.items():
            check = Numbers(len(profile.joints), start, end, -bound, bound)
            table[f"{name}.{group}"] = Signal(STATE, f"motor_state[*].{field}", check)
        start = end
    if profile.hands is not None:
        fingers = len(profile.hands.fingers)
        for place, side in enumerate(profile.hands.order):
            check = Numbers(fingers * len(profile.hands.order), place * fingers, (place + 1) * fingers, 0, 1e5)
            table[f"hand.{side}"] = Signal(HANDS, "position", check)
    return table | adam_pad(STATE, whole_numbers="remote_int16" in profile.variants)
