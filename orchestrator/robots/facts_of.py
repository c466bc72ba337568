"""What a check needs to know about a robot, worked out from its profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from orchestrator.robots.facts import Field, FieldTable, Group, Pose, RobotFacts
from orchestrator.robots.families import FAMILIES
from orchestrator.robots.fields import fields_of
from orchestrator.robots.profile import Profile, Range
from orchestrator.robots.profiles import ProfileError, load_profile, profile_names

RESOURCE_OF_GROUP = {
    "left_leg": "legs",
    "right_leg": "legs",
    "lift": "legs",
    "waist": "upper",
    "left_arm": "upper",
    "right_arm": "upper",
    "head": "head",
}
"""Which part of the robot a joint group belongs to, as far as two nodes must not move it at the same time."""

REMEDIES = {"gains": "without nominal kp and kd of its joints in its profile no gain can be held against a limit"}
NO_REMEDIES = {"gains": "it has no such command: every joint command carries kp and kd of its profile"}


def facts_of(profile: Profile) -> RobotFacts:
    """One robot in the words of the tree language."""
    upper = tuple(profile.upper_fsm) or ("off", "on")
    commanded = {name: profile.group(name) for name in profile.groups if name not in profile.read_only_groups}
    return RobotFacts(
        name=profile.name,
        family=profile.family,
        model=_as_word(profile.model),
        capabilities=profile.capabilities,
        fsm_states=tuple(profile.fsm),
        upper_states=upper if "upper_body" in profile.capabilities else (),
        velocity_sources=tuple(profile.velocity_sources),
        tags=profile.base.tags if profile.base else {},
        poses={name: Pose(_angles(profile, groups)) for name, groups in profile.poses.items()},
        groups={
            name: Group(tuple(joint.name for joint in joints), RESOURCE_OF_GROUP[name])
            for name, joints in commanded.items()
        },
        joints={j.name: (j.position.low, j.position.high) for joints in commanded.values() for j in joints},
        read_only_joints=frozenset(j.name for group in profile.read_only_groups for j in profile.group(group)),
        hands=tuple(sorted(profile.hands.order)) if profile.hands else (),
        ranges=_ranges(profile),
        fields=fields_of(profile),
        remedies=NO_REMEDIES if FAMILIES[profile.family].sends_gains else REMEDIES,
    )


def robot_named(name: str) -> RobotFacts | None:
    """The robot of this name, None if there is none; raises ProfileError when its profile has mistakes."""
    return facts_of(load_profile(name)) if name in profile_names() else None


def _as_word(model: str) -> str:
    """A model as it is written in expressions: `robot.model == atom_w`, `robot.model == gr2`."""
    return model.lower().replace("-", "").replace(" ", "_")


def _angles(profile: Profile, groups: Mapping[str, tuple[float, ...]]) -> dict[str, float]:
    return {joint.name: angle for name, angles in groups.items() for joint, angle in zip(profile.group(name), angles)}


def _ranges(profile: Profile) -> dict[str, tuple[float, float]]:
    walk, stand, base, hands = profile.velocity, profile.stand_pose, profile.base, profile.hands
    found: dict[str, Range] = {}
    if walk is not None:
        found |= {"walk.forward": walk.vx, "walk.left": walk.vy, "walk.turn": walk.yaw}
    if stand is not None:
        found |= {"stand.height": stand.dz, "stand.pitch": stand.pitch, "stand.yaw": stand.yaw}
    if base is not None:
        found |= {"base.speed": Range(-base.linear, base.linear), "base.turn": Range(-base.angular, base.angular)}
        found |= {"base.task_speed": base.task_speed, "base.task_acceleration": base.task_acceleration}
    if profile.move_command:
        reach = profile.reach
        found |= {"reach.forward": reach.forward, "reach.left": reach.left, "reach.up": reach.up}
    if hands is not None:
        found["hand.fingers"] = Range(len(hands.fingers), len(hands.fingers))
    return {name: (limits.low, limits.high) for name, limits in found.items()}


class FieldsOfAllRobots(Mapping[str, Field]):
    """What expressions may read on any robot there is; the profiles are read only when somebody looks."""

    @cached_property
    def _fields(self) -> FieldTable:
        found: dict[str, Field] = {}
        for name in profile_names():
            try:
                fields = fields_of(load_profile(name))
            except ProfileError:  # said when that robot is wanted
                continue
            for field in fields.values():
                found[field.name] = _either(found[field.name], field) if field.name in found else field
        return found

    def __getitem__(self, name: str) -> Field:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


def _either(one: Field, other: Field) -> Field:
    """A field of two robots, with everything it may be on either."""
    lower = None if one.lower is None or other.lower is None else min(one.lower, other.lower)
    upper = None if one.upper is None or other.upper is None else max(one.upper, other.upper)
    choices = tuple(dict.fromkeys((*one.choices, *other.choices)))
    return replace(one, lower=lower, upper=upper, choices=choices)
