"""The codec against the library's own, on every type; and reading a single field."""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any

from cyclonedds.idl import IdlStruct

from benchmarks import Row, at_least, at_most
from orchestrator.wire import dobot_atom, fourier_msgs
from orchestrator.wire.codec import codec
from orchestrator.wire.example import example
from orchestrator.wire.shape import Many, Shape, Struct, Text, struct_of
from orchestrator.wire.topics import FAMILIES, VARIANTS

_GROUPS = 8
"""Elements of every sequence: as many as Aurora has joint groups."""


def rows() -> list[Row]:
    return [_decode(label, cls) for label, cls in _types().items()] + _fields()


def _types() -> dict[str, type[IdlStruct]]:
    named = {topic.type.__name__: topic.type for table in FAMILIES.values() for topic in table.values()}
    return named | {
        f"{topic.type.__name__} ({variant})": topic.type
        for known in VARIANTS.values()
        for variant, table in known.items()
        for topic in table.values()
    }


def _decode(label: str, cls: type[IdlStruct]) -> Row:
    message = example(cls, _GROUPS)
    theirs, ours = message.serialize(use_version_2=False), codec(cls).encode(message)
    decode = codec(cls).decode
    fixed = _is_fixed(struct_of(cls))
    ratio = _ratio(lambda: cls.deserialize(theirs), lambda: decode(ours))
    return at_least(f"decode {label}", ratio, "x library", 10 if fixed else 3)


def _fields() -> list[Row]:
    paths = [
        (dobot_atom.LowerState_, "motor_state[3].q"),
        (dobot_atom.LowerState_, "imu_state.quaternion"),
        (dobot_atom.AMRState_, "navigation_status"),
        (fourier_msgs.AuroraState, "whole_body_fsm_state"),
        (fourier_msgs.BaseData, "rpy"),
        (fourier_msgs.RobotControlGroupState, "group_state[2].joint_position"),
        (fourier_msgs.RobotControlGroupState, "group_state[7].joint_position"),
    ]
    return [_field(cls, path) for cls, path in paths]


def _field(cls: type[IdlStruct], path: str) -> Row:
    data, read = codec(cls).encode(example(cls, _GROUPS)), codec(cls).field(path)
    return at_most(f"read {cls.__name__}.{path}", _best(lambda: read(data), 2000) * 1e6, "us", 1.0)


def _ratio(theirs: Callable[[], Any], ours: Callable[[], Any]) -> float:
    """How many times faster ours is: best of many short, alternating runs."""
    pairs = [(timeit.timeit(theirs, number=30) / 30, timeit.timeit(ours, number=200) / 200) for _ in range(40)]
    return min(their for their, _ in pairs) / min(our for _, our in pairs)


def _best(action: Callable[[], Any], number: int) -> float:
    return min(timeit.repeat(action, number=number, repeat=15)) / number


def _is_fixed(shape: Shape) -> bool:
    match shape:
        case Text():
            return False
        case Many(element, length, _):
            return length is not None and _is_fixed(element)
        case Struct(_, _, fields, _):
            return all(_is_fixed(part) for _, part in fields)
        case _:
            return True
