"""What `orchestrator run` keeps, and what it does when nothing can be kept."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator.cli.app import app
from orchestrator.journal.runs import all_runs
from orchestrator.mission import recording
from orchestrator.mission.arming import Declined
from orchestrator.mission.virtual import VirtualMission

TREE = "tree: rests\nrobot: atom_w\nroot:\n  - Wait: {time: 100 ms}\n"


@pytest.fixture
def tree(tmp_path: Path) -> str:
    (tmp_path / "rests.yaml").write_text(TREE)
    return str(tmp_path / "rests.yaml")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["run", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_virtual_time_is_kept_only_when_asked_for(tree: str, state: Path) -> None:
    assert run(tree, "--virtual")[0] == 0
    assert all_runs() == []
    code, _, said = run(tree, "--virtual", "--record")
    (kept,) = all_runs()
    assert (code, said) == (0, f"recorded as {kept.id}: orchestrator runs {kept.id}\n")
    with kept.history() as history:
        assert (history.fact("about")["tree"], history.fact("end")["status"]) == ("rests", "success")
    assert kept.settled


def test_without_room_for_a_history_a_simulated_run_warns_and_goes_on(tree: str, state: Path) -> None:
    state.write_text("a file where the folder should be")
    code, _, said = run(tree, "--virtual", "--record")
    assert code == 0
    assert said.startswith("warning: the history cannot be begun: ")


def test_without_room_for_a_history_nothing_moves_on_a_real_robot(
    tree: str, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.write_text("a file where the folder should be")
    monkeypatch.setattr(recording, "take_in_audits", lambda file: pytest.fail("the robot was looked for"))
    code, _, said = run(tree, "--arm")
    assert code == 2
    assert said.startswith("error: the history cannot be begun: ")


@pytest.mark.parametrize(
    ("given", "problem", "why"),
    [
        (("--answer", "Wiat=done"), None, 'no node is called "Wiat": did you mean "Wait"?'),
        ((), Declined("Arm atom_w? Keep the hardware emergency stop in your hand."), "a person decided against it"),
    ],
)
def test_a_run_that_was_refused_or_declined_says_so(
    given: tuple[str, ...], problem: Exception | None, why: str, tree: str, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def declined(mission: VirtualMission) -> None:
        assert problem is not None
        raise problem

    monkeypatch.setattr(VirtualMission, "run", declined)
    assert run(tree, "--virtual", "--record", *given)[0] != 0
    (kept,) = all_runs()
    with kept.history() as history:
        end = history.fact("end")
    assert end["status"] == "not begun"
    assert end["reason"].endswith(why)


def test_a_run_that_never_began_says_why(tree: str, state: Path) -> None:
    code, _, said = run(tree, "--virtual", "--record", "--fault", "hard@0s")
    assert code == 3, said
    (kept,) = all_runs()
    with kept.history() as history:
        end = history.fact("end")
    assert end["status"] == "not begun"
    assert "estopped" in end["reason"]


def test_a_user_without_a_name_is_kept_by_number(tree: str, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    code, _, said = run(tree, "--virtual", "--record")
    assert code == 0, said
    (kept,) = all_runs()
    with kept.history() as history:
        assert history.fact("about")["who"] == str(os.getuid())
