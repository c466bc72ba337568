"""Walking for a time, a distance or a turn, and stopping."""

from __future__ import annotations

import math

import pytest

from orchestrator.robots.reasons import Reason
from tests.support.fake_robot import ready, reason


def test_walking_for_a_time_ends_by_itself_and_cancelling_ends_the_stream() -> None:
    fake = ready("gr2")
    walk = fake.robot.velocity.walk(0.3, 0.0, 0.0, time=2.0)
    fake.set("base_data_pub", vel_B=[0.3, 0.0, 0.0], pos_W=[0.2, 0.0, 0.0])
    fake.run(1.0)
    assert walk.outcome().progress == pytest.approx(0.5, abs=0.05)
    assert fake.judge(walk).status == "success"
    walk.cancel()
    assert fake.orders.ended == fake.orders.receipts
    assert walk.outcome().status == "success"


def test_walking_a_distance_is_measured_from_where_it_began() -> None:
    fake = ready("gr2")
    fake.set("base_data_pub", pos_W=[5.0, 5.0, 0.0])
    fake.run(0.1)
    walk = fake.robot.velocity.walk(0.3, 0.0, 0.0, distance=1.0)
    for step in range(12):
        fake.set("base_data_pub", pos_W=[5.0 + step / 10, 5.0, 0.0])
        fake.run(0.3)
        assert walk.outcome().status == ("success" if step >= 10 else "running"), step


def test_more_than_a_whole_turn_is_added_up() -> None:
    fake = ready("gr2")
    walk = fake.robot.velocity.walk(0.0, 0.0, 0.5, heading=3 * math.pi)
    for degrees in range(0, 545, 5):
        half = math.radians(degrees) / 2
        fake.set("base_data_pub", quat_wxyz=[math.cos(half), 0.0, 0.0, math.sin(half)])
        fake.run(0.04)
        assert walk.outcome().status == ("success" if degrees >= 540 else "running"), degrees


@pytest.mark.parametrize("degrees", [45, -45])
def test_a_heading_that_jumps_is_no_turn(degrees: float) -> None:
    fake = ready("gr2")
    walk = fake.robot.velocity.walk(0.0, 0.0, 0.5, heading=0.5)
    fake.run(0.2)
    assert walk.outcome().status == "running"
    half = math.radians(degrees) / 2
    fake.set("base_data_pub", quat_wxyz=[math.cos(half), 0.0, 0.0, math.sin(half)])
    assert reason(fake.judge(walk)) is Reason.OUT_OF_RANGE


def test_a_report_that_comes_late_is_no_jump() -> None:
    fake = ready("gr2")
    walk = fake.robot.velocity.walk(0.5, 0.0, 0.0, distance=1.0)
    for late in range(8):
        fake.set("base_data_pub", pos_W=[0.15 * late, 0.0, 0.0])
        for _ in range(15):  # the reports of 0.3 s: the first shows all the way at once
            fake.run(0.02)
            outcome = walk.outcome()
            assert not outcome.over or outcome.status == "success", outcome
    assert walk.outcome().status == "success"


def test_a_robot_that_stays_where_it_is_has_not_taken_the_command() -> None:
    fake = ready("gr2")
    assert reason(fake.judge(fake.robot.velocity.walk(0.3, 0.0, 0.0, distance=1.0))) is Reason.NOT_ACCEPTED


def test_a_robot_that_stops_on_the_way_makes_no_progress() -> None:
    fake = ready("gr2")
    walk = fake.robot.velocity.walk(0.3, 0.0, 0.0, distance=1.0)
    for step in range(4):
        fake.set("base_data_pub", pos_W=[step / 10, 0.0, 0.0])
        fake.judge(walk, within=0.3)
    assert reason(fake.judge(walk)) is Reason.NO_PROGRESS


def test_a_robot_without_odometry_walks_no_distance() -> None:
    fake = ready("atom")
    assert reason(fake.robot.velocity.walk(0.3, 0.0, 0.0, distance=1.0).outcome()) is Reason.NOT_REPORTED
    assert fake.orders.intents == []


def test_stopping_needs_the_robot_to_stand() -> None:
    fake = ready("gr2")
    fake.set("base_data_pub", vel_B=[0.3, 0.0, 0.0])
    stop = fake.robot.velocity.stop()
    fake.run(1.0)
    assert stop.outcome().status == "running"
    fake.set("base_data_pub", vel_B=[0.01, 0.0, 0.0])
    assert fake.judge(stop).status == "success"
    assert fake.orders.ended == fake.orders.receipts


def test_a_robot_that_only_rises_does_not_walk() -> None:
    fake = ready("gr2")
    walk = fake.robot.velocity.walk(0.3, 0.0, 0.0, time=2.0)
    fake.set("base_data_pub", pos_W=[0.0, 0.0, 0.2])
    assert reason(fake.judge(walk)) is Reason.NOT_ACCEPTED


@pytest.mark.parametrize(("forward", "turn"), [(0.3, 0.0), (0.0, 0.3)])
def test_walking_for_a_time_needs_the_robot_to_say_that_it_moves(forward: float, turn: float) -> None:
    fake = ready("gr2")
    assert reason(fake.judge(fake.robot.velocity.walk(forward, 0.0, turn, time=2.0))) is Reason.NOT_ACCEPTED
