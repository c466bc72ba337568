"""The bus in memory: same bytes as DDS, virtual time, exact repetition."""

from __future__ import annotations

import math

import pytest

from orchestrator.bus import BusError, Report, Sample
from orchestrator.bus.memory import MemoryBus, MemoryNetwork
from orchestrator.clock import VirtualClock
from orchestrator.wire import dobot_atom, fourier_msgs
from orchestrator.wire.codec import WireError, codec
from orchestrator.wire.example import example
from orchestrator.wire.topics import VARIANTS, topics

ATOM = topics("atom")
EMERGENCY = ATOM["rt/emergency/state"]
NODES = topics("aurora")["base_data_pub"]


def stop_flags(soft: bool = False) -> dobot_atom.EmergencyState_:
    return dobot_atom.EmergencyState_(soft, False, False, False)


@pytest.fixture
def network() -> MemoryNetwork:
    return MemoryNetwork(VirtualClock())


@pytest.fixture
def robot(network: MemoryNetwork) -> MemoryBus:
    return network.bus("robot")


@pytest.fixture
def run(network: MemoryNetwork) -> MemoryBus:
    return network.bus("run")


def test_bytes_arrive_as_written_with_time_and_writer(robot: MemoryBus, run: MemoryBus) -> None:
    writer, reader = robot.writer(EMERGENCY), run.reader(EMERGENCY)
    run.wait(0.2)
    writer.write(stop_flags(soft=True))
    run.wait(0.1)
    sample = reader.newest()
    assert sample is not None
    assert codec(dobot_atom.EmergencyState_).decode(sample.data) == stop_flags(soft=True)
    assert sample.received == 0.2
    assert (reader.received, reader.matched, writer.matched) == (1, 1, 1)


def test_a_sample_knows_its_writer_and_can_look_delayed(robot: MemoryBus, run: MemoryBus) -> None:
    writer, reader = robot.writer(EMERGENCY), run.reader(EMERGENCY)
    run.wait(0.2)
    writer.write_bytes(codec(dobot_atom.EmergencyState_).encode(stop_flags()), age=0.15)
    run.wait(0.1)
    sample = reader.newest()
    assert sample is not None
    assert (sample.writer, sample.source_time, sample.received) == (writer.number, 50_000_000, 0.2)


def test_who_looks_at_a_supplied_topic_gets_a_sample_if_the_last_is_old(robot: MemoryBus, run: MemoryBus) -> None:
    made: list[float] = []

    def source() -> bytes:
        made.append(robot.clock.now())
        return codec(dobot_atom.EmergencyState_).encode(stop_flags())

    robot.writer(EMERGENCY).supply(source, fresh_for=0.5)
    reader = run.reader(EMERGENCY)
    for _ in range(4):
        run.wait(0.4)
        reader.newest()
    assert made == pytest.approx([0.4, 1.2])


def test_a_writer_is_ready_only_after_its_match_has_lasted(robot: MemoryBus, run: MemoryBus) -> None:
    writer = robot.writer(EMERGENCY)
    assert not writer.ready
    reader = run.reader(EMERGENCY)
    assert not writer.ready
    writer.write(stop_flags())
    run.wait(0.1)
    assert reader.newest() is None  # lost, as on DDS
    assert writer.ready


def test_a_new_reader_makes_the_writer_wait_again(network: MemoryNetwork, robot: MemoryBus, run: MemoryBus) -> None:
    writer = robot.writer(EMERGENCY)
    run.reader(EMERGENCY)
    run.wait(1.0)
    assert writer.ready
    network.bus("rebooted").reader(EMERGENCY)
    assert not writer.ready
    run.wait(0.1)
    assert writer.ready


def test_wait_ends_when_a_watched_field_changes_and_not_on_every_sample(robot: MemoryBus, run: MemoryBus) -> None:
    writer, reader = robot.writer(EMERGENCY), run.reader(EMERGENCY)
    reader.watch("soft_emergency_triggered")
    run.wait(0.2)
    for at, soft in ((0.3, False), (0.4, False), (0.5, True), (0.6, True)):
        run.clock.at(at, lambda soft=soft: writer.write(stop_flags(soft)))  # type: ignore[misc]
    assert run.wait(10.0) is True
    assert run.clock.now() == 0.3  # the first value ever seen is a change
    assert run.wait(10.0) is True
    assert run.clock.now() == 0.5
    assert run.wait(10.0) is False
    assert run.clock.now() == 10.5


def test_everybody_has_heard_of_an_instant_before_anybody_acts_on_it(
    network: MemoryNetwork, robot: MemoryBus, run: MemoryBus
) -> None:
    """A consequence may be written before its cause: whoever watches for the cause is not later for that."""
    base, emergency = robot.writer(ATOM["rt/amr/state"]), robot.writer(EMERGENCY)
    run.reader(ATOM["rt/amr/state"]).watch("task_id")
    heard: list[float] = []
    network.bus("guard").reader(EMERGENCY).on_sample(lambda sample: heard.append(sample.received))
    run.wait(0.2)
    base.write(example(ATOM["rt/amr/state"].type))
    emergency.write(stop_flags(soft=True))
    assert run.wait(1.0)
    assert heard == [robot.clock.now()]


def test_every_sample_of_an_event_topic_is_handed_on_in_order(robot: MemoryBus, run: MemoryBus) -> None:
    writer, reader = robot.writer(EMERGENCY), run.reader(EMERGENCY)
    seen: list[bool] = []
    read = codec(dobot_atom.EmergencyState_).field("soft_emergency_triggered")
    reader.on_sample(lambda sample: seen.append(read(sample.data)))
    run.wait(0.2)
    for soft in (False, True, False):  # a press shorter than any tick
        writer.write(stop_flags(soft))
    run.wait(0.1)
    assert seen == [False, True, False]


def test_a_stream_has_no_handlers_and_no_watches(run: MemoryBus) -> None:
    reader = run.reader(NODES)
    with pytest.raises(BusError, match="base_data_pub is a stream"):
        reader.watch("rpy")
    with pytest.raises(BusError, match="is a stream"):
        reader.on_sample(lambda sample: None)


def test_a_supplied_stream_is_made_when_somebody_looks(robot: MemoryBus, run: MemoryBus) -> None:
    made: list[float] = []

    def source() -> bytes:
        made.append(robot.clock.now())
        return codec(fourier_msgs.BaseData).encode(example(fourier_msgs.BaseData))

    robot.writer(NODES).supply(source)
    reader = run.reader(NODES)
    assert reader.newest() is None  # not matched long enough
    run.wait(5.0)
    assert made == []
    for _ in range(3):
        sample = reader.newest()
    assert made == [5.0]  # once per instant
    assert sample is not None
    assert sample.received == 5.0
    robot.close()
    run.wait(1.0)
    reader.newest()
    assert made == [5.0]


def test_another_version_of_a_type_does_not_match_and_is_reported(robot: MemoryBus, run: MemoryBus) -> None:
    reports: list[Report] = []
    run.on_report(reports.append)
    run.reader(EMERGENCY)
    writer = robot.writer(VARIANTS["atom"]["emergency_3"]["rt/emergency/state"])
    assert writer.matched == 0
    assert [report.kind for report in reports] == ["mismatch"]
    assert "robot writes another version of dobot_atom::msg::dds_::EmergencyState_" in reports[0].text


def test_where_types_are_not_announced_the_bytes_tell(robot: MemoryBus, run: MemoryBus) -> None:
    plain, short = topics("aurora")["velocity_cmd"], topics("aurora", ("no_duration",))["velocity_cmd"]
    reports: list[Report] = []
    run.on_report(reports.append)
    reader, writer = run.reader(plain), robot.writer(short)
    reader.watch("duration")
    run.wait(0.2)
    writer.write(example(short.type))
    run.wait(0.1)
    assert reader.bad == 1
    assert reports[0].kind == "bad_sample"
    assert reports[0].text.startswith("velocity_cmd: fourier_msgs::msg::VelocityCmd.duration")


def test_a_bad_sample_is_counted_and_the_next_one_read(robot: MemoryBus, run: MemoryBus) -> None:
    writer, reader = robot.writer(EMERGENCY), run.reader(EMERGENCY)
    read = codec(dobot_atom.EmergencyState_).field("soft_emergency_triggered")
    seen: list[bool] = []

    def handle(sample: Sample) -> None:
        seen.append(read(sample.data))

    reader.on_sample(handle)
    run.wait(0.2)
    writer.write_bytes(b"\x00\x01\x00\x00\x01")
    writer.write(stop_flags(soft=True))
    run.wait(0.1)
    assert (seen, reader.bad, reader.received) == ([True], 1, 2)


def test_what_a_handler_does_wrong_itself_is_no_bad_sample(robot: MemoryBus, run: MemoryBus) -> None:
    writer, reader, answers = robot.writer(EMERGENCY), run.reader(EMERGENCY), run.writer(NODES)
    answer = example(NODES.type)
    answer.omega_B = [math.nan] * 3
    reader.on_sample(lambda sample: answers.write(answer))
    run.wait(0.2)
    writer.write(stop_flags(soft=True))
    with pytest.raises(WireError, match="omega_B"):
        run.wait(0.1)
    assert (reader.bad, reader.received) == (0, 1)


def test_numbers_that_are_not_finite_do_not_leave(run: MemoryBus) -> None:
    writer = run.writer(topics("aurora")["velocity_cmd"])
    velocity = example(fourier_msgs.VelocityCmd)
    velocity.vx = math.nan
    with pytest.raises(WireError, match="vx: nan is not a finite number"):
        writer.write(velocity)


def test_wake_ends_the_current_or_the_next_wait(run: MemoryBus) -> None:
    run.wake()
    assert run.wait(1.0) is True
    assert run.clock.now() == 0.0
    run.clock.at(0.5, run.wake)
    assert run.wait(1.0) is True
    assert run.clock.now() == 0.5


def test_a_second_writer_of_a_command_topic_is_reported_to_both(robot: MemoryBus, run: MemoryBus) -> None:
    reports: list[tuple[str, Report]] = []
    run.on_report(lambda report: reports.append(("run", report)))
    robot.on_report(lambda report: reports.append(("robot", report)))
    run.writer(ATOM["rt/clear/errors"])
    assert reports == []
    robot.writer(ATOM["rt/clear/errors"])
    assert sorted((to, report.kind, report.text) for to, report in reports) == [
        ("robot", "foreign_writer", "rt/clear/errors: run writes this command topic beside us"),
        ("run", "foreign_writer", "rt/clear/errors: robot writes this command topic beside us"),
    ]


def test_other_writers_are_seen_and_own_ones_left_out(robot: MemoryBus, run: MemoryBus) -> None:
    command = ATOM["rt/clear/errors"]
    run.writer(command)
    assert run.writers(command.name) == []
    robot.writer(command)
    assert [(e.participant, e.type_name) for e in run.writers(command.name)] == [
        ("robot", "dobot_atom::msg::dds_::ClearErrors_")
    ]


def test_after_close_nothing_is_matched_sent_or_received(robot: MemoryBus, run: MemoryBus) -> None:
    writer, reader = robot.writer(EMERGENCY), run.reader(EMERGENCY)
    run.wait(0.2)
    robot.close()
    robot.close()
    assert reader.matched == 0
    with pytest.raises(BusError, match="closed"):
        writer.write(stop_flags())
    other = robot.network.bus("second").writer(EMERGENCY)
    assert other.matched == 1
    run.close()
    assert other.matched == 0
