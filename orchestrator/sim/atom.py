"""The simulated Dobot Atom and Atom-W."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orchestrator.robots.families import ATOM_FIRST_INDEX
from orchestrator.sim.atom_state import (
    MOTORS,
    UPPER,
    AmrState,
    EmergencyState,
    HandsState,
    LowerState,
    NodesState,
    PowerState,
    UpperState,
)
from orchestrator.sim.base import WheeledBase
from orchestrator.sim.battery import Battery
from orchestrator.sim.drives import SERVO_ON, Drives
from orchestrator.sim.fsm import StateMachine
from orchestrator.sim.hands import Hand
from orchestrator.sim.joints import Joints
from orchestrator.sim.pad import DOBOT_BUTTONS, Pad
from orchestrator.sim.rpc import (
    BAD_TRANSITION,
    SERVER,
    UPPER_REFUSED,
    VELOCITY_REFUSED,
    Method,
    RpcRefusal,
    RpcService,
    method_command,
)
from orchestrator.sim.template import Template, blank
from orchestrator.sim.twin import Twin
from orchestrator.sim.walking import Walking

ZERO_TORQUE, DAMPING, READY, FIRST_WALKING = 0, 1, 2, 300
"""Dobot's numbers are not public: limp, damped, from 2 on position-controlled, from 300 on walking."""
EMERGENCIES = {
    "soft": {"soft"},
    "hard": {"hard"},
    "di": {"di"},
    "amr": {"amr", "amr_event"},
    "amr_topic": {"amr"},
    "amr_event": {"amr_event"},
}
"""What each button sets: the base's shows on two topics, and a fault may leave out one."""
_STATE_RATE = 1 / 0.0012
_RPC_VELOCITY_TIME = 1.0


def _allowed(state: int, to: int) -> bool:
    if to in (ZERO_TORQUE, DAMPING):
        return True
    if to < FIRST_WALKING:
        return state != ZERO_TORQUE
    return state >= READY


def _time_to(state: int) -> float:
    return 0.2 if state <= DAMPING else 1.5 if state < FIRST_WALKING else 1.0


class AtomTwin(Twin):
    """An Atom on legs, or an Atom-W on its base."""

    buttons = DOBOT_BUTTONS

    def build(self) -> None:
        profile = self.profile
        self.offers = frozenset(EMERGENCIES) | {"battery"} | ({"base"} if profile.base else set())
        self.pressed: set[str] = set()
        self.upper_control = False
        self.fsm = StateMachine(DAMPING, frozenset(profile.fsm.values()), _allowed, _time_to)
        self.joints = Joints(profile.joints)
        self.drives = Drives(MOTORS)
        self.hands = {side: Hand(len(profile.hands.fingers)) for side in profile.hands.order} if profile.hands else {}
        self.battery = Battery()
        self.walking = Walking(profile.velocity)
        self.pad = Pad()
        self._wheels = WheeledBase(profile.base) if profile.base else None
        self._wire_index = np.array(
            [ATOM_FIRST_INDEX[name] + n for name in profile.groups for n in range(len(profile.group(name)))]
        )
        self.present = frozenset(int(index) for index in self._wire_index)
        self.motors = np.zeros((MOTORS, 7), "f")
        wheels = () if self._wheels is None else (self._wheels,)
        self.live(self.fsm, self.joints, self.battery, self.walking, *self.hands.values(), *wheels)
        self._publish_all()
        self._take_all()

    def _publish_all(self) -> None:
        upper, lower = self._bodies = UpperState(self), LowerState(self)
        self._refresh()
        self.publish("rt/upper/state", _STATE_RATE, upper, self._body_shown)
        self.publish("rt/lower/state", _STATE_RATE, lower, self._body_shown)
        self.publish("rt/emergency/state", 10.0, EmergencyState(self), lambda: frozenset(self.pressed))
        self.publish("rt/main/nodes/state", 5.0, NodesState(self), self.drives.shown)
        self.publish("rt/power/state", 5.0, PowerState(self), lambda: None)
        self.publish("rt/set/fsm/id", 0.0, lambda: self._report(self.fsm.state), lambda: self.fsm.state)
        if self.profile.hands:
            self.publish("rt/hands/state", 125.0, HandsState(self, self.profile.hands), self._hands_shown)
        if self._wheels is not None:
            self.publish("rt/amr/state", 40.0, AmrState(self), self._base_shown)

    def _take_all(self) -> None:
        self.take("rt/set/fsm/id", lambda m: self.request_fsm(m.id), acknowledge=self._acknowledge_fsm)
        self.take("rt/switch/upper/control", lambda m: self.switch_upper_control(m.flag))
        self.take("rt/upper/cmd", self._move_upper, partly=lambda m: self._move_upper(m, part=0.5))
        self.take("rt/lower/cmd", self._move_lower, partly=lambda m: self._move_lower(m, part=0.5))
        self.take("rt/clear/errors", lambda m: self.drives.clear_errors())
        self.take("rt/enable/motors", lambda m: self.drives.enable(list(m.flag)))
        self.take("rt/bms/cmd", lambda m: None)
        methods: dict[str, Method] = {
            "GetFsmId": lambda p: {"fsm_id": self.fsm.state},
            "SetFsmId": self._rpc_fsm,
            "SwitchUpperLimbControl": self._rpc_upper,
            "SetVel": self._rpc_velocity,
        }
        if self.profile.hands:
            self.take("rt/hands/cmd", self._move_hands, partly=lambda m: self._move_hands(m, part=0.5))
        if self._wheels is not None:
            self.take(
                "rt/amr/cmd",
                self._drive,
                acknowledge=lambda m: self._drive(m, runs=False),
                partly=lambda m: self._drive(m, part=0.5),
            )
            methods["AMRNavigateToTag"] = self._rpc_navigate
            methods["AMRTaskFinished"] = lambda p: {"finished": not self.base.driving}
        commands = {name: method_command(name, method, self._stimulus) for name, method in methods.items()}
        self.commands |= {command.name: command for command in commands.values()}
        self.rpc = RpcService(commands)

    # What people do to it.

    @property
    def base(self) -> WheeledBase:
        if self._wheels is None:
            raise AttributeError(f"{self.profile.name} has no wheeled base")
        return self._wheels

    def hand(self, side: str) -> Hand:
        return self.hands[side]

    def press_emergency(self, kind: str) -> None:
        """Press an emergency stop: soft, hard, di, amr (both its channels), amr_topic or amr_event."""
        self.advance()
        self.pressed |= EMERGENCIES[kind]
        if kind == "hard":
            self.drives.cut_power()
            self.fsm.force(ZERO_TORQUE, self.uptime)
        elif kind in ("soft", "di"):
            self.fsm.force(DAMPING, self.uptime)
        self.update()

    def release_emergency(self, kind: str) -> None:
        self.advance()
        self.pressed -= EMERGENCIES[kind]
        self.update()

    def press(self, *buttons: str) -> None:
        """Hold buttons of the pad down."""
        self.pad.press(*buttons)
        self.update()

    def release(self, *buttons: str) -> None:
        self.pad.release(*buttons)
        self.update()

    def change_fsm(self, state: int) -> None:
        """Somebody else asks for a state, by pad or app."""
        self.advance()
        self.request_fsm(state)
        self.update()

    def push(self, **axes: float) -> None:
        """Push sticks of the pad: `push(lx=0.5)`."""
        self.pad.push(**axes)
        self.update()

    def fail_motor(self, name: str, code: int = 0x7310, lasting: bool = False) -> None:
        """A drive reports an error and its joint no longer moves."""
        names = [joint.name for joint in self.profile.joints]
        self.drives.fail(int(self._wire_index[names.index(name)]), code, lasting)
        self.update()

    # Commands.

    def request_fsm(self, state: int) -> bool:
        stopped = self.pressed & {"soft", "hard", "di"}
        powered = all(self.drives.servo[motor] == SERVO_ON for motor in self.present)
        if state > DAMPING and (stopped or not powered):
            return False
        return self.fsm.request(state, self.uptime)

    def switch_upper_control(self, wanted: bool) -> bool:
        if wanted and self.fsm.state < READY:
            return False
        self.upper_control = wanted
        return True

    def _acknowledge_fsm(self, message: Any) -> None:
        self.publications["rt/set/fsm/id"].outlet.send(self._report(message.id))

    def _report(self, state: int) -> bytes:
        """The robot's own report on the topic that also takes commands."""
        message = blank(self.topics["rt/set/fsm/id"].type)
        message.id = state
        return Template(message).data()

    def _move_upper(self, message: Any, part: float = 1.0) -> None:
        if self.upper_control:
            self._follow(message.motor_cmd, UPPER.start, part)

    def _move_lower(self, message: Any, part: float = 1.0) -> None:
        if READY <= self.fsm.state < FIRST_WALKING:
            self._follow(message.motor_cmd, 0, part)

    def _follow(self, motors: list[Any], first: int, part: float) -> None:
        """Joints go where they are told if they are driven and have stiffness; with `part`, only the first of them."""
        obeying = motors[: round(len(motors) * part)]
        where, angles = [], []
        for joint, motor in enumerate(self._wire_index):
            command = obeying[motor - first] if 0 <= motor - first < len(obeying) else None
            if command is None or self.drives.servo[motor] != SERVO_ON:
                continue
            if command.mode and command.kp > 0.0 and math.isfinite(command.q):
                where.append(joint)
                angles.append(command.q)
        if where:
            self.joints.follow(np.array(where), np.array(angles))

    def _move_hands(self, message: Any, part: float = 1.0) -> None:
        hands = self.profile.hands
        if hands is None or "hard" in self.pressed:
            return
        closed, span = np.array(hands.closed), np.array(hands.open) - np.array(hands.closed)
        fingers = len(hands.fingers)
        for first, side in enumerate(hands.order):
            commands = message.hands[first * fingers : (first + 1) * fingers]
            q = np.array([command.q for command in commands])
            if all(command.mode for command in commands) and np.isfinite(q).all():
                target = np.divide(q - closed, span, out=np.zeros(fingers), where=span != 0.0)
                hand = self.hands[side]
                hand.move(hand.opening + part * (target - hand.opening))

    def _drive(self, message: Any, part: float = 1.0, runs: bool = True) -> None:
        """By the command's name: the newer firmware numbers them differently."""
        base = self.base
        match message.command_type.name:
            case "MOVE_TO_TAG":
                base.move_to_tag(message.target_id, message.theta, part, runs)
            case "ROTATE":
                base.rotate(message.theta)
            case "REMOTE_CONTROL":
                base.remote_control(message.linear_vel, message.angular_vel)
            case "SET_VEL":
                base.set_vel(message.linear_vel, message.angular_vel)
            case "SUBSCRIBE_LASER" | "UNSUBSCRIBE_LASER" as name:
                base.laser = name == "SUBSCRIBE_LASER"
            case "START_MAPPING" | "STOP_MAPPING" as name:
                base.mapping = name == "START_MAPPING"
            case name:
                getattr(base, name.lower(), lambda: None)()

    # JSON-RPC.

    def _rpc_fsm(self, params: dict[str, Any]) -> dict[str, Any]:
        if not self.request_fsm(int(params["fsm_id"])):
            raise RpcRefusal(BAD_TRANSITION, f"no way from state {self.fsm.state} to {params['fsm_id']}")
        return {}

    def _rpc_upper(self, params: dict[str, Any]) -> dict[str, Any]:
        if not self.switch_upper_control(bool(params["is_on"])):
            raise RpcRefusal(UPPER_REFUSED, f"no upper control in state {self.fsm.state}")
        return {}

    def _rpc_velocity(self, params: dict[str, Any]) -> dict[str, Any]:
        if self.fsm.state < FIRST_WALKING:
            raise RpcRefusal(VELOCITY_REFUSED, f"no walking in state {self.fsm.state}")
        vx, vy, turn = (float(params[name]) for name in ("vx", "vy", "vyaw"))
        duration = float(params.get("duration", _RPC_VELOCITY_TIME))
        if not math.isfinite(vx + vy + turn + duration):
            raise ValueError("a velocity that is not finite")
        self.walking.go(vx, vy, turn, duration, self.uptime)
        return {}

    def _rpc_navigate(self, params: dict[str, Any]) -> dict[str, Any]:
        if not self.base.move_to_tag(int(params["target_id"]), float(params.get("theta", 0.0))):
            raise RpcRefusal(SERVER, "the base takes no task now")
        return {}

    # Consequences.

    def react(self) -> None:
        if self.fsm.state < READY:
            self.upper_control = False
            self.joints.stay(slice(None))
        if self.fsm.state < FIRST_WALKING and self.walking.moving:
            self.walking.halt(self.uptime)
        if self._wheels is not None:
            self._wheels.stopped = bool(self.pressed & {"amr", "amr_event"})
            self._wheels.accepts_tasks = self.fsm.state > DAMPING
        self.battery.working = self.walking.moving or self.upper_control
        self._refresh()

    def _refresh(self) -> None:
        for body in self._bodies:
            body.refresh()

    def advance(self) -> None:
        super().advance()
        if self.joints.take_news():
            self.motors[self._wire_index, 0] = self.motors[self._wire_index, 4] = self.joints.q
            self.motors[self._wire_index, 1] = self.motors[self._wire_index, 5] = self.joints.dq
            self.motors[self._wire_index, 3] = self.joints.tau

    @property
    def heading(self) -> float:
        return self.walking.yaw + (0.0 if self._wheels is None else self._wheels.pose.heading)

    @property
    def turning(self) -> float:
        return self.walking.turn + (0.0 if self._wheels is None else self._wheels.velocity[1])

    def status(self) -> str:
        parts = [f"state {self.fsm.state}", "upper control" if self.upper_control else "no upper control"]
        if self._wheels is not None:
            pose = self._wheels.pose
            parts.append(f"base {self._wheels.reported.name} at {pose.x:.2f} {pose.y:.2f}")
        parts.append(f"battery {self.battery.level:.0f} %")
        if self.pressed:
            parts.append(f"EMERGENCY {' '.join(sorted(self.pressed))}")
        return ", ".join(parts)

    def _body_shown(self) -> tuple[object, ...]:
        return (self.fsm.state, self.upper_control, self.battery.low, self.pad.changes)

    def _hands_shown(self) -> tuple[object, ...]:
        return tuple((hand.moving, hand.holding) for hand in self.hands.values())

    def _base_shown(self) -> tuple[object, ...]:
        base = self.base
        flags = (base.blocked, "amr_event" in self.pressed, base.battery.low, base.driving)
        return (base.device, base.reported, base.work_mode, base.task_id, *base.errors, *flags)
