"""What the guard looks at on each robot's topics, as observations in neutral terms.

The guard reads as little as it needs and on its own: what a mission believes about the robot plays no part here. A
sample with a number that cannot be true raises `Unbelievable` and counts as bad.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from orchestrator.guard.policy import POSES
from orchestrator.guard.state import Base, Power
from orchestrator.guard.turn import Setting
from orchestrator.robots.axes import Axis, axes_of, existing
from orchestrator.robots.families import ATOM_FIRST_INDEX, AURORA_GROUPS, AURORA_SECURITY
from orchestrator.robots.intents import MoveHand, StandPose
from orchestrator.robots.models import AURORA_NAMES, HANDS, MOTORS, Shown, joint_counts, misfit
from orchestrator.robots.pads import ADAM_AXES, ADAM_BUTTONS, ADAM_FULL_SCALE, ATOM_AXES
from orchestrator.robots.profile import Profile
from orchestrator.wire.codec import codec
from orchestrator.wire.errors import WireError
from orchestrator.wire.topics import Topic


class Unbelievable(ValueError):
    """A sample holds what cannot be true."""


class Seen(NamedTuple):
    """What one sample says."""

    facts: dict[str, Any]
    flags: dict[str, bool]
    counter: int | None = None
    noisy: bool = False


Read = Callable[[bytes, float], Seen]
Field = Callable[[bytes], Any]

FARTHEST = 10.0
"""No joint is ever this far from zero, in rad."""
STICK = 0.1
"""A stick of the pad beyond this is being moved."""


def watched(setting: Setting, topics: dict[str, Topic]) -> dict[str, Read]:
    """How to read each topic the guard looks at, by plain name."""
    upright = math.cos(setting.config.limits.tilt) if "tilt" in setting.robot.channels else None
    return {"aurora": _aurora, "atom": _atom, "adam": _adam}[setting.profile.family](setting.profile, topics, upright)


def watched_poses(profile: Profile, topics: dict[str, Topic]) -> dict[str, Read]:
    """How to read the topics that show poses the robot drives to by itself; nobody needs them but while it does."""
    if profile.family != "aurora":
        return {}
    reads = {}
    if profile.stand_pose is not None:
        reads[POSES[StandPose]] = _aurora_stand(topics[POSES[StandPose]])
    if profile.move_command:
        reads[POSES[MoveHand]] = _aurora_reach(topics[POSES[MoveHand]])
    return reads


def _fields(topic: Topic, *paths: str) -> list[Field]:
    return [codec(topic.type).field(path, plain=True) for path in paths]


def _angles(values: Iterable[float]) -> tuple[float, ...]:
    checked = tuple(values)
    if not all(abs(value) <= FARTHEST for value in checked):  # NaN compares false
        raise Unbelievable("a joint cannot be there")
    return checked


def _openings(profile: Profile, positions: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    """Finger positions as fractions from closed to open, by hand."""
    hands = profile.hands
    if hands is None:
        return {}
    count, openings = len(hands.fingers), {}
    for index, hand in enumerate(hands.order):
        fingers = positions[index * count : (index + 1) * count]
        if len(fingers) != count or not all(math.isfinite(value) for value in fingers):
            raise Unbelievable("a finger cannot be there")
        openings[hand] = tuple(map(_opening, fingers, hands.closed, hands.open))
    return openings


def _opening(value: float, closed: float, opened: float) -> float:
    if opened == closed:  # a finger that stays where it is
        return 1.0
    return min(max((value - closed) / (opened - closed), 0.0), 1.0)


def _sticks(axes: Iterable[float]) -> bool:
    return any(abs(axis) > STICK for axis in axes)


def _percent(level: float) -> int:
    """Some firmware counts hundredths of a percent."""
    if not 0 <= level <= 10_000:
        raise Unbelievable("a battery cannot be that full")
    return round(level / 100 if level > 100 else level)


def _leans(quaternion: Iterable[float], upright: float) -> bool:
    """Whether the body (w, x, y, z) leans further than an angle with this cosine."""
    w, x, y, z = quaternion
    if not 0.9 <= w * w + x * x + y * y + z * z <= 1.1:  # NaN compares false
        raise Unbelievable("no body is turned like that")
    return 1 - 2 * (x * x + y * y) < upright


def _stranger(shown: Shown) -> dict[str, Any]:
    """Facts about a robot that is not the profile's: where its joints are says nothing about ours."""
    return {"joints": {}, "stranger": shown}


# Aurora


def _aurora(profile: Profile, topics: dict[str, Topic], upright: float | None) -> dict[str, Read]:
    return {
        "aurora_state": _aurora_state(topics["aurora_state"]),
        "robot_control_group_state": _aurora_groups(profile, topics["robot_control_group_state"]),
        "base_data_pub": _aurora_motion(topics["base_data_pub"], upright),
    }


def _stamp(seconds: int, nanoseconds: int) -> int | None:
    """A header's stamp as a liveness counter; an empty one tells nothing."""
    return seconds * 1_000_000_000 + nanoseconds or None


def _aurora_state(topic: Topic) -> Read:
    fsm, upper, source, override, sec, nanosec = _fields(
        topic, "whole_body_fsm_state", "upper_body_fsm_state", "velocity_command_source", "allow_upper_body_override",
        "header.stamp.sec", "header.stamp.nanosec",
    )  # fmt: skip

    def read(data: bytes, now: float) -> Seen:
        state = fsm(data)
        facts = {
            "fsm": state,
            "upper_fsm": upper(data),
            "velocity_source": source(data),
            "override": bool(override(data)),
        }
        return Seen(facts, {"security": state == AURORA_SECURITY}, _stamp(sec(data), nanosec(data)))

    return read


MOST_GROUPS = 8


def _aurora_groups(profile: Profile, topic: Topic) -> Read:
    names = _fields(topic, *(f"group_state[{index}].group_name" for index in range(MOST_GROUPS)))
    angles = _fields(topic, *(f"group_state[{index}].joint_position" for index in range(MOST_GROUPS)))
    motion, sec, nanosec = _fields(topic, "group_motion_state", "header.stamp.sec", "header.stamp.nanosec")
    wanted = joint_counts(profile)

    def read(data: bytes, now: float) -> Seen:
        joints: dict[str, tuple[float, ...]] = {}
        hands: dict[str, tuple[float, ...]] = {}
        for name, q in zip(names, angles):
            try:
                written: str = name(data)
            except WireError:
                break  # no more groups
            group = AURORA_NAMES.get(written, written)
            if group in HANDS:
                hands[group.removesuffix("_hand")] = tuple(q(data))
            elif values := _angles(q(data)):
                joints[group] = values
        if not joints:
            raise Unbelievable("no joint groups")
        facts: dict[str, Any] = {"joints": joints, "stranger": None, "errors": _motion_errors(motion(data))}
        if (counts := {group: len(q) for group, q in joints.items()}) != wanted:
            facts |= _stranger(counts)
        if profile.hands is not None and set(hands) >= set(profile.hands.order):
            facts["hands"] = _openings(profile, tuple(v for hand in profile.hands.order for v in hands[hand]))
        return Seen(facts, {}, _stamp(sec(data), nanosec(data)))

    return read


MOTION_ERROR = 3


def _motion_errors(states: Iterable[int]) -> dict[str, str]:
    return {group: f"{group}: motion error" for group, state in zip(AURORA_GROUPS, states) if state == MOTION_ERROR}


def _aurora_motion(topic: Topic, upright: float | None) -> Read:
    velocity, turned, sec, nanosec = _fields(topic, "vel_B", "quat_wxyz", "header.stamp.sec", "header.stamp.nanosec")

    def read(data: bytes, now: float) -> Seen:
        speed = math.hypot(*velocity(data))
        if not math.isfinite(speed):
            raise Unbelievable("a speed is not finite")
        flags = {} if upright is None else {"tilt": _leans(turned(data), upright)}
        return Seen({"speed": speed}, flags, _stamp(sec(data), nanosec(data)))

    return read


def _aurora_stand(topic: Topic) -> Read:
    *pose, sec, nanosec = _fields(
        topic, "delta_z", "delta_pitch", "delta_yaw", "header.stamp.sec", "header.stamp.nanosec"
    )

    def read(data: bytes, now: float) -> Seen:
        return Seen({"stand": _angles(each(data) for each in pose)}, {}, _stamp(sec(data), nanosec(data)))

    return read


ARMS = {AURORA_GROUPS[arm]: arm for arm in ("left_arm", "right_arm")}


def _aurora_reach(topic: Topic) -> Read:
    names = _fields(topic, *(f"cartesian_state[{index}].group_name" for index in range(MOST_GROUPS)))
    poses = _fields(topic, *(f"cartesian_state[{index}].pose" for index in range(MOST_GROUPS)))
    sec, nanosec = _fields(topic, "header.stamp.sec", "header.stamp.nanosec")

    def read(data: bytes, now: float) -> Seen:
        reach: dict[str, tuple[float, ...]] = {}
        for name, pose in zip(names, poses):
            try:
                arm = ARMS.get(name(data))
            except WireError:
                break  # no more groups
            if arm is not None:
                reach[arm] = _place(pose(data))
        if len(reach) < len(ARMS):
            raise Unbelievable("an arm is missing")
        return Seen({"reach": reach}, {}, _stamp(sec(data), nanosec(data)))

    return read


def _place(pose: Iterable[float]) -> tuple[float, ...]:
    """Where a hand is: x y z qx qy qz qw."""
    x, y, z, *turned = _angles(pose)
    if len(turned) != 4 or not 0.9 <= sum(part * part for part in turned) <= 1.1:
        raise Unbelievable("no hand is turned like that")
    return x, y, z, *turned


# Atom


def _atom(profile: Profile, topics: dict[str, Topic], upright: float | None) -> dict[str, Read]:
    reads = {
        "rt/emergency/state": _atom_emergency(topics["rt/emergency/state"]),
        "rt/lower/state": _atom_lower(topics["rt/lower/state"], upright),
        "rt/upper/state": _atom_upper(profile, topics["rt/upper/state"]),
        "rt/hands/state": _atom_hands(profile, topics["rt/hands/state"]),
        "rt/main/nodes/state": _atom_nodes(profile, topics["rt/main/nodes/state"]),
    }
    if profile.base is not None:
        reads["rt/amr/state"] = _atom_base(topics["rt/amr/state"])
    return reads


def _atom_emergency(topic: Topic) -> Read:
    suffix = "_emergency_triggered"
    names = [name.removesuffix(suffix) for name in topic.type.__annotations__]
    fields = _fields(topic, *(name + suffix for name in names))

    def read(data: bytes, now: float) -> Seen:
        return Seen({}, {name: bool(field(data)) for name, field in zip(names, fields)})

    return read


def _atom_lower(topic: Topic, upright: float | None) -> Read:
    fsm, level, alarms, pad, turned = _fields(
        topic, "fsm_id", "bms_state.battery_level", "bms_state.bms_alarms", "wireless_remote", "imu_state.quaternion"
    )
    first = min(ATOM_AXES.values())  # four floats in a row

    def read(data: bytes, now: float) -> Seen:
        facts = {
            "fsm": fsm(data),
            "power": Power(_percent(level(data)), alarms=alarms(data)),
            "pad": _sticks(struct.unpack_from("<4f", bytes(pad(data)), first)),
        }
        flags = {} if upright is None else {"tilt": _leans(turned(data), upright)}
        return Seen(facts, flags, zlib.crc32(data), noisy=True)

    return read


FIRST_UPPER = ATOM_FIRST_INDEX["waist"]


def _atom_upper(profile: Profile, topic: Topic) -> Read:
    name, control, q, dq = _fields(topic, "robot_type", "is_upper_control", "motor_state[*].q", "motor_state[*].dq")
    firsts = {group: ATOM_FIRST_INDEX[group] - FIRST_UPPER for group in profile.groups}
    parts = {group: slice(at, at + len(profile.group(group))) for group, at in firsts.items() if at >= 0}

    def read(data: bytes, now: float) -> Seen:
        angles = _angles(q(data))
        facts: dict[str, Any] = {
            "upper_control": bool(control(data)),
            "joints": {group: angles[part] for group, part in parts.items()},
            "stranger": None,
        }
        if misfit(profile, shown := name(data)):
            facts |= _stranger(shown)
        if profile.base is None:
            facts["speed"] = _fastest(dq(data))
        return Seen(facts, {}, zlib.crc32(data), noisy=True)

    return read


def _fastest(speeds: Iterable[float]) -> float:
    fastest = max((abs(speed) for speed in speeds), default=0.0)
    if not math.isfinite(fastest):
        raise Unbelievable("a speed is not finite")
    return fastest


def _atom_hands(profile: Profile, topic: Topic) -> Read:
    (q,) = _fields(topic, "hands[*].q")

    def read(data: bytes, now: float) -> Seen:
        return Seen({"hands": _openings(profile, tuple(q(data)))}, {})

    return read


OPERATIONAL, ENABLED, SLAVE_OK = 5, 3, 1


def _atom_nodes(profile: Profile, topic: Topic) -> Read:
    decode, axes = codec(topic.type).decode, axes_of(profile)

    def read(data: bytes, now: float) -> Seen:
        return Seen(_node_facts(decode(data), axes), {})

    return read


def _node_facts(nodes: Any, axes: tuple[Axis, ...]) -> dict[str, Any]:
    """What is wrong: with nodes and buses, which nobody can mend from here, and with motors."""
    unhealthy: str | None = None
    errors: dict[str, str] = {}
    off: dict[str, str] = {}
    for axis, shown in existing(axes, nodes):
        if code := shown.error_code or shown.pos_err_code or shown.vel_err_code or shown.torque_err_code:
            errors.setdefault(axis.group, f"{axis.name}: error {code:#x}")
        if shown.servo_state != ENABLED:
            off.setdefault(axis.group, f"{axis.name}: servo state {shown.servo_state}")
        if shown.node_state != OPERATIONAL:
            unhealthy = unhealthy or f"{axis.name}: node state {shown.node_state}"
    for number, slave in enumerate(nodes.ecat2can, start=1):
        if not slave.is_virtual and (slave.slave_state != SLAVE_OK or slave.error_code):
            unhealthy = unhealthy or f"ecat2can {number}: state {slave.slave_state}, error {slave.error_code:#x}"
    return {"unhealthy": unhealthy, "errors": errors, "off": off}


def _atom_base(topic: Topic) -> Read:
    device, navigation, mode, task, pressed, heartbeat, position, level, low = _fields(
        topic, "device_status", "navigation_status", "work_mode", "task_id", "amr_event.emergency_stop_pressed",
        "basic_status.heartbeat", "position", "basic_status.battery_level", "amr_event.low_battery",
    )  # fmt: skip
    speed = Speedometer()

    def read(data: bytes, now: float) -> Seen:
        x, y, heading = position(data)
        base = Base(_word(device(data)), _word(navigation(data)), mode(data), task(data))
        power = Power(_percent(level(data)), bool(low(data)))
        facts = {"base": base, "speed": speed(now, x, y, heading), "base_power": power}
        return Seen(facts, {"amr_event": bool(pressed(data))}, heartbeat(data))

    return read


def _word(value: Any) -> str:
    """An enumeration's value in lower case; a number it does not have is unknown."""
    return value.name.lower() if hasattr(value, "name") else "unknown"


class Speedometer:
    """How fast a base goes, or its rim turns, from where it is now and where it was half a second ago."""

    SPAN = 0.5  # seconds: a millimetre of noise then looks like 3 mm/s; over 0.1 s it looks like motion
    RIM = 0.3  # metres from the middle of the base

    def __init__(self) -> None:
        self._been: deque[tuple[float, float, float, float]] = deque()

    def __call__(self, now: float, x: float, y: float, heading: float) -> float | None:
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(heading)):
            raise Unbelievable("a position is not finite")
        if self._been and now - self._been[-1][0] > self.SPAN * 2:
            self._been.clear()  # how it moved in such a long silence says nothing about now
        self._been.append((now, x, y, heading))
        while len(self._been) > 1 and now - self._been[1][0] >= self.SPAN:
            self._been.popleft()
        since, x0, y0, heading0 = self._been[0]
        turned = math.remainder(heading - heading0, math.tau) * self.RIM
        return math.hypot(x - x0, y - y0, turned) / (now - since) if now - since >= self.SPAN else None


# Adam


def _adam(profile: Profile, topics: dict[str, Topic], upright: float | None) -> dict[str, Read]:
    low, hand = topics["rt/lowstate"], topics["rt/handstate"]
    reads = {"rt/lowstate": _adam_low(profile, low, upright)}
    if profile.hands is not None:
        reads["rt/handstate"] = _adam_hands(profile, hand)
    return reads


def _adam_low(profile: Profile, topic: Topic, upright: float | None) -> Read:
    q, dq, state, tick, remote, turned = _fields(
        topic, "motor_state[*].q", "motor_state[*].dq", "motor_state[*].state", "tick", "wireless_remote",
        "imu_state.quaternion",
    )  # fmt: skip
    scale, pushed = (ADAM_FULL_SCALE, 0.0) if "remote_int16" in profile.variants else (1.0, 0.5)
    sticks = slice(min(ADAM_AXES.values()), ADAM_BUTTONS["lt"])
    left_trigger, b = ADAM_BUTTONS["lt"], ADAM_BUTTONS["b"]
    groups = [joint.group for joint in profile.joints]
    parts = {group: slice(groups.index(group), groups.index(group) + groups.count(group)) for group in profile.groups}

    def read(data: bytes, now: float) -> Seen:
        angles, pad = _angles(q(data)), remote(data)
        moved = _sticks(axis / scale for axis in pad[sticks])
        facts: dict[str, Any] = {"speed": _fastest(dq(data)), "pad": moved, "stranger": None}
        if len(angles) == len(profile.joints):
            facts["joints"] = {group: angles[part] for group, part in parts.items()}
        else:
            facts |= _stranger({MOTORS: len(angles)})
        flags = {"motors": any(state(data)), "pad": pad[left_trigger] > pushed and pad[b] > pushed}
        if upright is not None:
            flags["tilt"] = _leans(turned(data), upright)
        return Seen(facts, flags, tick(data))

    return read


def _adam_hands(profile: Profile, topic: Topic) -> Read:
    (position,) = _fields(topic, "position")

    def read(data: bytes, now: float) -> Seen:
        return Seen({"hands": _openings(profile, tuple(float(value) for value in position(data)))}, {})

    return read
