"""One run's history: whatever was written is there, whole, and in order."""

from __future__ import annotations

import json
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from orchestrator.journal.history import VERSION, History, HistoryError


def event(number: int) -> bytes:
    return json.dumps({"event": "note", "number": number}).encode()


def test_events_facts_and_records_come_back(tmp_path: Path) -> None:
    with History.create(tmp_path / "h", {"about": {"tree": "t"}}) as history:
        history.write([event(1), event(2)], {"checkpoint": b'{"at":1}'})
        history.write([event(3)], {"checkpoint": {"at": 2}})
        history.fold([{"role": "command"}, {"role": "stop"}])
    with History(tmp_path / "h") as history:
        assert [each["number"] for each in history.events] == [1, 2, 3]
        assert (history.fact("about"), history.fact("checkpoint"), history.fact("end")) == (
            {"tree": "t"},
            {"at": 2},
            None,
        )
        assert [each["role"] for each in history.audit] == ["command", "stop"]
        assert history.last_event == {"event": "note", "number": 3}


def test_records_that_are_folded_in_again_are_not_doubled(tmp_path: Path) -> None:
    with History.create(tmp_path / "h", {}) as history:
        history.fold([{"n": 0}, {"n": 1}])
        history.fold([{"n": 0}, {"n": 1}, {"n": 2}])
        assert history.audit == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_only_one_claims_a_fact(tmp_path: Path) -> None:
    with History.create(tmp_path / "h", {}) as history, History(tmp_path / "h") as other:
        assert history.claim("continued", "me")
        assert not other.claim("continued", "you")
        assert other.fact("continued") == "me"


def test_it_belongs_to_its_user_alone(tmp_path: Path) -> None:
    with History.create(tmp_path / "h", {}) as history:
        history.write([event(1)])
        assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}


def test_a_reader_does_not_hold_up_the_writer(tmp_path: Path) -> None:
    with History.create(tmp_path / "h", {}) as history:
        history.write([event(1)])
        with sqlite3.connect(tmp_path / "h") as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM event").fetchone() == (1,)
            history.write([event(2)])
            assert reader.execute("SELECT count(*) FROM event").fetchone() == (1,)
        reader.close()
        assert len(history.events) == 2


@pytest.mark.parametrize(
    ("version", "said"),
    [(VERSION + 1, "written by a newer orchestrator"), (0, "killed before it began"), (-1, "too old")],
)
def test_a_history_of_another_version_is_refused(tmp_path: Path, version: int, said: str) -> None:
    History.create(tmp_path / "h", {}).close()
    with sqlite3.connect(tmp_path / "h") as file:
        file.execute(f"PRAGMA user_version = {version}")
    file.close()
    with pytest.raises(HistoryError, match=said):
        History(tmp_path / "h")


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\0" + bytes(200)])
def test_a_file_that_is_no_history_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "h").write_bytes(content)
    with pytest.raises(HistoryError, match="h: "):
        History(tmp_path / "h")
    with pytest.raises(HistoryError, match="no such history"):
        History(tmp_path / "nothing")


def test_a_spoilt_page_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with History.create(tmp_path / "h", {}) as history:
        history.write([event(n) for n in range(1000)])
    data = bytearray((tmp_path / "h").read_bytes())
    data[8192:] = bytes([0xA5]) * (len(data) - 8192)
    (tmp_path / "h").write_bytes(data)
    with (
        History(tmp_path / "h") as history,
        pytest.raises(HistoryError, match="h: database disk image is malformed") as caught,
    ):
        _ = history.events
    assert not caught.value.passing


def test_a_locked_file_is_an_error_that_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.journal.history.PATIENCE", 0.0)
    with History.create(tmp_path / "h", {}) as history, sqlite3.connect(tmp_path / "h") as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(HistoryError, match="locked") as caught:
            history.write([event(1)])
        assert caught.value.passing
        other.rollback()
        history.write([event(2)])
        assert [each["number"] for each in history.events] == [2]
    other.close()


class Model(RuleBasedStateMachine):
    """Writes in any order, with the file closed, or copied as a crash would leave it, in between."""

    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self.count = len(list(self.folder.iterdir()))
        self.path = self.folder / f"{self.count}-0" / "h"
        self.path.parent.mkdir()
        self.history = History.create(self.path, {})
        self.events: list[int] = []
        self.facts: dict[str, Any] = {}
        self.records = 0

    @rule(count=st.integers(0, 3), facts=st.dictionaries(st.sampled_from("abc"), st.integers() | st.text()))
    def write(self, count: int, facts: dict[str, Any]) -> None:
        new = [len(self.events) + n for n in range(count)]
        self.history.write(map(event, new), facts)
        self.events += new
        self.facts |= facts

    @rule(more=st.integers(0, 3))
    def fold(self, more: int) -> None:
        self.records += more
        self.history.fold([{"n": n} for n in range(self.records)])

    @rule(value=st.integers())
    def claim(self, value: int) -> None:
        assert self.history.claim("a", value) == ("a" not in self.facts)
        self.facts.setdefault("a", value)

    @rule()
    def reopen(self) -> None:
        self.history.close()
        self.history = History(self.path)

    @rule()
    def crash(self) -> None:
        """What is on the disk at this moment is all there is; the writer's own memory of the file is lost."""
        left = self.path.parent.parent / f"{self.path.parent.name}x"
        left.mkdir()
        for name in ("h", "h-wal"):
            if (self.path.parent / name).exists():
                (left / name).write_bytes((self.path.parent / name).read_bytes())
        self.history.close()
        self.path = left / "h"
        self.history = History(self.path)

    @invariant()
    def everything_is_there(self) -> None:
        assert [each["number"] for each in self.history.events] == self.events
        assert {name: value for name in "abc" if (value := self.history.fact(name)) is not None} == self.facts
        assert [each["n"] for each in self.history.audit] == list(range(self.records))

    def teardown(self) -> None:
        self.history.close()


def test_any_order_of_writes_and_crashes(tmp_path: Path) -> None:
    class InThisFolder(Model):
        folder = tmp_path

    case = InThisFolder.TestCase
    case.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)
    case("runTest").runTest()
