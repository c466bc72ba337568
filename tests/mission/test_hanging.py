"""A leaf that never comes back: the guard stops the robot, the run says where it hangs and ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from behaviours.hands import HandOpen
from orchestrator.engine.nodes.leaf import LeafNode
from orchestrator.engine.prompts import Prompts, Question
from orchestrator.engine.run import StopRun
from orchestrator.engine.runner import Outcome
from orchestrator.mission import hanging
from orchestrator.mission.hanging import Watch
from orchestrator.mission.loading import load_mission
from orchestrator.mission.virtual import VirtualMission
from orchestrator.testing import StartMission

BLOCKING = """
import time
from behaviours.hands import HandOpen
from orchestrator.cli import main

def step(leaf):
    while True:
        time.sleep(0.01)

HandOpen.step = step
main()
"""
TREE = """
tree: hanging
robot: atom_w
root:
  - HandOpen: {hand: right}
    name: open the hand
    finally: [Log: {text: never said}]
"""


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """A socket's path must be short."""
    with tempfile.TemporaryDirectory(prefix="o") as folder:
        yield os.environ | {"XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": f"{folder}/state"}


@pytest.mark.dds
@pytest.mark.alone
@pytest.mark.timeout(300)
def test_a_leaf_that_never_comes_back_is_named_and_the_run_ends_with_3(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "tree.yaml").write_text(TREE)
    command = [sys.executable, "-c", BLOCKING, "run", "tree.yaml", "--sim"]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 3, done.stderr
    assert "guard: stopping: the run is hung" in done.stdout
    assert "open the hand has not come back for 1 s, at <string>:8 (tree.yaml:5:5)" in done.stdout
    assert "not done: finally of open the hand on line 5" in done.stdout
    assert "the robot stands still" in done.stdout
    last = done.stdout.splitlines()[-1]
    assert last.startswith("stopped at tree.yaml:5:5: open the hand: open the hand has not come back for 5 s")
    assert "the guard still holds" not in done.stderr


@pytest.mark.parametrize("hangs", ["while True: pass", "while True: time.sleep(1000)"])
@pytest.mark.parametrize("method", ["step", "start", "stop"])
def test_in_virtual_time_it_is_interrupted(
    mission: StartMission, monkeypatch: pytest.MonkeyPatch, hangs: str, method: str
) -> None:
    monkeypatch.setattr(hanging, "LOOK", 0.005)
    made: dict[str, Any] = {"time": time}
    exec(compile(f"def {method}(leaf):\n    {hangs}", "own.py", "exec"), made)
    monkeypatch.setattr(HandOpen, method, made[method])
    monkeypatch.setattr(sys, "gettrace", lambda: None)  # those who measure coverage trace as a debugger does
    before = signal.getsignal(signal.SIGUSR1)
    run = mission(TREE)
    outcome = run.finish()
    assert (outcome.status, run.failed_node) == ("stopped", "open the hand")
    assert outcome.reason == "open the hand has not come back for 0.1 s, at own.py:2: the run is given up"
    assert any(line.startswith("open the hand has not come back for 0.02 s") for line in run.log)
    assert signal.getsignal(signal.SIGUSR1) == before


def test_who_thinks_about_an_answer_for_long_does_not_hang(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(hanging, "LOOK", 0.001)
    (tmp_path / "tree.yaml").write_text("tree: t\nrobot: gr2\nroot: [Ask: {question: Go on?, choices: [yes]}]\n")

    def think(question: Question) -> str:
        time.sleep(0.1)  # of the person, not of the test: the watch counts real looks
        return "yes"

    virtual = VirtualMission(load_mission(tmp_path / "tree.yaml"), prompts=Prompts(think))
    assert virtual.run().status == "success"


class Mission:
    """Finishes so many ticks, one between each two looks; then none."""

    asking = False

    def __init__(self, ticks: int) -> None:
        self.ticks = ticks
        self.finished = 0
        self.told: list[str] = []

    @property
    def heard(self) -> float:
        self.finished = min(self.finished + 1, self.ticks)
        return float(self.finished)

    def tell_stuck(self, leaf: LeafNode | None, text: str) -> None:
        assert self.finished == self.ticks, "it went on"
        self.told.append(text)

    def hung(self, leaf: LeafNode | None, text: str) -> StopRun:
        return StopRun(text)

    def give_up(self, leaf: LeafNode | None, text: str) -> Outcome:
        self.told.append(text)
        return Outcome("stopped", text)


def test_a_run_that_stands_still_outside_of_leaves_is_told_of_with_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hanging, "LOOK", 0.0001)
    mission, hung = Mission(ticks=100), threading.Event()
    with Watch(mission, lambda outcome: hung.set()):
        hung.wait()
    assert len(mission.told) == 2
    assert all(text.startswith("the run has stood still") for text in mission.told)
    assert "threading.py:" in mission.told[0]
