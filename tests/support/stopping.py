"""`orchestrator stop` as a process that sees the guards of one test alone, not every robot of this machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CONFINED = """
import sys
from pathlib import Path
from orchestrator.mission import processes
every, folder = processes.guards, Path(sys.argv.pop())
processes.guards = lambda: {own: process for own, process in every().items() if own.is_relative_to(folder)}
from orchestrator.cli.app import app
app()
"""


def orchestrator_stop(folder: Path) -> subprocess.CompletedProcess[str]:
    """Stops the guards whose folders are in this one."""
    command = [sys.executable, "-c", CONFINED, "stop", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
