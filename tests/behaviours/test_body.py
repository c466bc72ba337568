"""CheckPose and CheckContact."""

from __future__ import annotations

import pytest

from behaviours.body import CheckContact, CheckPose
from behaviours.joints import MoveJoints
from orchestrator.leaf import Status
from tests.support.leaf_cases import STANDING, UPPER, Step
from tests.support.leaf_harness import Stage

READY_TO_MOVE: dict[str, list[Step]] = {"gr2": STANDING, "atom": UPPER, "adam_u": []}


@pytest.mark.parametrize("robot", READY_TO_MOVE)
def test_a_pose_is_compared_joint_by_joint(robot: str) -> None:
    stage = Stage(robot).prepare(*READY_TO_MOVE[robot], (MoveJoints, {"pose": "ready"}))
    assert stage.play(CheckPose, pose="ready").status is Status.SUCCESS
    away = stage.play(CheckPose, pose="home")
    assert (away.status, away.reason) == (Status.FAILURE, "not_met")
    assert "deg from home" in away.leaf.message
    assert stage.play(CheckPose, pose="home", within=3.0).status is Status.SUCCESS


def test_a_pose_that_is_not_known_is_not_reached() -> None:
    stage = Stage("atom")
    stage.hurt("off:rt/upper/state")
    stage.wait(1.0)
    play = stage.play(CheckPose, pose="home")
    assert (play.status, play.reason) == (Status.FAILURE, "stale")


@pytest.mark.parametrize("foot", ["left", "right", "both"])
def test_feet_on_the_ground(foot: str) -> None:
    assert Stage("gr2").prepare(*STANDING).play(CheckContact, foot=foot).status is Status.SUCCESS


def test_a_robot_that_fell_stands_on_no_foot() -> None:
    stage = Stage("gr2").prepare(*STANDING)
    stage.twin.fall()
    stage.wait(0.5)
    play = stage.play(CheckContact)
    assert (play.status, play.reason) == (Status.FAILURE, "not_met")
    assert "left foot" in play.leaf.message
