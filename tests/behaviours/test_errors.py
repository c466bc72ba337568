"""ClearErrors and CheckErrors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from behaviours.errors import CheckErrors, ClearErrors
from behaviours.joints import EnableMotors
from orchestrator.leaf import Status
from tests.support.leaf_cases import Case, Step, press
from tests.support.leaf_harness import Stage

ATOMS = pytest.mark.parametrize("robot", ["atom", "atom_w"])


def with_an_error(robot: str, lasting: bool = False) -> dict[str, Any]:
    """A stage of a robot with an error that can be cleared, unless it lasts."""

    def break_it(twin: Any) -> None:
        twin.fail_motor("left_elbow_pitch", lasting=lasting)

    return {"at_first": break_it}


def faulty(robot: str, lasting: bool = False) -> Stage:
    return Stage(robot, **with_an_error(robot, lasting))


CASES = [
    Case(robot, ClearErrors, {}, [], ["ClearErrors"], "rt/clear/errors", "failed", changes=with_an_error(robot))
    for robot in ("atom", "atom_w")
]


@ATOMS
def test_nothing_is_sent_when_there_is_nothing_to_clear(robot: str) -> None:
    stage = Stage(robot)
    assert stage.play(ClearErrors).status is Status.SUCCESS
    assert stage.sent == []


@ATOMS
def test_errors_are_cleared_when_the_robot_reports_none(robot: str) -> None:
    stage = faulty(robot)
    assert stage.play(CheckErrors).status is Status.FAILURE
    assert stage.play(ClearErrors).status is Status.SUCCESS
    assert stage.play(CheckErrors).status is Status.SUCCESS
    assert stage.sent == ["ClearErrors"]


@ATOMS
@pytest.mark.parametrize("fault", ["lost:rt/clear/errors", None], ids=["lost", "lasting"])
def test_errors_that_stay_fail_with_their_names_and_are_not_cleared_twice(robot: str, fault: str | None) -> None:
    stage = faulty(robot, lasting=fault is None)
    if fault:
        stage.hurt(fault)
    play = stage.play(ClearErrors)
    assert (play.status, play.reason) == (Status.FAILURE, "failed")
    assert "left_elbow_pitch" in play.leaf.message
    assert stage.sent == ["ClearErrors"]


@ATOMS
@pytest.mark.parametrize("error", [False, True], ids=["off", "off and an error"])
def test_errors_are_cleared_before_motors_that_are_off_are_enabled(robot: str, error: bool) -> None:
    def stop_hard(twin: Any) -> None:
        if error:
            twin.fail_motor("left_elbow_pitch")
        twin.drives.cut_power()
        twin.update()

    stage = Stage(robot, ("motors",), stop_hard)
    assert stage.play(CheckErrors).status is Status.FAILURE
    steps: list[Step] = [(ClearErrors, {}), (EnableMotors, {"enabled": True}), (CheckErrors, {})]
    for leaf, values in steps:
        play = stage.play(leaf, **values)
        assert play.status is Status.SUCCESS, play
    assert stage.sent == ["ClearErrors"] * error + ["EnableMotors"]


def test_a_robot_that_clears_late() -> None:
    stage = faulty("atom")
    stage.hurt("late_exec:rt/clear/errors,seconds=1s")
    assert stage.play(ClearErrors).status is Status.SUCCESS


def test_a_second_time_only_after_a_person_has_agreed() -> None:
    stage = faulty("atom", lasting=True)
    stage.play(ClearErrors)
    again = stage.play(ClearErrors)
    assert (again.status, again.reason) == (Status.FAILURE, "refused")
    assert "confirm" in again.leaf.message
    assert stage.sent == ["ClearErrors"]
    agreed = stage.leaf(ClearErrors)
    agreed.leaf.confirmed = True
    agreed.finish()
    assert stage.sent == ["ClearErrors"] * 2


@pytest.mark.parametrize("make", [faulty, Stage], ids=["watched by the tree", "watched by the guard"])
def test_it_is_refused_while_a_stop_is_latched(make: Callable[[str], Stage]) -> None:
    stage = make("atom")
    press(stage)
    stage.wait(1.0)
    stage.twin.release_emergency("soft")
    stage.twin.fail_motor("left_elbow_pitch")
    stage.wait(2.0)
    play = stage.play(ClearErrors)
    assert (play.status, play.reason) == (Status.FAILURE, "refused")
    assert "ClearErrors" not in stage.sent


def test_errors_that_are_not_known_are_not_cleared() -> None:
    stage = faulty("atom")
    stage.hurt("off:rt/main/nodes/state")
    stage.wait(2.0)
    assert stage.play(ClearErrors).reason == "stale"
    assert stage.sent == []


@pytest.mark.parametrize("robot", ["gr2", "n1", "atom", "atom_w", "adam_u"])
def test_a_healthy_robot_has_no_errors(robot: str) -> None:
    assert Stage(robot).play(CheckErrors).status is Status.SUCCESS


@pytest.mark.parametrize("robot", ["gr2", "n1", "atom", "adam_u"])
def test_errors_are_named(robot: str) -> None:
    stage = Stage(robot)
    stage.twin.fail_motor(stage.profile.group("left_arm")[2].name)
    stage.wait(1.5)
    play = stage.play(CheckErrors)
    assert (play.status, play.reason) == (Status.FAILURE, "not_met")
    assert "left" in play.leaf.message
