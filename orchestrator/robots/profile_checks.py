"""What must hold between the parts of a profile, each rule at the place where it is broken.

A rule looks at the parts it needs and is left out where one of them could not be read, so that all rules can be tried
on a file that has other mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from orchestrator.robots.families import FAMILIES
from orchestrator.robots.profile import Family
from orchestrator.yamlfile import Findings, Key, Mapping, Node, Sequence, Unread
from orchestrator.yamlfile.units import shown


class Parts:
    """The parts of a file as they were written and as they were read."""

    def __init__(self, family: Family, root: Mapping, keys: dict[str, Key], findings: Findings) -> None:
        self.family = family
        self.facts = FAMILIES[family]
        self.findings = findings
        self._root = root
        self._keys = keys

    def value(self, name: str) -> Any:
        """A part as it was read; its default where it is left out; None where it could not be read."""
        node, key = self._root.get(name), self._keys.get(name)
        if key is None:
            return None
        if node is None:
            return key.default
        value = key.of.read(node, Findings())
        return None if isinstance(value, Unread) else value

    def has(self, name: str) -> bool:
        return name in self._root.entries

    def node(self, *path: str | int) -> Node:
        """Where a part stands."""
        node: Node = self._root
        for step in path:
            if isinstance(step, int):
                assert isinstance(node, Sequence)
                node = node.items[step]
            else:
                assert isinstance(node, Mapping)
                node = node.entries[step][1]
        return node

    def key(self, *path: str) -> Node:
        """Where the name of a part stands."""
        node = self.node(*path[:-1])
        assert isinstance(node, Mapping)
        return node.entries[path[-1]][0]

    def rows(self) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """Every joint with its group and its number in the group."""
        for group, rows in (self.value("joints") or {}).items():
            for index, row in enumerate(rows):
                yield group, index, row


def variants_do_not_exclude_each_other(parts: Parts) -> None:
    variants = (parts.value("dds") or {}).get("variants", [])
    for alternatives in parts.facts.variants:
        named = [index for index, variant in enumerate(variants) if variant in alternatives]
        for index in named[1:]:
            message = f"{variants[index]} and {variants[named[0]]} are different firmware: name one of them"
            parts.findings.error(parts.node("dds", "variants", index), "does-not-hold", message)


def domain_is_not_the_robots_own(parts: Parts) -> None:
    domain, inside = (parts.value("dds") or {}).get("domain"), parts.facts.forbidden_domain
    if domain is not None and domain == inside:
        message = f"domain {inside} is the inside of every {parts.family}: never join it"
        parts.findings.error(parts.node("dds", "domain"), "does-not-hold", message)


def state_numbers_are_unique(parts: Parts) -> None:
    for table in ("fsm", "upper_fsm", "velocity_sources"):
        names: dict[int, str] = {}
        for name, number in (parts.value(table) or {}).items():
            if number in names:
                message = f"{number} is already the number of {names[number]}"
                parts.findings.error(parts.node(table, name), "number-used-twice", message)
            names.setdefault(number, name)


def states_that_stop_the_robot_are_named(parts: Parts) -> None:
    states = parts.value("fsm")
    if states is None:
        return
    for name, number in parts.facts.stopping_states.items():
        if name not in states:
            message = f"fsm needs {name}{'' if number is None else f': {number}'}: the robot is stopped with it"
            parts.findings.missing(parts.key("fsm"), "missing-key", message)
        elif number is not None and states[name] != number:
            message = f"{name} is {number} on every {parts.family}: it is the robot's emergency stop"
            parts.findings.error(parts.node("fsm", name), "does-not-hold", message)


def groups_are_known(parts: Parts) -> None:
    for group, rows in (parts.value("joints") or {}).items():
        if group not in parts.facts.groups:
            message = f'{parts.family} has no joint group "{group}"'
            parts.findings.unknown(parts.key("joints", group), "unknown-group", message, group, parts.facts.groups)
            continue
        size = parts.facts.groups[group]
        if size is not None and size != len(rows):
            message = f"{group} has {size} joints on every {parts.family}, not {len(rows)}"
            parts.findings.error(parts.key("joints", group), "wrong-length", message)


def joint_names_are_unique(parts: Parts) -> None:
    groups: dict[str, str] = {}
    for group, index, row in parts.rows():
        if row["name"] in groups:
            message = f"{row['name']} is already a joint of {groups[row['name']]}"
            parts.findings.error(parts.node("joints", group, index, "name"), "name-used-twice", message)
        groups.setdefault(row["name"], group)


def read_only_groups_exist(parts: Parts) -> None:
    joints = parts.value("joints")
    if joints is None:
        return
    for index, group in enumerate(parts.value("read_only_groups") or []):
        if group not in joints and not _misspelt_above(group, parts):
            message = f'this robot has no joint group "{group}"'
            parts.findings.unknown(parts.node("read_only_groups", index), "unknown-group", message, group, joints)


def _misspelt_above(group: str, parts: Parts) -> bool:
    """Whether a group is missing because its joints stand under a name that no group has."""
    return group in parts.facts.groups and not parts.facts.groups.keys() >= parts.value("joints").keys()


def commanded_joints_have_gains(parts: Parts) -> None:
    read_only, uncommanded = parts.value("read_only"), parts.value("read_only_groups")
    if not parts.facts.sends_gains or read_only is not False or uncommanded is None:
        return
    for group, index, row in parts.rows():
        if group not in uncommanded and (row["kp"] is None or row["kd"] is None):
            message = f"{row['name']} needs kp and kd: every command of {parts.family} carries them"
            parts.findings.error(parts.node("joints", group, index), "missing-key", message)


def nominal_gains_are_of_whole_groups(parts: Parts) -> None:
    """Gains with a command of their own are set for a group at once."""
    if parts.facts.sends_gains:
        return
    named = {group for group, _, row in parts.rows() if row["kp"] is not None or row["kd"] is not None}
    for group, index, row in parts.rows():
        if group in named and (row["kp"] is None or row["kd"] is None):
            message = f"{row['name']} needs kp and kd as well: gains are set for the whole {group}"
            parts.findings.error(parts.node("joints", group, index), "missing-key", message)


def poses_fit_the_joints(parts: Parts) -> None:
    joints = parts.value("joints")
    if joints is None:
        return
    for pose, groups in (parts.value("poses") or {}).items():
        for group, angles in groups.items():
            if group not in joints:
                if not _misspelt_above(group, parts):
                    message = f'this robot has no joint group "{group}"'
                    parts.findings.unknown(parts.key("poses", pose, group), "unknown-group", message, group, joints)
            elif len(angles) != len(joints[group]):
                message = f"{group} has {len(joints[group])} joints, not {len(angles)}"
                parts.findings.error(parts.node("poses", pose, group), "wrong-length", message)
            else:
                _angles_within_limits(parts, pose, group, angles, joints[group])


def _angles_within_limits(parts: Parts, pose: str, group: str, angles: list[float], rows: list[dict[str, Any]]) -> None:
    for index, (angle, row) in enumerate(zip(angles, rows, strict=True)):
        limits = row["limits"]
        if not limits.holds(angle):
            message = (
                f"{shown(angle, 'angle')} is beyond the limits of {row['name']}: "
                f"{shown(limits.low, 'angle')} to {shown(limits.high, 'angle')}"
            )
            parts.findings.error(parts.node("poses", pose, group, index), "beyond-limits", message)


def hands_name_every_finger(parts: Parts) -> None:
    hands = parts.value("hands")
    if hands is None:
        return
    fingers = hands["fingers"]
    for index, finger in enumerate(fingers):
        if finger in fingers[:index]:
            parts.findings.error(parts.node("hands", "fingers", index), "name-used-twice", f"{finger} is there twice")
    for end in ("open", "closed"):
        if len(hands[end]) != len(fingers):
            message = f"{end} has {len(hands[end])} values for {len(fingers)} fingers"
            parts.findings.error(parts.node("hands", end), "wrong-length", message)
    if hands["open"] == hands["closed"]:
        parts.findings.error(parts.node("hands", "closed"), "does-not-hold", "closed is the same as open")


def velocity_has_its_way_to_the_robot(parts: Parts) -> None:
    if parts.family == "atom" and parts.has("velocity") and not parts.has("rpc"):
        message = "an Atom takes velocities by JSON-RPC only: rpc is needed, too"
        parts.findings.missing(parts.key("velocity"), "missing-key", message)


def urdf_is_a_file(parts: Parts) -> None:
    urdf = parts.value("urdf")
    if urdf is None:
        return
    node = parts.node("urdf")
    if not (file := beside(node.place.file, urdf)).is_file():
        parts.findings.error(node, "no-file", f"there is no file {file}: a path begins at the folder of the profile")


def beside(profile: str | Path, file: str) -> Path:
    """A file that a profile names."""
    return (Path(profile).parent / file).resolve()


RULES: tuple[Callable[[Parts], None], ...] = (
    variants_do_not_exclude_each_other,
    domain_is_not_the_robots_own,
    state_numbers_are_unique,
    states_that_stop_the_robot_are_named,
    groups_are_known,
    joint_names_are_unique,
    read_only_groups_exist,
    commanded_joints_have_gains,
    nominal_gains_are_of_whole_groups,
    poses_fit_the_joints,
    hands_name_every_finger,
    velocity_has_its_way_to_the_robot,
    urdf_is_a_file,
)
