"""The guard's process on real DDS: who may come, how it leaves, and what becomes of the robot when somebody dies."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import cast

import msgspec
import pytest

from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import DdsSettings
from orchestrator.clock import RealClock
from orchestrator.data import data_path
from orchestrator.guard import config, process
from orchestrator.guard.config import load_guard_config
from orchestrator.guard.last_stop import last_stop
from orchestrator.guard.link import LinkError
from orchestrator.guard.outputs import Report
from orchestrator.journal.audit import read
from orchestrator.mission.processes import GuardProcess, ProcessError, last_words, lock_holder
from orchestrator.robots import intents as i
from orchestrator.sim.process import LiveTwin
from tests.guard.test_estop_on_dds import ARM, JOINTS, READY, cancelled, held, zero_velocity
from tests.support.guarded import PATIENCE, Guarded, guarded

pytestmark = [pytest.mark.dds, pytest.mark.alone, pytest.mark.timeout(300)]


@pytest.fixture
def lab(settings: DdsSettings) -> Iterator[Guarded]:
    with guarded("atom_w", settings, READY["atom_w"]) as lab:
        yield lab


# One guard per robot, one run per guard


def test_a_second_run_joins_the_same_guard_and_is_refused_by_name(lab: Guarded) -> None:
    second = GuardProcess(lab.settings)
    assert second.joined
    assert second.pid == lab.guard.pid
    with pytest.raises(LinkError, match=f"already has a run: mission, process {os.getpid()} of "):
        lab.connect()


def test_a_second_guard_for_the_same_robot_does_not_start(
    lab: Guarded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["guard", msgspec.json.encode(lab.settings).decode()])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    before = lab.guard.pid
    assert process.main() == 2
    assert capsys.readouterr().out == "already guarded\n"
    assert lab.guard.pid == before
    assert (lab.folder / "lock").read_text() == f"{before}\n", "it has not even touched the file"


def test_a_guard_on_another_machine_is_refused_and_told_who_commands(lab: Guarded) -> None:
    lab.begin()
    assert lab.ask(ARM).state == "sent"
    with tempfile.TemporaryDirectory(prefix="o") as elsewhere:  # a lock that is not ours, as on another machine
        other = msgspec.structs.replace(lab.settings, folder=elsewhere, audit=f"{elsewhere}/audit.log")
        who = rf"orchestrator guard \(process {lab.guard.pid} on {re.escape(socket.gethostname())}\)"
        with ThreadPoolExecutor(1) as thread:
            started = thread.submit(GuardProcess, other)
            lab.until(started.done, "the other guard to give up")
        with pytest.raises(ProcessError, match=f"atom_w is commanded by another {who}: end its run, or"):
            started.result()
    lab.go(0.2)
    assert lab.mode == "running", "whoever came first goes on undisturbed"


def test_a_stranger_is_named_with_its_machine_and_process(lab: Guarded) -> None:
    lab.begin()
    stranger = subprocess.Popen(
        [sys.executable, "-c", STRANGER, msgspec.json.encode(lab.settings.network).decode()],
        stdin=subprocess.PIPE,
    )
    try:
        lab.until(lambda: lab.mode == "intervened", "the stranger to be noticed")
        place = f"(process {stranger.pid} on {socket.gethostname()}) on rt/upper/cmd"
        assert f"commanded by stranger {place} as well" in lab.said("mode")[-1]
    finally:
        stranger.communicate()


STRANGER = """
import sys, msgspec
from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import DdsSettings
from orchestrator.wire.topics import topics
with DdsBus(msgspec.json.decode(sys.argv[1], type=DdsSettings), "stranger") as bus:
    bus.writer(topics("atom")["rt/upper/cmd"])
    sys.stdin.read()
"""
"""A program that gets ready to command the arms, until its input ends."""


def test_what_a_killed_guard_leaves_behind_keeps_nobody_out(lab: Guarded) -> None:
    killed = lab.guard.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    lab.until(lambda: lab.guard.pid is None, "the lock to be free")
    assert lab.guard.wait(PATIENCE)
    assert (lab.folder / "guard.sock").exists()
    lab.guard = GuardProcess(lab.settings)
    assert not lab.guard.joined
    lab.run.close()
    lab.run = lab.connect()
    assert lab.guard.pid not in (None, killed)


def test_a_new_run_takes_over_from_one_that_was_killed(lab: Guarded) -> None:
    lab.begin()
    lab.ask(ARM)
    lab.go(0.2)
    lab.heard.clear()
    lab.run.close()  # to the guard, the same as a killed run
    lab.beating = False
    lab.until(lambda: held(lab), "the robot to be held")
    lab.go(0.3)
    assert lab.guard.pid is not None, "it stays"
    lab.run = lab.connect()
    lab.beating = True
    lab.begin()


def test_preflight_shows_the_priority_the_guard_got_and_where_it_keeps_its_records(lab: Guarded) -> None:
    lab.arm()
    first, *_ = read(lab.folder / "audit.log").records
    hash_of = hashlib.blake2b(data_path("config/guard.yaml").read_bytes(), digest_size=6).hexdigest()
    granted = lab.run.priority
    about = f"process {lab.guard.pid}, {granted}, guard file {hash_of}"
    assert (first["role"], first["cause"]) == ("note", f"guard started: {about}")
    assert f"priority: {granted}" in lab.said("preflight")
    assert f"audit: {lab.folder / 'audit.log'}, guard file {hash_of}" in lab.said("preflight")


# Leaving


def test_after_an_orderly_end_it_leaves_when_the_robot_stands(lab: Guarded) -> None:
    lab.begin()
    lab.ask(i.MoveToTag(12, None))
    lab.run.finish()
    lab.until(lambda: cancelled(lab), "the task to be cancelled")
    lab.until(lambda: lab.guard.pid is None, "the guard to leave")
    assert last_words(lab.folder) == "the robot stands still"


def test_told_to_stop_it_stops_the_robot_and_says_what_came_of_it(lab: Guarded) -> None:
    lab.begin()
    lab.ask(i.MoveToTag(12, None))
    lab.go(0.3)
    assert lab.guard.pid is not None
    os.kill(lab.guard.pid, signal.SIGTERM)
    lab.until(lambda: cancelled(lab), "the task to be cancelled")
    lab.until(lambda: lab.guard.pid is None, "the guard to leave")
    assert last_words(lab.folder) == "the robot stands still"


def pause_the_base(lab: Guarded) -> None:
    lab.begin()
    lab.ask(i.MoveToTag(12, None))
    lab.until(lambda: lab.twin.base.navigation.name == "RUNNING", "the base to drive")
    lab.run.act("pause", "anna")
    lab.until(lambda: lab.twin.base.navigation.name == "PAUSED", "the base to pause")
    lab.go(0.2)


def test_after_an_orderly_end_no_paused_task_is_left_on_the_base(lab: Guarded) -> None:
    pause_the_base(lab)
    lab.run.finish()
    lab.until(lambda: lab.guard.pid is None, "the guard to leave")
    assert last_words(lab.folder) == "the robot stands still"
    assert lab.twin.base.navigation.name == "CANCELED"


def test_told_to_stop_it_leaves_a_paused_task_alone_and_says_so(lab: Guarded) -> None:
    pause_the_base(lab)
    assert lab.guard.pid is not None
    os.kill(lab.guard.pid, signal.SIGTERM)
    lab.until(lambda: lab.guard.pid is None, "the guard to leave")
    left = "a task of ours is paused on the base: whoever resumes it there makes it drive on"
    assert last_words(lab.folder) == f"the robot stands still; but {left}"
    assert lab.twin.base.navigation.name == "PAUSED"


def test_it_stays_for_a_task_the_base_has_not_shown_and_cancels_it(lab: Guarded) -> None:
    lab.begin()
    lost: list[object] = []
    lab.twin.commands["rt/amr/cmd"].faults += (lambda command, message, execute: lost.append(message),)
    lab.ask(i.MoveToTag(12, None))
    lab.until(lambda: bool(lost), "the command to be lost")
    lab.twin.commands["rt/amr/cmd"].faults = ()
    lab.run.finish()
    lab.go(4.0)
    assert lab.guard.pid is not None, "it may still begin"
    lab.twin.base.move_to_tag(12, 0.0)
    lab.until(lambda: lab.guard.pid is None, "the guard to leave")
    assert lab.twin.base.navigation.name == "CANCELED"
    assert last_words(lab.folder) == "the robot stands still"


def test_it_leaves_after_a_while_although_the_base_never_showed_its_task_and_says_so(lab: Guarded) -> None:
    lab.begin()
    lab.twin.commands["rt/amr/cmd"].faults += (lambda command, message, execute: None,)
    lab.ask(i.MoveToTag(12, None))
    lab.run.finish()
    began = RealClock.now()
    lab.until(lambda: lab.guard.pid is None, "the guard to leave")
    assert RealClock.now() - began < 10.0, "as long as a run waits for it"
    left = "a task the base never showed may still begin"
    assert last_words(lab.folder) == f"the robot stands still; but {left}"


def test_the_terminals_signals_do_not_reach_it(lab: Guarded) -> None:
    lab.begin()
    assert lab.guard.pid is not None
    for number in (signal.SIGINT, signal.SIGHUP):
        os.kill(lab.guard.pid, number)
    lab.go(0.5)
    assert (lab.mode, lab.guard.pid is not None) == ("running", True)


def test_a_stop_is_a_note_while_a_step_is_under_way() -> None:
    """The handler may run in the middle of any step: it must not take one of its own."""
    guard = process.GuardProcess.__new__(process.GuardProcess)
    guard.tell_to_stop()
    assert vars(guard) == {"_told_to_stop": True}


ENDS: dict[str, Callable[[Guarded], None]] = {
    "the run ends": lambda lab: lab.run.finish(),
    "it is told to stop": lambda lab: os.kill(lab.guard.pid or 0, signal.SIGTERM),
    "it is killed": lambda lab: os.kill(lab.guard.pid or 0, signal.SIGKILL),
}


@pytest.mark.parametrize("end", ENDS)
def test_an_e_stop_outlives_its_guard(lab: Guarded, end: str) -> None:
    lab.begin()
    lab.twin.press_emergency("soft")
    lab.until(lambda: lab.mode == "estopped", "latched")
    lab.go(0.1)
    ENDS[end](lab)
    lab.until(lambda: lab.guard.pid is None, "the guard to leave")
    assert lab.guard.wait(PATIENCE)
    lab.run.close()
    lab.twin.release_emergency("soft")
    READY["atom_w"](lab.twin)
    lab.guard = GuardProcess(lab.settings)
    lab.run = lab.connect()
    assert lab.mode == "estopped"
    lab.heard.clear()
    lab.go(1.5)
    for act in ("preflight", "arm"):
        lab.run.act(act, "anna")
    lab.go(0.3)
    assert lab.mode == "estopped", "nobody has acknowledged it"
    lab.arm()
    assert lab.heard == []
    lab.go(0.1)
    assert not (lab.folder / "audit.latch").exists()


# Bad input


def test_a_guard_file_with_mistakes_is_refused_with_all_their_places(
    settings: DdsSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = data_path("config/guard.yaml").read_text()
    bad = good.replace("heartbeat: 200 ms", "heartbeat: soon").replace("repeats: 3 ", "repeats: -3 ")
    (tmp_path / "guard.yaml").write_text(bad)
    monkeypatch.setattr(config, "own_path", lambda name: tmp_path / "guard.yaml")
    wanted = process.Settings("atom_w", settings, str(tmp_path / "state"), str(tmp_path / "audit.log"))
    monkeypatch.setattr(sys, "argv", ["guard", json.dumps(msgspec.to_builtins(wanted))])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert process.main() == 2
    said = capsys.readouterr().out
    places = [line for line in said.splitlines() if "guard.yaml:" in line]
    lines = bad.splitlines()
    for place in places:
        line, column = place.split("guard.yaml:")[1].split(":")[:2]
        assert lines[int(line) - 1][int(column) - 1 :].startswith(("soon", "-3"))
    assert len(places) == 2
    assert not (tmp_path / "state" / "guard.sock").exists()


def test_a_run_is_told_all_that_keeps_its_guard_from_starting(settings: DdsSettings) -> None:
    with tempfile.TemporaryDirectory(prefix="o") as folder:
        audit = Path(folder) / "audit.log"
        audit.write_text("this is no audit\nnor is this\n")
        with pytest.raises(ProcessError, match="line 1 is not as it was written"):
            GuardProcess(process.Settings("atom_w", settings, folder, str(audit)))
        assert lock_holder(Path(folder)) is None


def test_a_robot_that_vanishes_is_a_fault_and_nothing_passes_any_more(lab: Guarded) -> None:
    lab.begin()
    lab.twin.stop()  # and says no word more
    end = RealClock.now() + PATIENCE
    while lab.mode != "fault":
        assert RealClock.now() < end
        lab.wire.wait(0.02)
        lab.run.heartbeat()
    assert "stale" in lab.said("mode")[-1]
    receipt = lab.run.send(i.MoveToTag(12, None))
    while receipt.state == "pending":
        lab.wire.wait(0.01)
    assert receipt.state == "refused"


def test_a_second_robot_with_the_same_names_stops_everything(lab: Guarded) -> None:
    lab.begin()
    lab.ask(ARM)
    other = LiveTwin(replace(lab.twin.profile, rpc=None), lab.settings.network)
    other.twin.start()
    try:

        def both() -> bool:
            other.turn()
            return lab.mode in ("fault", "intervened")

        lab.until(both, "a stop")
        assert "began anew" in lab.said("mode")[-1] or "another robot" in lab.said("mode")[-1]
        for _ in range(20):
            lab.run.act("acknowledge", "anna", "seen")
            lab.run.act("preflight", "anna")
            lab.run.act("arm", "anna")
            lab.go(0.05)
            other.turn()
        assert lab.mode != "armed"
    finally:
        other.close()


# A guard that is killed: the run stops the robot by itself

MISSIONS: dict[str, tuple[i.AnyIntent, Callable[[Guarded], bool]]] = {
    "gr2": (i.Velocity(0.3, 0.0, 0.0), zero_velocity),
    "atom_w": (i.MoveToTag(12, None), cancelled),
    "adam_u": (ARM, held),
}


@pytest.mark.parametrize("robot", MISSIONS)
def test_a_run_whose_guard_is_killed_stops_the_robot_by_itself(settings: DdsSettings, robot: str) -> None:
    intent, stopped = MISSIONS[robot]
    with guarded(robot, settings, READY[robot]) as lab, DdsBus(settings, "run") as bus:
        lab.begin()
        assert lab.ask(intent).state == "sent"
        lab.go(0.6)
        assert lab.guard.pid is not None
        os.kill(lab.guard.pid, signal.SIGKILL)
        lab.until(lambda: lab.run.lost, "the run to notice")
        lab.beating = False
        lab.heard.clear()
        said: list[Report] = []

        class Bus:
            """The run's bus; the robot lives while it waits."""

            def __getattr__(self, name: str) -> object:
                return getattr(bus, name)

            def wait(self, timeout: float) -> bool:
                lab.live.turn()
                lab.wire.wait(0.0)
                return bus.wait(0.0)

        run_bus = cast(DdsBus, Bus())
        seen = last_stop(lab.twin.profile, load_guard_config(), run_bus, lab.run.let_through, said.append)
        assert seen
        assert stopped(lab)
        assert [report.kind for report in said if report.kind in ("stopped", "press_hardware_estop")][-1] == "stopped"
        if robot == "adam_u":
            lab.until(lambda: lab.commands(*JOINTS)[-1].motor_cmd[5].kp == 0.0, "parking: it would go limp all at once")
