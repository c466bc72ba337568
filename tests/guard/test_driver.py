"""The guard on a bus: real messages of an Atom-W in, real commands out, every one of them recorded."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import run as run_process
from typing import Any, cast

import pytest
from msgspec import structs

from orchestrator.bus import Bus
from orchestrator.bus.memory import MemoryNetwork
from orchestrator.clock import VirtualClock
from orchestrator.guard.commander import InProcessCommander
from orchestrator.guard.config import GuardConfig
from orchestrator.guard.core import Step
from orchestrator.guard.driver import Guard
from orchestrator.guard.events import Acknowledge, Arm, AskPreflight, Event, Pause, Resume, Stop, Tick
from orchestrator.guard.outputs import SLOW_DISK
from orchestrator.guard.rpc import Answered
from orchestrator.guard.state import State
from orchestrator.journal.audit import AuditFile, read
from orchestrator.robots import intents as i
from orchestrator.robots.commander import Receipt
from orchestrator.robots.drive import RpcCall
from orchestrator.robots.profiles import load_profile
from orchestrator.sim import make_twin
from orchestrator.wire.codec import codec
from tests.support.guard_world import default_config, with_allowed
from tests.support.scripted_atom import TOPICS, ScriptedAtom
from tests.support.trace_checker import unrecorded


class Unkept:
    """An audit that forgets."""

    def append(self, record: dict[str, Any]) -> None:
        pass

    def sync(self) -> None:
        pass


class Rpc:
    """A robot that answers every call as `answer` says: None is yes."""

    def __init__(self, clock: VirtualClock) -> None:
        self.called: list[RpcCall] = []
        self.stops: list[RpcCall] = []
        self.answer: str | None = None
        self.tell: Callable[[bool], None] = lambda ready: None
        self._clock = clock

    def call(self, call: RpcCall, stop: bool, answered: Answered) -> None:
        self.called.append(call)
        if stop:
            self.stops.append(call)
        answer = self.answer
        self._clock.after(0.0, lambda: answered(answer))

    def watch(self, tell: Callable[[bool], None]) -> None:
        self.tell = tell


class Lab:
    """A robot, its guard and a run, in virtual time."""

    def __init__(self, folder: Path, config: GuardConfig | None = None, latched: frozenset[str] = frozenset()) -> None:
        self.clock = VirtualClock()
        self.network = MemoryNetwork(self.clock)
        self.robot = ScriptedAtom(self.network)
        self.bus = self.network.bus("guard")
        self.rpc = Rpc(self.clock)
        self.called = self.rpc.called
        self.audit = AuditFile(folder / "audit")
        self.guard = Guard(
            load_profile("atom_w"), config or default_config(), cast(Bus, self.bus), self.audit, self.rpc, latched
        )
        self.rpc.tell(True)
        self.run = InProcessCommander(self.guard, self.clock)

    def go(self, seconds: float, beats: bool = True) -> None:
        for _ in range(round(seconds / 0.05)):
            self.bus.wait(0.05)
            if beats:
                self.run.heartbeat()

    def start(self) -> Lab:
        self.go(1.5)
        self.guard.handle(AskPreflight("op"))
        self.guard.handle(Arm("op"))
        self.run.begin()
        assert self.mode == "running", [report.text for report in self.run.reports]
        return self

    @property
    def mode(self) -> str:
        return self.guard.state.mode.value


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def test_a_robot_that_is_heard_can_be_armed_and_run(lab: Lab) -> None:
    assert lab.mode == "offline"
    lab.start()
    assert lab.robot.received == []


def test_a_command_arrives_and_its_receipt_says_when(lab: Lab) -> None:
    lab.start()
    receipt = lab.run.send(i.MoveToTag(12, None))
    lab.go(0.1)
    assert receipt.state == "sent"
    assert receipt.sent_at == pytest.approx(1.5)
    assert lab.robot.base_commands() == ["MOVE_TO_TAG"]


def test_a_refused_command_says_why(lab: Lab) -> None:
    lab.start()
    receipt = lab.run.send(i.Velocity(9.0, 0.0, 0.0))
    assert (receipt.state, receipt.reason.split(":")[0]) == ("refused", "limits")


def test_joints_are_streamed_while_renewed_and_held_when_not(lab: Lab) -> None:
    lab.start()
    receipt = lab.run.send(i.JointTarget("left_arm", (0.1,) * 7, 1.0))
    lab.go(0.5)
    moved = [message for name, message in lab.robot.received if name == "rt/upper/cmd"]
    assert len(moved) == pytest.approx(50, abs=3)
    assert 0 < moved[-1].motor_cmd[1].q < 0.1
    assert moved[-1].motor_cmd[8].q == 0.0
    lab.run.end(receipt)
    lab.go(0.1)
    held = [message for name, message in lab.robot.received if name == "rt/upper/cmd"][-1]
    assert held.motor_cmd[1].q == 0.0, "held where it is measured"
    assert receipt.state == "ended"


def test_velocity_goes_by_rpc_and_ends_with_zero(lab: Lab) -> None:
    lab.start()
    receipt = lab.run.send(i.Velocity(0.1, 0.0, 0.0))
    lab.go(1.0)
    lab.run.end(receipt)
    assert [call.method for call in lab.called] == ["SetVel"] * len(lab.called)
    assert lab.called[0].params["vx"] == 0.1
    assert lab.called[-1].params["vx"] == 0.0
    assert len(lab.called) == pytest.approx(6, abs=1)


def test_the_robots_answer_is_the_evidence_of_a_velocity(lab: Lab) -> None:
    lab.start()
    receipt = lab.run.send(i.Velocity(0.1, 0.0, 0.0))
    assert not receipt.confirmed
    lab.go(0.05)
    assert (receipt.state, receipt.confirmed) == ("sent", True)


def test_a_velocity_that_is_refused_ends_with_the_robots_reason_and_a_zero(lab: Lab) -> None:
    lab.start()
    lab.rpc.answer = "SetVel was refused: no walking in state 1 (102)"
    receipt = lab.run.send(i.Velocity(0.1, 0.0, 0.0))
    lab.go(0.05)
    assert (receipt.state, receipt.reason, receipt.confirmed) == ("ended", lab.rpc.answer, False)
    assert [call.params["vx"] for call in lab.rpc.stops] == [0.0]


def test_a_state_is_judged_by_what_the_robot_shows_and_a_refusal_is_told(lab: Lab) -> None:
    lab.start()
    lab.rpc.answer = "SetFsmId was refused: no way (100)"
    receipt = lab.run.send(i.SetFsm("ready"))
    lab.go(0.05)
    assert (receipt.state, receipt.answer) == ("sent", lab.rpc.answer)
    assert [report.text for report in lab.run.reports if report.kind == "warning"] == [lab.rpc.answer]


def test_a_robot_that_has_not_answered_yet_is_not_ready_for_calls(lab: Lab) -> None:
    lab.rpc.tell(False)
    lab.start()
    assert lab.run.send(i.Velocity(0.1, 0.0, 0.0)).reason.startswith("writer_ready")
    assert lab.run.send(i.SetFsm("ready")).state == "sent", "there is a topic for that"
    lab.go(0.05)
    assert lab.called == []
    assert "rt/set/fsm/id" in lab.robot.names()
    lab.rpc.tell(True)
    assert lab.run.send(i.Velocity(0.1, 0.0, 0.0)).state == "sent"
    lab.rpc.tell(False)
    lab.go(0.3)
    assert lab.called[-1].params["vx"] == 0.0, "and a stop is tried all the same"


@pytest.mark.parametrize("channel", ["soft", "hard", "amr", "di"])
def test_one_emergency_sample_stops_and_latches(lab: Lab, channel: str) -> None:
    lab.start()
    lab.run.send(i.JointTarget("left_arm", (0.1,) * 7, 1.0))
    lab.go(0.2)
    setattr(lab.robot.emergency, f"{channel}_emergency_triggered", True)
    lab.go(0.05)
    lab.robot.received.clear()
    setattr(lab.robot.emergency, f"{channel}_emergency_triggered", False)
    lab.go(2.0)
    assert lab.mode == "estopped"
    assert lab.robot.names() == [] or channel not in ("hard", "di")
    assert lab.run.send(i.SetFsm("ready")).state == "refused"


def test_what_the_guard_before_has_seen_latched_must_be_acknowledged(tmp_path: Path) -> None:
    lab = Lab(tmp_path, latched=frozenset({"soft"}))
    lab.go(1.5)
    assert lab.mode == "estopped"
    for act in (AskPreflight("op"), Arm("op")):
        lab.guard.handle(act)
    assert (lab.mode, lab.robot.received, lab.called) == ("estopped", [], [])
    lab.guard.handle(Acknowledge("op", "seen"))
    lab.start()
    assert lab.guard.state.latched == frozenset()


def test_the_base_is_cancelled_within_the_step_of_the_sample(lab: Lab) -> None:
    lab.start()
    lab.robot.emergency.hard_emergency_triggered = True
    lab.go(0.1)
    assert lab.robot.base_commands() == ["CANCEL_TASK"]


def test_a_hung_run_is_stopped(lab: Lab) -> None:
    lab.start()
    receipt = lab.run.send(i.Velocity(0.1, 0.0, 0.0))
    lab.go(0.25, beats=False)
    assert lab.mode == "stopping"
    assert lab.called[-1].params["vx"] == 0.0
    assert receipt.state == "ended"
    lab.go(1.5)
    assert lab.mode == "disarmed"


def test_a_robot_that_sends_only_when_looked_at_is_looked_at() -> None:
    clock = VirtualClock()
    network = MemoryNetwork(clock)
    twin = make_twin(load_profile("atom_w"), network.bus("robot"), clock, on_demand=True)
    twin.start()
    guard = Guard(load_profile("atom_w"), default_config(), cast(Bus, network.bus("guard")), Unkept())
    run = InProcessCommander(guard, clock)

    def go(seconds: float) -> None:
        for _ in range(round(seconds / 0.05)):
            clock.advance(0.05)
            run.heartbeat()

    go(1.5)
    guard.handle(AskPreflight("op"))
    guard.handle(Arm("op"))
    run.begin()
    go(10.0)
    assert guard.state.mode.value == "running"
    assert run.send(i.HandTarget("right", (0.5,) * 6)).reason.startswith("interlock"), "fresh, but in damping"
    assert run.send(i.SetFsm("ready")).state == "sent"
    twin.stop()
    go(0.6)
    assert guard.state.mode.value == "fault"


def test_a_silent_robot_is_a_fault(lab: Lab) -> None:
    lab.start()
    lab.robot.silent.add("rt/lower/state")
    lab.go(0.6)
    assert lab.mode == "fault"


def test_another_writer_is_never_fought(lab: Lab) -> None:
    lab.start()
    lab.network.bus("stranger").writer(TOPICS["rt/upper/cmd"])
    lab.go(0.3)
    assert lab.mode == "intervened"
    assert "stranger" in lab.guard.state.reason


def test_the_robot_itself_and_allowed_programs_may_write_command_topics(lab: Lab) -> None:
    lab.start()
    lab.robot.bus.writer(TOPICS["rt/set/fsm/id"])
    lab.go(0.3)
    assert lab.mode == "running"


def test_our_own_command_is_not_taken_for_the_robots_state(lab: Lab) -> None:
    lab.start()
    lab.robot.lower.fsm_id = 301
    lab.run.send(i.SetFsm("ready"))
    lab.go(0.3)
    assert lab.guard.state.observed.fsm == 301


def test_garbage_is_not_believed(lab: Lab) -> None:
    lab.start()
    lab.robot.upper.motor_state[3].q = float("inf")
    lab.go(0.6)
    assert lab.run.send(i.JointTarget("left_arm", (0.1,) * 7, 1.0)).reason.startswith("fresh")


def test_a_restarted_robot_is_a_fault(lab: Lab) -> None:
    lab.start()
    lab.robot.base.basic_status.heartbeat = 60_000
    lab.go(0.1)
    assert lab.mode == "fault"
    assert "rt/amr/state began anew" in lab.guard.state.reason


def base_again(lab: Lab, after: float, heartbeat: int) -> None:
    """The base has not been looked at for so many seconds, and then shows this number."""
    state, name = lab.guard.state, "rt/amr/state"
    longer_ago = structs.replace(state.sources[name], last=lab.clock.now() - after)
    lab.guard.state = structs.replace(state, sources=state.sources | {name: longer_ago})
    lab.robot.base.basic_status.heartbeat = heartbeat
    lab.go(0.1)


def test_a_heartbeat_that_went_back_in_minutes_without_a_look_is_a_restart(lab: Lab) -> None:
    lab.start()
    base_again(lab, 400.0, 60_000)
    assert lab.mode == "fault"
    assert "rt/amr/state began anew" in lab.guard.state.reason


def test_a_heartbeat_that_may_have_gone_half_round_tells_no_restart(lab: Lab) -> None:
    lab.start()
    base_again(lab, 1200.0, 1200 * 40)
    assert lab.mode == "running"


def test_another_writer_is_a_restart_however_long_nobody_looked(lab: Lab) -> None:
    lab.start()
    lab.guard._writer_of["rt/amr/state"] += 1
    base_again(lab, 1200.0, 1200 * 40)
    assert lab.mode == "fault"
    assert "rt/amr/state began anew" in lab.guard.state.reason


def test_a_sick_arm_is_held_and_a_sick_lift_is_a_fault(lab: Lab) -> None:
    lab.start()
    lab.robot.nodes.left_arm[2].error_code = 7
    lab.go(0.1)
    assert lab.mode == "running"
    assert lab.run.send(i.SetFsm("ready")).reason == "interlock: left_shoulder_yaw: error 0x7"
    lab.robot.nodes.left_leg[1].error_code = 8
    lab.go(0.1)
    assert (lab.mode, lab.guard.state.reason) == ("fault", "lift_2: error 0x8")


def test_two_robots_that_show_the_same_topics_are_not_armed(lab: Lab) -> None:
    lab.go(1.5)
    ScriptedAtom(lab.network, "second robot")
    lab.go(1.5)
    lab.guard.handle(AskPreflight("op"))
    lab.guard.handle(Arm("op"))
    assert lab.mode != "armed"
    assert any("another robot on rt/lower/state" in name for name in lab.guard.state.foreign)


def test_a_sample_that_was_overtaken_is_no_restart_but_its_flags_count(lab: Lab) -> None:
    lab.start()
    writer, codec_of = lab.robot._writers["rt/amr/state"], codec(type(lab.robot.base)).encode
    writer.write_bytes(codec_of(lab.robot.base), age=0.04)
    lab.go(0.1)
    assert lab.mode == "running"
    lab.robot.base.amr_event.emergency_stop_pressed = True
    writer.write_bytes(codec_of(lab.robot.base), age=0.08)
    lab.robot.base.amr_event.emergency_stop_pressed = False
    lab.bus.wait(0.01)
    assert lab.mode == "estopped"


@pytest.mark.parametrize("set_by", [-0.5, -1.0, -3600.0, 3600.0])
def test_a_robot_whose_clock_is_set_is_still_believed(lab: Lab, set_by: float) -> None:
    lab.start()
    lab.robot.clock_ahead = set_by
    lab.go(0.3)
    assert lab.mode == "running"
    lab.go(2.0)
    assert lab.run.send(i.MoveToTag(12, None)).state == "sent"
    lab.robot.clock_ahead = 0.0  # and back again
    lab.go(2.0)
    assert lab.mode == "running"
    assert lab.run.send(i.SetFsm("ready")).state == "sent"
    lab.robot.emergency.soft_emergency_triggered = True
    lab.bus.wait(0.06)
    assert lab.mode == "estopped"


@pytest.mark.parametrize("set_by", [-1.0, 3600.0])
def test_after_its_clock_was_set_a_robot_can_still_be_late(lab: Lab, set_by: float) -> None:
    lab.start()
    lab.robot.clock_ahead = set_by
    lab.go(1.0)
    lab.robot.silent.add("rt/amr/state")
    writer, encode = lab.robot._writers["rt/amr/state"], codec(type(lab.robot.base)).encode
    for _ in range(3):
        lab.robot.base.basic_status.heartbeat += 1
        writer.write_bytes(encode(lab.robot.base), age=-set_by)
        lab.go(0.1)
    lab.go(0.2)
    lab.robot.base.basic_status.heartbeat += 1
    writer.write_bytes(encode(lab.robot.base), age=0.28 - set_by)
    lab.bus.wait(0.01)
    assert lab.run.send(i.MoveToTag(12, None)).reason == "fresh: base (rt/amr/state) is late"


def test_a_burst_of_overtaken_samples_is_no_clock_that_was_set(lab: Lab) -> None:
    lab.start()
    writer, encode = lab.robot._writers["rt/emergency/state"], codec(type(lab.robot.emergency)).encode
    lab.robot.emergency.soft_emergency_triggered = True
    lab.go(0.1)
    assert lab.guard.state.flags["soft"]
    lab.robot.emergency.soft_emergency_triggered = False
    for age in range(10):
        writer.write_bytes(encode(lab.robot.emergency), age=0.5 - 0.01 * age)
    lab.robot.emergency.soft_emergency_triggered = True
    lab.bus.wait(0.01)
    assert lab.guard.state.flags["soft"], "that it was clear is old news"


def test_a_robot_of_another_type_is_named(lab: Lab) -> None:
    old_firmware = lab.network.bus("old firmware")
    old_firmware.writer(replace(TOPICS["rt/power/state"], name="rt/lower/state"))
    lab.guard.handle(Tick())
    assert "another version" in lab.guard.state.mismatched["rt/lower/state"]


def test_every_command_is_recorded_before_it_leaves_and_streams_at_start_and_end(lab: Lab) -> None:
    lab.start()
    lab.run.send(i.MoveToTag(12, None))
    assert lab.robot.received == [], "nothing has arrived yet"
    records = read(lab.audit.path).records
    assert [record["command"]["intent"] for record in records] == ["MoveToTag"]
    lab.run.end(lab.run.send(i.Velocity(0.1, 0.0, 0.0)))
    records = read(lab.audit.path).records
    assert [record["role"] for record in records] == ["command", "stream", "stop"]


AMR = {"MOVE_TO_TAG": "MoveToTag", "CANCEL_TASK": "CancelTask", "PAUSE_TASK": "PauseTask"}


def test_what_the_robot_got_is_in_the_audit(lab: Lab) -> None:
    lab.start()
    lab.run.send(i.MoveToTag(12, None))
    lab.go(0.2)
    lab.guard.handle(Pause("op"))
    lab.go(0.2)
    lab.guard.handle(Stop("op"))
    lab.go(0.2)
    lab.robot.emergency.soft_emergency_triggered = True
    lab.go(0.2)
    got = [(at, AMR[m.command_type.name]) for at, (_, m) in zip(lab.robot.times, lab.robot.received)]
    assert [name for _, name in got] == ["MoveToTag", "PauseTask", "CancelTask", "CancelTask"]
    records = list(read(lab.audit.path).records)
    assert unrecorded(got, records) == []
    assert unrecorded(got, records[1:]) != []


def test_a_full_disk_allows_no_new_motion_but_every_stop(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.start()
    monkeypatch.setattr(lab.audit, "append", no_room)
    assert lab.run.send(i.MoveToTag(12, None)).state == "refused"
    lab.go(0.1)
    assert lab.robot.base_commands() == []
    assert lab.run.send(i.SetFsm("ready")).reason.startswith("audit")
    lab.guard.handle(Stop("op"))
    lab.go(0.1)
    assert lab.robot.base_commands() == ["CANCEL_TASK"]


def test_when_the_disk_has_room_again_commands_pass_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.start()
    with monkeypatch.context() as full:
        full.setattr(lab.audit, "append", no_room)
        lab.run.send(i.SetFsm("ready"))
        lab.go(0.3)
        assert lab.run.send(i.SetFsm("ready")).reason.startswith("audit")
    lab.go(0.2)
    assert lab.run.send(i.SetFsm("ready")).state == "sent"
    assert [record["role"] for record in read(lab.audit.path).records] == ["note", "command"]


def test_a_command_the_disk_does_not_keep_is_not_sent(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.start()
    monkeypatch.setattr(lab.audit, "sync", no_room)
    assert lab.run.send(i.MoveToTag(12, None)).state == "refused"
    lab.go(0.1)
    assert lab.robot.base_commands() == []
    assert [record["role"] for record in read(lab.audit.path).records][:2] == ["command", "withdrawn"]


def test_a_hand_that_was_not_told_for_want_of_room_is_not_told_later_beside_the_other(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.start()
    with monkeypatch.context() as full:
        full.setattr(lab.audit, "append", no_room)
        assert lab.run.send(i.HandTarget("right", (0.0,) * 6)).state == "refused"
        lab.go(0.3)
    lab.go(0.2)
    told: list[dict[str, tuple[float, ...]]] = []
    monkeypatch.setattr(lab.guard, "_write", lambda made: told.append(lab.guard._finger_positions()))
    assert lab.run.send(i.HandTarget("left", (0.0,) * 6)).state == "sent"
    hands = lab.guard.profile.hands
    assert hands is not None
    assert told[0]["left"] == hands.closed
    assert told[0]["right"] == lab.guard._finger_positions()["right"] != hands.closed


def no_room(record: object = None) -> None:
    raise OSError("no space left")


def test_a_stop_does_not_wait_for_a_slow_disk_and_the_command_behind_it_stays(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.start()
    syncing, synced = threading.Event(), threading.Event()

    def slowly() -> None:
        syncing.set()
        synced.wait(30)

    monkeypatch.setattr(lab.audit, "sync", slowly)
    receipts: list[Receipt] = []
    asking = threading.Thread(target=lambda: receipts.append(lab.run.send(i.MoveToTag(12, None))))
    asking.start()
    assert syncing.wait(30)
    lab.robot.emergency.hard_emergency_triggered = True
    lab.go(0.1)
    assert (lab.mode, lab.robot.base_commands()) == ("estopped", ["CANCEL_TASK"])
    synced.set()
    asking.join(30)
    lab.go(0.1)
    assert lab.robot.base_commands() == ["CANCEL_TASK"]
    assert (receipts[0].state, receipts[0].reason) == ("refused", "MoveToTag: the robot was stopped")


def test_a_task_that_waits_for_the_disk_stays_after_a_pause_that_is_over(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tree asks for it anew: it must not leave twice."""

    def slowly() -> None:
        lab.guard.handle(Pause("op"))
        lab.guard.handle(Resume("op"))

    lab.start()
    monkeypatch.setattr(lab.audit, "sync", slowly)
    assert lab.run.send(i.MoveToTag(12, None)).reason == "MoveToTag: the robot was stopped"
    lab.go(0.1)
    assert lab.mode == "running"
    assert "MOVE_TO_TAG" not in lab.robot.base_commands()


def test_a_disk_that_is_too_slow_is_named_as_the_reason(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is not heard meanwhile, and not to blame."""
    lab.start()
    monkeypatch.setattr(lab.audit, "sync", lambda: lab.bus.wait(0.3))
    assert lab.run.send(i.MoveToTag(12, None)).state == "refused"
    assert lab.mode in ("stopping", "disarmed")
    assert lab.guard.state.stop is not None
    assert lab.guard.state.stop.cause == SLOW_DISK
    assert not lab.guard.state.syncing


def test_a_task_that_waits_for_the_disk_stays_when_the_robot_has_let_go(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly() -> None:
        lab.robot.lower.fsm_id = lab.guard.profile.fsm["damping"]
        lab.bus.wait(0.06)

    lab.start()
    monkeypatch.setattr(lab.audit, "sync", slowly)
    assert lab.run.send(i.MoveToTag(12, None)).reason == "MoveToTag: the robot was stopped"
    lab.go(0.1)
    assert "MOVE_TO_TAG" not in lab.robot.base_commands()


def test_a_task_that_waits_for_the_disk_leaves_although_arms_are_held_meanwhile(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What holds them after a motion is sent as stops are, and is none."""
    lab.start()
    motion = lab.run.send(i.JointTarget("left_arm", (0.0,) * 7, 0.3))
    lab.go(0.6)
    lab.run.end(motion)
    monkeypatch.setattr(lab.audit, "sync", lambda: lab.bus.wait(0.02))
    lab.robot.received.clear()
    assert lab.run.send(i.MoveToTag(12, None)).state == "sent"
    lab.go(0.1)
    assert lab.robot.base_commands() == ["MOVE_TO_TAG"]


def test_steps_from_several_threads_come_one_after_the_other(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it a step that began before an e-stop and ended after it would take the latch back."""
    lab.start()
    inside, overlaps = [0], [0]
    step = lab.guard.core.step

    def slow_step(state: State, event: Event, now: float) -> Step:
        inside[0] += 1
        overlaps[0] += inside[0] > 1
        time.sleep(0)  # whoever may run, runs now
        done = step(state, event, now)
        inside[0] -= 1
        return done

    monkeypatch.setattr(lab.guard.core, "step", slow_step)
    monkeypatch.setattr(lab.guard, "on_step", lambda: None)

    def ticks() -> None:
        for _ in range(200):
            lab.guard.handle(Tick())

    beats = [threading.Thread(target=ticks) for _ in range(4)]
    for beat in beats:
        beat.start()
    for beat in beats:
        beat.join()
    assert overlaps == [0]


def test_remote_drive_ends_with_zero_and_the_session_closed(tmp_path: Path) -> None:
    lab = Lab(tmp_path, with_allowed(default_config(), "remote_drive")).start()
    lab.run.send(i.StartRemote())
    lab.robot.base.work_mode = 3
    lab.go(0.2)
    lab.run.send(i.DriveBase(0.2, 0.0))
    lab.go(0.5)
    lab.go(0.3, beats=False)
    lab.go(0.1)
    assert lab.robot.base_commands()[0] == "START_REMOTE"
    assert lab.robot.base_commands()[-1] == "STOP_REMOTE"
    speeds = [message.linear_vel for name, message in lab.robot.received if name == "rt/amr/cmd"]
    assert speeds[-2] == 0.0
    assert max(speeds) == pytest.approx(0.2)


def test_the_same_story_twice_gives_the_same_commands(tmp_path: Path) -> None:
    def story(folder: Path) -> list[tuple[str, object]]:
        folder.mkdir()
        lab = Lab(folder).start()
        lab.run.send(i.JointTarget("left_arm", (0.1,) * 7, 1.0))
        lab.go(0.7)
        lab.guard.handle(Stop("op", "park"))
        lab.go(2.0)
        return lab.robot.received

    assert story(tmp_path / "a") == story(tmp_path / "b")


def test_the_guard_needs_no_numpy_and_no_trees() -> None:
    code = (
        "import sys, orchestrator.guard.commander; print(sorted({'numpy', 'py_trees', 'pydantic'} & set(sys.modules)))"
    )
    done = run_process([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("actual", "profile", "why"),
    [
        ("gr2", "gr3", "waist 1 (profile: 3); use gr2"),
        ("gr3", "gr2", "waist 3 (profile: 1); use gr3"),
        ("n1", "gr1", "use n1"),
        ("atom_w", "atom", "use atom_w"),
        ("adam_sp", "adam_u", "motors 29 (profile: 19); use adam_sp"),
        ("adam_lite", "adam_u", "motors 23 (profile: 19); use adam_lite"),
    ],
)
def test_a_robot_of_another_model_is_not_armed_and_the_profile_that_fits_is_named(
    actual: str, profile: str, why: str
) -> None:
    clock = VirtualClock()
    network = MemoryNetwork(clock)
    make_twin(load_profile(actual), network.bus("robot"), clock, on_demand=True).start()
    guard = Guard(load_profile(profile), default_config(), cast(Bus, network.bus("guard")), Unkept())
    run = InProcessCommander(guard, clock)
    clock.advance(1.5)
    guard.handle(AskPreflight("op"))
    guard.handle(Arm("op"))
    assert guard.state.mode.value == "disarmed"
    (line,) = [report.text for report in run.reports if report.text.startswith("model: ")]
    assert why in line
    assert guard.state.observed.joints == {}
