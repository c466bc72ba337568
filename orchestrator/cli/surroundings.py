"""What a tree is checked against on this machine: the robot, the leaves and the fields there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from orchestrator.robots.facts import RobotFacts
    from orchestrator.treefile import Surroundings

RobotOption = Annotated[
    str | None, typer.Option("--robot", help="A robot's name or profile file; goes before the tree's own.")
]


def robot_asked_for(robot: str | None) -> RobotFacts | None:
    """The robot of `--robot`; raises ProfileError when there is none such or its profile has mistakes."""
    from orchestrator.robots.facts_of import facts_of
    from orchestrator.robots.profiles import load_profile

    return facts_of(load_profile(robot)) if robot is not None else None


def surroundings(robot: str | None) -> Surroundings:
    """Everything a tree is checked against on this machine; what is wrong with installed leaves is said."""
    from orchestrator.mission.loading import surroundings as on_this_machine

    found = on_this_machine(robot)
    for problem in found.catalogue.problems:
        typer.echo(f"warning: {problem}", err=True)
    return found
