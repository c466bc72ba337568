"""A mission's history while it runs: complete, in its own thread, and never a reason to end the run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.data import data_path
from orchestrator.engine.events import Event, to_json
from orchestrator.engine.prompts import Prompts
from orchestrator.journal.audit import AuditFile
from orchestrator.journal.runs import find_run
from orchestrator.mission.loading import Loaded, load_mission
from orchestrator.mission.recording import Recorder, describe, take_in_audits
from orchestrator.mission.resuming import story_of
from orchestrator.mission.virtual import VirtualMission
from orchestrator.sim.faults import inject

DELIVERY = data_path("trees/04_deliver_atom_w.yaml")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def recorder(warnings: list[str]) -> Recorder:
    return Recorder(describe(load_mission(DELIVERY), "VIRTUAL", "me", {"pick": "12"}), warnings.append)


def test_everything_that_is_told_is_kept_as_it_is() -> None:
    events: list[Event] = []
    warnings: list[str] = []
    kept = recorder(warnings)
    mission = VirtualMission(load_mission(DELIVERY), events.append, recorder=kept)
    outcome = mission.run()
    kept.close(outcome.status, outcome.reason, outcome.place, mission.audit)
    run = find_run(kept.id)
    with run.history() as history:
        assert history.events == [json.loads(to_json(event)) for event in events]
        about, end = history.fact("about"), history.fact("end")
        assert (about["tree"], about["kind"], about["who"], about["settings"]) == (
            "deliver_atom_w", "VIRTUAL", "me", {"pick": "12"},
        )  # fmt: skip
        assert about["texts"][str(DELIVERY.absolute())] == DELIVERY.read_text()
        assert len(about["texts"]) == 2  # with its subtree
        assert end["status"] == "success"
        assert history.fact("robot")["fsm.state"] == "ready"
        assert history.audit == json.loads(json.dumps(mission.audit))
        story = story_of(run, history)
    assert warnings == []
    assert [command.outcome for command in story.commands] == ["done"] * 8
    assert {story.nodes[command.node].name for command in story.commands if command.node is not None} == {
        "SetFsm", "SwitchUpperControl", "MoveToTag", "HandOpen", "close the hand on the box",
    }  # fmt: skip


def told(loaded: Loaded, kept: Recorder | None) -> list[bytes]:
    lines: list[bytes] = []
    prompts = Prompts(lambda question: question.choices[0])
    mission = VirtualMission(loaded, lambda event: lines.append(to_json(event)), prompts, recorder=kept)
    outcome = mission.run()
    if kept is not None:
        kept.close(outcome.status, audit=mission.audit)
    return lines


@pytest.mark.parametrize("name", ["05_patrol_atom_w", "04_deliver_gr2", "04_deliver_adam_u"])
def test_a_recorded_run_is_the_same_as_one_that_is_not(name: str) -> None:
    loaded = load_mission(data_path(f"trees/{name}.yaml"))
    assert told(loaded, recorder([])) == told(loaded, None)


def test_after_a_stop_what_resuming_compares_with_is_where_the_tree_stood() -> None:
    kept = recorder([])
    mission = VirtualMission(load_mission(DELIVERY), prepare=lambda twin: inject(twin, "hard@6s"), recorder=kept)
    kept.close(mission.run().status, audit=mission.audit)
    with find_run(kept.id).history() as history:
        assert (history.fact("robot")["fsm.state"], history.fact("robot")["emergency.hard"]) == ("ready", False)
        assert (history.fact("shown")["fsm.state"], history.fact("shown")["emergency.hard"]) == ("zero_torque", True)


def test_what_the_guard_recorded_for_a_crashed_run_is_taken_in_when_another_begins(tmp_path: Path) -> None:
    crashed = recorder([])
    with AuditFile(tmp_path / "audit.log") as audit:
        crashed.audit_at(tmp_path / "audit.log")
        crashed._writer.close(10.0)
        crashed._run.close()
        audit.append({"of": "the crashed run"})
        take_in_audits(tmp_path / "another robot's")
        audit.append({"of": "the guard that holds the robot"})
        take_in_audits(tmp_path / "audit.log")
        audit.append({"of": "the next run"})
        take_in_audits(tmp_path / "audit.log")
    with find_run(crashed.id).history() as history:
        assert [record["of"] for record in history.audit] == ["the crashed run", "the guard that holds the robot"]


FULL = """
import resource, sys
from pathlib import Path
from orchestrator.data import data_path
from orchestrator.mission.loading import Loaded, load_mission
from orchestrator.mission.recording import Recorder, describe
from orchestrator.mission.virtual import VirtualMission

loaded = load_mission(data_path("trees/04_deliver_atom_w.yaml"))
recorder = Recorder(describe(loaded, "SIM", "me", {}), lambda text: print("warning:", text))
resource.setrlimit(resource.RLIMIT_FSIZE, (%d, resource.RLIM_INFINITY))  # like a disk with this much room
mission = VirtualMission(loaded, recorder=recorder)
outcome = mission.run()
recorder.close(outcome.status, outcome.reason, outcome.place, mission.audit)
print(recorder.id, outcome.status)
"""


@pytest.mark.parametrize("room", [1, 20_000, 30_000])
def test_a_full_disk_costs_the_history_and_not_the_run(room: int) -> None:
    done = subprocess.run([sys.executable, "-c", FULL % room], capture_output=True, text=True, check=False)
    *warnings, last = done.stdout.splitlines()
    identity, status = last.split()
    assert (done.returncode, status) == (0, "success"), done.stderr
    assert len(warnings) <= 2, warnings
    assert "the history of this run is not complete" in warnings[-1]
    with find_run(identity).history() as history:  # what was kept before is there
        assert history.fact("about")["tree"] == "deliver_atom_w"
        known = find_run(identity).outcome(history)["status"]
        assert known == "crashed" or (known == "success" and room > 1)  # where there was room for the end alone


KILLED = """
import os
import time
from orchestrator.data import data_path
from orchestrator.journal.history import History
from orchestrator.journal.writer import Writer
from orchestrator.mission.loading import Loaded, load_mission
from orchestrator.mission.recording import Recorder, describe
from orchestrator.mission.virtual import VirtualMission

write, writes = History.write, 0

def die(self, events=(), facts=None):
    global writes
    writes += 1
    if writes == %d and not %d:
        os._exit(9)
    write(self, events, facts)
    if writes == %d:
        os._exit(9)

def put_and_wait(self, events=(), **facts):  # so that every put is a write of its own, however fast the run is
    before = writes
    put(self, events, **facts)
    while (events or facts) and writes == before:
        time.sleep(0)

put, Writer.put = Writer.put, put_and_wait
History.write = die
loaded = load_mission(data_path("trees/04_deliver_atom_w.yaml"))
recorder = Recorder(describe(loaded, "SIM", "me", {}), print)
print(recorder.id, flush=True)
mission = VirtualMission(loaded, recorder=recorder)
mission.run()
recorder.close("success")
"""


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("count", [2, 3, 5, 20])
def test_killed_at_any_write_the_history_can_be_read(count: int, after: bool) -> None:
    code = KILLED % (count, after, count)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 9, done.stderr
    run = find_run(done.stdout.strip())
    with run.history() as history:
        assert run.outcome(history)["status"] == "crashed"
        commands = [event for event in history.events if event["event"] == "command"]
        kept = history.fact("checkpoint")
        assert (kept["commands"] if kept else 0) == len(commands)  # the state is that of the last event
        story_of(run, history)
