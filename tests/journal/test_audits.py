"""The guards' files: what is put aside, what goes, and what stays because a run still needs it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.journal import audits
from orchestrator.journal.audit import AuditFile, read
from orchestrator.journal.audits import audit_file, clear_simulated, put_aside
from orchestrator.journal.runs import OpenRun


@pytest.fixture(autouse=True)
def _small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(audits, "LONG", 100)
    monkeypatch.setattr(audits, "KEPT", 2)


def recorded(guard: str, text: str, simulated: bool = False) -> Path:
    """The file of a guard that has been and gone."""
    file = audit_file(guard, simulated)
    file.parent.mkdir(parents=True, exist_ok=True)
    with AuditFile(file) as audit:
        audit.append({"said": text, "padding": "." * 100})
    return file


def said(file: Path) -> list[str]:
    return [record["said"] for record in read(file).records]


@pytest.fixture
def run() -> Iterator[OpenRun]:
    run = OpenRun({})
    yield run
    run.history.close()
    run.close()


def needs(run: OpenRun, file: Path) -> None:
    run.history.write(facts={"audit": {"file": str(file), "from": 0}})


def test_records_outlive_a_restart_of_the_machine(tmp_path: Path) -> None:
    assert audit_file("atom_w-1", simulated=False) == tmp_path / "orchestrator/audit/atom_w-1.log"


def test_a_long_file_makes_room_and_the_oldest_goes() -> None:
    for text in ("first", "second", "third", "fourth"):
        file = recorded("atom_w-1", text)
        put_aside(file)
    assert not file.exists()
    assert [said(file.with_suffix(f".{age}.log")) for age in (1, 2)] == [["fourth"], ["third"]]
    assert len(list(file.parent.iterdir())) == 2


def test_a_short_file_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audits, "LONG", 10_000)
    file = recorded("atom_w-1", "here")
    put_aside(file)
    assert said(file) == ["here"]


def test_a_file_a_guard_writes_stays() -> None:
    file = recorded("atom_w-1", "before")
    with AuditFile(file) as audit:
        put_aside(file)
        audit.append({"said": "after"})
    assert said(file) == ["before", "after"]


def test_a_file_of_which_a_run_has_not_taken_in_all_stays_until_it_has(run: OpenRun) -> None:
    file = recorded("atom_w-1", "for a run")
    needs(run, file)
    put_aside(file)
    assert file.exists()
    run.stored.fold_audit(run.history, last=True)
    put_aside(file)
    assert not file.exists()
    assert [record["said"] for record in run.history.audit] == ["for a run"]


def test_simulated_robots_leave_nothing_behind_once_it_is_in_the_histories(run: OpenRun) -> None:
    taken_in, awaited = recorded("gr2-1", "over", simulated=True), recorded("gr2-2", "crashed", simulated=True)
    needs(run, awaited)
    real = recorded("gr2-3", "real")
    with AuditFile(audit_file("gr2-4", simulated=True)) as alive:
        clear_simulated()
        assert [file.exists() for file in (taken_in, awaited, alive.path, real)] == [False, True, True, True]


def test_without_any_file_there_is_nothing_to_do() -> None:
    clear_simulated()
    put_aside(audit_file("gr2-1", simulated=False))
