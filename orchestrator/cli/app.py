"""The commands, one function each."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator import __version__
from orchestrator.cli.robots import robots

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Run behaviour-tree missions on humanoid robots. Not a certified safety function: "
    "the robot's hardware emergency stop is.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"orchestrator {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


app.command()(robots)


def main() -> None:
    app()
