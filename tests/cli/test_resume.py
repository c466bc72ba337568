"""Runs that are killed, looked at and gone on with, on a robot that outlives them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.data import data_path
from orchestrator.journal.history import History, HistoryError
from orchestrator.mission.story import tell
from tests.support.stopping import orchestrator_stop

pytestmark = [pytest.mark.dds, pytest.mark.alone, pytest.mark.timeout(300)]

TREE = """\
tree: go
robot: atom_w
root:
  - SetFsm: {state: ready}
  - MoveToTag: {tag: 12}
    name: drive there
  - Wait: {time: 2 s}
    name: rest
  - MoveToTag: {tag: 15}
    name: drive back
"""


class Machine:
    """A robot on a private network, and a command line that is configured to meet it there as a REAL one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = os.environ | {"XDG_RUNTIME_DIR": str(folder), "XDG_STATE_HOME": str(folder / "state")}
        tag = f"test-{uuid.uuid4()}"
        self._robot = self._start("sim", "atom_w", "--tag", tag)
        assert self._robot.stdout is not None
        found = re.search(r"JSON-RPC on (\S+)\. ", self._robot.stdout.readline())
        assert found is not None
        self._listening = threading.Thread(target=self._robot.stdout.read, daemon=True)  # nobody else reads it
        self._listening.start()
        (folder / "config/robots").mkdir(parents=True)
        (folder / "config/dds.yaml").write_text(f"interface: 127.0.0.1\nmulticast: false\ntag: {tag}\n")
        profile = data_path("config/robots/atom_w.yaml").read_text()
        profile = re.sub("^rpc: .*$", f"rpc: {found[1]}", profile, flags=re.MULTILINE)
        (folder / "config/robots/atom_w.yaml").write_text(profile)
        self.tree = folder / "go.yaml"
        self.tree.write_text(TREE)

    def _start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "orchestrator.cli", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=self._environment, cwd=self._folder, stdout=pipe, text=True)

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "orchestrator.cli", *arguments]
        return subprocess.run(
            command, env=self._environment, cwd=self._folder, capture_output=True, text=True, check=False
        )

    def run_and_kill_at(self, name: str) -> str:
        """The id of a run that is killed when its history says that a step runs."""
        process = self._start("run", "go.yaml", "--arm")
        try:
            until = time.monotonic() + 60
            while name not in self._running():
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < until, f"{name} never ran"
                time.sleep(0.02)
        finally:
            process.kill()
            process.communicate()
        return str(self.runs()[-1]["id"])

    def _running(self) -> list[str]:
        try:
            (folder,) = (self._folder / "state/orchestrator/runs").iterdir()
            with History(folder / "history.sqlite") as history:
                return [node.name for node in tell(history.events, None).cut_off]
        except (HistoryError, OSError, ValueError):
            return []  # not begun

    def runs(self) -> list[dict[str, object]]:
        listed: list[dict[str, object]] = json.loads(self("runs", "--json").stdout)
        return listed

    def commands(self, run: str) -> list[str]:
        """What the guard let out for a run, and how that ended."""
        story = json.loads(self("runs", run, "--json").stdout)["story"]
        return [f"{command['text']}: {command['outcome']}" for command in story["commands"]]

    def close(self) -> None:
        orchestrator_stop(self._folder)
        self._robot.terminate()
        self._listening.join()
        self._robot.communicate()


@pytest.fixture
def machine() -> Iterator[Machine]:
    with tempfile.TemporaryDirectory(prefix="o") as folder:  # a socket's path must be short
        made = Machine(Path(folder))
        yield made
        made.close()


def test_killed_while_it_drives_a_person_says_what_becomes_of_that(machine: Machine) -> None:
    run = machine.run_and_kill_at("drive there")
    assert machine.runs()[-1]["status"] == "crashed"
    assert machine.commands(run) == ["SetFsm state ready: done", "MoveToTag tag 12, heading None: unknown"]
    told = machine("runs", run).stdout
    assert "drive there: cut off" in told
    assert "OUTCOME UNKNOWN" in told
    assert "CancelTask sent:" in told  # by the guard, when the run was gone

    nobody = machine("resume", run, "--arm")
    assert nobody.returncode == 1
    assert "nobody is there to answer: drive there was cut off" in nobody.stdout
    assert '--answer "drive there=CHOICE" does: start again, treat as done, fail' in nobody.stdout
    assert "outcome unknown, not sent again by itself: MoveToTag tag 12" in nobody.stderr
    second = str(machine.runs()[-1]["id"])
    assert machine.commands(second) == []

    assert f"{run} was continued as {second}" in machine("resume", run, "--arm").stderr


def test_killed_between_two_steps_it_goes_on_with_the_next_one(machine: Machine) -> None:
    run = machine.run_and_kill_at("rest")
    done = machine("resume", run, "--arm")
    assert done.returncode == 0, done.stdout + done.stderr
    second = machine.runs()[-1]
    assert (second["status"], second["continues"]) == ("success", run)
    assert machine.commands(str(second["id"])) == ["MoveToTag tag 15, heading None: done"]


def test_a_person_has_the_step_started_again(machine: Machine) -> None:
    run = machine.run_and_kill_at("drive there")
    machine.tree.write_text(TREE.replace("2 s", "3 s"))
    refused = machine("resume", run, "--arm", "--answer", "drive there=start again")
    assert refused.returncode == 2
    assert 'go.yaml:7: "- Wait: {time: 2 s}" became "- Wait: {time: 3 s}"' in refused.stderr
    machine.tree.write_text(TREE)
    done = machine("resume", run, "--arm", "--answer", "drive there=start again")
    assert done.returncode == 0, done.stdout + done.stderr
    assert machine.commands(str(machine.runs()[-1]["id"])) == [
        "MoveToTag tag 12, heading None: done",
        "MoveToTag tag 15, heading None: done",
    ]


def test_bad_input_ends_with_2_and_a_sentence(machine: Machine) -> None:
    assert "none has been recorded" in machine("resume", "261116").stderr
    machine.tree.write_text("tree: go\nrobot: atom_w\nroot:\n  - Wait: {time: 100 ms}\n")
    assert machine("run", "go.yaml", "--sim").returncode == 0
    run = str(machine.runs()[-1]["id"])
    ended = machine("resume", run)
    assert (ended.returncode, ended.stderr) == (2, f"error: {run} ended by itself: success\n")
