"""`orchestrator check`: every problem of a tree before anything moves, all in one go."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.colour import colour
from orchestrator.cli.surroundings import RobotOption, surroundings

if TYPE_CHECKING:
    from orchestrator.treefile import Checked
    from orchestrator.yamlfile import Finding, Findings

_COLOURS = {"error": typer.colors.RED, "warning": typer.colors.YELLOW}


def check(
    trees: Annotated[list[Path], typer.Argument(metavar="TREE...", help="Tree files.")],
    robot: RobotOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find every problem of trees before anything moves; exit 2 if there is an error."""
    from orchestrator.robots.profiles import ProfileError

    try:
        with _no_garbage():
            checked = list(_checked(trees, robot))
    except ProfileError as error:
        _answer([error.findings], [], as_json)
        raise typer.Exit(2) from None
    findings = [each.findings for each in checked]
    _answer(findings, checked, as_json)
    if any(each.errors for each in findings):
        raise typer.Exit(2)


@contextmanager
def _no_garbage() -> Iterator[None]:
    """A check makes many objects and hardly any garbage: to look for it would be half of the time on big files."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _checked(trees: list[Path], robot: str | None) -> Iterator[Checked]:
    from orchestrator.treefile import check_file
    from orchestrator.yamlfile import Place

    against = surroundings(robot)
    for path in trees:
        checked = check_file(path, against)
        if checked.tree.root is not None and checked.tree.robot is None and not checked.findings.errors:
            message = (
                "no robot is named, so what the robot can do was not checked: write robot: NAME, or give --robot NAME"
            )
            checked.findings.warning(Place(str(path), 1, 1), "no-robot", message)
        _tell_refused(checked, robot)
        yield checked


def _tell_refused(checked: Checked, robot: str | None) -> None:
    """What `run` would refuse because of the robot's profile or the guard file."""
    from orchestrator.data import own_path
    from orchestrator.guard.config import GuardConfigError
    from orchestrator.mission.forbidden import tell_forbidden, tell_read_only
    from orchestrator.robots.profiles import load_profile
    from orchestrator.yamlfile import Place

    if checked.tree.root is None or checked.tree.robot is None:
        return
    profile = load_profile(robot or checked.tree.robot.name)
    tell_read_only(checked.tree, profile, checked.findings)
    try:
        tell_forbidden(checked.tree, profile, checked.findings)
    except GuardConfigError as error:
        typer.echo(str(error), err=True)
        place = Place(str(own_path("config/guard.yaml")), 1, 1)
        checked.findings.error(place, "bad-guard-file", "the guard file has mistakes: with it nothing can be run")


def _answer(findings: list[Findings], checked: list[Checked], as_json: bool) -> None:
    found = _once(findings)
    if as_json:
        listed = [finding.to_json() for finding, _ in found]
        typer.echo(json.dumps([*listed, *(_left_out(each) for each in findings if each.left_out)], indent=2))
        return
    from orchestrator.yamlfile.findings import SHOWN

    for finding, source in found[:SHOWN]:
        typer.echo(_shown(finding, source), color=colour())
    left_out = sum(each.left_out for each in findings)
    for line in _summary(found, left_out, checked):
        typer.echo(line, color=colour())


def _left_out(findings: Findings) -> dict[str, str | int | None]:
    """What stands in the list for everything that is only counted."""
    from orchestrator.yamlfile import Finding

    last = findings.sorted()[-1].place
    return Finding(last, "error", "left-out", f"{findings.left_out} more were found and are not listed").to_json()


def _once(findings: Iterable[Findings]) -> list[tuple[Finding, Findings]]:
    """What is found in a file that several trees use is said once."""
    found = {finding: each for each in findings for finding in each.sorted()}
    return list(found.items())


def _shown(finding: Finding, source: Findings) -> str:
    severity = typer.style(finding.severity, fg=_COLOURS[finding.severity], bold=True)
    head = f"{typer.style(str(finding.place), bold=True)}: {severity}: {finding.sentence}"
    line_and_caret = source.caret(finding.place)
    if not line_and_caret:
        return head
    line, caret = line_and_caret
    return f"{head}\n{line}\n{typer.style(caret, fg=_COLOURS[finding.severity])}"


def _summary(found: list[tuple[Finding, Findings]], left_out: int, checked: list[Checked]) -> Iterator[str]:
    from orchestrator.yamlfile.findings import SHOWN

    hidden = len(found) + left_out - min(SHOWN, len(found))
    if hidden:
        yield f"... and {hidden} more"
    if found:
        errors = sum(finding.severity == "error" for finding, _ in found) + left_out
        warnings = len(found) + left_out - errors
        yield f"{_count(errors, 'error')}, {_count(warnings, 'warning')}"
    for each in checked:
        if each.ok:
            robot = f"can run on {each.tree.robot.name}" if each.tree.robot else "not checked against a robot"
            given = "".join(f" --set {name}=..." for name in each.tree.unset)
            yield f"{each.tree.file}: {_count(each.tree.nodes, 'node')}, {robot}{given and ' with' + given}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
