"""A robot that costs next to nothing: an Atom-W on DDS that shows what it is told, for benchmarks of the guard."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from orchestrator.bus.contract import Sample
from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import DdsSettings
from orchestrator.clock import RealClock
from orchestrator.wire import dobot_atom as wire
from orchestrator.wire.codec import codec
from orchestrator.wire.example import example
from orchestrator.wire.topics import topics

TOPICS = topics("atom")
STATES = (
    "rt/emergency/state",
    "rt/lower/state",
    "rt/upper/state",
    "rt/hands/state",
    "rt/main/nodes/state",
    "rt/amr/state",
)
QUIET = dict.fromkeys(STATES, 20.0)
"""Samples a second of every state topic: just enough to stay fresh."""
WALK = 301


class BenchRobot:
    """Healthy, in walk, arms under upper control at zero. `turn` waits for commands and publishes when it is time."""

    def __init__(self, network: DdsSettings, rates: dict[str, float] = QUIET) -> None:
        self.network = network
        self.bus = DdsBus(network, "bench robot", breather=0.0)
        self.emergency = wire.EmergencyState_(False, False, False, False)
        self.lower = example(wire.LowerState_)
        self.lower.fsm_id, self.lower.wireless_remote = WALK, [0] * 40
        self.lower.bms_state.battery_level, self.lower.bms_state.bms_alarms = 80, 0
        upper = self._upper = example(wire.UpperState_)
        upper.is_upper_control, upper.robot_type = True, "ATOM W"
        for motor in upper.motor_state:
            motor.q = motor.dq = 0.0
        base = self._base = example(wire.AMRState_)
        base.device_status, base.navigation_status = wire.DeviceStatus_.DEVIDLE, wire.NavigationStatus_.IDLE
        base.work_mode = base.task_id = 0
        base.basic_status.battery_level = 80.0
        base.amr_event.emergency_stop_pressed = base.amr_event.low_battery = False
        hands, nodes = example(wire.HandsState_), _healthy(example(wire.MainNodesState_))
        self._states: dict[str, Any] = dict(zip(STATES, (self.emergency, self.lower, upper, hands, nodes, base)))
        self._writers = {name: self.bus.writer(TOPICS[name]) for name in self._states}
        self.rates = rates
        self._due = dict.fromkeys(STATES, RealClock.now())

    def listen(self, name: str, heard: Callable[[Sample], None]) -> None:
        """Every command on a topic, as it comes."""
        self.bus.reader(replace(TOPICS[name], kind="event")).on_sample(heard)

    def turn(self, longest: float = 0.05) -> None:
        now, first = RealClock.now(), min(self._due.values())
        self.bus.wait(max(0.0, min(first - now, longest)))
        now = RealClock.now()
        for name in [name for name, due in self._due.items() if now >= due]:
            self._due[name] = max(self._due[name] + 1 / self.rates[name], now - 0.05)  # held up, it catches up
            self._live(name)
            self.show(name)

    def _live(self, name: str) -> None:
        """A robot whose numbers never change counts as frozen."""
        if name == "rt/amr/state":
            self._base.basic_status.heartbeat = (self._base.basic_status.heartbeat + 1) % 2**16
        elif name in ("rt/lower/state", "rt/upper/state"):
            motor = self._states[name].motor_state[0]
            motor.q = -1e-4 if motor.q > 0 else 1e-4

    def show(self, name: str) -> float:
        """Publish one state now; says when."""
        data = codec(TOPICS[name].type).encode(self._states[name])
        now = RealClock.now()
        self._writers[name].write_bytes(data)
        return now

    def close(self) -> None:
        self.bus.close()


def _healthy(nodes: Any) -> Any:
    axes = [
        axis for group in ("left_leg", "right_leg", "left_arm", "right_arm", "head") for axis in getattr(nodes, group)
    ]
    for axis in (*axes, nodes.waist):
        axis.servo_state, axis.node_state, axis.is_virtual = 3, 5, False
        axis.error_code = axis.pos_err_code = axis.vel_err_code = axis.torque_err_code = 0
    for slave in nodes.ecat2can:
        slave.slave_state, slave.error_code = 1, 0
    return nodes


def like_another_machine(make: Callable[[], BenchRobot]) -> BenchRobot:
    """Where it is permitted: what the robot does does not wait for this machine's other programs; its children do."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    robot = make()
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(10))
    return robot
