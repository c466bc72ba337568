"""`orchestrator sim`: a simulated robot on DDS, on this machine only."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from orchestrator.sim.process import LiveTwin


def sim(
    robot: Annotated[str, typer.Argument(help="Name of a robot, or a profile file.")],
    fault: Annotated[
        list[str] | None,
        typer.Option(help="A fault, such as off:rt/amr/state@3s+2s; may be given several times (docs/simulation.md)."),
    ] = None,
    faults: Annotated[
        Path | None, typer.Option(help="A YAML file of faults (docs/simulation.md).", metavar="FILE")
    ] = None,
    open_: Annotated[
        bool, typer.Option("--open", help="No private tag: a vendor's own client on this machine can join.")
    ] = False,
    tag: Annotated[str, typer.Option(help="Programs with the same tag share the simulated robot.")] = "sim",
) -> None:
    """Simulate a robot on DDS until interrupted. Loopback only."""
    live = _make(robot, (*(fault or ()), *((faults,) if faults else ())), open_, tag)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: live.stop())
    profile = live.twin.profile
    where = "open to every program on this machine" if open_ else f"private, tag {tag}"
    rpc = f", JSON-RPC on 127.0.0.1:{live.rpc_port}" if live.rpc_port else ""
    typer.echo(f"SIM {profile.name} on domain {profile.domain}, loopback, {where}{rpc}. Ctrl-C ends it.")
    sys.stdout.flush()
    _warn(live)
    live.run(_Line())
    typer.echo("SIM ended." if not sys.stdout.isatty() else "\nSIM ended.")


def _make(robot: str, faults: tuple[str | Path, ...], open_: bool, tag: str) -> LiveTwin:
    from orchestrator.bus.contract import BusError
    from orchestrator.robots.profiles import ProfileError, load_profile
    from orchestrator.sim.fault_file import FaultFileError
    from orchestrator.sim.faults import FaultError
    from orchestrator.sim.process import LiveTwin, open_network, private_network

    try:
        profile = load_profile(robot)
        settings = open_network(profile) if open_ else private_network(profile, tag)
        return LiveTwin(profile, settings, faults=faults)
    except (ProfileError, FaultFileError) as error:  # with findings, one a line
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    except (FaultError, BusError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None


def _warn(live: LiveTwin) -> None:
    """Another program may send what no mission does: such a fault is no mistake here."""
    from orchestrator.mission.faults import unnoticed

    for fault in live.twin.faults:
        if problem := unnoticed(live.twin, fault):
            typer.echo(f"warning: {problem}", err=True)


class _Line:
    """How the robot is: one line that changes in a terminal, a new line on every change elsewhere."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, status: str) -> None:
        if sys.stdout.isatty():
            typer.echo(f"\r\033[KSIM {status}", nl=False)
        elif status != self._last:
            typer.echo(f"SIM {status}")
            sys.stdout.flush()
        self._last = status
