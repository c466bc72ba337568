"""The commands, one function each."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator import __version__

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


@app.command()
def exchange() -> None:
    """Send every topic to a second process and back: does DDS work on this machine?"""
    from orchestrator.cli.exchange import run

    raise typer.Exit(run())


def main() -> None:
    """Run the command line."""
    app()
