from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator.cli.app import app
from orchestrator.data import data_path
from orchestrator.journal.runs import find_run, runs_folder
from orchestrator.mission.loading import load_mission
from orchestrator.mission.recording import Recorder, describe
from orchestrator.mission.virtual import VirtualMission

DELIVERY = data_path("trees/04_deliver_atom_w.yaml")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def runs(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["runs", *arguments])
    return result.exit_code, result.stdout, result.stderr


def delivered(seconds: float | None = None) -> str:
    """A recorded delivery that was done, or killed after some time; its id."""
    return recorded(DELIVERY, seconds)


def recorded(tree: Path, seconds: float | None = None) -> str:
    loaded = load_mission(tree)
    recorder = Recorder(describe(loaded, "SIM", "maria", {"pick": "12"}), print)
    mission = VirtualMission(loaded, recorder=recorder)
    mission.mission.arm("maria")
    for _ in mission.mission.turns():
        if seconds is not None and mission.clock.now() > seconds:
            recorder._writer.close(30.0)
            recorder._run.close()
            return recorder.id
    recorder.close("success", audit=mission.audit)
    return recorder.id


def test_a_table_of_what_was_run() -> None:
    assert runs() == (0, "nothing has been run yet\n", "")
    first, second = delivered(), delivered(6.0)
    code, said, _ = runs()
    head, one, two = said.splitlines()
    assert code == 0
    assert head.split() == ["ID", "WHEN", "TREE", "ROBOT", "ON", "OUTCOME", "TOOK"]
    assert one.split()[0] == first
    assert " deliver_atom_w  atom_w  SIM  success" in one
    assert two.split()[0] == second
    assert " crashed " in two
    listed = json.loads(runs("--json")[1])
    assert [(each["id"], each["status"]) for each in listed] == [(first, "success"), (second, "crashed")]


def test_what_happened_in_one_run() -> None:
    run = delivered()
    code, said, _ = runs(run)
    assert code == 0
    assert f"{run}  SIM  atom_w  deliver_atom_w  success\n" in said
    assert "by maria\n" in said
    assert "--set      pick=12\n" in said
    assert "drive to the shelf: success" in said
    assert "MoveToTag tag 12, heading None  (MoveToTag): done\n" in said
    assert "guard\n" in said
    assert "fsm.state             ready\n" in said
    assert "resume" not in said
    told = json.loads(runs(run, "--json")[1])
    assert (told["status"], len(told["story"]["commands"]), told["robot"]["fsm.state"]) == ("success", 8, "ready")
    assert runs(run, "--tree")[1].startswith(f"# {DELIVERY.absolute()}\n{DELIVERY.read_text()}")


LAST_STEPS = """\
tree: last
robot: atom_w
root:
  sequence:
    - SetFsm: {state: ready}
    - SwitchUpperControl: {enabled: true}
  finally:
    - SwitchUpperControl: {enabled: false}
"""


def test_what_the_last_steps_changed_is_what_the_robot_showed_last(tmp_path: Path) -> None:
    tree = tmp_path / "last.yaml"
    tree.write_text(LAST_STEPS)
    run = recorded(tree)
    assert "upper.state           off\n" in runs(run)[1]
    assert json.loads(runs(run, "--json")[1])["robot"]["upper.state"] == "off"
    tree.write_text(LAST_STEPS[: LAST_STEPS.index("  finally")])
    assert "upper.state           on\n" in runs(recorded(tree))[1]


def test_whatever_was_said_is_told_in_lines(tmp_path: Path) -> None:
    tree = tmp_path / "says.yaml"
    tree.write_text(
        "tree: says\nrobot: atom_w\nparams: {what: {type: text}}\nroot:\n"
        '  - check: |-\n      battery.level < 1 %\n      or battery.level < 2 %\n    name: "two\\nlines"\n'
        "  - Log: {text: $what}\n"
    )
    CliRunner().invoke(app, ["run", str(tree), "--virtual", "--record", "--set", "what=a\nb"])
    (run,) = runs_folder().iterdir()
    head, *lines = runs(run.name)[1].splitlines()
    assert 'failure: "battery.level < 1 % or battery.level < 2 %" does not hold' in head
    assert "  --set      what=a b" in lines
    (check,) = (line for line in lines if "two lines: failure" in line)
    assert "< 1 % or battery" in check


def test_the_times_of_a_virtual_run_are_those_it_told(tmp_path: Path) -> None:
    tree = tmp_path / "last.yaml"
    tree.write_text("tree: last\nrobot: atom_w\nroot:\n  - Wait: {time: 30 s}\n")
    ran = CliRunner().invoke(app, ["run", str(tree), "--virtual", "--record"])
    (run,) = runs_folder().iterdir()
    told = runs(run.name)[1]
    took = next(line for line in told.splitlines() if line.startswith("  took ")).removeprefix("  took").strip()
    assert float(took.removesuffix(" s")) > 30.0
    assert f"success after {took}" in ran.stdout
    began = next(line for line in ran.stdout.splitlines() if "Wait: running" in line)
    assert f"{began.split()[0]}    Wait: success" in told


def test_a_crashed_run_lists_what_nobody_knows_and_how_to_go_on() -> None:
    run = delivered(6.0)
    _, said, _ = runs(run)
    assert "crashed: it ended without saying so" in said
    assert "MoveToTag: cut off" in said
    assert "MoveToTag tag 12, heading None  (MoveToTag): OUTCOME UNKNOWN\n" in said
    assert f"orchestrator resume {run} goes on with it" in said


def test_a_wrong_id_gets_the_nearest() -> None:
    run = delivered(2.0)
    assert runs(run[:-2] + "xx") == (2, "", f"error: there is no run {run[:-2]}xx: did you mean {run}?\n")
    assert runs(run[:6])[0] == 0


def test_a_history_that_cannot_be_read_does_not_hide_the_others() -> None:
    bad, good = delivered(2.0), delivered(2.0)
    (runs_folder() / bad / "history.sqlite").write_bytes(b"rubbish")
    code, said, complaint = runs()
    assert code == 0
    assert good in said
    assert f"cannot be read: {runs_folder() / bad}/history.sqlite: file is not a database" in complaint
    assert runs(bad)[0] == 2


def test_a_run_is_forgotten_when_asked_to() -> None:
    run = delivered(2.0)
    assert runs(run, "--forget") == (0, f"{run} is forgotten\n", "")
    assert not (runs_folder() / run).exists()
    assert runs("--forget")[0] == 2


def test_a_run_that_cannot_be_forgotten_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(folder: Path) -> None:
        raise PermissionError(13, "Permission denied", str(folder))

    run = delivered(2.0)
    monkeypatch.setattr(shutil, "rmtree", refused)
    assert runs(run, "--forget") == (2, "", f"error: [Errno 13] Permission denied: '{runs_folder() / run}'\n")


@pytest.mark.parametrize("full", [True, False])
def test_output_that_goes_nowhere_is_no_trouble_of_the_run(full: bool) -> None:
    command = [sys.executable, "-m", "orchestrator.cli", "runs", delivered(2.0)]
    reading, writing = os.pipe()
    os.close(reading)
    with Path("/dev/full").open("w") as disk:
        stdout = disk if full else writing
        done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(writing)
    words = "error: No space left on device: what is printed cannot be kept\n"
    assert (done.returncode, done.stderr) == ((2, words) if full else (1, ""))


def test_a_run_that_still_runs_is_not_forgotten() -> None:
    recorder = Recorder(describe(load_mission(DELIVERY), "SIM", "maria", {}), print)
    assert runs(recorder.id, "--forget") == (2, "", f"error: {recorder.id} is still running\n")
    assert " running " in runs()[1]
    recorder.close("success")
    assert find_run(recorder.id)
