"""Tours: every leaf that a robot has, once, through tree, guard and twin; in virtual time and on real DDS."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.data import data_path
from orchestrator.engine.events import NodeInfo, Structure
from orchestrator.leaf import installed
from orchestrator.testing import StartMission

TOURS = Path(__file__).parent / "tours"
ROBOTS = {"gr1": "aurora", "gr2": "aurora", "gr3": "aurora", "n1": "aurora", "atom": "atom", "atom_w": "atom_w"}
ROBOTS |= {"adam_u": "adam"}
ON_DDS = ["gr2", "atom", "atom_w", "adam_u"]
EXAMPLES = [tree for tree in sorted(data_path("trees").glob("*.yaml")) if tree.stem != "04_deliver_atom_w"]
"""The delivery has tests of its own on DDS."""
NOT_TOURED = {
    "DriveBase": "somebody must press the key on the base",
    "WaitForButton": "somebody must press a button",
    "PauseNavigation": "needs a task of somebody else's",
    "ResumeNavigation": "needs a paused task of somebody else's",
    "SetGains": "no robot's nominal gains are known to us",
}
"""Leaves that are tested alone only, with whoever is needed played by the test."""


def on_dds(test: Callable[..., None]) -> Callable[..., None]:
    for mark in (pytest.mark.dds, pytest.mark.alone, pytest.mark.timeout(300)):
        test = mark(test)
    return test


@pytest.fixture
def site() -> Iterator[Path]:
    """A folder with a guard file of its own, that allows more and is patient with a busy machine.

    Its name is short, as a socket's must be.
    """
    with tempfile.TemporaryDirectory(prefix="o") as folder:
        (Path(folder) / "config").mkdir()
        rules = data_path("config/guard.yaml").read_text()
        allowed = re.sub(r"^(  (?:motors|maps|base_settings): )false", r"\1true", rules, flags=re.MULTILINE)
        allowed = allowed.replace("floor: 100 ms", "floor: 400 ms")
        (Path(folder) / "config" / "guard.yaml").write_text(allowed)
        yield Path(folder)


def toured(nodes: list[NodeInfo]) -> set[str]:
    return {node.kind for node in nodes}


@pytest.mark.parametrize(("robot", "tour"), ROBOTS.items(), ids=ROBOTS)
def test_in_virtual_time(
    robot: str, tour: str, mission: StartMission, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site)
    run = mission(TOURS / f"{tour}.yaml", robot, answers={"Ask": "yes"})
    run.finish()
    assert run.reason == ""
    assert run.succeeded


def test_no_leaf_is_left_out(mission: StartMission, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site)
    seen = set(NOT_TOURED)
    for tour in set(ROBOTS.values()):
        run = mission(TOURS / f"{tour}.yaml")
        (structure,) = [event for event in run.events if isinstance(event, Structure)]
        seen |= toured(structure.nodes)
    assert {leaf.name for leaf in installed()} - seen == set()


def run_on_dds(site: Path, tree: Path, *options: str) -> None:
    command = [sys.executable, "-m", "orchestrator.cli", "run", str(tree), "--sim", "--yes", *options]
    environment = os.environ | {"XDG_RUNTIME_DIR": str(site), "XDG_STATE_HOME": str(site)}
    done = subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr


def _marked(tree: Path) -> object:
    """The deliveries stand for the others, which take two minutes more: `make test-dds` runs all of them."""
    return pytest.param(tree, id=tree.stem, marks=() if "deliver" in tree.stem else pytest.mark.long)


@on_dds
@pytest.mark.parametrize("robot", ON_DDS)
def test_on_real_dds(robot: str, site: Path) -> None:
    run_on_dds(site, TOURS / f"{ROBOTS[robot]}.yaml", "--robot", robot)


@on_dds
@pytest.mark.parametrize("tree", [_marked(tree) for tree in EXAMPLES])
def test_every_example_on_real_dds(tree: Path, site: Path) -> None:
    one_round = ["--set", "rounds=1"] if "patrol" in tree.stem else []
    run_on_dds(site, tree, *one_round)
