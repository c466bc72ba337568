"""A profile for the wrong firmware is recognised from what the robot announces on DDS: every pair there is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import DdsSettings
from orchestrator.mission import doctor
from orchestrator.robots.profiles import load_profile
from orchestrator.wire.topics import VARIANTS, topics

pytestmark = pytest.mark.dds

ROBOT = {"atom": "atom_w", "adam": "adam_u", "aurora": "gr2"}
ANNOUNCING = [
    (family, actual) for family in ("atom", "adam") for actual in ((), *((name,) for name in VARIANTS[family]))
]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent here, so there is no need to listen for long; who is there is known after the first wait."""
    monkeypatch.setattr(doctor, "LISTENING", 0.1)


@contextmanager
def robot_with(family: str, variants: tuple[str, ...], settings: DdsSettings) -> Iterator[None]:
    """A program that has the readers and writers of a robot with this firmware."""
    with DdsBus(settings, "robot") as bus:
        for topic in topics(family, variants).values():
            if topic.kind == "command":
                bus.reader(topic)
            else:
                bus.writer(topic)
        yield


def problems(family: str, expected: tuple[str, ...], settings: DdsSettings) -> list[str]:
    """What doctor finds wrong with a profile that expects this firmware."""
    profile = replace(load_profile(ROBOT[family]), variants=expected, prefix="")
    sight = doctor.look(profile, settings)
    return [line.text for line in doctor.robot_lines(profile, settings, sight) if line.verdict == "problem"]


@pytest.mark.parametrize(("family", "actual"), ANNOUNCING)
def test_the_wrong_firmware_is_named_and_what_to_write_instead(
    family: str, actual: tuple[str, ...], settings: DdsSettings
) -> None:
    with robot_with(family, actual, settings):
        for expected in ((), *((name,) for name in VARIANTS[family])):
            found = problems(family, expected, settings)
            if expected == actual:
                assert found == []
                continue
            changed = {topic for name in {*actual, *expected} for topic in VARIANTS[family][name]}
            assert {text.partition(": ")[0] for text in found} == changed, (expected, found)
            assert all(text.endswith(f"write variants: [{', '.join(actual)}] in the profile") for text in found)


def test_aurora_announces_no_types_and_doctor_says_that_it_cannot_tell(settings: DdsSettings) -> None:
    profile = load_profile("gr2")
    with robot_with("aurora", ("no_duration",), settings):
        sight = doctor.look(profile, settings)
    lines = [line for line in doctor.robot_lines(profile, settings, sight) if "velocity_cmd" in line.text]
    assert [line.text for line in lines] == [
        "velocity_cmd: read by robot; it announces no type, so whether its firmware is no_duration cannot be seen"
    ]
