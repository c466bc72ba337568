"""What a profile file may contain, by family: tables of fields that become the records of `profile`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from orchestrator.robots.families import FAMILIES
from orchestrator.robots.profile import (
    CAUTIOUS_REACH,
    Base,
    Family,
    Range,
    Reach,
    StandPoseLimits,
    Unconfirmed,
    VelocityLimits,
)
from orchestrator.yamlfile import (
    BOOL,
    TEXT,
    UNREAD,
    Findings,
    Integer,
    Key,
    Mistake,
    Node,
    Number,
    OneOf,
    Quantity,
    ScalarType,
    Type,
    Unread,
    list_of,
    map_of,
    optional,
    record,
    required,
)

_HOST_PORT = re.compile(r"[A-Za-z0-9.-]+:(\d{1,5})")
_PREFIX = re.compile(r"[A-Za-z0-9_./:-]{1,200}")
_ABOVE_ZERO = 1e-6

# What no robot of these families reaches: a number beyond is a slip, such as degrees written as radians.
_WALK, _TURN = Quantity("speed", -5, 5), Quantity("angular speed", -6, 6)
_DRIVE, _SPIN = Quantity("speed", _ABOVE_ZERO, 5), Quantity("angular speed", _ABOVE_ZERO, 6)
_HEIGHT, _LEAN = Quantity("length", -1, 1), Quantity("angle", -2, 2)
_HAND = Quantity("length", -2, 2)
_JOINT, _JOINT_SPEED = Quantity("angle", -10, 10), Quantity("angular speed", _ABOVE_ZERO, 30)
_JOINT_TORQUE, _FINGER_TORQUE = Quantity("torque", _ABOVE_ZERO, 1000), Quantity("torque", -10, 10)
_KP, _KD = Number(0, 5000), Number(0, 500)


class _RangeOf(Type[Range]):
    """`[low, high]`."""

    def __init__(self, of: ScalarType[float], holds_zero: bool = False) -> None:
        self.name = f"range of {of.name}"
        self._pair = list_of(of, 2, 2)
        self._holds_zero = holds_zero

    def read(self, node: Node, findings: Findings) -> Range | Unread:
        pair = self._pair.read(node, findings)
        if isinstance(pair, Unread):
            return UNREAD
        found = Range(*pair)
        problem = self._problem(found)
        if problem:
            findings.error(node, "bad-range", problem)
            return UNREAD
        return found

    def _problem(self, found: Range) -> str | None:
        if self._holds_zero:
            return None if found.holds(0.0) else "the range must hold 0, or the robot could not be told to stand still"
        return None if found.low < found.high else "the first value of a range must be below the second"


class _HostPort(ScalarType[str]):
    name = "host:port"

    def parse(self, text: str) -> str:
        match = _HOST_PORT.fullmatch(text)
        if match is None or not 0 < int(match[1]) < 65536:
            raise Mistake("not-an-address", f'"{text[:60]}" is not an address: write host:port')
        return text


class _Prefix(ScalarType[str]):
    """What goes before every topic; DDS takes no other characters."""

    name = "topic prefix"

    def parse(self, text: str) -> str:
        if _PREFIX.fullmatch(text) is None:
            raise Mistake("not-a-prefix", f'"{text[:60]}" cannot begin a topic: letters, digits and _ - . : / only')
        return text


def _limits(of: ScalarType[float]) -> Key:
    return required(_RangeOf(of, holds_zero=True))


VELOCITY = record(VelocityLimits, {"vx": _limits(_WALK), "vy": _limits(_WALK), "yaw": _limits(_TURN)}, name="velocity")
STAND_POSE = record(
    StandPoseLimits,
    {
        "dz": _limits(_HEIGHT),
        "pitch": _limits(_LEAN),
        "yaw": _limits(_LEAN),
        "stable_level": required(Integer(1, 255)),
    },
    name="stand pose",
)
REACH = record(
    Reach,
    {part: required(_RangeOf(_HAND)) for part in ("forward", "left", "up")},
    name="reach",
)
BASE = record(
    Base,
    {
        "tags": required(map_of(Integer(0, 2**32 - 1))),
        "linear": required(_DRIVE),
        "angular": required(_SPIN),
        "rotate": required(BOOL),
        "confirm_key": required(BOOL),
    },
)
MOTION: Type[dict[str, float]] = record(
    dict,
    {
        "rate": required(Quantity("frequency", lower=1, upper=1000)),
        "joint_speed": required(_JOINT_SPEED),
    },
    name="motion",
)
UNCONFIRMED = record(Unconfirmed, {"what": required(TEXT), "note": required(TEXT)}, name="unconfirmed fact")
POSES = map_of(map_of(list_of(_JOINT)))

_GAINS = {"kp": optional(_KP), "kd": optional(_KD)}


def _dds(family: Family) -> Type[dict[str, object]]:
    variants = [variant for alternatives in FAMILIES[family].variants for variant in alternatives]
    return record(
        dict,
        {
            "domain": required(Integer(0, 232)),
            "prefix": optional(_Prefix(), ""),
            "interface": optional(TEXT),
            "variants": optional(list_of(OneOf(*variants, name="firmware variant")), []),
            "allowed_writers": optional(list_of(TEXT), []),
        },
        name="dds",
    )


def _joints() -> Type[dict[str, list[dict[str, object]]]]:
    row: Type[dict[str, object]] = record(
        dict,
        {
            "name": required(TEXT),
            "limits": required(_RangeOf(_JOINT)),
            "velocity": optional(_JOINT_SPEED),
            "torque": optional(_JOINT_TORQUE),
            **_GAINS,
        },
        name="joint",
    )
    return map_of(list_of(row, at_least=1))


def _hands(family: Family) -> Type[dict[str, object]]:
    facts = FAMILIES[family]
    position: ScalarType[float] = _JOINT if facts.hand_unit == "rad" else Integer(0, 2**32 - 1)
    forces = (
        {
            "kp": required(_KP),
            "kd": required(_KD),
            "tau": required(_FINGER_TORQUE),
        }
        if facts.sends_gains and facts.hand_unit == "rad"
        else {}
    )
    return record(
        dict,
        {
            "fingers": required(list_of(TEXT, at_least=1)),
            "order": required(list_of(OneOf("left", "right"), 2, 2)),
            "open": required(list_of(position)),
            "closed": required(list_of(position)),
            **forces,
        },
        name="hands",
        check=_both_hands,
    )


def _both_hands(hands: dict[str, object]) -> Iterable[str]:
    if hands["order"] not in (["left", "right"], ["right", "left"]):
        yield "order must name both hands"


def keys(family: Family) -> dict[str, Key]:
    """What a profile of this family may contain."""
    facts = FAMILIES[family]
    states = map_of(Integer(0, facts.highest_state))
    of_family = {
        "rpc": optional(_HostPort()),
        "fsm": required(states),
        "upper_fsm": required(states),
        "velocity_sources": required(states),
        "velocity": optional(VELOCITY),
        "stand_pose": optional(STAND_POSE),
        "move_command": optional(BOOL, False),
        "reach": optional(REACH, CAUTIOUS_REACH),
        "hands": optional(_hands(family)),
        "base": optional(BASE),
    }
    return {
        "family": required(OneOf(*FAMILIES)),
        "vendor": required(TEXT),
        "model": required(TEXT),
        "read_only": optional(BOOL, False),
        "dds": required(_dds(family)),
        "motion": required(MOTION),
        "joints": required(_joints()),
        "read_only_groups": optional(list_of(TEXT), []),
        "poses": optional(POSES, {}),
        "urdf": optional(TEXT),
        "unconfirmed": optional(list_of(UNCONFIRMED), []),
        **{name: key for name, key in of_family.items() if name in facts.sections},
    }
