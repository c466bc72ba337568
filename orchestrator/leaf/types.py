"""Types of a leaf's parameters, to be used as annotations: `heading: Angle | None = None`."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from orchestrator.robots.motion_file import motion_joints, motion_mistakes
from orchestrator.yamlfile import Findings

if TYPE_CHECKING:
    from orchestrator.robots.facts import RobotFacts


# Looks at a file for a robot, if there is one. Mistakes with a line of their own become findings, others are returned.
FileLook = Callable[[Path, "RobotFacts | None", Findings], list[str]]


@dataclass(frozen=True, slots=True)
class ParamType:
    """How a parameter is written and checked.

    `kind` is int, number, bool, text, choice, list, a dimension such as duration, or something of the robot: tag, hand,
    fsm_state, upper_state, velocity_source, pose, group, joint_angles, or a file beside the tree, which `look` looks at
    before anything moves; `moves` says which joints such a file moves. A range is given in the unit we calculate in,
    or named (`limit`) when every robot has its own; that of a list is how many values it has.
    """

    kind: str
    choices: tuple[str, ...] = ()
    of: ParamType | None = None
    lower: float | None = None
    upper: float | None = None
    limit: str | None = None
    look: FileLook | None = None
    moves: Callable[[Path], Iterable[str]] | None = None

    @property
    def name(self) -> str:
        if self.kind == "choice":
            return f"one of [{', '.join(self.choices)}]"
        return f"list of {self.of.name}" if self.of is not None else self.kind.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Between:
    """Lowest and highest value, in the unit we calculate in."""

    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """The robot's own range of this name, such as "walk.forward"."""

    name: str


Duration = Annotated[float, ParamType("duration", lower=0)]
Length = Annotated[float, ParamType("length")]
Angle = Annotated[float, ParamType("angle")]
Speed = Annotated[float, ParamType("speed")]
AngularSpeed = Annotated[float, ParamType("angular speed")]
Percent = Annotated[float, ParamType("percent", lower=0, upper=100)]
Tag = Annotated[int, ParamType("tag")]
Hand = Annotated[str, ParamType("hand")]
FsmState = Annotated[str, ParamType("fsm_state")]
UpperState = Annotated[str, ParamType("upper_state")]
VelocitySource = Annotated[str, ParamType("velocity_source")]
Pose = Annotated[str, ParamType("pose")]
Group = Annotated[str, ParamType("group")]
JointAngles = Annotated[dict[str, float], ParamType("joint_angles")]

MotionFile = Annotated[str, ParamType("file", look=motion_mistakes, moves=motion_joints)]

_PLAIN = {int: "int", float: "number", bool: "bool", str: "text"}


def param_type(annotation: Any) -> tuple[ParamType, bool]:
    """The parameter type an annotation stands for, and whether it may be left out (`| None`)."""
    if get_origin(annotation) in (Union, types.UnionType):
        inner = [part for part in get_args(annotation) if part is not type(None)]
        if len(inner) != 1:
            raise TypeError(f"a parameter has one type, or one type or None: {annotation}")
        return param_type(inner[0])[0], True
    return _one_type(annotation), False


def _one_type(annotation: Any) -> ParamType:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _annotated(*get_args(annotation))
    if origin is Literal:
        return ParamType("choice", choices=get_args(annotation))
    if origin is list:
        return ParamType("list", of=_one_type(get_args(annotation)[0]))
    if annotation in _PLAIN:
        return ParamType(_PLAIN[annotation])
    raise TypeError(f"not a type of a parameter: {annotation}")


def _annotated(base: Any, *extras: Any) -> ParamType:
    found = extras[0] if isinstance(extras[0], ParamType) else _one_type(base)
    for extra in extras:
        if isinstance(extra, Between):
            found = replace(found, lower=extra.lower, upper=extra.upper)
        elif isinstance(extra, Limit):
            found = replace(found, limit=extra.name)
    return found
