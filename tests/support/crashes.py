"""Missions in virtual time whose run dies at a chosen moment, while robot and guard live on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from orchestrator.engine.prompts import Prompts
from orchestrator.engine.runner import Outcome
from orchestrator.guard.events import RunGone
from orchestrator.journal.audit import AuditFile
from orchestrator.journal.history import History
from orchestrator.journal.runs import StoredRun, find_run
from orchestrator.mission import recording, virtual
from orchestrator.mission.loading import Loaded
from orchestrator.mission.mission import Mission
from orchestrator.mission.recording import Recorder, describe
from orchestrator.mission.virtual import VirtualMission
from orchestrator.robots.commander import Receipt
from orchestrator.robots.intents import AnyIntent


class Killed(KeyboardInterrupt):
    """The process has gone; nobody catches this, not even around a leaf."""


class Direct:
    """Writes a history at once, so that what is kept at a moment does not depend on a thread."""

    complete = True

    def __init__(self, history: History, warn: Callable[[str], None]) -> None:
        self._history = history

    def put(self, events: Sequence[bytes] = (), **facts: Any) -> None:
        self._history.write(events, facts)

    def close(self, seconds: float) -> None:
        self._history.close()


class OnDisk(AuditFile):
    """The guard's records of a mission in virtual time, in a file."""

    path_of_all: Path

    def __init__(self, records: list[dict[str, Any]]) -> None:
        super().__init__(self.path_of_all)
        self._records = records

    def append(self, record: dict[str, Any]) -> None:
        super().append(record)
        self._records.append(record)

    def sync(self) -> None:
        pass


@dataclass
class Crashing:
    """One mission that is run, killed, and gone on with. `kind` is what its history says it was."""

    loaded: Loaded
    folder: Path
    after: ExitStack
    kind: str = "SIM"

    def __post_init__(self) -> None:
        self.recorder = self._recorder()
        self.world = VirtualMission(self.loaded, recorder=self.recorder)
        self.after.callback(self.world.guard._audit.close)  # type: ignore[attr-defined]
        self.recorder.audit_at(self.folder / "audit.log")

    def _recorder(self) -> Recorder:
        made = Recorder(describe(self.loaded, self.kind, "me", {}), lambda text: None)
        self.after.callback(made._run.close)
        self.after.callback(made._run.history.close)
        return made

    def fly(self, ticks: int | None = None, command: int | None = None, sent: bool = True) -> Outcome | None:
        """Until so many ticks are over, or in the middle of the one with this command; the outcome if it lives on."""
        mission = self.world.mission
        if command is not None:
            self._die_at(mission, command, sent)
        mission.arm("me")
        try:
            for number, _ in enumerate(mission.turns(), start=1):
                if number == ticks:
                    raise Killed
        except Killed:
            self._crash()
            return None
        outcome = mission.runner.outcome
        assert outcome is not None
        self.recorder.close(outcome.status, outcome.reason, outcome.place)
        return outcome

    def _die_at(self, mission: Mission, command: int, sent: bool) -> None:
        send, count = mission._link.send, 0

        def die(intent: AnyIntent) -> Receipt:
            nonlocal count
            count += 1
            if count < command:
                return send(intent)
            if sent:
                send(intent)
            raise Killed

        mission._link.send = die  # type: ignore[method-assign]

    def _crash(self) -> None:
        self.recorder._run.close()  # the kernel lets go of the lock
        self.world.guard.handle(RunGone(self.world.guard.state.epoch))
        self.world.clock.advance(5.0)

    def stored(self) -> StoredRun:
        return find_run(self.recorder.id)

    def go_on(self, resumable: Any, prompts: Prompts) -> Outcome:
        """What `orchestrator resume` does, on the same robot and guard."""
        self.recorder = self._recorder()
        self.recorder.start_from(resumable.state)
        self.recorder.audit_at(self.folder / "audit.log")
        bus = self.world.network.bus("run that goes on")
        link = virtual._InProcessLink(self.world.guard, bus)
        mission = Mission(self.loaded, bus, link, prompts, lambda event: None, recorder=self.recorder)
        self.world.mission = mission
        mission.start_from(resumable.checkpoint)
        mission.arm("me")
        return mission.run()

    @property
    def done_once(self) -> list[tuple[str, Any]]:
        """What left the guard and must not be done twice."""
        left = [record["command"] for record in self.world.audit if record["role"] == "command"]
        return [(each["intent"], each["tag"]) for each in left if each["intent"] == "MoveToTag"]


@pytest.fixture
def crashing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Loaded], Crashing]]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(recording, "Writer", Direct)
    monkeypatch.setattr(virtual, "_Kept", OnDisk)
    count = 0

    def make(loaded: Loaded, kind: str = "SIM") -> Crashing:
        nonlocal count
        count += 1
        folder = tmp_path / str(count)
        folder.mkdir()
        monkeypatch.setattr(OnDisk, "path_of_all", folder / "audit.log", raising=False)
        return Crashing(loaded, folder, after, kind)

    with ExitStack() as after:
        yield make
