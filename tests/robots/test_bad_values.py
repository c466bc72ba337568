"""Every value a robot reports, spoilt in every way: it is unknown with a reason, never something that looks fine."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from orchestrator.robots.fields import fields_of
from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.reasons import Reason
from orchestrator.robots.signals import Member, Several, Signal, Whole
from orchestrator.wire.codec import codec
from orchestrator.wire.topics import VARIANTS
from tests.support.fake_robot import FakeRobot

ROBOTS = ("gr2", "n1", "atom", "atom_w", "adam_u")
BAD = {"nan": math.nan, "infinity": math.inf, "minus infinity": -math.inf, "absurd": 9e9}
NOT_BELIEVED = {Reason.NOT_FINITE, Reason.OUT_OF_RANGE}
NO_HEARTBEAT = {"rt/emergency/state", "rt/hands/state", "rt/main/nodes/state", "rt/handstate"}
"""Topics with nothing in them that must change: they may say the same for ever."""


def reporting(name: str) -> FakeRobot:
    """A robot that has said everything once."""
    fake = FakeRobot(name)
    fake.run(0.06)
    for topic in fake.writers:
        fake.report(topic)
    fake.clock.advance(0)
    return fake


def holder(fake: FakeRobot, signal: Signal) -> tuple[Any, str]:
    """The (first) part of the message that has the signal's value, and the name of the value in it."""
    target: Any = fake.messages[signal.topic]
    *parents, last = signal.path.split(".")
    for parent in parents:
        name, index = re.fullmatch(r"(\w+)(\[.*\])?", parent).groups()  # type: ignore[union-attr]
        target = getattr(target, name)
        if isinstance(signal, Member) and index == "[{}]":
            key = signal.name_path.rpartition(".")[2]
            target = next(element for element in target if getattr(element, key) == signal.name)
        elif index is not None:
            target = target[_place(fake, signal)]
    return target, last


def _place(fake: FakeRobot, signal: Signal) -> int:
    """The first of a column's elements that the signal is about."""
    return getattr(signal.convert, "start", 0)


def measured(fake: FakeRobot) -> dict[str, Signal]:
    """The signals that are floating-point numbers on the wire."""
    found = {}
    for name, signal in fake.robot.state.signals.items():
        if isinstance(signal, Whole | Several) or "wireless_remote" in signal.path:
            continue
        part, last = holder(fake, signal)
        value = getattr(part, last)
        if isinstance(value[0] if isinstance(value, list) and value else value, float):
            found[name] = signal
    return found


def field_values(fake: FakeRobot) -> dict[str, Any]:
    found = {name: fake.robot.field(name)() for name in fields_of(fake.profile)}
    return {name: known.value if isinstance(known, Known) else known.reason for name, known in found.items()}


def spoil(fake: FakeRobot, signal: Signal, value: Any) -> None:
    part, last = holder(fake, signal)
    old = getattr(part, last)
    setattr(part, last, [value, *old[1:]] if isinstance(old, list) else value)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", ROBOTS)
def test_no_number_that_cannot_be_is_believed(name: str, bad: str) -> None:
    for signal in measured(FakeRobot(name)):
        fake = reporting(name)
        before = field_values(fake)
        spoil(fake, fake.robot.state.signals[signal], BAD[bad])
        fake.say(fake.robot.state.signals[signal].topic)
        found = fake.robot.state.read(signal)
        assert isinstance(found, Unknown), (signal, found)
        assert found.reason in NOT_BELIEVED, (signal, found)
        for field, value in field_values(fake).items():
            assert value in NOT_BELIEVED or value == pytest.approx(before[field], abs=1e-6), (signal, field, value)
        assert fake.robot.state.signal(signal).feed.reader.bad > 0, "it is not counted"


@pytest.mark.parametrize("name", ROBOTS)
def test_every_measured_number_of_every_robot_is_in_the_test_above(name: str) -> None:
    fake = FakeRobot(name)
    tested = set(measured(fake))
    groups = {f"{part}.{group}" for part in ("q", "qd", "tau") for group in fake.profile.groups}
    assert groups <= tested
    assert "base.quaternion" in tested


@pytest.mark.parametrize("longer", [True, False])
@pytest.mark.parametrize("name", ("gr2", "n1"))
def test_no_array_of_another_length_is_believed(name: str, longer: bool) -> None:
    for signal, where in measured(FakeRobot(name)).items():
        fake = FakeRobot(name)
        part, last = holder(fake, where)
        old = getattr(part, last)
        if not isinstance(old, list):
            continue
        fake.run(0.1)
        setattr(part, last, [*old, old[-1]] if longer else old[:-1])
        fake.say(where.topic)
        found = fake.robot.state.read(signal)
        assert isinstance(found, Unknown), (signal, found)
        assert found.reason in {Reason.BAD_SAMPLE, Reason.OUT_OF_RANGE}, (signal, found)


@pytest.mark.parametrize("count", [0, 18, 20, 29])
def test_an_adam_with_another_number_of_motors_is_another_adam(count: int) -> None:
    fake = FakeRobot("adam_u")
    fake.run(0.1)
    motors = fake.messages["rt/lowstate"].motor_state
    fake.set("rt/lowstate", motor_state=(motors * 2)[:count])
    fake.say("rt/lowstate")
    for name in ("motor.states", *(f"q.{group}" for group in fake.profile.groups)):
        found = fake.robot.state.read(name)
        assert isinstance(found, Unknown) and found.reason is Reason.BAD_SAMPLE, (name, found)
    found = fake.robot.field("errors.any")()
    assert isinstance(found, Unknown) and found.reason is Reason.BAD_SAMPLE


@pytest.mark.parametrize("name", ROBOTS)
def test_every_topic_that_has_a_heartbeat_is_unknown_when_it_stands_still(name: str) -> None:
    fake = FakeRobot(name)
    fake.run(1.0)
    fake.frozen = True
    for _ in range(6):  # motors are reported once a second, and three reports make it sure
        fake.run(1.0)
        reasons = {signal: fake.robot.state.read(signal) for signal in fake.robot.state.signals}
    for signal, found in reasons.items():
        topic = fake.robot.state.signals[signal].topic
        if topic in NO_HEARTBEAT:
            assert isinstance(found, Known), signal
        else:
            assert isinstance(found, Unknown) and found.reason is Reason.FROZEN, (signal, found)


@pytest.mark.parametrize("name", ROBOTS)
def test_time_that_goes_back_is_a_restart_on_every_topic(name: str) -> None:
    for topic in FakeRobot(name).writers:
        fake = reporting(name)
        if topic not in {signal.topic for signal in fake.robot.state.signals.values()}:
            continue  # nobody reads it
        for signal in fake.robot.state.signals:  # a stream is seen when somebody looks
            fake.robot.state.read(signal)
        data = codec(fake.writers[topic].topic.type).encode(fake.messages[topic])
        fake.writers[topic].write_bytes(data, age=30.0)
        fake.clock.advance(0)
        for signal in fake.robot.state.signals:
            fake.robot.state.read(signal)
        assert fake.robot.state.epoch > 0, topic


SAME_BYTES = {"emergency_3", "remote_int16"}
"""Messages as long as before, with padding where there was a value: only the types that are announced tell them apart,
and DDS does not connect them (test_doctor_variants)."""
CHANGED = [
    (name, variant, topic)
    for name, family in (("atom_w", "atom"), ("adam_u", "adam"))
    for variant, changed in VARIANTS[family].items()
    for topic, of in changed.items()
    if of.kind != "command" and variant not in SAME_BYTES
]


@pytest.mark.parametrize("newer", [True, False])
@pytest.mark.parametrize(("name", "variant", "topic"), CHANGED)
def test_bytes_of_another_firmware_are_never_misread(name: str, variant: str, topic: str, newer: bool) -> None:
    ours, theirs = (FakeRobot(name, variants=(variant,) if is_newer else ()) for is_newer in (newer, not newer))
    for fake in (ours, theirs):
        fake.run(0.2)
    ours.writers[topic].write_bytes(codec(theirs.writers[topic].topic.type).encode(theirs.messages[topic]))
    ours.clock.advance(0)
    for signal, where in ours.robot.state.signals.items():
        if where.topic == topic:
            found = ours.robot.state.read(signal)
            assert isinstance(found, Unknown) and found.reason is Reason.BAD_SAMPLE, (signal, found)
