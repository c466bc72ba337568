"""`orchestrator stop`: stops whatever runs on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import time

import typer

PATIENCE = 30.0
"""Seconds guards have to stop their robots and leave; a robot that is parked first needs most of them."""


def stop() -> None:
    """Stop every robot that is guarded on this machine; exit 1 if a guard does not leave or saw no effect."""
    from orchestrator.clock import RealClock
    from orchestrator.guard.process import CALM
    from orchestrator.mission.processes import guards, last_words, robot_of

    found = guards()
    if not found:
        typer.echo("nothing runs on this machine")
        return
    for folder, process in found.items():
        typer.echo(f"stopping {robot_of(folder)}, guarded by process {process}")
        with contextlib.suppress(ProcessLookupError):  # it has just left by itself
            os.kill(process, signal.SIGTERM)
    until = RealClock.now() + PATIENCE
    while (left := guards().keys() & found.keys()) and RealClock.now() < until:
        time.sleep(0.05)
    good = True
    for folder in found:
        words = "the guard does not leave" if folder in left else last_words(folder) or "its guard was killed"
        still = words in CALM
        good &= still
        ending = "" if still else ". PRESS THE HARDWARE EMERGENCY STOP"
        typer.secho(f"{robot_of(folder)}: {words}{ending}", fg=None if still else "red", err=not still)
    if not good:
        raise typer.Exit(1)
