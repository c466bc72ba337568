"""The commands: one function each, in a module of its own."""

from __future__ import annotations

import errno
import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from orchestrator import __version__
from orchestrator.cli.check import check
from orchestrator.cli.doctor import doctor
from orchestrator.cli.exchange import exchange
from orchestrator.cli.fields import fields
from orchestrator.cli.fmt import fmt
from orchestrator.cli.nodes import nodes
from orchestrator.cli.resume import resume
from orchestrator.cli.robots import robots
from orchestrator.cli.run import run
from orchestrator.cli.run.options import read_no_more
from orchestrator.cli.runs import runs
from orchestrator.cli.schema import schema
from orchestrator.cli.show import show
from orchestrator.cli.sim import sim
from orchestrator.cli.stop import stop
from orchestrator.cli.xml import export, import_

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


for command in (
    check, doctor, exchange, export, fields, fmt, import_, nodes, resume, robots, run, runs, schema, show, sim, stop,
):  # fmt: skip
    app.command(command.__name__.rstrip("_"))(command)


_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


def main() -> None:
    """Run the command line."""
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name the terminal cannot show must not end a run
    try:
        app()
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        read_no_more()
        typer.echo(f"error: {error.strerror}: {error.filename or 'what is printed cannot be kept'}", err=True)
        sys.exit(2)


def _open_what_is_closed() -> None:
    """Started with closed streams (`<&-`, `>&-`): without this, what is opened next would be taken for one of them."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdin = sys.stdin or os.fdopen(0)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")
