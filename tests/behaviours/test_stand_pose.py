"""StandPose."""

from __future__ import annotations

import pytest

from behaviours.fsm import SetFsm
from behaviours.stand_pose import StandPose
from orchestrator.leaf import Status
from tests.support.leaf_cases import STANDING, Case, check_emergency, check_late, check_lost, check_success, each
from tests.support.leaf_harness import Stage

LOW = {"height": -0.1, "pitch": 0.2, "yaw": 0.1}
CASES = [
    Case(robot, StandPose, LOW, STANDING, ["StandPose"], "robot_stand_pose_cmd", "not_accepted")
    for robot in ("gr1", "gr2", "gr3", "n1")
]


@each(CASES)
def test_the_pose_is_reached_when_the_robot_reports_it_and_is_stable(case: Case) -> None:
    play = check_success(case)
    assert play.stage.twin.stand.pose == pytest.approx((-0.1, 0.2, 0.1))


@each(CASES)
def test_a_robot_that_never_gets_the_command(case: Case) -> None:
    check_lost(case)


@each(CASES)
def test_a_robot_that_obeys_late(case: Case) -> None:
    check_late(case)


@each(CASES)
@pytest.mark.parametrize("after", [0.0, 0.2])
def test_an_emergency_stop(case: Case, after: float) -> None:
    check_emergency(case, after)


def test_interrupted_the_body_stays_where_it_is() -> None:
    stage = Stage("gr2").prepare(*STANDING)
    play = stage.leaf(StandPose, **LOW).go(0.2).stop()
    where = stage.twin.stand.pose
    stage.wait(2.0)
    assert play.status is Status.RUNNING
    assert -0.1 < where[0] < 0.0
    assert stage.twin.stand.pose == pytest.approx(where, abs=0.005)
    assert stage.sent == ["StandPose", "StandPose"]


def test_paused_and_resumed_it_arrives() -> None:
    stage = Stage("gr2").prepare(*STANDING)
    play = stage.leaf(StandPose, **LOW).go(0.2)
    play.leaf.pause()
    stage.wait(5.0)
    assert stage.twin.stand.pose[0] > -0.09
    play.leaf.resume()
    assert play.finish().status is Status.SUCCESS


def test_beyond_the_robots_limits_it_is_refused() -> None:
    play = Stage("gr2").prepare(*STANDING).play(StandPose, height=-0.5)
    assert (play.status, play.reason) == (Status.FAILURE, "refused")


def test_in_another_state_it_is_refused() -> None:
    play = Stage("gr2").prepare(*STANDING, (SetFsm, {"state": "walk"})).play(StandPose, height=-0.05)
    assert (play.status, play.reason) == (Status.FAILURE, "refused")


def test_a_fall_on_the_way_fails() -> None:
    stage = Stage("gr2").prepare(*STANDING)
    play = stage.leaf(StandPose, **LOW).go(0.2)
    stage.twin.fall()
    play.finish()
    assert (play.status, play.reason) == (Status.FAILURE, "ended")
    assert "e-stop tilt" in play.leaf.message


@pytest.mark.parametrize(("axis", "beyond"), [("delta_z", -0.2005), ("delta_yaw", -0.3005)])
def test_interrupted_a_body_that_is_a_little_beyond_its_limits_stays_where_it_is(axis: str, beyond: float) -> None:
    stage = Stage("gr2").prepare(*STANDING)
    stage.hurt(f"wrong:robot_stand_pose_state.{axis},value={beyond}")
    stage.leaf(StandPose, height=0.0, pitch=0.4).go(0.4).stop()
    pitch = stage.twin.stand.pose[1]
    assert 0.0 < pitch < 0.35
    stage.wait(2.0)
    assert stage.twin.stand.pose[1] == pytest.approx(pitch, abs=0.02)
