"""The bus on real DDS, between two participants of this process or with another process."""

from __future__ import annotations

import gc
import math
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication
from cyclonedds.core import Qos
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy
from cyclonedds.util import duration

from orchestrator.bus import BusError, Report, Sample, cyclone
from orchestrator.bus.dds import DdsBus, DdsEvents, DdsStream
from orchestrator.bus.exchange import all_topics, exchange
from orchestrator.bus.settings import DdsSettings, loopback
from orchestrator.clock import VirtualClock
from orchestrator.wire import dobot_atom
from orchestrator.wire.codec import WireError, codec
from orchestrator.wire.example import example
from orchestrator.wire.topics import topics

pytestmark = pytest.mark.dds

ATOM = topics("atom")
AURORA = topics("aurora")
EMERGENCY = ATOM["rt/emergency/state"]
CLEAR = ATOM["rt/clear/errors"]
soft = codec(dobot_atom.EmergencyState_).field("soft_emergency_triggered")


def flags(on: bool) -> dobot_atom.EmergencyState_:
    return dobot_atom.EmergencyState_(on, False, False, False)


@pytest.fixture
def open_bus(settings: DdsSettings) -> Iterator[Callable[[str], DdsBus]]:
    opened: list[DdsBus] = []

    def open_bus(name: str) -> DdsBus:
        opened.append(DdsBus(settings, name))
        return opened[-1]

    yield open_bus
    for bus in opened:
        bus.close()


@pytest.fixture
def robot(open_bus: Callable[[str], DdsBus]) -> DdsBus:
    return open_bus("robot")


@pytest.fixture
def run(open_bus: Callable[[str], DdsBus]) -> DdsBus:
    return open_bus("run")


def until(bus: DdsBus, condition: Callable[[], Any], seconds: float = 10.0) -> None:
    """Wait on the bus until something holds."""
    end = bus.clock.now() + seconds
    while not condition():
        assert bus.clock.now() < end, "it did not happen"
        bus.wait(0.02)


def test_every_topic_goes_to_another_process_and_back(settings: DdsSettings) -> None:
    came_back = {row.label: row.same for row in exchange(settings)}
    assert came_back == dict.fromkeys(all_topics(), True)


def test_wait_ends_when_a_watched_field_changes(robot: DdsBus, run: DdsBus) -> None:
    writer, reader = robot.writer(EMERGENCY), run.reader(EMERGENCY)
    reader.watch("soft_emergency_triggered")
    until(robot, lambda: writer.ready)
    writer.write(flags(False))
    assert run.wait(5.0) is True
    writer.write(flags(False))
    assert run.wait(0.1) is False
    assert reader.received == 2
    writer.write(flags(True))
    assert run.wait(5.0) is True
    sample = reader.newest()
    assert sample is not None
    assert soft(sample.data) is True


def test_every_sample_of_an_event_topic_arrives_once_and_in_order(robot: DdsBus, run: DdsBus) -> None:
    topic = ATOM["rt/clear/errors"]
    writer, reader = robot.writer(topic), run.reader(topic)
    seen: list[int] = []
    read = codec(topic.type).field("msg_id")
    reader.on_sample(lambda sample: seen.append(read(sample.data)))
    until(robot, lambda: writer.ready and run.wait(0.01) is not None)
    for number in range(1000):
        writer.write(topic.type(number))
        if number % 20 == 19:
            run.wait(0.0005)
    until(run, lambda: len(seen) >= 1000)
    run.wait(0.2)  # by now the second reader has been looked at, too
    assert seen == list(range(1000))


def test_a_sample_knows_its_writer_and_can_look_delayed(robot: DdsBus, run: DdsBus) -> None:
    writer, reader = robot.writer(EMERGENCY), run.reader(EMERGENCY)
    samples: list[Sample] = []
    reader.on_sample(samples.append)
    until(robot, lambda: writer.ready)
    data = codec(dobot_atom.EmergencyState_).encode(flags(True))
    for age in (5.0, 0.0):
        writer.write_bytes(data, age)
    until(run, lambda: len(samples) == 2)
    assert {sample.writer for sample in samples} == {writer.number}
    assert samples[1].source_time - samples[0].source_time >= 5e9


def test_what_the_quick_reader_did_not_get_comes_from_the_sure_one(robot: DdsBus, run: DdsBus) -> None:
    writer, reader = robot.writer(CLEAR), run.reader(CLEAR)
    assert isinstance(reader, DdsEvents)
    seen: list[int] = []
    read = codec(CLEAR.type).field("msg_id")
    reader.on_sample(lambda sample: seen.append(read(sample.data)))
    until(robot, lambda: writer.ready)
    for number in range(4):
        writer.write(CLEAR.type(number))
        if number == 2:
            until(run, lambda: len(cyclone.take(reader._quick._ref)) > 0)  # lost on the way to the quick reader
        else:
            until(run, lambda number=number: number in seen)  # type: ignore[misc]
    until(run, lambda: len(seen) == 4)
    run.wait(0.2)
    assert sorted(seen) == [0, 1, 2, 3]
    newest = reader.newest()
    assert newest is not None
    assert read(newest.data) == 3  # what was sent again late does not become the newest


def test_one_look_takes_everything_there_is(robot: DdsBus, run: DdsBus) -> None:
    writer, reader = robot.writer(CLEAR), run.reader(CLEAR)
    until(robot, lambda: writer.ready)
    for number in range(100):
        writer.write(CLEAR.type(number))
    assert isinstance(reader, DdsEvents)
    until(robot, lambda: not robot.wait(0.05))
    reader.look()
    assert reader.received == 100


@pytest.mark.parametrize(("samples", "naps"), [(92, False), (250, True)])
def test_samples_are_taken_in_batches_only_where_more_come_than_from_any_robot(
    samples: int, naps: bool, robot: DdsBus, settings: DdsSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("orchestrator.bus.dds.time.sleep", slept.append)
    clock = VirtualClock()
    with DdsBus(settings, "run", clock) as run:
        writer, reader = robot.writer(EMERGENCY), run.reader(EMERGENCY)
        until(robot, lambda: writer.ready)
        run.wait(0.0)
        for _ in range(samples):
            writer.write(flags(False))
        until(robot, lambda: run.wait(0.0) or reader.received == samples)
        clock.step(0.05)
        run.wait(0.0)  # all of them came between two looks
        writer.write(flags(False))
        threading.Timer(0.2, run.wake).start()
        assert run.wait(1.0)
        assert reader.received == samples + 1
    assert bool(slept) is naps


def test_numbers_that_are_not_finite_do_not_leave(robot: DdsBus) -> None:
    writer = robot.writer(AURORA["velocity_cmd"])
    velocity = example(AURORA["velocity_cmd"].type)
    velocity.vx = math.nan
    with pytest.raises(WireError, match="vx: nan is not a finite number"):
        writer.write(velocity)


def test_a_wait_of_no_time_takes_what_is_there(robot: DdsBus, run: DdsBus) -> None:
    writer, reader = robot.writer(CLEAR), run.reader(CLEAR)
    until(robot, lambda: writer.ready)
    writer.write(CLEAR.type(1))
    until(robot, lambda: run.wait(0) or reader.received)


def test_quality_of_service_is_what_the_robots_need(robot: DdsBus, run: DdsBus) -> None:
    """Never an old command for a restarted robot, never a long block, never a reader that vendors do not match."""
    command = robot.writer(CLEAR)._writer.get_qos()
    assert Policy.Durability.Volatile in command
    assert Policy.History.KeepLast(1) in command
    assert Policy.Reliability.Reliable(duration(milliseconds=10)) in command
    assert Policy.DataRepresentation(use_cdrv0_representation=True) in command
    stream, events = run.reader(AURORA["base_data_pub"]), run.reader(EMERGENCY)
    assert isinstance(stream, DdsStream)
    assert isinstance(events, DdsEvents)
    both = Policy.DataRepresentation(use_cdrv0_representation=True, use_xcdrv2_representation=True)
    for reader, depth in ((stream._reader, 1), (events._quick, 512)):
        assert Policy.Reliability.BestEffort in reader.get_qos()
        assert Policy.History.KeepLast(depth) in reader.get_qos()
        assert both in reader.get_qos()
    assert Policy.Reliability.Reliable(duration(milliseconds=10)) in events._sure.get_qos()
    for reader in (stream._reader, events._quick, events._sure):
        assert Policy.Durability.Volatile in reader.get_qos()


def test_a_best_effort_writer_is_heard_too(robot: DdsBus, run: DdsBus) -> None:
    quick = Qos(Policy.Reliability.BestEffort, Policy.DataRepresentation(use_cdrv0_representation=True))
    writer = DataWriter(robot.participant, robot.dds_topic(EMERGENCY), qos=quick)
    reader = run.reader(EMERGENCY)
    until(run, lambda: reader.matched == 1)
    until(run, lambda: writer.write(flags(True)) or reader.received)
    assert reader.newest() is not None


def test_a_stream_keeps_the_newest_and_is_taken_when_looked_at(robot: DdsBus, run: DdsBus) -> None:
    topic = AURORA["base_data_pub"]
    writer, reader = robot.writer(topic), run.reader(topic)
    until(robot, lambda: writer.ready)
    assert reader.newest() is None
    for number in range(10):
        message = example(topic.type)
        message.header.stamp.sec = number
        writer.write(message)
    read = codec(topic.type).field("header.stamp.sec")
    until(run, lambda: (sample := reader.newest()) and read(sample.data) == 9)
    assert reader.received < 10


def test_a_writer_is_ready_when_its_match_has_lasted_and_again_after_a_rematch(
    robot: DdsBus, open_bus: Callable[[str], DdsBus]
) -> None:
    writer = robot.writer(CLEAR)
    assert not writer.ready
    first = open_bus("first")
    first.reader(CLEAR)
    until(robot, lambda: writer.matched)
    assert not writer.ready
    until(robot, lambda: writer.ready)
    first.close()
    until(robot, lambda: not writer.ready)
    again = open_bus("again")
    reader = again.reader(CLEAR)
    until(robot, lambda: writer.matched)
    assert not writer.ready
    until(robot, lambda: writer.ready)
    writer.write(CLEAR.type(1))
    until(again, lambda: reader.received == 1)


def test_somebody_else_writing_our_command_topic_is_reported_by_name(robot: DdsBus, run: DdsBus) -> None:
    reports: list[Report] = []
    run.on_report(reports.append)
    run.writer(CLEAR)
    robot.writer(CLEAR)
    until(run, lambda: reports)
    assert reports[0] == Report(
        "foreign_writer", CLEAR.name, "rt/clear/errors: robot writes this command topic beside us"
    )
    assert [writer.name for writer in run.writers(CLEAR.name)] == ["robot"]
    robot.close()
    until(run, lambda: not run.writers(CLEAR.name))


def test_somebody_who_wrote_our_command_topic_before_us_is_reported_too(robot: DdsBus, run: DdsBus) -> None:
    reports: list[Report] = []
    run.on_report(reports.append)
    robot.writer(CLEAR)
    until(run, lambda: run.writers(CLEAR.name))
    assert reports == []
    run.writer(CLEAR)
    assert [report.kind for report in reports] == ["foreign_writer"]


def test_another_version_of_a_type_does_not_connect_and_is_reported(robot: DdsBus, run: DdsBus) -> None:
    reports: list[Report] = []
    run.on_report(reports.append)
    reader = run.reader(EMERGENCY)
    robot.writer(topics("atom", ("emergency_3",))["rt/emergency/state"])
    until(run, lambda: reports)
    assert reader.matched == 0
    assert reports[0].kind == "mismatch"
    assert (
        "rt/emergency/state (written by robot): no connection, the other side uses another version of"
        in reports[0].text
    )


def test_a_writer_with_unfitting_qos_is_reported(robot: DdsBus, run: DdsBus) -> None:
    reports: list[Report] = []
    robot.on_report(reports.append)
    from cyclonedds.sub import DataReader

    robot.writer(EMERGENCY)
    demanding = Qos(Policy.Deadline(duration(milliseconds=100)))
    reader = DataReader(run.participant, run.dds_topic(EMERGENCY), qos=demanding)
    until(robot, lambda: reports)
    assert "rt/emergency/state (read by run): no connection, the other side's deadline does not fit" in reports[0].text
    del reader


def test_fourier_topics_do_not_announce_their_type_and_the_others_do(robot: DdsBus, run: DdsBus) -> None:
    listener = BuiltinDataReader(run.participant, BuiltinTopicDcpsPublication)
    for topic in (AURORA["base_data_pub"], AURORA["velocity_cmd"], EMERGENCY):
        robot.writer(topic)
    robot.writer(AURORA["base_data_pub"].under("gr2/"))  # the type object is shared with the first one
    announced: dict[str, bool] = {}

    def discovered() -> bool:
        for found in listener.take(N=50):
            if str(found.participant_key) == str(robot.participant.guid):
                announced[found.topic_name] = found.type_id is not None
        return len(announced) == 4

    until(run, discovered)
    assert announced == {
        "base_data_pub": False,
        "gr2/base_data_pub": False,
        "velocity_cmd": False,
        "rt/emergency/state": True,
    }


def test_bytes_of_another_version_are_refused_where_types_are_not_announced(robot: DdsBus, run: DdsBus) -> None:
    reports: list[Report] = []
    run.on_report(reports.append)
    expected = replace(AURORA["velocity_cmd"], kind="event")
    writer = robot.writer(topics("aurora", ("no_duration",))["velocity_cmd"])
    reader = run.reader(expected)
    reader.watch("duration")
    until(robot, lambda: writer.ready)
    writer.write(example(writer.topic.type))
    until(run, lambda: reader.received == 1)
    assert reader.bad == 1
    assert reports[0].text.startswith("velocity_cmd: fourier_msgs::msg::VelocityCmd.duration")


def test_wake_from_another_thread_ends_the_wait(run: DdsBus) -> None:
    timer = threading.Timer(0.05, run.wake)
    timer.start()
    assert run.wait(10.0) is True
    timer.join()
    assert run.wait(0.0) is False
    run.wake()
    assert run.wait(10.0) is True
    assert run.wait(0.0) is False


def test_no_wake_is_lost_between_two_waits(run: DdsBus) -> None:
    asked: list[int] = []
    answered = threading.Event()

    def ask() -> None:
        for number in range(300):
            answered.clear()
            asked.append(number)
            run.wake()
            answered.wait(10.0)

    thread = threading.Thread(target=ask)
    thread.start()
    for number in range(300):
        while len(asked) == number:
            assert run.wait(10.0)
        answered.set()
    thread.join()


def test_a_wake_during_a_wait_ends_that_one_and_not_the_next(robot: DdsBus, run: DdsBus) -> None:
    reader, writer = run.reader(EMERGENCY), robot.writer(EMERGENCY)
    until(robot, lambda: writer.ready)
    reader.on_sample(lambda sample: run.wake())
    writer.write(example(writer.topic.type))
    assert run.wait(10.0)
    assert not run.wait(0.0)


def test_two_threads_may_look_who_is_there_at_the_same_time(robot: DdsBus, open_bus: Callable[[str], DdsBus]) -> None:
    watchers = [open_bus(f"watcher {number}") for number in range(3)]
    for watcher in watchers:
        until(watcher, lambda watcher=watcher: len(watcher.programs()) == 3)  # type: ignore[misc]

    def look(watcher: DdsBus) -> set[str]:
        return {program.name for _ in range(1000) for program in watcher.programs()}

    with ThreadPoolExecutor() as threads:
        found = list(threads.map(look, watchers))
    assert found == [{"robot", *(other.name for other in watchers if other is not watcher)} for watcher in watchers]


def test_after_close_peers_know_at_once(robot: DdsBus, run: DdsBus) -> None:
    reader = run.reader(EMERGENCY)
    robot.writer(EMERGENCY)
    until(run, lambda: reader.matched == 1)
    robot.close()
    robot.close()
    until(run, lambda: reader.matched == 0, seconds=2.0)  # a lease would take ten seconds
    gc.collect()


def test_different_tags_do_not_see_each_other(settings: DdsSettings, run: DdsBus) -> None:
    reader = run.reader(EMERGENCY)
    script = (
        "import sys; from orchestrator.bus.dds import DdsBus; from orchestrator.bus.settings import loopback\n"
        "from orchestrator.wire.topics import topics\n"
        "with DdsBus(loopback(int(sys.argv[1]), sys.argv[2]), 'other') as bus:\n"
        "    bus.writer(topics('atom')['rt/emergency/state']); print('up', flush=True); sys.stdin.read()\n"
    )

    def other(tag: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", script, str(settings.domain), tag]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        return process

    with other("another-tag") as stranger, other(settings.tag) as friend:
        until(run, lambda: reader.matched)  # the friend, who started later, is found; the stranger is not
        assert len(run.writers(EMERGENCY.name)) == 1
        for process in (stranger, friend):
            assert process.stdin is not None
            process.stdin.close()


# One clear sentence for everything that cannot be opened.


@pytest.mark.parametrize("domain", [-1, 231, 100_000])
def test_a_domain_that_does_not_exist(domain: int) -> None:
    with pytest.raises(BusError, match=f"there is no DDS domain {domain}: choose one from 0 to 230"):
        loopback(domain, "x")


def test_an_interface_that_does_not_exist() -> None:
    with pytest.raises(BusError, match=r"there is no network interface 'wlan77'; there are .*lo"):
        DdsSettings(5, interface="wlan77")
    with pytest.raises(BusError, match=r"no network interface of this machine has the address 192\.0\.2\.1"):
        DdsSettings(5, interface="192.0.2.1")


@pytest.mark.parametrize("address", ["0.0.0.0", "127.0.0.2"])
def test_an_address_that_no_interface_has(address: str) -> None:
    with pytest.raises(BusError, match=f"no network interface of this machine has the address {address}"):
        DdsSettings(5, interface=address)


@pytest.mark.parametrize("peer", ["not a host!!", "no-such-host.invalid"])
def test_a_peer_that_is_nobody(peer: str) -> None:
    with pytest.raises(BusError, match="is no address and no host name that is known here"):
        DdsSettings(5, peers=(peer,))


def test_a_private_network_needs_a_tag() -> None:
    with pytest.raises(BusError, match="needs a tag"):
        loopback(5, "")


def test_one_domain_has_one_setting_in_a_process(run: DdsBus, settings: DdsSettings) -> None:
    with pytest.raises(BusError, match=f"domain {settings.domain} is open in this process with other settings"):
        DdsBus(replace(settings, tag="other"), "second")


def test_all_ports_of_a_domain_in_use(settings: DdsSettings) -> None:
    first = 7400 + 250 * settings.domain + 10
    taken = []
    for index in range(61):
        blocker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            blocker.bind(("0.0.0.0", first + 2 * index))
        except OSError:
            blocker.close()
        taken.append(blocker)
    try:
        with pytest.raises(BusError, match=f"DDS domain {settings.domain}"):
            DdsBus(settings, "late")
    finally:
        for blocker in taken:
            blocker.close()
    DdsBus(settings, "later").close()


def test_nothing_grows_when_samples_come_and_go(robot: DdsBus, run: DdsBus) -> None:
    writer, reader = robot.writer(EMERGENCY), run.reader(EMERGENCY)
    samples: list[Sample] = []
    reader.on_sample(samples.append)
    until(robot, lambda: writer.ready)
    data = codec(dobot_atom.EmergencyState_).encode(flags(True))

    def exchange_some() -> int:
        for _ in range(2000):
            writer.write_bytes(data)
            run.wait(0)
            reader.look()
        samples.clear()
        gc.collect()
        return len(gc.get_objects())

    exchange_some()
    before = exchange_some()
    assert exchange_some() - before < 100
