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
from orchestrator.engine.events import Structure, Tick
from orchestrator.leaf import installed
from orchestrator.testing import MissionRun, StartMission

TOURS = Path(__file__).parent / "tours"
ROBOTS = {"gr1": "aurora", "gr2": "aurora", "gr3": "aurora", "n1": "aurora", "atom": "atom", "atom_w": "atom_w"}
ROBOTS |= {"adam_u": "adam", "atom_w_turning": "atom_w_turning", "gr2_gains": "gr2_gains"}
OF_THEIR_OWN = {
    "atom_w_turning": ("atom_w", (r"rotate: false", "rotate: true")),
    "gr2_gains": ("gr2", (r"(name: head_\w+, .*)}", r"\1, kp: 10, kd: 1}")),
}
"""Robots of the site, which can more than those we know: whose they are like, and what is different."""
PEOPLE = {
    "atom_w": [
        "press:f1@rt/lower/state.fsm_id=2+1s",
        "press_key@rt/amr/state.navigation_status=WAITING_CONFIRM",
    ],
}
"""What somebody does meanwhile."""
ON_DDS = ["gr2", "atom", "atom_w", "adam_u"]
LONG_ON_DDS = ["gr1", "gr3", "n1", "atom_w_turning", "gr2_gains"]
EXAMPLES = [tree for tree in sorted(data_path("trees").glob("*.yaml")) if tree.stem != "04_deliver_atom_w"]
"""The delivery has tests of its own on DDS."""


def on_dds(test: Callable[..., None]) -> Callable[..., None]:
    for mark in (pytest.mark.dds, pytest.mark.alone, pytest.mark.timeout(300)):
        test = mark(test)
    return test


@pytest.fixture
def site() -> Iterator[Path]:
    """A folder with robots and a guard file of its own, that allows more and is patient with a busy machine.

    Its name is short, as a socket's must be.
    """
    with tempfile.TemporaryDirectory(prefix="o") as folder:
        config = Path(folder) / "config"
        (config / "robots").mkdir(parents=True)
        rules = data_path("config/guard.yaml").read_text()
        allowed = re.sub(
            r"^(  (?:motors|maps|base_settings|remote_drive|gains): )false", r"\1true", rules, flags=re.MULTILINE
        )
        allowed = allowed.replace("floor: 100 ms", "floor: 400 ms")
        (config / "guard.yaml").write_text(allowed)
        for name, (like, difference) in OF_THEIR_OWN.items():
            profile = data_path(f"config/robots/{like}.yaml").read_text()
            (config / "robots" / f"{name}.yaml").write_text(re.sub(*difference, profile))
        yield Path(folder)


def tour(mission: StartMission, robot: str) -> MissionRun:
    tree = TOURS / f"{ROBOTS[robot]}.yaml"
    return mission(tree, robot, answers=answers_to(tree), faults=PEOPLE.get(robot, ()))


def answers_to(tree: Path) -> dict[str, str]:
    return {"Ask": "yes"} if "Ask:" in tree.read_text() else {}


@pytest.mark.parametrize("robot", ROBOTS)
def test_in_virtual_time(robot: str, mission: StartMission, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site)
    run = tour(mission, robot)
    run.finish()
    assert run.reason == ""
    assert run.succeeded


def succeeded(run: MissionRun) -> set[str]:
    """The kinds of nodes that have succeeded."""
    (structure,) = [event for event in run.events if isinstance(event, Structure)]
    changes = [event.changes for event in run.events if isinstance(event, Tick)]
    done = {number for change in changes for number, node in change.items() if node.status == "success"}
    return {node.kind for node in structure.nodes if node.number in done}


def test_no_leaf_is_left_out(mission: StartMission, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site)
    seen = set()
    for robot in ("gr2", "atom", "atom_w", "adam_u", *OF_THEIR_OWN):
        run = tour(mission, robot)
        run.finish()
        seen |= succeeded(run)
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
@pytest.mark.parametrize("robot", [*ON_DDS, *(pytest.param(name, marks=pytest.mark.long) for name in LONG_ON_DDS)])
def test_on_real_dds(robot: str, site: Path) -> None:
    tree = TOURS / f"{ROBOTS[robot]}.yaml"
    people = [option for act in PEOPLE.get(robot, ()) for option in ("--fault", act)]
    answers = [option for name, choice in answers_to(tree).items() for option in ("--answer", f"{name}={choice}")]
    run_on_dds(site, tree, "--robot", robot, *people, *answers)


@on_dds
@pytest.mark.parametrize("tree", [_marked(tree) for tree in EXAMPLES])
def test_every_example_on_real_dds(tree: Path, site: Path) -> None:
    one_round = ["--set", "rounds=1"] if "patrol" in tree.stem else []
    run_on_dds(site, tree, *one_round)
