"""`orchestrator doctor`: what is installed, which network, who is on it, what fits and what does not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from orchestrator.mission.installed import Line
    from orchestrator.robots.profile import Profile


def doctor(
    robot: Annotated[
        str | None, typer.Option(help="Name of a robot, or a profile file: look at its network too.")
    ] = None,
    tag: Annotated[str | None, typer.Option(help="Look at the simulated robot behind this tag, on loopback.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what is installed and what fits on a robot's network. Only looks; ends with 1 if there is a problem."""
    lines: list[Line] = []
    for line in _lines(robot, tag):
        lines.append(line)
        if not as_json:
            typer.echo(str(line))
    if as_json:
        typer.echo(json.dumps([{"verdict": line.verdict, "text": line.text} for line in lines], indent=2))
    raise typer.Exit(1 if any(line.verdict == "problem" for line in lines) else 0)


def _lines(robot: str | None, tag: str | None) -> Iterator[Line]:
    from orchestrator.mission.installed import installed

    packages = installed()
    yield from packages
    if any(line.verdict == "problem" for line in packages):
        return  # what comes next needs them

    from orchestrator.mission.doctor import choice_line, interfaces_line

    yield interfaces_line()
    if robot is None:
        yield choice_line()
    else:
        yield from _robot(_profile(robot), tag)


def _profile(robot: str) -> Profile:
    from orchestrator.robots.profiles import ProfileError, load_profile

    try:
        return load_profile(robot)
    except ProfileError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None


def _robot(profile: Profile, tag: str | None) -> Iterator[Line]:
    from orchestrator.bus.contract import BusError
    from orchestrator.bus.settings import loopback
    from orchestrator.mission.doctor import chosen, look, robot_lines
    from orchestrator.mission.installed import Line

    try:
        settings = loopback(profile.domain, tag) if tag is not None else chosen(profile)
        yield from robot_lines(profile, settings, look(profile, settings))
    except BusError as error:
        yield Line("problem", str(error))
