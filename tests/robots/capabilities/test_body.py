"""Where the body and its hands are, as the robot reports it; in simulation also where it really is."""

from __future__ import annotations

import pytest

from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.reasons import Reason
from tests.support.fake_robot import FakeRobot
from tests.support.leaf_harness import Stage

POSE = [0.3, 0.2, 0.9, 0.0, 0.0, 0.0, 1.0]


def test_an_end_effector_is_found_by_the_arm_it_belongs_to() -> None:
    fake = FakeRobot("gr2")
    for group in fake.messages["robot_cartesian_state"].cartesian_state:
        group.pose = POSE if group.group_name == "right_manipulator" else [0.0] * 7
    fake.run(1.0)
    found = fake.robot.body.end_effector("right_arm")
    assert isinstance(found, Known)
    assert found.value == pytest.approx(POSE)


def test_an_end_effector_that_is_not_reported_is_unknown() -> None:
    fake = FakeRobot("gr2")
    fake.set("robot_cartesian_state", cartesian_state=[])
    fake.run(1.0)
    found = fake.robot.body.end_effector("left_arm")
    assert isinstance(found, Unknown)
    assert found.reason is Reason.NOT_REPORTED


@pytest.mark.parametrize("robot", ["atom_w", "adam_u"])
def test_other_families_report_neither_end_effectors_nor_the_truth(robot: str) -> None:
    body = FakeRobot(robot).robot.body
    for found in (body.end_effector("left_arm"), body.true_position()):
        assert isinstance(found, Unknown)
        assert found.reason is Reason.NOT_REPORTED


def test_a_simulated_aurora_shows_where_it_really_is_beside_what_it_believes() -> None:
    stage = Stage("gr2", at_first=lambda twin: setattr(twin.walking, "x", 2.0))
    truth, belief = stage.robot.body.true_position(), stage.robot.body.position()
    assert isinstance(truth, Known)
    assert isinstance(belief, Known)
    assert truth.value[0] == pytest.approx(2.0, abs=0.05)
    assert belief.value == pytest.approx(truth.value, abs=0.05)
    hand = stage.robot.body.end_effector("left_arm")
    assert isinstance(hand, Known)
    assert len(hand.value) == 7
