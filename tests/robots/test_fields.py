"""The field table: complete, light, and true to what the robots report."""

from __future__ import annotations

import subprocess
import sys

import pytest

from orchestrator.bus.contract import BusError
from orchestrator.robots.fields import DEVICE, EMERGENCY, NAVIGATION, fields_of, sources
from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.pads import AXES, BUTTONS
from orchestrator.robots.profiles import load_profile, profile_names
from orchestrator.robots.reasons import Reason
from orchestrator.wire.dobot_atom import DeviceStatus_, NavigationStatus_
from orchestrator.yamlfile.units import DIMENSIONS
from tests.support.fake_robot import FakeRobot


@pytest.mark.parametrize("name", profile_names())
def test_every_field_can_be_read_and_has_a_value_of_its_type_once_the_robot_reports(name: str) -> None:
    fake = FakeRobot(name)
    table = fields_of(fake.profile)
    assert all(isinstance(fake.robot.field(field)(), Unknown) for field in table)
    fake.run(1.2)
    for field in table.values():
        found = fake.robot.field(field.name)()
        assert isinstance(found, Known), (field.name, found)
        match field.type:
            case "bool":
                assert isinstance(found.value, bool)
            case "choice":
                assert found.value in field.choices
            case _:
                assert isinstance(found.value, int | float)
                assert field.lower is None or field.lower <= found.value
                assert field.upper is None or found.value <= field.upper


@pytest.mark.parametrize("name", profile_names())
def test_fields_are_well_formed(name: str) -> None:
    profile = load_profile(name)
    for field in fields_of(profile).values():
        assert field.type in {"bool", "int", "number", "choice", *DIMENSIONS}
        assert field.capability in profile.capabilities
        assert field.help.endswith(".")
        assert field.name.count(".") >= 1


@pytest.mark.parametrize("name", profile_names())
def test_every_event_field_can_be_watched(name: str) -> None:
    fake = FakeRobot(name)
    for source in sources(fake.profile).values():
        try:
            fake.robot.watch(source.field.name)
        except BusError as error:
            pytest.fail(f"{source.field.name}: {error}")


def test_a_watched_field_that_changes_ends_the_wait() -> None:
    fake = FakeRobot("atom")
    fake.run(0.2)
    fake.robot.watch("fsm.state")
    fake.say("rt/lower/state")
    fake.mission_bus.wait(0.0)
    fake.report("rt/lower/state")
    assert fake.mission_bus.wait(0.01) is False
    fake.set("rt/lower/state", fsm_id=301)
    fake.report("rt/lower/state")
    assert fake.mission_bus.wait(0.01) is True


@pytest.mark.parametrize("name", profile_names())
def test_the_light_tables_say_what_the_robots_wire_says(name: str) -> None:
    fake = FakeRobot(name)
    signals, family = fake.robot.state.signals, fake.profile.family
    flags = {signal.removeprefix("emergency.") for signal in signals if signal.startswith("emergency.")}
    assert flags - {"base"} == set(EMERGENCY[family])
    pad = {signal.removeprefix("pad.") for signal in signals if signal.startswith("pad.")}
    assert pad == {*BUTTONS.get(family, ()), *AXES.get(family, ())}


def test_the_words_of_the_base_are_the_vendors() -> None:
    assert tuple(word.lower() for word in NavigationStatus_.__members__) == NAVIGATION
    assert tuple(word.lower() for word in DeviceStatus_.__members__) == DEVICE


def test_the_table_needs_neither_middleware_nor_numpy() -> None:
    code = (
        "import sys; from orchestrator.robots.fields import fields_of;"
        "from orchestrator.robots.profiles import load_profile;"
        "fields_of(load_profile('atom_w')); print([m for m in ('cyclonedds', 'numpy', 'py_trees') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_a_field_without_a_fresh_sample_names_topic_and_age() -> None:
    fake = FakeRobot("atom")
    fake.run(0.5)
    fake.clock.advance(0.4)
    found = fake.robot.field("battery.level")()
    assert isinstance(found, Unknown)
    assert found.reason is Reason.STALE
    assert found.text == "nothing has come on rt/lower/state for 0.42 s"
