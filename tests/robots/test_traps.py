"""The vendors' traps: each has a test that keeps us out of it (docs/robots.md lists them)."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from orchestrator.data import data_path
from orchestrator.robots.profiles import load_profile, profile_names
from orchestrator.wire.topics import ADAM, AURORA, topics
from tests.support.fake_robot import FakeRobot, known

ROWS = re.findall(r"^\| (\d+) \| .* \| `(tests/[^`]+)` \|$", data_path("docs/robots.md").read_text(), re.MULTILINE)


@cache
def names_in(file: str) -> set[str]:
    tree = ast.parse(data_path(file).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_trap_is_in_the_table() -> None:
    assert [int(number) for number, _ in ROWS] == list(range(1, 41))


@pytest.mark.parametrize(("number", "test"), ROWS)
def test_the_test_it_names_is_there(number: str, test: str) -> None:
    file, _, name = test.partition("::")
    assert name in names_in(file), f"trap {number}"


def test_a_state_number_without_a_name_is_tolerated_where_fouriers_client_breaks() -> None:
    fake = FakeRobot("gr2")
    fake.set("aurora_state", upper_body_fsm_state=3)
    fake.run(0.1)
    found = fake.robot.upper_body.state()
    assert not hasattr(found, "value")
    assert known(fake.robot.fsm.state()) == "default"


def test_the_prefix_is_whatever_the_profile_says() -> None:
    for prefix in ("GR2/0042/", "lab/"):
        assert topics("aurora", (), prefix)["aurora_state"].name == f"{prefix}aurora_state"
    assert topics("aurora")["aurora_state"].name == AURORA["aurora_state"].name == "aurora_state"


def test_topics_of_an_adam_begin_with_rt() -> None:
    assert all(topic.name.startswith("rt/") for topic in ADAM.values())


@pytest.mark.parametrize("name", profile_names())
def test_angles_of_an_imu_are_never_read_because_their_unit_is_not_sure(name: str) -> None:
    paths = {signal.path for signal in FakeRobot(name).robot.state.signals.values()}
    assert not {path for path in paths if path.endswith(("imu_state.rpy", "imu_state.ypr"))}
    fake = FakeRobot(name)
    fake.run(0.1)
    assert known(fake.robot.field("body.yaw")()) == 0.0


def test_developer_mode_cannot_be_seen_and_whoever_looks_at_an_adam_is_told() -> None:
    told = [fact for fact in load_profile("adam_u").unconfirmed if fact.what == "developer mode"]
    assert len(told) == 1
