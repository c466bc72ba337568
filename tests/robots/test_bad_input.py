"""Whatever a robot sends, reading it gives a believable value or says why not; it never breaks the run."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.robots.data import robot_data
from orchestrator.robots.fields import fields_of
from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.wire.codec import codec
from tests.support.fake_robot import FakeRobot
from tests.support.messages import messages

ROBOTS = ("gr2", "n1", "atom", "atom_w", "adam_u")
FEW = settings(
    max_examples=int(os.environ.get("MESSAGES", "3")), deadline=None, suppress_health_check=list(HealthCheck)
)


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, tuple | list | set):
        for item in value:
            yield from numbers_in(item)
    elif isinstance(value, float):
        yield value


def read_everything(fake: FakeRobot) -> None:
    for signal in fake.robot.state.signals:
        found = fake.robot.state.read(signal)
        assert isinstance(found, Known | Unknown)
        if isinstance(found, Known):
            assert all(map(math.isfinite, numbers_in(found.value))), (signal, found)
    for field in fields_of(fake.profile).values():
        found = fake.robot.field(field.name)()
        if isinstance(found, Known) and field.choices:
            assert found.value in field.choices
        if isinstance(found, Known) and field.type not in ("bool", "choice"):
            assert (field.lower or -math.inf) - 0.02 <= found.value <= (field.upper or math.inf) + 0.02, field.name
    robot_data(fake.robot)


@pytest.mark.parametrize("name", ROBOTS)
@FEW
@given(data=st.data())
def test_messages_full_of_anything(name: str, data: st.DataObject) -> None:
    fake = FakeRobot(name)
    fake.run(0.1)
    for topic, writer in fake.writers.items():
        message = data.draw(messages(writer.topic.type), label=topic)
        writer.write_bytes(codec(writer.topic.type).encode(message))
    fake.clock.advance(0.001)
    read_everything(fake)


@pytest.mark.parametrize("name", ROBOTS)
@FEW
@given(cut=st.integers(0, 5000), flips=st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), max_size=4))
def test_bytes_cut_short_or_changed(name: str, cut: int, flips: list[tuple[int, int]]) -> None:
    fake = FakeRobot(name)
    fake.run(0.1)
    for topic, writer in fake.writers.items():
        data = bytearray(codec(writer.topic.type).encode(fake.messages[topic]))
        for place, value in flips:
            data[place % len(data)] = value
        writer.write_bytes(bytes(data if cut > 2500 else data[: cut % len(data)]))
    fake.clock.advance(0.001)
    read_everything(fake)
