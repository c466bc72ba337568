"""CheckBattery."""

from __future__ import annotations

import pytest

from behaviours.battery import CheckBattery
from orchestrator.leaf import Status
from tests.support.leaf_harness import Play, Stage

ATOMS = pytest.mark.parametrize("robot", ["atom", "atom_w"])


@ATOMS
def test_full_enough(robot: str) -> None:
    assert Stage(robot).play(CheckBattery, at_least=30.0).status is Status.SUCCESS


@ATOMS
def test_too_low(robot: str) -> None:
    stage = Stage(robot)
    stage.hurt("battery,level=20")
    stage.wait(0.5)
    play = stage.play(CheckBattery, at_least=30.0)
    assert (play.status, play.reason, play.leaf.message) == (Status.FAILURE, "not_met", "the battery is at 20 %")


def test_charged_meanwhile_it_says_no_more_of_the_last_look() -> None:
    stage = Stage("atom")
    stage.hurt("battery,level=20")
    stage.wait(0.5)
    play = stage.play(CheckBattery, at_least=30.0)
    stage.hurt("battery,level=80")
    stage.wait(0.5)
    again = Play(stage, play.leaf).finish()
    assert (again.status, again.reason, again.leaf.message) == (Status.SUCCESS, "", "")


def test_a_robot_without_a_level() -> None:
    play = Stage("adam_u").play(CheckBattery, at_least=30.0)
    assert (play.status, play.reason) == (Status.FAILURE, "not_reported")


@ATOMS
def test_silence_is_not_full(robot: str) -> None:
    stage = Stage(robot)
    for topic in ("rt/power/state", "rt/lower/state"):
        stage.hurt(f"off:{topic}")
    stage.wait(3.0)
    play = stage.play(CheckBattery, at_least=30.0)
    assert play.status is Status.FAILURE
    assert "battery.level is not known" in play.leaf.message
