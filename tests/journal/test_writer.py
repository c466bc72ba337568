"""The thread that keeps a history: nobody waits for it, and nothing that goes wrong with it goes any further."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from orchestrator.journal import writer as writing
from orchestrator.journal.history import History, HistoryError
from orchestrator.journal.writer import Writer

PATIENCE = 30.0


def event(number: int) -> bytes:
    return json.dumps({"number": number}).encode()


def numbers(path: Path) -> list[int]:
    with History(path) as history:
        return [each["number"] for each in history.events]


class Failing(History):
    """A file that takes nothing while `problem` says so."""

    problem: HistoryError | None = None
    failed: Callable[[], object] = staticmethod(lambda: None)

    def write(self, *arguments: object, **named: object) -> None:
        if self.problem is not None:
            problem = self.problem
            self.failed()
            raise problem
        super().write(*arguments, **named)  # type: ignore[arg-type]


def failing(path: Path) -> Failing:
    History.create(path, {}).close()
    return Failing(path)


def test_everything_is_kept_in_order(tmp_path: Path) -> None:
    warnings: list[str] = []
    writer = Writer(History.create(tmp_path / "h", {}), warnings.append)
    for number in range(500):
        writer.put([event(number)], last=number)
    writer.close(PATIENCE)
    assert numbers(tmp_path / "h") == list(range(500))
    with History(tmp_path / "h") as history:
        assert history.fact("last") == 499
    assert (warnings, writer.complete) == ([], True)


def test_what_fails_for_a_while_is_written_afterwards_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "AGAIN", 0.0)
    warnings: list[str] = []
    history = failing(tmp_path / "h")
    history.problem = HistoryError("disk is full", passing=True)
    failures: list[int] = []
    mended = threading.Event()

    def fail() -> None:
        failures.append(1)
        if len(failures) == 3:
            history.problem = None
            mended.set()

    history.failed = fail
    writer = Writer(history, warnings.append)
    for number in range(5):
        writer.put([event(number)])
    assert mended.wait(PATIENCE)
    writer.close(PATIENCE)
    assert numbers(tmp_path / "h") == [0, 1, 2, 3, 4]
    assert warnings == ["the history is not being kept for now: disk is full"]
    assert writer.complete


def test_a_spoilt_file_is_given_up_with_one_warning(tmp_path: Path) -> None:
    warnings: list[str] = []
    history = failing(tmp_path / "h")
    history.problem = HistoryError("malformed")
    writer = Writer(history, warnings.append)
    for number in range(5):
        writer.put([event(number)])
    writer.close(PATIENCE)
    writer.put([event(6)])
    assert warnings == ["the history of this run is not complete: malformed"]
    assert not writer.complete


def test_what_waits_too_long_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MOST", 100)
    monkeypatch.setattr(writing, "AGAIN", 0.0)
    history = failing(tmp_path / "h")
    history.problem = HistoryError("disk is full", passing=True)
    writer = Writer(history, lambda text: None)
    for number in range(50):
        writer.put([event(number)])
    writer.close(PATIENCE)
    assert not writer.complete
    assert not writer._events


class Full(History):
    """A disk with room for a fact, but for no event."""

    def write(self, events: Iterable[bytes] = (), facts: Mapping[str, Any] | None = None) -> None:
        if list(events):
            raise HistoryError("disk is full", passing=True)
        super().write((), facts)


def test_on_a_full_disk_it_is_kept_that_the_run_has_ended_and_said_that_its_history_is_not_complete(
    tmp_path: Path,
) -> None:
    warnings: list[str] = []
    History.create(tmp_path / "h", {}).close()
    writer = Writer(Full(tmp_path / "h"), warnings.append)
    writer.put([event(1)], checkpoint={"commands": 0})
    writer.put([event(2)], end={"status": "success"})
    writer.close(PATIENCE)
    with History(tmp_path / "h") as history:
        assert (history.fact("end"), history.fact("checkpoint"), history.events) == ({"status": "success"}, None, [])
    assert warnings[-1] == "the history of this run is not complete: disk is full"
    assert not writer.complete


def test_a_file_that_stays_locked_costs_the_end_its_patience_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.journal.history.PATIENCE", 0.0)
    warnings: list[str] = []
    writer = Writer(History.create(tmp_path / "h", {}), warnings.append)
    other = sqlite3.connect(tmp_path / "h")
    other.execute("BEGIN IMMEDIATE")
    writer.put([event(1)])
    writer.close(PATIENCE)
    other.close()
    assert len(warnings) == 1
    assert "locked" in warnings[0]
