"""What a tree asks for and the guard file forbids: said before anything moves, with the line that says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from orchestrator.data import own_path
from orchestrator.guard.config import RobotRules, load_guard_config, rules_for
from orchestrator.guard.limits import beyond_limits
from orchestrator.leaf import By, Declaration
from orchestrator.robots import intents
from orchestrator.robots.intents import AnyIntent
from orchestrator.robots.profile import Profile
from orchestrator.treefile.model import Expression, Template, Tree, TreeNode
from orchestrator.yamlfile import Findings, Mapping, Place, read_file


def forbidden(tree: Tree, profile: Profile, guard_file: Path | None = None) -> Iterator[tuple[Place, str]]:
    """Every leaf that the guard would refuse whatever the robot does, and why. Raises GuardConfigError.

    A leaf with a name for one of a few values is refused if one of them is. In a tree with mistakes, leaves that this
    robot does not have are left out, and of the others only what could be read is judged.
    """
    leaves = [(node, node.leaf) for node in alive(tree.root) if node.leaf is not None and node.leaf.needs]
    leaves = [(node, leaf) for node, leaf in leaves if profile.capabilities.issuperset(leaf.needs)]
    if not leaves:
        return
    path = guard_file or own_path("config/guard.yaml")
    config = load_guard_config(path)
    rules = rules_for(config, profile)
    for node, leaf in leaves:
        wanted = [(key, why) for key, why in _wanted(node, leaf, profile, rules) if not getattr(config.allow, key)]
        for key, why in wanted:
            off = f"allow.{key} is off in the guard file ({_place(path, key)})"
            yield node.place, f"{leaf.name} is forbidden: {f'{why}, and ' if why else ''}{off}"
        if not wanted:
            problems = (beyond_limits(intent, profile, config, rules) for intent in _asks(node, leaf, profile))
            for problem in dict.fromkeys(filter(None, problems)):
                yield node.place, f"{leaf.name} is beyond what the guard lets pass: {problem}"


def tell_forbidden(tree: Tree, profile: Profile, findings: Findings) -> None:
    """Each of them an error. Raises GuardConfigError."""
    for place, message in forbidden(tree, profile):
        findings.error(place, "forbidden", message)


def tell_read_only(tree: Tree, profile: Profile, findings: Findings) -> None:
    """A robot that is only watched is never armed, so nothing runs on it: not even a tree that only looks."""
    if profile.read_only:
        message = f"{profile.name} is read-only: it is only watched, and no tree can run on it"
        findings.error(Place(tree.file, 1, 1), "read-only", message)


def alive(node: TreeNode | None) -> Iterator[TreeNode]:
    """The nodes that can run on this robot."""
    if node is None or node.dead:
        return
    yield node
    for child in (*node.children, *(node.otherwise or ()), *node.modifiers.finally_):
        yield from alive(child)


def _wanted(node: TreeNode, leaf: Declaration, profile: Profile, rules: RobotRules) -> Iterator[tuple[str, str]]:
    """Keys of the guard file's section `allow`, and what needs them. Values known only at run time are not judged."""
    if leaf.permission:
        yield leaf.permission, ""
    if node.values.keys() != leaf.params.keys():  # one of them has a mistake
        return
    changed = leaf.changes.get(profile.family, {}).get("fsm")
    for state in _values(node, changed.param) if isinstance(changed, By) else (changed,):
        if state is not None and (why := rules.drops(state, () if leaf.looks else node.fsm_before)):
            yield "drop", why
    moved = [*_moved_groups(node, leaf, profile)]
    for leg in rules.legs:
        if leg in moved:
            yield "low_level", f"it moves {leg}"


def _asks(node: TreeNode, leaf: Declaration, profile: Profile) -> Iterator[AnyIntent]:
    """What it asks of the guard, where more limits that than what is written beside its parameters."""
    make = _INTENTS.get(leaf.name)
    if make is None or node.values.keys() != leaf.params.keys():
        return
    names, of = make
    for values in product(*(_values(node, name) for name in names)):
        yield from of(profile, *values)


def _gains(profile: Profile, group: str, stiffness: float, damping: float) -> Iterator[AnyIntent]:
    joints = len(profile.group(group))
    yield intents.SetGains(group, (stiffness,) * joints, (damping,) * joints)


def _tag(profile: Profile, tag: int | str) -> Iterator[AnyIntent]:
    if isinstance(tag, int):  # a name is one that the profile has
        yield intents.MoveToTag(tag, None)


_INTENTS: dict[str, tuple[tuple[str, ...], Callable[..., Iterator[AnyIntent]]]] = {
    "SetGains": (("group", "stiffness", "damping"), _gains),
    "MoveToTag": (("tag",), _tag),
}


def _moved_groups(node: TreeNode, leaf: Declaration, profile: Profile) -> Iterator[str]:
    """Groups of joints that a leaf names itself, by their joints, by a motion, or by a pose of which it moves all."""
    if leaf.looks:
        return
    groups = _values(node, "group")
    yield from groups
    of = {joint.name: joint.group for joint in profile.joints}
    yield from (of.get(name, "") for name in _joints(node, leaf))
    for pose in _values(node, "pose") if None in groups else ():
        if isinstance(pose, str):
            yield from profile.poses.get(pose, ())


def _values(node: TreeNode, param: str) -> tuple[Any, ...]:
    """What a parameter may be, as far as the file says it."""
    value = node.values.get(param)
    return value.possible if isinstance(value, Expression | Template) else (value,)


def _joints(node: TreeNode, leaf: Declaration) -> Iterator[str]:
    angles = node.values.get("angles")
    if isinstance(angles, dict):
        yield from angles
    for name, param in leaf.params.items():
        if (moves := param.type.moves) is not None:
            for file in filter(None, _values(node, name)):
                yield from moves(Path(node.place.file).parent / file)


def _place(path: Path, key: str) -> str:
    """Where the guard file says so."""
    root = read_file(path, Findings()).root
    assert isinstance(root, Mapping)
    allow = root.entries["allow"][1]
    assert isinstance(allow, Mapping)
    return str(allow.entries[key][0].place)
