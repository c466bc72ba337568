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

import pytest

from orchestrator.data import data_path
from orchestrator.journal.audit import read

pytestmark = [pytest.mark.dds, pytest.mark.alone, pytest.mark.timeout(300)]

DELIVERY = data_path("trees/04_deliver_atom_w.yaml")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Sockets, locks and audit files of this test alone; a socket's path must be short."""
    with tempfile.TemporaryDirectory(prefix="o") as folder:
        yield Path(folder)


@pytest.fixture
def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"XDG_RUNTIME_DIR": str(folder)}


def start(environment: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "orchestrator.cli", "run", *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def guard_folder(folder: Path) -> Path:
    (found,) = (folder / "orchestrator").iterdir()
    return found


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
    ends = [event for event in events if event["event"] == "end"]
    assert [end["status"] for end in ends] == ["success"]
    records = read(guard_folder(folder) / "audit.log").records
    assert [record["cause"] for record in records if record["role"] == "command"].count("MoveToTag") == 2


def test_interrupting_a_run_stops_the_robot_then_leaves(environment: dict[str, str], folder: Path) -> None:
    process = start(environment, str(DELIVERY), "--sim")
    until_line(process, "drive to the shelf: running")
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate()
    assert process.returncode == 130
    assert "interrupted at the terminal" in said
    roles = [record["role"] for record in read(guard_folder(folder) / "audit.log").records]
    assert "stop" in roles


def test_the_guard_outlives_a_killed_run_and_stops_the_robot(environment: dict[str, str], folder: Path) -> None:
    process = start(environment, str(DELIVERY), "--sim")
    until_line(process, "drive to the shelf: running")
    state = guard_folder(folder)
    guard = int((state / "lock").read_text())
    process.kill()
    process.communicate()
    try:
        end = time.monotonic() + 20
        while not any(record["role"] == "stop" for record in read(state / "audit.log").records):
            assert time.monotonic() < end, "the guard did not stop the robot"
            time.sleep(0.02)
        os.kill(guard, 0)  # it is still there, holding
    finally:
        stop = [sys.executable, "-m", "orchestrator.cli", "stop"]
        done = subprocess.run(stop, env=environment, capture_output=True, text=True, check=False)
    assert f"stopping atom_w, guarded by process {guard}" in done.stdout
    assert (done.returncode, "not known" in done.stderr) == (1, True), "the simulated robot went with its run"
    again = subprocess.run(stop, env=environment, capture_output=True, text=True, check=True)
    assert again.stdout == "nothing runs on this machine\n"


def test_orchestrator_stop_ends_a_run_that_is_under_way(environment: dict[str, str]) -> None:
    process = start(environment, str(DELIVERY), "--sim")
    until_line(process, "drive to the shelf: running")
    stop = [sys.executable, "-m", "orchestrator.cli", "stop"]
    subprocess.run(stop, env=environment, capture_output=True, check=True)
    said, _ = process.communicate()
    assert process.returncode == 3
    assert "stopped" in said
