"""`orchestrator stop`: which guards it finds, and what it says and returns."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator.cli.app import app
from orchestrator.mission import processes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That of a guard which leaves as soon as it is told to; its process does not exist."""
    folder = tmp_path / "atom_w-1234"
    folder.mkdir()
    (folder / "lock").write_text("4194400\nthe robot stands still\n")
    found = [{folder: 4194400}]
    monkeypatch.setattr(processes, "guards", lambda: found.pop() if found else {})
    return folder


def test_a_guard_that_leaves_says_what_came_of_it(folder: Path) -> None:
    done = CliRunner().invoke(app, ["stop"])
    assert done.output.splitlines() == [
        "stopping atom_w, guarded by process 4194400",
        "atom_w: the robot stands still",
    ]
    assert done.exit_code == 0


def test_a_robot_that_was_not_seen_to_stand(folder: Path) -> None:
    (folder / "lock").write_text("4194400\nthe robot still moved after the stop\n")
    done = CliRunner().invoke(app, ["stop"])
    assert "atom_w: the robot still moved after the stop. PRESS THE HARDWARE EMERGENCY STOP" in done.output
    assert done.exit_code == 1


def test_a_robot_that_stands_with_a_task_left_on_its_base(folder: Path) -> None:
    (folder / "lock").write_text("4194400\nthe robot stands still; but a task of ours is paused on the base\n")
    done = CliRunner().invoke(app, ["stop"])
    assert done.output.splitlines()[1:] == ["atom_w: the robot stands still; but a task of ours is paused on the base"]
    assert done.exit_code == 1


def test_a_guard_whose_folder_goes_with_it_says_nothing(folder: Path) -> None:
    (folder / "lock").unlink()
    done = CliRunner().invoke(app, ["stop"])
    assert "atom_w: its guard has gone without a word. PRESS THE HARDWARE EMERGENCY STOP" in done.output
    assert done.exit_code == 1


def test_the_guard_of_somebody_else_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_allowed(process: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", not_allowed)
    monkeypatch.setattr(processes, "user_of", lambda process: "anna")
    done = CliRunner().invoke(app, ["stop"])
    assert done.output == ("atom_w: NOT STOPPED: its guard is process 4194400 of anna: anna or root must stop it\n")
    assert done.exit_code == 1


def test_nothing_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "guards", dict)
    done = CliRunner().invoke(app, ["stop"])
    assert (done.output, done.exit_code) == ("nothing runs on this machine\n", 0)
