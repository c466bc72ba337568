"""Keeps a mission's history while it runs: its events, where the tree stands, how it ends.

Nothing here waits for the disk: a thread writes. What it gets is whole: the events of finished ticks, together with the
state of the tree after them and how many commands that accounts for. What the guard has recorded beyond that number
happened in a tick that was cut off, and nobody may go on from there.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from orchestrator import __version__
from orchestrator.engine.events import Command, Event, readable, to_json
from orchestrator.journal.audit import in_use
from orchestrator.journal.audits import clear_simulated, put_aside
from orchestrator.journal.history import HistoryError
from orchestrator.journal.runs import OpenRun, all_runs
from orchestrator.journal.writer import Writer
from orchestrator.mission.loading import Loaded
from orchestrator.robots.profile import Profile
from orchestrator.treefile.model import TreeNode

PATIENCE = 5.0
"""Seconds the end of a run waits for its history."""


class Recorder:
    """The history of one mission."""

    def __init__(self, about: Mapping[str, Any], warn: Callable[[str], None]) -> None:
        """Raises HistoryError when no history can be begun."""
        self._run = OpenRun(about)
        self._warn = warn
        self._writer = Writer(self._run.history, warn)
        self._lock = threading.Lock()
        self._events: list[bytes] = []
        self._commands = 0

    @property
    def id(self) -> str:
        return self._run.id

    def start_from(self, state: bytes) -> None:
        """Before the first tick: where an earlier run has left the tree is where this one stands."""
        self._writer.put(checkpoint=self._checkpoint(state))

    def counts_from(self, zero: float) -> None:
        """The moment from which people count this run's times."""
        self._writer.put(zero=zero)

    def audit_at(self, file: Path) -> None:
        """The guard keeps its records there, from now on for this run."""
        self._writer.put(audit={"file": str(file), "from": file.stat().st_size})

    def tell(self, event: Event) -> None:
        """From any thread; kept with the next `keep` or `flush`."""
        data = to_json(event)
        with self._lock:
            self._events.append(data)
            if isinstance(event, Command):
                self._commands = event.id

    def keep(self, state: bytes, shown: Mapping[str, Any]) -> None:
        """Between two ticks: where the tree stands, and what the robot shows."""
        with self._lock:
            events, self._events = self._events, []
        self._writer.put(events, checkpoint=self._checkpoint(state), robot=shown)

    def keep_last(self, shown: Mapping[str, Any]) -> None:
        """What the robot shows in the end. Whoever goes on with the run compares with where the tree stood instead."""
        self._writer.put(shown=shown)

    def flush(self) -> None:
        """When nothing is ticked, or the tree will not be gone on with."""
        if self._events:
            with self._lock:
                events, self._events = self._events, []
            self._writer.put(events)

    def _checkpoint(self, state: bytes) -> bytes:
        return b'{"commands":%d,"state":%b}' % (self._commands, state)

    def close(self, status: str, reason: str = "", place: str = "", audit: Sequence[Mapping[str, Any]] = ()) -> None:
        """The run is over, and its guard has left if it ever does. `audit`: of a guard in this process."""
        ended = datetime.now().astimezone().isoformat(timespec="milliseconds")
        self.flush()
        self._writer.put(end={"status": status, "reason": reason, "place": place, "ended": ended})
        self._writer.close(PATIENCE)
        try:
            with self._run.stored.history() as history:
                history.fold(audit)
                self._run.stored.fold_audit(history, last=True)
        except HistoryError as error:
            if self._writer.complete:
                self._warn(f"the guard's records could not be added to the history: {error}")
        self._run.close()


def describe(loaded: Loaded, kind: str, who: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """What a run was begun with: enough to know later whether it can go on."""
    tree = loaded.tree
    texts, profile = texts_of(loaded), plain(loaded.profile)
    return {
        "tree": tree.name,
        "file": str(Path(tree.file).absolute()),
        "texts": texts,
        "hash": mark({readable(file): text for file, text in texts.items()}),
        "robot": loaded.robot,
        "profile": profile,
        "profile_hash": mark(profile),
        "settings": dict(settings),
        "stand_ins": loaded.substitutes is not None,
        "kind": kind,
        "who": who,
        "version": __version__,
    }


def texts_of(loaded: Loaded) -> dict[str, str]:
    """Every file of a tree and what stands in it."""
    assert loaded.tree.root is not None
    files = {loaded.tree.file, *_files(loaded.tree.root)}
    return {str(Path(file).absolute()): Path(file).read_text(encoding="utf-8") for file in sorted(files)}


def _files(node: TreeNode) -> set[str]:
    below = [*node.children, *(node.otherwise or []), *node.modifiers.finally_]
    return {node.place.file}.union(*map(_files, below))


def plain(profile: Profile) -> Any:
    return msgspec.json.decode(msgspec.json.encode(profile, order="deterministic"))


def mark(content: Any) -> str:
    """A short hash, for people to compare."""
    return hashlib.blake2b(msgspec.json.encode(content, order="deterministic"), digest_size=6).hexdigest()


def take_in_audits(file: Path) -> None:
    """Before a guard that records in this file works for a new run: what it has for runs that crashed is theirs.

    So is what guards have recorded that are gone.
    """
    for run in all_runs():
        if not run.settled and not run.alive:
            try:
                with run.history() as history:
                    kept = Path((history.fact("audit") or {"file": file})["file"])
                    run.fold_audit(history, last=kept == file or not in_use(kept))
            except HistoryError:
                continue  # `orchestrator runs` says so
    clear_simulated()
    put_aside(file)
