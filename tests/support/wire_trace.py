"""What reached the robot, what it showed and what the guard said, and a judge that knows nothing else.

The judge shares no code with the guard: it reads messages as the robot decoded them, what was true of the robot at that
moment, and the guard's reports. Numbers are those of docs/guard.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from orchestrator.engine.events import GuardReport
from orchestrator.testing import MissionRun
from orchestrator.wire.codec import codec

EPS = 1e-6
HELD = 0.5
"""Seconds for which joints may be held after an e-stop."""
NEAR = 0.1
"""Radians between where joints are and where they are held."""
ENDS = frozenset({"CANCEL_TASK", "PAUSE_TASK", "STOP_REMOTE"})
TERMINAL = frozenset({"COMPLETED", "FAILED", "CANCELED", "IDLE", "STOPPED"})
POSES = ("stand_pose", "move_hand")
HOLDS = ("joints", "hands", *POSES)
PARKED = frozenset({"fsm", "upper_control"})
"""What a robot may be told when it is parked."""

NAMES = {
    "whole_body_fsm_state_change_cmd": "fsm", "rt/set/fsm/id": "fsm", "rpc/SetFsmId": "fsm",
    "rt/switch/upper/control": "upper_control", "rpc/SwitchUpperLimbControl": "upper_control",
    "velocity_cmd": "velocity", "rpc/SetVel": "velocity", "velocity_source_cmd": "source",
    "robot_control_group_cmd": "joints", "rt/upper/cmd": "joints", "rt/lowcmd": "joints",
    "robot_stand_pose_cmd": "stand_pose", "move_command_data": "move_hand",
    "rt/hands/cmd": "hands", "rt/handcmd": "hands", "rt/clear/errors": "clear_errors",
}  # fmt: skip
JOINTS = {"aurora": "robot_control_group_state", "atom": "rt/upper/state", "adam": "rt/lowstate"}


class Said(NamedTuple):
    """One command that reached the robot."""

    at: float
    what: str
    numbers: tuple[float, ...]
    away: float
    """How far joint angles or a pose in it are from where the joints or the body were."""

    @property
    def ends_something(self) -> bool:
        if self.what in ("velocity", "REMOTE_CONTROL"):
            return not any(self.numbers[:3])
        return self.what in ENDS


class Told(NamedTuple):
    at: float
    kind: str
    value: str
    text: str


class WireTrace:
    """Records one run from now on."""

    def __init__(self, run: MissionRun) -> None:
        self.robot = run.twin.profile.name
        self.family = run.twin.profile.family
        self.said: list[Said] = []
        self._run = run
        self._clock = run.twin.clock
        for command in run.twin.commands.values():
            command.faults = (self._record, *command.faults)

    def _record(self, command: Any, message: Any, execute: Any) -> None:
        what = NAMES.get(command.name) or getattr(getattr(message, "command_type", None), "name", command.name)
        parameters = getattr(message, "params", None)
        numbers = tuple(_numbers(parameters if parameters is not None else message))
        self.said.append(Said(self._clock.now(), what, numbers, self._distance(command.name, message)))
        if what == "MOVE_TO_TAG" and (problem := self._base_not_idle()):
            self.said.append(Said(self._clock.now(), problem, (), 0.0))
        execute(message)

    # What the robot shows

    def shown(self, topic: str) -> Any:
        """What is true of the robot, as it would show it now if nothing were wrong with its topics."""
        twin = self._run.twin
        twin.advance()
        return codec(twin.topics[topic].type).decode(twin.publications[topic].make())

    def _base_not_idle(self) -> str:
        base = self.shown("rt/amr/state")
        idle = base.device_status.name == "DEVIDLE" and base.navigation_status.name in TERMINAL
        return "" if idle else f"a task while the base is {base.device_status.name} {base.navigation_status.name}"

    def _distance(self, name: str, message: Any) -> float:
        """How far commanded joints, or a commanded pose, are from where they are shown."""
        if NAMES.get(name) in POSES:
            return _apart(*self._pose(name, message))
        if NAMES.get(name) != "joints":
            return 0.0
        state = self.shown(JOINTS[self.family])
        if self.family == "aurora":
            measured = {group.group_name: group.joint_position for group in state.group_state}
            pairs = [pair for group in message.group_cmd for pair in zip(group.position, measured[group.group_name])]
        else:
            driven = [(c.q, m.q) for c, m in zip(message.motor_cmd, state.motor_state) if c.kp > 0]
            pairs = driven
        return max((abs(a - b) for a, b in pairs), default=0.0)

    def _pose(self, name: str, message: Any) -> tuple[Any, Any]:
        """The pose that is commanded, and the one that is shown."""
        if NAMES[name] == "stand_pose":
            state = self.shown("robot_stand_pose_state")
            wanted, shown = ([each.delta_z, each.delta_pitch, each.delta_yaw] for each in (message, state))
            return wanted, shown
        arms = self.shown("robot_cartesian_state").cartesian_state
        moved = next(arm for arm in message.cartesian_commands.cartesian_cmd if arm.group_motion_state)
        return moved.pose, next(arm.pose for arm in arms if arm.group_name == moved.group_name)

    # What the guard says

    @property
    def told(self) -> list[Told]:
        reports = [event for event in self._run.events if isinstance(event, GuardReport)]
        return [Told(r.at, r.report, r.details.get("value", ""), r.details.get("text", "")) for r in reports]

    @property
    def modes(self) -> list[Told]:
        return [told for told in self.told if told.kind == "mode"]

    def mode_at(self, at: float) -> Told | None:
        return next((mode for mode in reversed(self.modes) if mode.at <= at + EPS), None)

    def names(self, since: float = -math.inf) -> list[str]:
        return [said.what for said in self.said if said.at >= since - EPS]


def _apart(wanted: Any, shown: Any) -> float:
    return max((abs(a - b) for a, b in zip(wanted, shown)), default=0.0)


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _numbers(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _numbers(item)
    elif hasattr(value, "__dataclass_fields__"):
        for field in value.__dataclass_fields__:
            if field != "header":
                yield from _numbers(getattr(value, field))


def violations(trace: WireTrace) -> list[str]:
    """What must never be in any trace."""
    return [*_not_finite(trace), *_forbidden(trace), *_tasks(trace), *_moving_holds(trace), *_softer(trace)]


def _not_finite(trace: WireTrace) -> Iterator[str]:
    for said in trace.said:
        if not all(math.isfinite(number) for number in said.numbers):
            yield f"I1 {said.what} with a number that is not finite at {said.at:.3f}"


def _forbidden(trace: WireTrace) -> Iterator[str]:
    """In each mode only what belongs there reaches the robot."""
    for said in trace.said:
        mode = trace.mode_at(said.at)
        if mode is None or said.ends_something or mode.value in ("running", "paused"):
            continue
        held = said.what in HOLDS and said.away <= NEAR
        since = min(m.at for m in trace.modes if m.value == mode.value and m.at > _before(trace, mode))
        allowed = {
            "estopped": held and said.what not in POSES and said.at <= since + HELD + EPS and not _powerless(mode.text),
            "fault": held or said.at <= since + EPS,  # a frame may be due when the silence becomes too long
            "intervened": said.what in ("joints", "velocity") and said.at <= since + EPS,  # due when others were seen
            "stopping": said.what in ("joints", "hands", *PARKED) or held,
            "disarmed": said.what in ("joints", "hands", *PARKED) or held,
            "offline": held,
            "armed": held,
        }
        if not allowed[mode.value]:
            yield f"I2 {said.what} at {said.at:.3f} while {mode.text} (since {since:.3f}, {said.away:.2f} rad away)"


def _before(trace: WireTrace, mode: Told) -> float:
    """When the robot was last in another mode than this one."""
    return max((m.at for m in trace.modes if m.value != mode.value and m.at < mode.at), default=-math.inf)


def _powerless(text: str) -> bool:
    return " hard" in text or " di" in text.replace("disagree", "")


def _tasks(trace: WireTrace) -> Iterator[str]:
    yield from (f"I8 {said.what}" for said in trace.said if said.what.startswith("a task while"))


def _moving_holds(trace: WireTrace) -> Iterator[str]:
    """Where joints are held is captured once: a hold that follows the joints lets them sink."""
    for mode in trace.modes:
        if mode.value not in ("estopped", "fault"):
            continue
        until = min((later.at for later in trace.modes if later.at > mode.at), default=math.inf)
        frames = {said.numbers for said in trace.said if said.what == "joints" and mode.at < said.at <= until}
        if len(frames) > 1 and trace.family != "aurora":
            yield f"2.3 {len(frames)} different holds while {mode.text}"


def _softer(trace: WireTrace) -> Iterator[str]:
    """Severity falls only by a person, and none acts in these runs after the start."""
    severity = {"intervened": 3, "fault": 4, "estopped": 5}
    for earlier, later in zip(trace.modes, trace.modes[1:]):
        if severity.get(later.value, 0) < severity.get(earlier.value, 0):
            yield f"I17 {earlier.text} became {later.text}"
