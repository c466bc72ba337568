"""The guards' files of records: where they are, and what keeps them from growing without end.

Nothing goes that a run still has to take in.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from orchestrator.journal.audit import in_use
from orchestrator.journal.history import HistoryError
from orchestrator.journal.runs import all_runs, state_folder

LONG = 4 * 1024 * 1024
"""Bytes from which on a file is put aside when a guard starts: it reads some 15,000 records then."""
KEPT = 8
"""Files of one guard that are kept besides the one it writes."""


def audit_file(guard: str, simulated: bool) -> Path:
    """Where the guard of this name keeps its records."""
    folder = state_folder() / "audit"
    return (folder / "simulated" if simulated else folder) / f"{guard}.log"


def put_aside(file: Path) -> None:
    """Before a guard begins with this file: a long one makes room for a new one, and the oldest goes."""
    if not file.exists() or file.stat().st_size < LONG or in_use(file) or _awaited(file):
        return
    files = [file, *(file.with_suffix(f".{age}.log") for age in range(1, KEPT + 1))]
    for older, newer in pairwise(reversed(files)):
        if newer.exists():
            newer.replace(older)


def clear_simulated() -> None:
    """Simulated robots come and go, each with a guard of its own: what is in the histories need not stay here."""
    for file in audit_file("", simulated=True).parent.glob("*.log"):
        if not in_use(file) and not _awaited(file):
            file.unlink(missing_ok=True)


def _awaited(file: Path) -> bool:
    """Whether a run has not taken in all of its records yet."""
    for run in all_runs():
        if not run.settled:
            try:
                with run.history() as history:
                    if (history.fact("audit") or {}).get("file") == str(file):
                        return True
            except HistoryError:
                continue  # it will never take in anything
    return False
