"""Hands: what they closed on, and whether they still hold it."""

from __future__ import annotations

from orchestrator.robots.judging import Judge
from orchestrator.robots.knowledge import Unknown
from orchestrator.robots.reasons import Reason
from tests.support.fake_robot import FakeRobot, known


def fingers(fake: FakeRobot, opening: float, effort: float = 0.0) -> None:
    """Bring the right hand of an Atom to an opening."""
    shape = fake.profile.hands
    assert shape is not None
    for motor, open_, closed in zip(fake.messages["rt/hands/state"].hands, shape.open, shape.closed):
        motor.q = closed + opening * (open_ - closed)
        motor.tau_est = effort


def open_hand() -> FakeRobot:
    fake = FakeRobot("atom")
    fingers(fake, 1.0)
    fake.run(0.5)
    return fake


def close(fake: FakeRobot, until: float, effort: float) -> Judge:
    grasp: Judge = fake.robot.hands.grasp("right", 1.0)
    for step in range(10):
        fingers(fake, 1.0 + (until - 1.0) * (step + 1) / 10, effort)
        fake.run(0.1)
        grasp.outcome()
    return grasp


def test_a_hand_that_stops_short_and_presses_holds_something() -> None:
    fake = open_hand()
    outcome = fake.judge(close(fake, until=0.4, effort=0.3))
    assert (outcome.status, outcome.result) == ("success", "object")
    assert known(fake.robot.hands.holding("right")) is True
    assert known(fake.robot.hands.holding("left")) is False


def test_what_slips_out_of_the_hand_is_no_longer_held() -> None:
    fake = open_hand()
    fake.judge(close(fake, until=0.4, effort=0.3))
    fingers(fake, 0.0)
    fake.run(0.2)
    assert known(fake.robot.hands.holding("right")) is False


def test_a_hand_that_closes_completely_holds_nothing() -> None:
    fake = open_hand()
    outcome = fake.judge(close(fake, until=0.0, effort=0.3))
    assert (outcome.reason, outcome.result) == (Reason.NOTHING_HELD, "nothing")


def test_a_hand_that_does_not_move_says_so() -> None:
    fake = open_hand()
    outcome = fake.judge(fake.robot.hands.grasp("right", 1.0))
    assert (outcome.reason, outcome.result) == (Reason.NOT_ACCEPTED, "not_moved")


def test_a_hand_that_stops_without_effort_holds_nothing() -> None:
    fake = open_hand()
    outcome = fake.judge(close(fake, until=0.4, effort=0.0))
    assert (outcome.reason, outcome.result) == (Reason.NO_PROGRESS, "not_moved")


def test_what_fingers_hold_whose_report_was_frozen_on_the_way_is_not_known() -> None:
    fake = open_hand()
    grasp = close(fake, until=0.4, effort=0.05)
    fake.frozen = True
    outcome = fake.judge(grasp)
    assert (outcome.reason, outcome.result) == (Reason.FROZEN, None)
    fake.frozen = False
    fake.run(0.2)
    holding = fake.robot.hands.holding("right")
    assert isinstance(holding, Unknown)
    assert holding.reason is Reason.FROZEN


def test_a_hand_without_effort_is_judged_by_its_positions() -> None:
    fake = FakeRobot("adam_u")
    fake.set("rt/handstate", position=[1000] * 12)
    fake.run(0.5)
    grasp = fake.robot.hands.grasp("left", 1.0)
    fake.run(0.2)
    grasp.outcome()
    fake.set("rt/handstate", position=[400] * 6 + [1000] * 6)
    outcome = fake.judge(grasp)
    assert (outcome.status, outcome.result) == ("success", "object")


def test_an_open_hand_is_done_when_it_is_open_and_holds_nothing_any_more() -> None:
    fake = open_hand()
    fake.judge(close(fake, until=0.4, effort=0.3))
    opening = fake.robot.hands.open("right")
    assert known(fake.robot.hands.holding("right")) is False
    fingers(fake, 1.0)
    assert fake.judge(opening).status == "success"


def test_fingers_that_do_not_arrive_are_named() -> None:
    fake = open_hand()
    pose = fake.robot.hands.pose("right", (0.5,) * 6)
    fingers(fake, 0.5)
    shape = fake.profile.hands
    assert shape is not None
    fake.messages["rt/hands/state"].hands[3].q = shape.open[3]
    outcome = fake.judge(pose)
    assert outcome.status == "failure"
    assert "index" in outcome.text


def test_fingers_where_no_finger_can_be_are_unknown() -> None:
    fake = FakeRobot("adam_u")
    fake.set("rt/handstate", position=[1000] * 6 + [1800] * 6)
    fake.run(0.5)
    assert known(fake.robot.hands.opening("left")) == (1.0,) * 6
    found = fake.robot.hands.opening("right")
    assert isinstance(found, Unknown)
    assert found.reason is Reason.OUT_OF_RANGE
