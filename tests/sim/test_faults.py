"""Every fault does what the table says, when it should, and only where it may."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.bus import Sample
from orchestrator.bus.memory import MemoryNetwork
from orchestrator.clock import VirtualClock
from orchestrator.robots.profiles import load_profile
from orchestrator.sim import make_twin
from orchestrator.sim.faults import FAULTS, Fault, FaultError, inject
from orchestrator.wire import dobot_atom
from orchestrator.wire.codec import WireError, codec
from tests.support.lab import Lab

READY = 2
AMR = "rt/amr/state"
STATE: Any = dobot_atom.NavigationStatus_
COMMAND: Any = dobot_atom.AMRCommandType


@pytest.fixture
def lab() -> Lab:
    lab = Lab("atom_w")
    lab.tell("rt/set/fsm/id", id=READY, wait=1.7)
    assert lab.clock.now() == pytest.approx(2.0)
    return lab


class Record:
    """What arrives on a topic from now on."""

    def __init__(self, lab: Lab, topic: str = AMR) -> None:
        self.samples: list[Sample] = []
        lab.readers[topic].on_sample(self.samples.append)

    def heartbeats(self) -> list[int]:
        read = codec(dobot_atom.AMRState_).field("basic_status.heartbeat")
        return [read(sample.data) for sample in self.samples]


def drive(lab: Lab, tag: int = 12, wait: float = 0.0) -> None:
    lab.tell("rt/amr/cmd", command_type=COMMAND.MOVE_TO_TAG, target_id=tag, wait=wait)


# State topics


def test_off_at_a_time_for_a_while(lab: Lab) -> None:
    inject(lab.twin, f"off:{AMR}@3s+2s")
    record = Record(lab)
    lab.wait(10.0)
    times = [sample.received for sample in record.samples]
    assert not [t for t in times if 3.001 < t < 5.0]
    assert [t for t in times if t < 3.0]
    assert [t for t in times if t > 5.0]


def test_a_topic_with_a_fault_comes_at_the_robots_rate(lab: Lab) -> None:
    inject(lab.twin, f"duplicate:{AMR}")
    record = Record(lab)
    lab.wait(1.0)
    assert len(record.samples) == pytest.approx(80, abs=4)
    assert record.heartbeats()[10] == record.heartbeats()[11]


def test_stuck_repeats_the_same_bytes(lab: Lab) -> None:
    inject(lab.twin, f"stuck:{AMR}")
    record = Record(lab)
    lab.wait(2.0)
    assert len({sample.data for sample in record.samples[2:]}) == 1


def test_stuck_field_only(lab: Lab) -> None:
    inject(lab.twin, f"stuck:{AMR}.basic_status.heartbeat")
    record = Record(lab)
    lab.wait(2.0)
    assert len({sample.data for sample in record.samples[2:]}) > 10
    assert len(set(record.heartbeats()[2:])) == 1


def test_garbage_is_mostly_unreadable(lab: Lab) -> None:
    inject(lab.twin, f"garbage:{AMR}")
    record = Record(lab)
    lab.wait(1.0)
    with pytest.raises(WireError):
        codec(dobot_atom.AMRState_).decode(record.samples[-1].data)


def test_garbage_in_a_field_is_not_a_number(lab: Lab) -> None:
    inject(lab.twin, f"garbage:{AMR}.position")
    lab.wait(0.5)
    assert all(math.isnan(value) for value in lab.see(AMR).position)
    inject(lab.twin, f"garbage:{AMR}.navigation_status")
    lab.wait(0.5)
    with pytest.raises(WireError, match="navigation_status at byte 8: 4294967295"):
        lab.see(AMR)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [("task_id", "7", 7), ("navigation_status", "FAILED", STATE.FAILED), ("position[1]", "99", 99.0)],
)
def test_wrong_value_in_a_field(lab: Lab, field: str, value: str, expected: Any) -> None:
    inject(lab.twin, f"wrong:{AMR}.{field},value={value}")
    lab.wait(0.5)
    sample = lab.readers[AMR].newest()
    assert sample is not None
    assert codec(dobot_atom.AMRState_).field(field)(sample.data) == expected


def test_slow(lab: Lab) -> None:
    inject(lab.twin, f"slow:{AMR},factor=20")
    record = Record(lab)
    lab.wait(10.0)
    assert len(record.samples) == pytest.approx(20, abs=3)


def test_delayed_samples_are_old(lab: Lab) -> None:
    inject(lab.twin, f"delayed:{AMR},seconds=500ms")
    lab.wait(2.0)
    late = lab.see(AMR).basic_status.heartbeat
    assert lab.twin.uptime * 40 - late == pytest.approx(20, abs=2)
    sample = lab.readers[AMR].newest()
    assert sample is not None
    assert sample.received - sample.source_time * 1e-9 == pytest.approx(0.5)  # as when the network is slow


def test_intermittent(lab: Lab) -> None:
    inject(lab.twin, f"intermittent:{AMR},on=1,off=2")
    record = Record(lab)
    lab.wait(9.0)
    assert len(record.samples) == pytest.approx(3 * 40, abs=5)


def test_reorder(lab: Lab) -> None:
    inject(lab.twin, f"reorder:{AMR}")
    record = Record(lab)
    lab.wait(1.0)
    beats = record.heartbeats()[4:]
    assert beats != sorted(beats)
    assert sorted(beats) == list(range(min(beats), max(beats) + 1))
    written = [sample.source_time for sample in record.samples[4:]]
    assert written != sorted(written)


def test_burst(lab: Lab) -> None:
    inject(lab.twin, f"burst:{AMR},count=20")
    record = Record(lab)
    lab.wait(2.0)
    times = [sample.received for sample in record.samples[-20:]]
    assert len(set(times)) == 1


def test_truncate_type_looks_like_another_firmware(lab: Lab) -> None:
    inject(lab.twin, f"truncate_type:{AMR},bytes=8")
    lab.wait(0.5)
    with pytest.raises(WireError, match="cut short"):
        lab.see(AMR)


def test_a_stream_can_fail_too(lab: Lab) -> None:
    inject(lab.twin, "off:rt/power/state@3s")
    assert lab.see("rt/power/state").power_supply_state == 1
    lab.wait(5.0)
    sample = lab.readers["rt/power/state"].newest()
    assert sample is not None
    assert sample.received <= 3.0


# Commands


def test_a_lost_command_does_nothing(lab: Lab) -> None:
    inject(lab.twin, "lost:rt/amr/cmd,nth=1")
    lab.wait(0.1)
    drive(lab, wait=1.0)
    assert lab.see(AMR).task_id == 0
    drive(lab, wait=1.0)  # only the first is lost
    assert lab.see(AMR).task_id == 1


def test_acknowledged_only(lab: Lab) -> None:
    inject(lab.twin, "ack_only:rt/amr/cmd")
    inject(lab.twin, "ack_only:rt/set/fsm/id")
    echo = lab.bus.reader(lab.topics["rt/set/fsm/id"])
    lab.wait(0.2)
    drive(lab, wait=30.0)
    state = lab.see(AMR)
    assert state.navigation_status is STATE.RUNNING
    assert state.position == pytest.approx([0.0, 0.0, 0.0], abs=0.01)
    lab.tell("rt/set/fsm/id", id=301, wait=3.0)
    sample = echo.newest()
    assert sample is not None
    assert codec(dobot_atom.SetFsmId_).decode(sample.data).id == 301
    assert lab.see("rt/lower/state").fsm_id == READY


def test_executed_late(lab: Lab) -> None:
    inject(lab.twin, "late_exec:rt/amr/cmd,seconds=2s")
    lab.wait(0.1)
    drive(lab, wait=1.9)
    assert lab.see(AMR).task_id == 0
    lab.wait(0.2)
    assert lab.see(AMR).task_id == 1


def test_executed_twice(lab: Lab) -> None:
    inject(lab.twin, "double_exec:rt/amr/cmd")
    lab.wait(0.1)
    drive(lab, wait=30.0)
    assert lab.see(AMR).task_id == 2


def test_refused_by_json_rpc(lab: Lab) -> None:
    inject(lab.twin, "refused:rpc/SetFsmId")
    inject(lab.twin, "lost:rpc/GetFsmId")
    lab.wait(0.1)
    answer = lab.twin.rpc.answer(json.dumps({"id": 1, "method": "SetFsmId", "params": {"fsm_id": 1}}))
    assert json.loads(answer)["error"]["code"] == 6
    assert lab.twin.rpc.answer(json.dumps({"id": 1, "method": "GetFsmId"})) is None


def test_done_in_part(lab: Lab) -> None:
    inject(lab.twin, "partial:rt/amr/cmd")
    lab.wait(0.1)
    drive(lab, wait=30.0)
    state = lab.see(AMR)
    assert state.navigation_status is STATE.COMPLETED  # it lies
    assert math.dist(state.position[:2], lab.twin.base.tags[12]) > 0.5


# The robot


def test_reboot_is_silence_then_new_writers_and_counters(lab: Lab) -> None:
    drive(lab, wait=3.0)
    inject(lab.twin, Fault("reboot", at=6.0))
    record = Record(lab)
    lab.wait(10.0)
    gap = [s for s in record.samples if 6.01 < s.received < 9.0]
    assert gap == []
    assert len({sample.writer for sample in record.samples}) == 2
    assert lab.see(AMR).basic_status.heartbeat < 400
    assert lab.see(AMR).task_id == 0
    assert lab.see("rt/lower/state").fsm_id == 1
    lab.tell("rt/set/fsm/id", id=READY, wait=2.0)
    assert lab.see("rt/lower/state").fsm_id == READY  # it hears again


def test_a_fault_outlives_a_reboot(lab: Lab) -> None:
    inject(lab.twin, f"wrong:{AMR}.task_id,value=77")
    inject(lab.twin, "reboot@3s")
    lab.wait(10.0)
    assert lab.see(AMR).task_id == 77


def test_a_foreign_writer_is_seen_on_the_bus(lab: Lab) -> None:
    inject(lab.twin, "foreign_writer:rt/amr/cmd@3s+1s")
    assert lab.bus.writers("rt/amr/cmd") == []
    lab.wait(1.5)
    assert [endpoint.name for endpoint in lab.bus.writers("rt/amr/cmd")] == ["stranger"]
    lab.wait(1.0)
    assert lab.bus.writers("rt/amr/cmd") == []


def test_somebody_else_changes_the_state(lab: Lab) -> None:
    inject(lab.twin, "foreign_fsm:damping")
    lab.wait(1.0)
    assert lab.see("rt/lower/state").fsm_id == 1


def test_an_emergency_stop_for_a_while(lab: Lab) -> None:
    seen = lab.history("rt/emergency/state", "hard_emergency_triggered")
    inject(lab.twin, "hard@3s+500ms")
    lab.wait(5.0)
    assert seen == [False, True, False]


def test_on_a_condition(lab: Lab) -> None:
    inject(lab.twin, f"amr_stop@{AMR}.navigation_status=RUNNING")
    seen = lab.history("rt/emergency/state", "amr_emergency_triggered")
    lab.wait(1.0)
    assert seen == [False]
    drive(lab, wait=1.0)
    assert seen == [False, True]


def test_a_condition_waits_for_the_robot_to_start() -> None:
    clock = VirtualClock()
    twin: Any = make_twin(load_profile("atom_w"), MemoryNetwork(clock).bus("robot"), clock)
    inject(twin, "hard@rt/lower/state.fsm_id=0")
    inject(twin, "soft@rt/lower/state.fsm_id=1")
    twin.start()
    clock.advance(1.0)
    assert twin.pressed == {"soft"}


def test_on_a_condition_from_python(lab: Lab) -> None:
    inject(lab.twin, Fault("amr_failed", when=lambda: lab.twin.base.pose.x > 0.3))
    drive(lab, wait=20.0)
    state = lab.see(AMR)
    assert state.navigation_status is STATE.FAILED
    assert 0.3 < state.position[0] < 0.6


@pytest.mark.parametrize(
    ("fault", "status", "device"),
    [
        ("amr_failed", "FAILED", "DEVIDLE"),
        ("amr_error,code=9", "FAILED", "ERROR"),
        ("amr_offline", "RUNNING", "OFFLINE"),
        ("amr_pause", "PAUSED", "TASKING"),
        ("amr_cancel", "CANCELED", "DEVIDLE"),
        ("amr_stopped", "STOPPED", "DEVIDLE"),
        ("amr_blocked", "RUNNING", "TASKING"),
    ],
)
def test_what_can_happen_to_the_base(lab: Lab, fault: str, status: str, device: str) -> None:
    inject(lab.twin, f"{fault}@4s")
    drive(lab, wait=10.0)
    state = lab.see(AMR)
    assert (state.navigation_status.name, state.device_status.name) == (status, device)
    assert state.error_code[0] == (9 if "code" in fault else 0)


def test_other_faults_of_the_robot(lab: Lab) -> None:
    inject(lab.twin, "amr_maintenance")
    inject(lab.twin, "battery,level=3")
    inject(lab.twin, "battery,level=4,base=true")
    inject(lab.twin, "motor_error:head_yaw,code=5")
    lab.twin.hand("right").object = True
    inject(lab.twin, "object_lost:right")
    inject(lab.twin, "hand_jam:left")
    lab.wait(0.5)
    assert lab.see(AMR).work_mode == 4
    assert lab.see("rt/lower/state").bms_state.battery_level == 3
    assert lab.see(AMR).basic_status.battery_level == pytest.approx(4.0, abs=0.1)
    assert lab.see("rt/main/nodes/state").head[0].error_code == 5
    assert not lab.twin.hand("right").object


def test_a_person_presses_the_key_on_the_base_when_it_waits_for_it(lab: Lab) -> None:
    inject(lab.twin, f"press_key@{AMR}.navigation_status=WAITING_CONFIRM")
    lab.tell("rt/amr/cmd", command_type=COMMAND.START_REMOTE, wait=0.5)
    assert lab.see(AMR).work_mode == 3


@pytest.mark.parametrize(("robot", "button"), [("atom_w", "f1"), ("adam_u", "select")])
def test_a_person_presses_a_button_for_a_while(robot: str, button: str) -> None:
    lab = Lab(robot)
    inject(lab.twin, f"press:{button}@1s+500ms")
    lab.wait(1.0)
    assert lab.twin.pad.held == {button}
    lab.wait(1.0)
    assert lab.twin.pad.held == set()


def test_faults_of_the_other_families() -> None:
    gr2, adam = Lab("gr2"), Lab("adam_u")
    inject(gr2.twin, "security")
    inject(adam.twin, "fall")
    gr2.wait(0.5)
    adam.wait(0.5)
    assert gr2.see("aurora_state").whole_body_fsm_state == 9
    assert adam.see("rt/lowstate").imu_state.accelerometer[2] < 3.0


# Mistakes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("of:rt/amr/state", "no fault 'of'; did you mean off?"),
        ("off:rt/arm/state", "no state topic 'rt/arm/state'; did you mean rt/amr/state?"),
        ("off", "off needs its state topic, as in off:rt/upper/state"),
        ("lost:rt/amr/state", "no command 'rt/amr/state'"),
        ("slow:rt/amr/state,factr=3", "no parameter 'factr'; did you mean factor?"),
        ("slow:rt/amr/state,factor", "'factor' is not KEY=VALUE"),
        ("off:rt/amr/state@soon", "'soon' is not a time such as 3s or 200ms"),
        ("off:rt/amr/state@3m", "'3m' is not a time"),
        ("off@rt/amr/stat.task_id=3", "did you mean rt/amr/state?"),
        ("hard@rt/amr/state.taskid=3", "there is no field 'taskid'"),
        ("wrong:rt/amr/state", "needs a field and its value"),
        ("wrong:rt/amr/state.task,value=3", "there is no field 'task'"),
        ("lost:rt/amr/cmd.theta", "takes a whole command"),
        ("partial:rt/clear/errors", "cannot be done in part; rt/upper/cmd"),
        ("reboot:now", "takes no target"),
        (
            "security",
            "atom_w has no e-stop called security; it has soft, hard, di, amr_stop, amr_stop_topic, ",
        ),
        ("motor_error:left_elbow", "did you mean left_elbow_"),
        ("off:rt/amr/state.position", "takes a whole state topic, not its field 'position'"),
        ("delayed:rt/amr/state.position", "takes a whole state topic"),
        ("wrong:rt/amr/state.position,value=abc", "rt/amr/state.position is a number of 32 bits, not 'abc'"),
        ("wrong:rt/amr/state.navigation_status,value=FOO", "is never 'FOO'; it is one of UNKNOWN"),
        ("wrong:rt/amr/state.task_id,value=-1", "task_id is a whole number from 0 to 4294967295, not -1"),
        ("wrong:rt/amr/state.task_id,value=1.5", "not 1.5"),
        ("wrong:rt/emergency/state.hard_emergency_triggered,value=2", "is true or false, not 2"),
        ("stuck:rt/upper/state.robot_type", "only numbers, flags and enumerations can be changed"),
        ("intermittent:rt/amr/state,on=0,off=0", "on is a number from 0.001"),
        ("battery,level=101", "level is a number from 0 to 100"),
        ("foreign_writer:rpc/SetFsmId", "no command topic 'rpc/SetFsmId'"),
        ("hard@rt/amr/state.navigation_status=RUNING", "navigation_status is never 'RUNING'; did you mean RUNNING?"),
        ("hard@rt/amr/state.navigation_status=77", "navigation_status is never 77; it is one of UNKNOWN"),
        ("hard@rt/amr/state.task_id=first", "task_id is a whole number from 0 to 4294967295, not 'first'"),
        ("hard@rt/amr/state.task_id=1.5", "not 1.5"),
        ("hard@rt/amr/state.position=1", "position is several values"),
        ("hard@rt/amr/state.position[0]=nan", "never equal"),
        ("hard\n", "'hard\\n': is not a fault such as"),
        ("hard@", "'' is not a time"),
        ("hard@1.2.3s", "'1.2.3s' is not a time"),
        ("battery@6s,level=5", "battery@6s,level=5: parameters stand before the @: battery,level=5@6s"),
        ("battery@6s+2s,level=5", "before the @: battery,level=5@6s+2s"),
        ("battery@6s,level=5+2s", "before the @: battery,level=5@6s+2s"),
        ("battery@rt/amr/state.task_id=3,level=5", "before the @: battery,level=5@rt/amr/state.task_id=3"),
        ("hard@3s+", "'' is not a time"),
        ("hard@3s+0s", "hard: it must last longer than 0 s; without a duration it lasts for good"),
    ],
)
def test_a_mistake_says_what_would_be_right(lab: Lab, text: str, message: str) -> None:
    with pytest.raises(FaultError) as caught:
        inject(lab.twin, text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("robot", "text", "message"),
    [
        ("adam_u", "press:f1", "no button 'f1'"),
        ("gr2", "soft", "soft: gr2 has no e-stop called soft; it has security"),
        ("gr2", "press:a", "press: gr2 has no button"),
        ("atom", "press_key", "press_key: atom has no base"),
        ("atom", "fall", "fall: a simulated atom cannot fall over"),
        ("adam_u", "foreign_fsm:damping", "foreign_fsm: adam_u has no state"),
        ("adam_u", "wrong:rt/lowstate.motor_state[99].q,value=1", "there is no element [99]"),
        ("adam_u", "hard@rt/lowstate.motor_state[99].q=1", "there is no element [99]"),
        ("atom", "battery,base=true", "battery: atom has no base"),
        ("n1", "hand_jam:left", "hand_jam: n1 has no hand"),
        ("gr2", "wrong:aurora_state.header.frame_id,value=x", "only numbers, flags and enumerations"),
    ],
)
def test_a_mistake_about_another_robot(robot: str, text: str, message: str) -> None:
    with pytest.raises(FaultError) as caught:
        inject(Lab(robot).twin, text)
    assert message in str(caught.value)


def test_a_condition_on_text(lab: Lab) -> None:
    inject(lab.twin, "soft@rt/upper/state.robot_type=ATOM W")
    lab.wait(0.5)
    assert lab.twin.pressed == {"soft"}


@pytest.mark.parametrize(("tag", "interface"), [("", "lo"), ("", "eth0"), ("private", "eth0")])
def test_no_faults_where_a_real_robot_could_be(lab: Lab, tag: str, interface: str) -> None:
    lab.twin.bus = SimpleNamespace(settings=SimpleNamespace(tag=tag, interface=interface))
    with pytest.raises(FaultError, match="need a network of their own"):
        inject(lab.twin, "hard")


def test_every_fault_has_a_sentence() -> None:
    assert all(kind.text for kind in FAULTS.values())
