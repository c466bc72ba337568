"""A leaf that never comes back: the guard stops the robot, the run says where it hangs and ends."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.engine.nodes.leaf import LeafNode
from orchestrator.engine.runner import Outcome
from orchestrator.mission import hanging
from orchestrator.mission.hanging import Watch

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


class Mission:
    """Finishes so many ticks, one between each two looks; then none."""

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
