"""The axes in an Atom's report on its nodes, by the names that the profile gives to the joints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from orchestrator.robots.families import ATOM_FIRST_INDEX
from orchestrator.robots.profile import Profile

_LIMBS = {"left_leg": 6, "right_leg": 6, "waist": 1, "left_arm": 7, "right_arm": 7, "head": 2}
"""How many axes each part of the report has, in the order of the motors."""


class Axis(NamedTuple):
    """Where one axis is reported, and what it is called."""

    limb: str
    place: int
    group: str
    name: str


def axes_of(profile: Profile) -> tuple[Axis, ...]:
    """Every axis of the report; one that the profile does not know has the name of its place."""
    joints = {
        ATOM_FIRST_INDEX[group] + place: joint
        for group in profile.groups
        for place, joint in enumerate(profile.group(group))
    }
    legs = "lift" if "lift" in profile.groups else None
    axes: list[Axis] = []
    for limb, count in _LIMBS.items():
        for index in range(count):
            joint = joints.get(len(axes))
            group = legs if legs and limb.endswith("leg") else limb
            axes.append(Axis(limb, index, group, joint.name if joint is not None else f"{limb} {index + 1}"))
    return tuple(axes)


def existing(axes: tuple[Axis, ...], nodes: Any) -> Iterator[tuple[Axis, Any]]:
    """What the report says about each axis that there is."""
    for axis in axes:
        part = getattr(nodes, axis.limb)
        shown = part if axis.limb == "waist" else part[axis.place]
        if not shown.is_virtual:
            yield axis, shown
