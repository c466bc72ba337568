"""`orchestrator stop`: stops whatever runs on this machine."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import typer

from orchestrator.cli.colour import colour

PATIENCE = 30.0
"""Seconds guards have to stop their robots and leave; a robot that is parked first needs most of them."""


def stop() -> None:
    """Stop every robot that is guarded on this machine.

    Exit 1 if a guard belongs to somebody else, does not leave or saw no effect.
    """
    from orchestrator.clock import RealClock
    from orchestrator.mission.processes import guards

    found = guards()
    if not found:
        typer.echo("nothing runs on this machine")
        return
    told = {folder for folder, process in found.items() if _tell(folder, process)}
    until = RealClock.now() + PATIENCE
    while (left := guards().keys() & told) and RealClock.now() < until:
        time.sleep(0.05)
    good = [_say(folder, leaves=folder not in left) for folder in found if folder in told]
    if not all(good) or told != found.keys():
        raise typer.Exit(1)


def _tell(folder: Path, process: int) -> bool:
    """Ask a guard to stop its robot; False when we may not."""
    from orchestrator.mission.processes import robot_of, user_of

    try:
        os.kill(process, signal.SIGTERM)
    except ProcessLookupError:
        pass  # it has just left by itself
    except PermissionError:
        user = user_of(process)
        text = f"{robot_of(folder)}: NOT STOPPED: its guard is process {process} of {user}: {user} or root must stop it"
        typer.secho(text, fg="red", err=True, color=colour())
        return False
    typer.echo(f"stopping {robot_of(folder)}, guarded by process {process}")
    return True


def _say(folder: Path, leaves: bool) -> bool:
    """What came of it; False when somebody has to do something."""
    from orchestrator.guard.process import BUT, CALM
    from orchestrator.mission.processes import last_words, robot_of

    words = last_words(folder) or "its guard has gone without a word" if leaves else "the guard does not leave"
    good = words in CALM
    ending = "" if words.partition(BUT)[0] in CALM else ". PRESS THE HARDWARE EMERGENCY STOP"
    typer.secho(f"{robot_of(folder)}: {words}{ending}", fg=None if good else "red", err=not good, color=colour())
    return good
