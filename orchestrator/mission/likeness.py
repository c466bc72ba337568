"""How a robot is, and a simulated one made to be like it: for rehearsals that begin where the robot stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orchestrator.robots.fields import sources
from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.robot import Robot
from orchestrator.sim.base import Pose
from orchestrator.sim.twin import Twin


@dataclass(frozen=True)
class Likeness:
    """What a robot shows; what it does not show is None or missing."""

    fields: dict[str, Any]
    """Those of `_FIELDS` it has, by name."""
    joints: dict[str, tuple[float, ...]]
    hands: dict[str, tuple[float, ...]]
    base: tuple[float, float, float] | None = None


_FIELDS = ("fsm.state", "upper.state", "velocity.source", "battery.level", "battery.base")


def likeness(robot: Robot) -> Likeness:
    """What the robot shows now."""
    profile = robot.profile
    fields = {name: _value(robot.field(name)()) for name in _FIELDS if name in sources(profile)}
    joints = {group: _value(robot.joints.position(group)) for group in profile.groups} if robot.has("joints") else {}
    sides = profile.hands.order if profile.hands is not None else ()
    hands = {side: _value(robot.hands.opening(side)) for side in sides}
    base = _value(robot.mobile_base.position()) if robot.has("mobile_base") else None
    return Likeness(_known(fields), _known(joints), _known(hands), base)


def make_alike(twin: Twin, shown: Likeness) -> None:
    """Bring a simulated robot into the state another robot shows, as far as it was seen."""
    robot: Any = twin
    robot.advance()
    _set_states(robot, shown.fields)
    if shown.joints:
        first = 0
        for group in twin.profile.groups:
            count = len(twin.profile.group(group))
            if group in shown.joints:
                robot.joints.place(slice(first, first + count), np.array(shown.joints[group]))
            first += count
    for side, opening in shown.hands.items():
        robot.hand(side).place(np.array(opening))
    if shown.base is not None:
        robot.base.pose = Pose(*shown.base)
    robot.update()


def _set_states(robot: Any, fields: dict[str, Any]) -> None:
    profile = robot.profile
    if "fsm.state" in fields:
        robot.fsm.force(profile.fsm[fields["fsm.state"]], robot.uptime)
    if "upper.state" in fields:
        if profile.upper_fsm:
            robot.upper_state = profile.upper_fsm[fields["upper.state"]]
        else:
            robot.upper_control = fields["upper.state"] == "on"
    if "velocity.source" in fields:
        robot.velocity_source = profile.velocity_sources[fields["velocity.source"]]
    if "battery.level" in fields:
        robot.battery.level = fields["battery.level"]
    if "battery.base" in fields:
        robot.base.battery.level = fields["battery.base"]


def _value(found: Known[Any] | Unknown) -> Any:
    return found.value if isinstance(found, Known) else None


def _known(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if value is not None}
