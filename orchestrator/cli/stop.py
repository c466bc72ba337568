"""`orchestrator stop`: stops whatever runs on this machine."""

from __future__ import annotations

import os
import signal
import time

import typer

PATIENCE = 10.0
"""Seconds guards have to stop their robots and leave."""


def stop() -> None:
    """Stop every robot that is guarded on this machine; exit 1 if a guard does not leave."""
    from orchestrator.mission.processes import guards

    found = guards()
    if not found:
        typer.echo("nothing runs on this machine")
        return
    for robot, process in found.items():
        typer.echo(f"stopping {robot}")
        os.kill(process, signal.SIGTERM)
    until = time.monotonic() + PATIENCE
    while left := guards():
        if time.monotonic() > until:
            typer.secho(f"still there: {', '.join(left)}. PRESS THE HARDWARE EMERGENCY STOP", fg="red", err=True)
            raise typer.Exit(1)
        time.sleep(0.05)
    typer.echo("stopped")
