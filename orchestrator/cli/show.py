"""`orchestrator show`: a tree as a drawing."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.surroundings import RobotOption, surroundings

if TYPE_CHECKING:
    from orchestrator.treefile.outline import Drawn


class Format(StrEnum):
    UNICODE = "unicode"
    SVG = "svg"
    DOT = "dot"


def show(
    tree: Annotated[Path, typer.Argument(metavar="TREE", help="A tree file.")],
    drawn_as: Annotated[Format, typer.Option("--format", help="How it is drawn.")] = Format.UNICODE,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write into this file.")] = None,
    robot: RobotOption = None,
) -> None:
    """Draw a tree: in the terminal, as SVG, or for Graphviz."""
    from orchestrator.robots.profiles import ProfileError
    from orchestrator.treefile import check_file
    from orchestrator.treefile.outline import outline

    try:
        checked = check_file(tree, surroundings(robot))
    except ProfileError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    if checked.tree.root is None:
        typer.echo(checked.findings.render(), err=True)
        raise typer.Exit(2)
    if checked.findings.errors:
        typer.echo(f"{tree} has mistakes ({checked.findings.errors}): `orchestrator check {tree}` shows them", err=True)
    drawing = _draw(drawn_as)(outline(checked.tree))
    if output is None:
        typer.echo(drawing, nl=False)
        return
    try:
        output.write_text(drawing, encoding="utf-8")
    except OSError as problem:
        typer.echo(f"{output} cannot be written: {problem.strerror}", err=True)
        raise typer.Exit(2) from None


def _draw(drawn_as: Format) -> Callable[[Drawn], str]:
    from orchestrator.treefile.draw_dot import draw_dot
    from orchestrator.treefile.draw_svg import draw_svg
    from orchestrator.treefile.draw_text import draw_text

    return {Format.UNICODE: draw_text, Format.SVG: draw_svg, Format.DOT: draw_dot}[drawn_as]
