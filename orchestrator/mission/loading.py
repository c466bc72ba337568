"""A tree file to a checked tree that may run on a robot."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from orchestrator.guard.config import GuardConfigError
from orchestrator.leaf import Catalogue, installed
from orchestrator.mission.forbidden import tell_forbidden, tell_read_only
from orchestrator.robots.facts_of import FieldsOfAllRobots, facts_of, robot_named
from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import ProfileError, load_profile, profile_names
from orchestrator.treefile import Checked, Surroundings, check_file
from orchestrator.treefile.file import SETTING
from orchestrator.treefile.model import Tree
from orchestrator.yamlfile import Findings

if TYPE_CHECKING:
    from orchestrator.engine.substitution import Substitutes


class CannotRun(Exception):
    """The tree cannot run; the text says everything that is wrong."""


@dataclass(frozen=True)
class Loaded:
    """A checked tree, the leaves it is made of, and the robot it runs on."""

    tree: Tree
    catalogue: Catalogue
    profile: Profile
    warnings: str
    """What the check wants to be known, though it lets the tree run."""
    robot: str
    """How other processes find the robot's profile: its name, or its file."""
    substitutes: Substitutes | None = None
    """What some nodes do instead, in tests and rehearsals."""


def surroundings(
    robot: str | None = None, settings: Mapping[str, str] | None = None, setting: str = SETTING
) -> Surroundings:
    """Everything a tree is checked against on this machine: leaves, robots, fields, and the robot asked for.

    Raises ProfileError when there is no such robot or its profile has mistakes.
    """
    return Surroundings(
        installed(),
        FieldsOfAllRobots(),
        robot=facts_of(load_profile(robot)) if robot is not None else None,
        robot_named=robot_named,
        robot_names=profile_names(),
        settings=settings or {},
        setting=setting,
    )


def load_mission(
    path: Path,
    robot: str | None = None,
    settings: Mapping[str, str] | None = None,
    substitutes: Substitutes | None = None,
    setting: str = SETTING,
) -> Loaded:
    """Read and check a tree. `robot`, a name or profile file, goes before the tree's own.

    `setting` is how mistakes in the settings are told.
    """
    try:
        against = surroundings(robot, settings, setting)
        checked = check_file(path, against)
    except ProfileError as error:
        raise CannotRun(error.findings.render()) from None
    tree = checked.tree
    if not checked.ok:
        _refuse_at_once(checked, robot, substitutes)
    if tree.robot is None:
        raise CannotRun(f"{path}: no robot is named: write robot: NAME in the tree, or give --robot NAME")
    if tree.unset:
        given = " ".join(f"{setting.format(name)}=..." for name in tree.unset)
        raise CannotRun(f"{path}: parameters without a value: give {given}")
    wanted = robot or tree.robot.name
    found = str(Path(wanted).resolve()) if Path(wanted).suffix else wanted
    profile = load_profile(wanted)
    tell_read_only(tree, profile, checked.findings)
    if not checked.ok:
        raise CannotRun(checked.findings.render())
    if substitutes is None:  # with stand-ins it is not known yet who is left
        _refuse_forbidden(checked, profile)
    problems = [f"warning: {problem}" for problem in against.catalogue.problems]
    warnings = "\n".join(filter(None, (*problems, checked.findings.render())))
    return Loaded(tree, against.catalogue, profile, warnings, found, substitutes)


def _refuse_at_once(checked: Checked, robot: str | None, substitutes: Substitutes | None) -> NoReturn:
    """A tree with mistakes, together with what the guard file forbids in it."""
    tree = checked.tree
    if tree.robot is not None and substitutes is None:
        with suppress(GuardConfigError):  # a guard file with mistakes is told once the tree has none
            tell_forbidden(tree, load_profile(robot or tree.robot.name), checked.findings)
    raise CannotRun(checked.findings.render())


def _refuse_forbidden(checked: Checked, profile: Profile) -> None:
    findings = Findings()
    tell_forbidden(checked.tree, profile, findings)
    if findings.errors:
        raise CannotRun(findings.render())
