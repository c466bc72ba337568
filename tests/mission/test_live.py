"""Missions on real DDS: run, guard and twin as processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
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


def start(environment: dict[str, str], *arguments: str, stderr: int | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "orchestrator.cli", "run", *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True)


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
    assert [event["event"] for event in events].index("structure") == 0
    assert sum(event["event"] == "structure" for event in events) == 1
    ends = [event for event in events if event["event"] == "end"]
    assert [end["status"] for end in ends] == ["success"]
    assert {event["event"] for event in events[events.index(ends[0]) + 1 :]} == {"guard"}
    assert [record["cause"] for record in audited(folder) if record["role"] == "command"].count("MoveToTag") == 2


def test_interrupting_a_run_stops_the_robot_then_leaves(environment: dict[str, str], folder: Path) -> None:
    process = start(environment, str(DELIVERY), "--sim")
    until_line(process, "drive to the shelf: running")
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate()
    assert process.returncode == 130
    assert "interrupted at the terminal" in said
    assert "stop" in [record["role"] for record in audited(folder)]


def test_a_second_interruption_ends_the_run_at_once_and_the_guard_stops_the_robot(
    environment: dict[str, str], folder: Path
) -> None:
    process = start(environment, str(data_path("trees/02_arms_adam_u.yaml")), "--sim")  # parking takes seconds
    until_line(process, "take the cup: running")
    process.send_signal(signal.SIGINT)
    until_line(process, "the run ended")
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    process.communicate()
    assert time.monotonic() - began < 2.0
    assert process.returncode == 130
    assert [record["cause"] for record in audited(folder) if record["role"] == "stop"]


HANGING = """
import sys, threading, time
from behaviours.fsm import WaitForFsm
from orchestrator.cli.app import app
from orchestrator.guard.link import LinkCommander

def hang(self):
    print("hanging", flush=True)
    time.sleep(60)

def beat_from_a_thread(self):
    begin(self)
    def beat():
        while True:
            self.heartbeat()
            time.sleep(0.05)
    threading.Thread(target=beat, daemon=True).start()

WaitForFsm.start, begin = hang, LinkCommander.begin
if sys.argv.pop() == "broken":
    LinkCommander.begin = beat_from_a_thread
app()
"""
"""A run whose WaitForFsm never comes back; broken, it beats from a thread that knows nothing of the tree."""


@pytest.fixture
def hanging(environment: dict[str, str], folder: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts a run that hangs while the base drives; it hangs when this returns."""
    tree = folder / "hangs.yaml"
    tree.write_text(
        "tree: hangs\nrobot: atom_w\nroot:\n  sequence:\n"
        "    - SetFsm: {state: ready}\n"
        "    - parallel:\n        - MoveToTag: {tag: 12}\n"
        "        - WaitForFsm: {state: walk}\n          delay: 1 s\n"
    )
    started: list[subprocess.Popen[str]] = []

    def start_it(kind: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", HANGING, "run", str(tree), "--sim", kind]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True))
        until_line(started[-1], "hanging")
        return started[-1]

    yield start_it
    for process in started:
        process.kill()
        process.communicate()


def hung_stop(folder: Path, since: float, within: float) -> float | None:
    """Seconds after which the guard stopped the robot because its run is hung."""
    while time.monotonic() < since + within:
        for record in audited(folder):
            if record["role"] == "stop" and "the run is hung" in record["cause"]:
                return float(record["at"]) - since
        time.sleep(0.05)
    return None


def test_a_leaf_that_blocks_is_a_hung_run_and_the_robot_is_stopped(
    hanging: Callable[[str], subprocess.Popen[str]], folder: Path
) -> None:
    hanging("as it is")
    stopped = hung_stop(folder, time.monotonic(), within=10.0)
    assert stopped is not None and stopped < 1.0


def test_a_run_that_beats_from_a_thread_would_not_be_noticed(
    hanging: Callable[[str], subprocess.Popen[str]], folder: Path
) -> None:
    """So the test above finds it out."""
    hanging("broken")
    assert hung_stop(folder, time.monotonic(), within=1.5) is None


def test_a_run_that_is_halted_is_hung_and_the_robot_is_stopped(environment: dict[str, str], folder: Path) -> None:
    process = start(environment, str(DELIVERY), "--sim")
    until_line(process, "drive to the shelf: running")
    halted = time.monotonic()
    process.send_signal(signal.SIGSTOP)
    try:
        stopped = hung_stop(folder, halted, within=10.0)
        assert stopped is not None and stopped < 1.0
    finally:
        process.send_signal(signal.SIGCONT)
        process.communicate()
    assert process.returncode == 3


def test_a_second_interruption_ends_a_run_that_hangs(hanging: Callable[[str], subprocess.Popen[str]]) -> None:
    process = hanging("as it is")
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "ended at once, at the second interruption" in said


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


def test_a_guard_that_hangs_is_ended_and_the_run_stops_the_robot_in_its_place(
    environment: dict[str, str], folder: Path
) -> None:
    process = start(environment, str(DELIVERY), "--sim")
    until_line(process, "drive to the shelf: running")
    guard = int((guard_folder(folder) / "lock").read_text())
    os.kill(guard, signal.SIGSTOP)
    said, _ = process.communicate()
    assert process.returncode == 3
    assert "guard: the guard hangs: the run stops the robot itself" in said
    assert "guard: the robot stands still" in said
    assert said.splitlines()[-1].endswith("the guard hangs")
    with pytest.raises(ProcessLookupError):
        os.kill(guard, 0)


def test_a_guard_that_hangs_when_the_run_is_interrupted_is_noticed_too(
    environment: dict[str, str], folder: Path
) -> None:
    process = start(environment, str(DELIVERY), "--sim")
    until_line(process, "drive to the shelf: running")
    guard = int((guard_folder(folder) / "lock").read_text().split()[0])
    os.kill(guard, signal.SIGSTOP)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate()
    assert process.returncode == 130
    assert "guard: the guard hangs: the run stops the robot itself" in said
    assert "guard: the robot stands still" in said
    with pytest.raises(ProcessLookupError):
        os.kill(guard, 0)


def test_a_guard_that_dies_while_it_stops_the_robot_at_the_end_is_replaced(
    environment: dict[str, str], folder: Path
) -> None:
    tree = folder / "arms.yaml"
    tree.write_text("tree: arms\nrobot: adam_u\nroot:\n  - MoveJoints: {angles: {left_elbow: -30 deg}, time: 1 s}\n")
    process = start(environment, str(tree), "--sim", stderr=subprocess.PIPE)
    until_line(process, "guard: stopping: the run ended")  # and the arms are parked
    (lock,) = (folder / "orchestrator").glob("adam_u-*/lock")
    os.kill(int(lock.read_text().split()[0]), signal.SIGKILL)
    said, complaint = process.communicate()
    assert "guard: the guard is gone: the run stops the robot itself" in said
    assert "the guard is gone: the run has stopped the robot itself" in complaint
    assert process.returncode == 3


GUARD_DIES = """
import os, signal, sys
from pathlib import Path
from orchestrator.cli.app import app
from orchestrator.mission.arming import Arming

def kill(self, who):
    (lock,) = (Path(os.environ["XDG_RUNTIME_DIR"]) / "orchestrator").glob("atom_w-*/lock")
    os.kill(int(lock.read_text().split()[0]), signal.SIGKILL)
    return is_clean(self, who)

Arming._is_clean, is_clean = kill, Arming._is_clean
app()
"""


def test_a_guard_that_dies_while_the_robot_is_armed_is_no_wish_to_leave(environment: dict[str, str]) -> None:
    command = [sys.executable, "-c", GUARD_DIES, "run", str(DELIVERY), "--sim"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3
    assert "not armed:\nthe guard is gone" in done.stderr


def test_a_mistake_that_is_found_once_the_guard_runs_leaves_none_behind(
    environment: dict[str, str], folder: Path
) -> None:
    process = start(environment, str(DELIVERY), "--sim", "--answer", "Nobody=yes", stderr=subprocess.PIPE)
    _, complaint = process.communicate()
    assert process.returncode == 2
    assert 'no node is called "Nobody"' in complaint
    assert "still holds" not in complaint
    assert lock_holder(guard_folder(folder)) is None


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
