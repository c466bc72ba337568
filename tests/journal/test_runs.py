"""The runs there have been: found by their names, known to live or to have died, and given what the guard recorded."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.journal.audit import AuditFile
from orchestrator.journal.history import HistoryError
from orchestrator.journal.runs import OpenRun, StoredRun, UnknownRun, all_runs, find_run, runs_folder


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def named(*names: str) -> None:
    for name in names:
        (runs_folder() / name).mkdir(parents=True)


def test_runs_are_in_the_order_of_their_beginning_and_their_users_alone() -> None:
    runs = [OpenRun({"tree": f"t{n}"}) for n in range(3)]
    assert len({run.id for run in runs}) == 3
    assert [run.id for run in all_runs()] == [run.id for run in runs]
    assert stat.S_IMODE(runs_folder().stat().st_mode) == 0o700
    assert runs[0].history.fact("about")["tree"] == "t0"
    for run in runs:
        run.history.close()
        run.close()


def test_a_run_is_alive_while_its_process_is() -> None:
    code = (
        "from orchestrator.journal.runs import OpenRun; import os, sys\n"
        "run = OpenRun({}); print(run.id, flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        run = find_run(process.stdout.readline().strip())
        with run.history() as history:
            assert run.alive
            assert run.outcome(history)["status"] == "running"
            process.kill()
            process.wait()
            assert not run.alive
            assert run.outcome(history) == {"status": "crashed", "reason": "it ended without saying so"}


def test_a_run_is_found_by_how_its_id_begins() -> None:
    named("261116-120000", "261116-120000-2", "261117-080910")
    assert find_run("261117").id == "261117-080910"
    assert find_run("261116-120000").id == "261116-120000"
    with pytest.raises(UnknownRun, match="261116 may be any of 261116-120000, 261116-120000-2"):
        find_run("261116")
    with pytest.raises(UnknownRun, match="there is no run 261117-080911: did you mean 261117-080910"):
        find_run("261117-080911")


def test_without_any_run_nothing_is_found() -> None:
    assert all_runs() == []
    with pytest.raises(UnknownRun, match="none has been recorded"):
        find_run("2")


def test_what_the_guard_recorded_since_the_run_began_is_taken_in(tmp_path: Path) -> None:
    with AuditFile(tmp_path / "audit.log") as audit:
        audit.append({"of": "an earlier run"})
        begun = (tmp_path / "audit.log").stat().st_size
        run = OpenRun({})
        run.history.write(facts={"audit": {"file": str(tmp_path / "audit.log"), "from": begun}})
        audit.append({"of": "this run"})
        run.stored.fold_audit(run.history)
        audit.append({"of": "the guard that stopped the robot"})
        assert not run.stored.settled
        run.stored.fold_audit(run.history, last=True)
        assert run.stored.settled
        audit.append({"of": "a later run"})
        run.stored.fold_audit(run.history)
    assert [record["of"] for record in run.history.audit] == ["this run", "the guard that stopped the robot"]
    run.history.close()
    run.close()


def test_an_audit_that_was_changed_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_bytes(b"rubbish\n")
    run = OpenRun({})
    run.history.write(facts={"audit": {"file": str(tmp_path / "audit.log"), "from": 0}})
    run.stored.fold_audit(run.history)
    assert "not as it was written" in run.history.fact("audit")["problem"]
    run.history.close()
    run.close()


def test_a_forgotten_run_is_gone() -> None:
    run = OpenRun({})
    run.history.close()
    run.close()
    run.stored.forget()
    assert all_runs() == []


def test_where_nothing_can_be_kept_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(HistoryError, match="cannot be begun"):
        OpenRun({})


def test_a_folder_without_a_history_is_said_to_be_one() -> None:
    named("261116-120000")
    with pytest.raises(HistoryError, match="no such history"):
        StoredRun(runs_folder() / "261116-120000").history()
