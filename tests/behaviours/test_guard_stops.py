"""A leaf whose command the guard has stopped says why the guard did so; nobody else is blamed, and nothing succeeds."""

from __future__ import annotations

from typing import Any

import pytest

from behaviours.hands import HandGrasp, HandOpen, HandPose
from behaviours.joints import MoveJoints
from behaviours.mobile_base import DriveBase, MoveToTag, RotateBase
from orchestrator.leaf import Status
from tests.behaviours.test_mobile_base import stands, turning_base
from tests.support.leaf_cases import UPPER, Step
from tests.support.leaf_harness import Stage

CLOSED: Step = (HandPose, {"hand": "right", "fingers": [90.0] * 6})
WHY = "left_arm[3]: error 0x1"


@pytest.mark.parametrize(
    ("leaf", "values", "after"),
    [
        (MoveToTag, {"tag": 12}, 3.0),
        (RotateBase, {"angle": 1.5}, 1.5),
        (MoveJoints, {"angles": {"right_elbow_pitch": -0.5}, "time": 3.0}, 1.0),
        (HandGrasp, {"hand": "right"}, 0.2),
        (HandPose, {"hand": "right", "fingers": [100.0] * 6}, 0.2),
        (HandOpen, {"hand": "right"}, 0.2),
        (DriveBase, {"forward": 0.2, "time": 2.0}, 1.0),  # waits for the key on the base
    ],
)
def test_a_motor_error_elsewhere(leaf: Any, values: dict[str, Any], after: float) -> None:
    stage = Stage("atom_w", ("remote_drive",), **turning_base()).prepare(*UPPER)
    if leaf is HandOpen:
        stage.prepare(CLOSED)
    play = stage.leaf(leaf, **values).go(after)
    assert play.status is Status.RUNNING
    stage.hurt("motor_error:left_elbow_pitch")
    play.finish()
    assert (play.status, play.reason) == (Status.FAILURE, "ended"), play
    assert WHY in play.leaf.message
    assert play.took < after + 1.0
    stage.wait(3.0)
    assert stands(stage.twin)


def test_a_drive_that_somebody_else_cancels_is_not_the_guards_doing() -> None:
    stage = Stage("atom_w").prepare(*UPPER)
    play = stage.leaf(MoveToTag, tag=12).go(3.0)
    stage.hurt("amr_cancel")
    assert play.finish().reason == "cancelled_by_other"
