"""The runs of this user on this machine: a folder each, with its history and, until all is known, a lock.

The run's process holds the lock while it lives. The file stays after a crash, and goes when the guard's last record of
the run is in its history.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Mapping
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any

from orchestrator.journal.audit import AuditError, read
from orchestrator.journal.history import History, HistoryError

CRASHED = "crashed"
"""It ended without saying so."""
RUNNING = "running"


def state_folder() -> Path:
    """Where everything is kept that must outlive a restart of the machine."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "orchestrator"


def runs_folder() -> Path:
    """Where runs are kept: readable by their user alone."""
    return state_folder() / "runs"


class UnknownRun(Exception):
    """No run, or more than one, is called so; one sentence."""


class StoredRun:
    """A run that was begun, whether it still runs, has ended or was killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = folder.name

    def history(self) -> History:
        return History(self.folder / "history.sqlite")

    @property
    def alive(self) -> bool:
        """Whether its process is there; the kernel lets go of the lock of one that is not."""
        try:
            with (self.folder / "lock").open() as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    @property
    def settled(self) -> bool:
        """Whether nothing will be added to its history any more."""
        return not (self.folder / "lock").exists()

    def outcome(self, history: History) -> dict[str, Any]:
        """How it ended: status, reason and more; `crashed` if it never said so, `running` if it has not ended."""
        end: dict[str, Any] | None = history.fact("end")
        if end is not None:
            return end
        if self.alive:
            return {"status": RUNNING, "reason": ""}
        return {"status": CRASHED, "reason": "it ended without saying so"}

    def fold_audit(self, history: History, last: bool = False) -> None:
        """Take in what the guard recorded for this run; `last`: from now on the guard works for somebody else."""
        source = history.fact("audit")
        if last:
            (self.folder / "lock").unlink(missing_ok=True)
        if source is None or source.get("last"):
            return
        source.pop("problem", None)
        try:
            history.fold(read(Path(source["file"]), source["from"]).records)
            if not Path(source["file"]).exists():
                source["problem"] = "the guard's records are gone"
        except (AuditError, OSError) as error:
            source["problem"] = str(error)
        history.write(facts={"audit": source | {"last": last}})

    def forget(self) -> None:
        """Delete all that is known about it."""
        shutil.rmtree(self.folder)


def all_runs() -> list[StoredRun]:
    """The oldest first."""
    folder = runs_folder()
    return [StoredRun(each) for each in sorted(folder.iterdir()) if each.is_dir()] if folder.is_dir() else []


def find_run(wanted: str) -> StoredRun:
    """The run whose id begins so."""
    runs = all_runs()
    fitting = [run for run in runs if run.id.startswith(wanted)]
    exact = [run for run in fitting if run.id == wanted]
    if len(exact or fitting) == 1:
        return (exact or fitting)[0]
    if fitting:
        raise UnknownRun(f"{wanted} may be any of {', '.join(run.id for run in fitting)}")
    if not runs:
        raise UnknownRun(f"there is no run {wanted}: none has been recorded")
    (near,) = get_close_matches(wanted, [run.id for run in runs], n=1, cutoff=0.0)
    raise UnknownRun(f"there is no run {wanted}: did you mean {near}?")


class OpenRun:
    """A run of this process: its folder is locked while it lives."""

    def __init__(self, about: Mapping[str, Any]) -> None:
        """Raises HistoryError when nothing can be kept."""
        now = datetime.now().astimezone()
        try:
            self.stored = StoredRun(_new_folder(now))
            self._lock = _locked(self.stored.folder / "lock")
        except OSError as error:
            raise HistoryError(f"the history cannot be begun: {error}") from error
        facts = {"about": {**about, "id": self.stored.id, "started": now.isoformat(timespec="milliseconds")}}
        try:
            self.history = History.create(self.stored.folder / "history.sqlite", facts)
        except HistoryError:
            self.close()
            shutil.rmtree(self.stored.folder, ignore_errors=True)
            raise

    @property
    def id(self) -> str:
        return self.stored.id

    def close(self) -> None:
        self._lock.close()


def _new_folder(now: datetime) -> Path:
    """Called after the time, as people read it; two in one second are told apart by a number."""
    runs = runs_folder()
    runs.mkdir(mode=0o700, parents=True, exist_ok=True)
    name, count = f"{now:%y%m%d-%H%M%S}", 1
    while True:
        try:
            folder = runs / (name if count == 1 else f"{name}-{count}")
            folder.mkdir(mode=0o700)
            return folder
        except FileExistsError:
            count += 1


def _locked(path: Path) -> IO[str]:
    file = path.open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file
