"""A scripted robot on a memory bus: it says what a test tells it to say, at a steady rate, and obeys nothing."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, cast

from cyclonedds.idl import IdlStruct

from orchestrator.bus.contract import Bus
from orchestrator.bus.memory import MemoryNetwork, MemoryWriter
from orchestrator.clock import VirtualClock
from orchestrator.robots.commander import Receipt
from orchestrator.robots.families import AURORA_GROUPS
from orchestrator.robots.intents import AnyIntent
from orchestrator.robots.judging import Judge
from orchestrator.robots.knowledge import Known
from orchestrator.robots.outcome import Outcome
from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import load_profile
from orchestrator.robots.reasons import Reason
from orchestrator.robots.robot import Robot
from orchestrator.wire import fourier_msgs, pnd_adam
from orchestrator.wire.codec import codec
from orchestrator.wire.shape import Char, Enumeration, Many, Number, Shape, Struct, Text, struct_of
from orchestrator.wire.topics import topics

EVERY = 0.02
"""Seconds between two reports."""
_SLOW = {"rt/main/nodes/state": 0.2, "robot_motor_cfg_group_state": 1.0}


class Orders:
    """Takes every intent and remembers it; can refuse, or keep intents back."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.receipts: list[Receipt] = []
        self.ended: list[Receipt] = []
        self.refuse = ""
        self.hold_back = False

    def send(self, intent: AnyIntent) -> Receipt:
        receipt = Receipt(intent)
        self.receipts.append(receipt)
        if self.refuse:
            receipt.state, receipt.reason = "refused", self.refuse
        elif not self.hold_back:
            self.let_out(receipt)
        return receipt

    def let_out(self, receipt: Receipt) -> None:
        receipt.state, receipt.sent_at = "sent", self.clock.now()

    def end(self, receipt: Receipt) -> None:
        receipt.state = "ended"
        self.ended.append(receipt)

    @property
    def intents(self) -> list[AnyIntent]:
        return [receipt.intent for receipt in self.receipts]


class FakeRobot:
    """The robot's side of the wire, and `robot`: how a mission sees it."""

    def __init__(self, name: str, **changes: Any) -> None:
        self.profile: Profile = replace(load_profile(name), **changes)
        self.clock = VirtualClock(start=100.0)
        self.network = MemoryNetwork(self.clock)
        self.orders = Orders(self.clock)
        self._random = random.Random(7)
        self._ticks = 0
        self.silent: set[str] = set()
        self.frozen = False
        self.messages: dict[str, Any] = {}
        self.writers: dict[str, MemoryWriter] = {}
        self.boot()
        for topic, writer in self.writers.items():
            self.messages[topic] = blank(writer.topic.type)
        self._make_plausible()
        self.mission_bus = cast(Bus, self.network.bus("mission"))
        self.robot = Robot(self.profile, self.mission_bus, self.orders)
        self.clock.advance(0.1)  # until readers and writers know each other

    def boot(self) -> None:
        """(Re)create the robot's writers, as after a restart."""
        self.bus = self.network.bus("robot")
        table = topics(self.profile.family, self.profile.variants, self.profile.prefix)
        state = {name: topic for name, topic in table.items() if topic.kind != "command"}
        self.writers = {name: self.bus.writer(topic) for name, topic in state.items()}

    def reboot(self) -> None:
        self.bus.close()
        self.boot()
        self.clock.advance(0.1)

    def set(self, topic: str, **fields: Any) -> None:
        """Change what it reports from now on; `a__b` is field b of a."""
        for path, value in fields.items():
            target: Any = self.messages[topic]
            *parents, last = path.split("__")
            for parent in parents:
                target = getattr(target, parent)
            setattr(target, last, value)

    def say(self, topic: str) -> None:
        """Send one report now, and let it arrive."""
        self.report(topic)
        self.clock.advance(0)

    def report(self, topic: str) -> None:
        if topic in self.silent:
            return
        self._move_on(self.messages[topic])
        writer = self.writers[topic]
        writer.write_bytes(codec(writer.topic.type).encode(self.messages[topic]))

    def run(self, seconds: float) -> None:
        """Report everything at a steady rate for a while."""
        for _ in range(round(seconds / EVERY)):
            self._ticks += 1
            for topic in self.writers:
                if self._ticks % round(_SLOW.get(topic, EVERY) / EVERY) == 0 or self._ticks == 1:
                    self.report(topic)
            self.clock.advance(EVERY)

    def judge(self, judge: Judge, within: float = 30.0) -> Outcome:
        """Let time pass until a command is judged; how far it is then."""
        until = self.clock.now() + within
        while not judge.outcome().over and self.clock.now() < until:
            self.run(0.06)
        return judge.outcome()

    def _move_on(self, message: Any) -> None:
        """Heartbeats and noise, unless frozen."""
        if self.frozen:
            return
        if hasattr(message, "header"):
            message.header.stamp.sec = int(self.clock.now())
            message.header.stamp.nanosec = round(self.clock.now() % 1 * 1e9) or 1
        if hasattr(message, "omega_B"):
            message.omega_B = self._noisy(message.omega_B)
        if hasattr(message, "imu_state"):
            message.imu_state.gyroscope = self._noisy(message.imu_state.gyroscope)
        if hasattr(message, "tick"):
            message.tick += 1
            message.battery_data.timestamp_ms += 1
        if hasattr(message, "basic_status"):
            message.basic_status.heartbeat = (message.basic_status.heartbeat + 1) % 2**16
        if hasattr(message, "bms_state"):
            message.bms_state.heartbeat = (message.bms_state.heartbeat + 1) % 2**16
            message.motor_state[-1].ddq_raw = self._random.random()
        if hasattr(message, "hands"):
            for motor in message.hands:
                motor.tau_est *= 1 + 2e-7 * (-1) ** self._ticks

    def _noisy(self, values: list[float]) -> list[float]:
        """Measured: never twice the same."""
        return [value + self._random.gauss(0, 1e-8) for value in values]

    def _make_plausible(self) -> None:
        if self.profile.family == "atom":
            self._atom()
        elif self.profile.family == "aurora":
            self._aurora()
        else:
            count = len(self.profile.joints)
            motors = [blank(pnd_adam.MotorState_) for _ in range(count)]
            self.set("rt/lowstate", motor_state=motors, imu_state__quaternion=[1.0, 0.0, 0.0, 0.0])
            self.set("rt/lowstate", battery_data__voltage=48.0)
            self.set("rt/handstate", position=[1000] * 12)

    def _atom(self) -> None:
        self.set("rt/lower/state", fsm_id=2, imu_state__quaternion=[1.0, 0.0, 0.0, 0.0], bms_state__battery_level=80)
        if self.profile.hands is not None:
            for motor, open_ in zip(self.messages["rt/hands/state"].hands, self.profile.hands.open * 2):
                motor.q = open_
        nodes = self.messages["rt/main/nodes/state"]
        axes = [*nodes.left_leg, *nodes.right_leg, nodes.waist, *nodes.left_arm, *nodes.right_arm, *nodes.head]
        for axis in axes:
            axis.servo_state, axis.node_state = 3, 5
        for slave in nodes.ecat2can:
            slave.slave_state = 1
        amr = self.messages["rt/amr/state"]
        amr.device_status = type(amr.device_status).DEVIDLE
        amr.navigation_status = type(amr.navigation_status).IDLE

    def base(self, navigation: str | None = None, device: str | None = None, task: int | None = None) -> None:
        """What an Atom-W's base reports from now on."""
        amr = self.messages["rt/amr/state"]
        if navigation is not None:
            amr.navigation_status = type(amr.navigation_status)[navigation]
        if device is not None:
            amr.device_status = type(amr.device_status)[device]
        if task is not None:
            amr.task_id = task

    def _aurora(self) -> None:
        vectors = dict.fromkeys(("rpy", "omega_W", "acc_W", "omega_B", "acc_B", "vel_W", "pos_W", "vel_B"), [0.0] * 3)
        self.set("base_data_pub", quat_xyzw=[0.0, 0.0, 0.0, 1.0], quat_wxyz=[1.0, 0.0, 0.0, 0.0], **vectors)
        self.set("contact_data_pub", contact_force=[0.0] * 12, contact_prob=[1.0, 1.0])
        self.set("true_data_pub", **dict.fromkeys(("vel_B", "vel_W", "pos_W"), [0.0] * 3))
        sizes = {group: len(self.profile.group(group)) for group in self.profile.groups}
        sizes |= {"left_hand": 6, "right_hand": 6} if self.profile.hands is not None else {}
        groups, motors = [], []
        for group, size in sizes.items():
            name, zeros = AURORA_GROUPS[group], [0.0] * size
            parts = {f"{kind}_{part}": list(zeros) for kind in ("joint", "motor") for part in _PARTS}
            groups.append(fourier_msgs.ControlGroupState(group_name=name, **parts))
            gains = {part: list(zeros) for part in ("pos_kp", "pos_ki", "pos_kd", "pd_kp", "pd_kd")}
            mode: Any = fourier_msgs.MotorMode.PD
            motors.append(fourier_msgs.MotorCfgGroupState(group_name=name, mode=mode, motor_error=[0] * size, **gains))
        self.set("robot_control_group_state", group_state=groups, group_motion_state=[0] * 8)
        self.set("robot_motor_cfg_group_state", group_state=motors)
        arms = [fourier_msgs.CartesianState(name, [0.0] * 7, [0.0] * 6, [0.0] * 6) for name in _ARMS]
        self.set("robot_cartesian_state", cartesian_state=arms, group_motion_state=[0] * 8)

    def group(self, name: str) -> Any:
        """What an Aurora reports about one joint group."""
        states = self.messages["robot_control_group_state"].group_state
        return next(state for state in states if state.group_name == AURORA_GROUPS[name])


_PARTS = ("position", "velocity", "effort")
_ARMS = ("left_manipulator", "right_manipulator")


def ready(name: str) -> FakeRobot:
    fake = FakeRobot(name)
    fake.run(0.5)
    return fake


def reason(outcome: Outcome) -> Reason | None:
    assert outcome.status == "failure", outcome
    return outcome.reason


def known(found: Any) -> Any:
    assert isinstance(found, Known), found
    return found.value


def blank(cls: type[IdlStruct]) -> Any:
    """A message with nothing but zeros."""
    return _blank(struct_of(cls))


def _blank(shape: Shape) -> Any:
    match shape:
        case Number("?", _):
            return False
        case Number("f" | "d", _):
            return 0.0
        case Number():
            return 0
        case Char():
            return "\0"
        case Enumeration(members):
            return next(iter(members))
        case Text():
            return ""
        case Many(Char(), int() as length, _):
            return "\0" * length
        case Many(element, length, _):
            return [_blank(element) for _ in range(length or 0)]
        case Struct(cls, _, fields, _):
            return cls(**{name: _blank(part) for name, part in fields})
    raise AssertionError(shape)
