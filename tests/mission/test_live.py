"""Missions on real DDS: run, guard and twin as processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.data import data_path
from orchestrator.journal.audit import read
from orchestrator.mission.processes import last_words, lock_holder
from tests.support.stopping import orchestrator_stop

pytestmark = [pytest.mark.dds, pytest.mark.alone, pytest.mark.timeout(300)]

DELIVERY = data_path("trees/04_deliver_atom_w.yaml")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Sockets, locks and audit files of this test alone; a socket's path must be short."""
    with tempfile.TemporaryDirectory(prefix="o") as folder:
        yield Path(folder)


@pytest.fixture
def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"XDG_RUNTIME_DIR": str(folder), "XDG_STATE_HOME": str(folder / "state")}


def start(environment: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "orchestrator.cli", "run", *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def guard_folder(folder: Path) -> Path:
    """Where its socket and lock are."""
    (found,) = (folder / "orchestrator").glob("atom_w-*")
    return found


def audited(folder: Path) -> tuple[dict[str, Any], ...]:
    """What the guard has recorded."""
    (found,) = (folder / "state/orchestrator/audit/simulated").iterdir()
    return read(found).records


def until_line(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return
    raise AssertionError(f"{text!r} was never said")


def test_the_delivery_over_dds(environment: dict[str, str], folder: Path) -> None:
    process = start(environment, str(DELIVERY), "--sim", "--json")
    said, _ = process.communicate()
    events = [json.loads(line) for line in said.splitlines()]
    assert process.returncode == 0, events[-5:]
    assert 0.0 < events[0]["at"] < 20.0  # since the simulated robot began
    ends = [event for event in events if event["event"] == "end"]
    assert [end["status"] for end in ends] == ["success"]
    assert [record["cause"] for record in audited(folder) if record["role"] == "command"].count("MoveToTag") == 2


def test_interrupting_a_run_stops_the_robot_then_leaves(environment: dict[str, str], folder: Path) -> None:
    process = start(environment, str(DELIVERY), "--sim")
    until_line(process, "drive to the shelf: running")
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate()
    assert process.returncode == 130
    assert "interrupted at the terminal" in said
    assert "stop" in [record["role"] for record in audited(folder)]


def test_the_guard_outlives_a_killed_run_stops_the_robot_and_goes_after_its_twin(
    environment: dict[str, str], folder: Path
) -> None:
    process = start(environment, str(DELIVERY), "--sim")
    until_line(process, "drive to the shelf: running")
    state = guard_folder(folder)
    guard = int((state / "lock").read_text())
    process.kill()
    process.communicate()
    os.kill(guard, 0)  # it is still there, holding
    end = time.monotonic() + 30
    while lock_holder(state) is not None:
        assert time.monotonic() < end, "the guard stays behind"
        time.sleep(0.02)
    assert any(record["role"] == "stop" for record in audited(folder))
    assert last_words(state) == "the simulated robot has gone with its run"
    done = orchestrator_stop(folder)
    assert (done.returncode, done.stdout) == (0, "nothing runs on this machine\n")


def test_orchestrator_stop_ends_a_run_that_is_under_way_whatever_its_environment(
    environment: dict[str, str], folder: Path
) -> None:
    process = start(environment, str(DELIVERY), "--sim")
    until_line(process, "drive to the shelf: running")
    done = orchestrator_stop(folder)
    assert done.returncode == 0, done.stderr
    assert "atom_w: the robot stands still" in done.stdout
    said, _ = process.communicate()
    assert process.returncode == 3
    assert "stopped" in said
