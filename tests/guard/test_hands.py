"""A stop holds fingers that move where they are, and leaves those that rest what they were told."""

from __future__ import annotations

import pytest

from orchestrator.guard import events as e
from orchestrator.guard.outputs import Send
from orchestrator.robots import intents as i
from tests.support.guard_world import World

ROBOTS = ["gr2", "atom", "atom_w", "adam_u"]


def told(robot: str) -> World:
    """A running robot whose right hand was just told to close."""
    world = World(robot).run()
    if robot == "gr2":
        world.ask(i.SetUpperFsm("remote"))
        world.shown.upper_fsm = 2
        world.wait(0.1, beats=True)
    fingers = len(world.opening())
    assert world.ask(i.HandTarget("right", (0.1,) * fingers)).outputs
    world.trace.clear()
    return world


def stopped(world: World, event: e.Event) -> tuple[int, int]:
    """How many targets its hands are sent by a stop, and how many commands end with it."""
    world.do(event)
    world.wait(0.3, beats=True)
    outputs = [output for entry in world.trace for output in entry.outputs]
    targets = [each for each in outputs if isinstance(each, Send) and isinstance(each.intent, i.HandTarget)]
    ended = [report for entry in world.trace for report in entry.reports if report.kind == "ended"]
    return len(targets), len(ended)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("event", [e.Pause("op"), e.Stop("op"), e.Disarm("op")])
def test_fingers_that_rest_keep_what_they_were_told(robot: str, event: e.Event) -> None:
    world = told(robot)
    world.wait(1.0, beats=True)
    assert stopped(world, event) == (0, 0)


@pytest.mark.parametrize("robot", ROBOTS)
def test_fingers_that_may_not_have_begun_are_held_where_they_are(robot: str) -> None:
    world = told(robot)
    world.wait(0.3, beats=True)
    targets, ended = stopped(world, e.Pause("op"))
    assert targets > 0
    assert ended == 1


@pytest.mark.parametrize("robot", ROBOTS)
def test_fingers_that_move_are_held_where_they_are(robot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = told(robot)
    fingers = len(world.opening())
    for step in range(20):
        monkeypatch.setattr(world, "opening", lambda step=step: (0.9 - 0.02 * step,) * fingers)
        world.wait(0.05, beats=True)
    targets, ended = stopped(world, e.Pause("op"))
    assert targets > 0
    assert ended == 1


@pytest.mark.parametrize("robot", ["atom", "atom_w", "adam_u"])  # a GR-2 tells of hands and arms in one message
def test_fingers_of_a_hand_that_says_nothing_do_not_count_as_resting(robot: str) -> None:
    world = told(robot)
    world.shown.silent = (world.core.setting.robot.roles["hands"],)
    world.wait(1.5, beats=True)
    targets, _ = stopped(world, e.Stop("op"))
    assert targets > 0
