"""WaitForButton."""

from __future__ import annotations

import pytest

from behaviours.pad import WaitForButton
from orchestrator.leaf import Status
from tests.support.leaf_harness import Play, Stage

ROBOTS = pytest.mark.parametrize("robot", ["atom", "atom_w", "adam_u"])


def tap(stage: Stage, button: str) -> None:
    stage.twin.press(button)
    stage.clock.advance(0.01)
    stage.twin.release(button)


def waiting(robot: str) -> Play:
    play = Stage(robot).leaf(WaitForButton, button="a").go(1.0)
    assert play.status is Status.RUNNING
    return play


@ROBOTS
def test_a_short_press_is_not_missed(robot: str) -> None:
    play = waiting(robot)
    tap(play.stage, "a")
    assert play.finish().status is Status.SUCCESS
    assert play.stage.sent == []


@ROBOTS
def test_another_button_is_not_it(robot: str) -> None:
    play = waiting(robot)
    tap(play.stage, "b")
    assert play.go(1.0).status is Status.RUNNING


@ROBOTS
def test_one_press_does_for_one_wait(robot: str) -> None:
    play = waiting(robot)
    play.stage.twin.press("a")
    assert play.finish().status is Status.SUCCESS
    second = play.stage.leaf(WaitForButton, button="a").go(1.0)
    assert second.status is Status.RUNNING  # it is still held down
    play.stage.twin.release("a")
    second.go(0.5)
    tap(play.stage, "a")
    assert second.finish().status is Status.SUCCESS


def test_a_button_the_pad_does_not_have() -> None:
    play = Stage("atom").leaf(WaitForButton, button="home").go(1.0)
    assert (play.status, play.reason) == (Status.FAILURE, "not_reported")


def test_a_silent_pad_is_waited_for() -> None:
    stage = Stage("adam_u")
    stage.hurt("off:rt/lowstate")
    assert stage.leaf(WaitForButton, button="a").go(5.0).status is Status.RUNNING
