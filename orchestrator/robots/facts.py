"""What a check needs to know about a robot and its fields, in plain vendor-neutral words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Field:
    """Something of the robot an expression may read, such as `battery.level`.

    `type` is bool, int, number, text, choice, or what a unit measures: duration, length, angle, speed, angular speed,
    percent, force, torque, voltage, current, frequency, temperature. Ranges are in the unit we calculate in.
    """

    name: str
    type: str
    capability: str
    event: bool = False  # a change of it causes a tick; otherwise a stream, looked at every 50 ms
    lower: float | None = None
    upper: float | None = None
    choices: tuple[str, ...] = ()
    help: str = ""


FieldTable = Mapping[str, Field]


@dataclass(frozen=True, slots=True)
class Group:
    """Joints that are commanded together, and the resource they belong to, such as upper or left_hand."""

    joints: tuple[str, ...]
    resource: str


@dataclass(frozen=True, slots=True)
class Pose:
    """A named pose: target angles in rad by joint."""

    angles: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RobotFacts:
    """One robot as its profile describes it.

    Beside the capabilities of the design two say that a command exists: move_hand (the robot plans arm movements by
    itself) and rotate_base (the base turns on the spot). Named ranges: stand.height, stand.pitch, stand.yaw,
    walk.forward, walk.left, walk.turn, base.speed, base.turn, base.task_speed, base.task_acceleration, reach.forward,
    reach.left, reach.up, and hand.fingers (how many a hand has).
    """

    name: str
    family: str  # aurora, atom or adam
    model: str
    capabilities: frozenset[str]
    fsm_states: tuple[str, ...] = ()
    upper_states: tuple[str, ...] = ()  # values of upper-body control, such as off, on
    velocity_sources: tuple[str, ...] = ()
    tags: Mapping[str, int] = field(default_factory=dict)  # named floor tags; empty: the guard decides
    poses: Mapping[str, Pose] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    joints: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # name to limits in rad
    read_only_joints: frozenset[str] = frozenset()  # it has them, but they are never commanded
    hands: tuple[str, ...] = ()  # left, right
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # such as "walk.forward": (-0.4, 0.5)
    fields: FieldTable = field(default_factory=dict)  # what it reports; empty: what the table for all robots says
    remedies: Mapping[str, str] = field(default_factory=dict)  # how it gets what it lacks, or why it never will

    def resources_of(self, named: str | Iterable[str]) -> list[str]:
        """The resources of what a leaf names: a group, a pose, or joints."""
        if isinstance(named, str) and named in self.groups:
            return [self.groups[named].resource]
        joints = (self.poses[named].angles.keys() if named in self.poses else ()) if isinstance(named, str) else named
        moved = set(joints)
        return list(dict.fromkeys(g.resource for g in self.groups.values() if not moved.isdisjoint(g.joints)))
