"""`orchestrator schema`: JSON Schema of tree files, for editors."""

from __future__ import annotations

import json

import typer

from orchestrator.cli.surroundings import RobotOption, robot_asked_for


def schema(robot: RobotOption = None) -> None:
    """Print the JSON Schema that gives an editor completion and hover; with --robot in that robot's words."""
    from orchestrator.leaf import installed
    from orchestrator.robots.profiles import ProfileError, profile_names
    from orchestrator.treefile.schema import schema

    try:
        facts = robot_asked_for(robot)
    except ProfileError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    typer.echo(json.dumps(schema(installed(), facts, profile_names()), indent=2))
