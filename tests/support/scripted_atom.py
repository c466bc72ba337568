"""An Atom-W on a bus in memory that shows what a test tells it to, and keeps what it is sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from orchestrator.bus import Sample
from orchestrator.bus.memory import MemoryNetwork
from orchestrator.wire import dobot_atom as wire
from orchestrator.wire.codec import codec
from orchestrator.wire.example import example
from orchestrator.wire.topics import topics

PERIOD = 0.05
TOPICS = topics("atom")


class ScriptedAtom:
    """Publishes every state topic at 20 Hz."""

    def __init__(self, network: MemoryNetwork, name: str = "robot") -> None:
        self.clock = network.clock
        self.bus = network.bus(name)
        self.received: list[tuple[str, Any]] = []
        self.times: list[float] = []
        self.silent: set[str] = set()
        self.clock_ahead = 0.0
        """Seconds by which somebody has set the robot's own clock."""
        self.emergency = wire.EmergencyState_(False, False, False, False)
        self.lower = example(wire.LowerState_)
        self.lower.fsm_id = 301
        self.lower.bms_state.battery_level, self.lower.bms_state.bms_alarms = 80, 0
        self.lower.wireless_remote = [0] * 40
        self.upper = example(wire.UpperState_)
        self.upper.is_upper_control, self.upper.robot_type = True, "ATOM W"
        for motor in self.upper.motor_state:
            motor.q = motor.dq = 0.0
        self.hands = example(wire.HandsState_)
        self.nodes = example(wire.MainNodesState_)
        self._make_healthy()
        self._noise = 1e-4
        self.base = example(wire.AMRState_)
        self.base.device_status, self.base.navigation_status = wire.DeviceStatus_.DEVIDLE, wire.NavigationStatus_.IDLE
        self.base.work_mode = self.base.task_id = 0
        self.base.basic_status.battery_level = 80.0
        self.base.amr_event.emergency_stop_pressed = self.base.amr_event.low_battery = False
        self._states = {
            "rt/emergency/state": self.emergency, "rt/lower/state": self.lower, "rt/upper/state": self.upper,
            "rt/hands/state": self.hands, "rt/main/nodes/state": self.nodes, "rt/amr/state": self.base,
        }  # fmt: skip
        self._writers = {name: self.bus.writer(TOPICS[name]) for name in self._states}
        for topic in TOPICS.values():
            if topic.kind == "command":
                self._listen(topic.name)
        self._publish()

    def _listen(self, name: str) -> None:
        reader = self.bus.reader(replace(TOPICS[name], kind="event"))
        decode = codec(TOPICS[name].type).decode

        def keep(sample: Sample) -> None:
            self.received.append((name, decode(sample.data)))
            self.times.append(sample.received)

        reader.on_sample(keep)

    def _make_healthy(self) -> None:
        for group in ("left_leg", "right_leg", "left_arm", "right_arm", "head"):
            for axis in getattr(self.nodes, group):
                _healthy(axis)
        _healthy(self.nodes.waist)
        for slave in self.nodes.ecat2can:
            slave.slave_state, slave.error_code = 1, 0

    def _publish(self) -> None:
        self.base.basic_status.heartbeat = (self.base.basic_status.heartbeat + 1) % 2**16
        self._noise = -self._noise
        self.lower.motor_state[0].q, self.upper.motor_state[0].q = self._noise, self._noise
        for name, message in self._states.items():
            if name not in self.silent:
                self._writers[name].write_bytes(codec(type(message)).encode(message), age=-self.clock_ahead)
        self.clock.after(PERIOD, self._publish)

    def names(self) -> list[str]:
        return [name for name, _ in self.received]

    def base_commands(self) -> list[str]:
        return [message.command_type.name for name, message in self.received if name == "rt/amr/cmd"]


def _healthy(axis: Any) -> None:
    axis.servo_state, axis.node_state, axis.is_virtual = 3, 5, False
    axis.error_code = axis.pos_err_code = axis.vel_err_code = axis.torque_err_code = 0
