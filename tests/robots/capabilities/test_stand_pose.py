"""The standing body: when a pose is reached and when it is stable."""

from __future__ import annotations

from orchestrator.robots.reasons import Reason
from tests.support.fake_robot import ready, reason


def test_a_stand_pose_is_done_when_it_is_reported_and_the_body_is_stable() -> None:
    fake = ready("gr2")
    pose = fake.robot.stand_pose.set(-0.05, 0.1, 0.0)
    fake.set("robot_stand_pose_state", delta_z=-0.05, delta_pitch=0.1)
    fake.run(1.0)
    assert pose.outcome().status == "running"
    fake.set("robot_stand_pose_state", stable_level=105)
    assert fake.judge(pose).status == "success"


def test_a_body_that_ignores_the_pose_makes_no_progress() -> None:
    fake = ready("gr2")
    outcome = fake.judge(fake.robot.stand_pose.set(-0.05, 0.0, 0.0))
    assert reason(outcome) is Reason.NO_PROGRESS
    assert "stably" in outcome.text


def test_a_body_that_stands_and_does_not_stir_has_not_taken_the_pose() -> None:
    fake = ready("gr2")
    fake.set("robot_stand_pose_state", stable_level=110)
    fake.run(0.1)
    assert reason(fake.judge(fake.robot.stand_pose.set(-0.05, 0.0, 0.0))) is Reason.NOT_ACCEPTED


def test_a_body_that_stops_on_the_way_makes_no_progress() -> None:
    fake = ready("gr2")
    fake.set("robot_stand_pose_state", stable_level=110)
    fake.run(0.1)
    pose = fake.robot.stand_pose.set(-0.05, 0.0, 0.0)
    fake.set("robot_stand_pose_state", delta_z=-0.02)
    assert reason(fake.judge(pose)) is Reason.NO_PROGRESS


def test_waiting_for_a_stable_stand_begins_anew_when_it_is_lost() -> None:
    fake = ready("gr2")
    wait = fake.robot.stand_pose.wait_stable(1.0)
    fake.set("robot_stand_pose_state", stable_level=110)
    fake.judge(wait, within=0.8)
    fake.set("robot_stand_pose_state", stable_level=50)
    fake.judge(wait, within=0.2)
    fake.set("robot_stand_pose_state", stable_level=110)
    assert fake.judge(wait, within=0.8).status == "running"
    assert fake.judge(wait, within=0.6).status == "success"
    assert fake.orders.intents == []
