"""`orchestrator export` and `orchestrator import`: trees to and from the XML of BehaviorTree.CPP v4."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.surroundings import RobotOption, surroundings


def export(
    tree: Annotated[Path, typer.Argument(metavar="TREE", help="A tree file.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write into this file.")] = None,
    robot: RobotOption = None,
) -> None:
    """Write a tree as XML of BehaviorTree.CPP v4, for Groot2; what cannot be carried over is said."""
    from orchestrator.robots.profiles import ProfileError
    from orchestrator.treefile import check_file
    from orchestrator.treefile.xml import export

    try:
        against = surroundings(robot)
    except ProfileError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    checked = check_file(tree, against)
    if not checked.ok:
        typer.echo(checked.findings.render(), err=True)
        raise typer.Exit(2)
    exported = export(tree, against.catalogue)
    _say_what_is_lost(exported.lost)
    if output is None:
        typer.echo(exported.xml, nl=False)
    else:
        _write(output, exported.xml)


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE.xml", help="XML of BehaviorTree.CPP v4.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write a file per tree into this folder.")
    ] = None,
) -> None:
    """Read trees from XML of BehaviorTree.CPP v4; exit 1 if something cannot be carried over, which is said."""
    from orchestrator.leaf import installed
    from orchestrator.treefile.xml import trees_of
    from orchestrator.treefile.xml.document import XmlError

    try:
        trees = trees_of(file.read_bytes(), installed())
    except XmlError as error:
        typer.echo(f"{file}: error: {error}", err=True)
        raise typer.Exit(2) from None
    except OSError as problem:
        typer.echo(f"{file}: error: it cannot be read: {problem.strerror}", err=True)
        raise typer.Exit(2) from None
    _say_what_is_lost(trees.lost)
    if output is not None:
        for name, text in trees.files.items():
            _write(output / f"{name}.yaml", text)
    elif len(trees.files) == 1:
        typer.echo(next(iter(trees.files.values())), nl=False)
    else:
        names = ", ".join(f"{name}.yaml" for name in trees.files)
        typer.echo(f"{file} holds several trees ({names}): name a folder for them with -o", err=True)
        raise typer.Exit(2)
    if trees.lost:
        raise typer.Exit(1)


def _say_what_is_lost(lost: list[str]) -> None:
    for what in lost:
        typer.echo(f"not carried over: {what}", err=True)


def _write(path: Path, text: str) -> None:
    """Never over a file that is there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as problem:
        typer.echo(f"{path} cannot be written: {problem.strerror}", err=True)
        raise typer.Exit(2) from None
    typer.echo(f"{path} written", err=True)
