"""A stop holds fingers that move where they are, and leaves those that rest what they were told."""

from __future__ import annotations

import pytest

from orchestrator.guard import events as e
from orchestrator.guard.hands import kept
from orchestrator.guard.outputs import Send
from orchestrator.robots import intents as i
from tests.support.guard_world import Entry, World, default_config, with_allowed

ROBOTS = ["gr2", "atom", "atom_w", "adam_u"]
OWN_TOPIC = ["atom", "atom_w", "adam_u"]
"""A GR-2 tells of hands and arms in one message."""


class Fingers(World):
    """A running robot whose hands are as far open as they are put."""

    part = 0.5

    def opening(self) -> tuple[float, ...]:
        return (self.part,) * len(self.profile.hands.fingers) if self.profile.hands else ()

    def put(self, part: float, seconds: float) -> None:
        self.part = part
        self.wait(seconds, beats=True)


def told(robot: str, part: float = 0.1) -> Fingers:
    """Its right hand was just told to close."""
    world = Fingers(robot)
    world.run()
    if robot == "gr2":
        world.ask(i.SetUpperFsm("remote"))
        world.shown.upper_fsm = 2
        world.wait(0.1, beats=True)
    assert tell(world, "right", part).outputs
    world.trace.clear()
    return world


def tell(world: Fingers, hand: str, part: float) -> Entry:
    return world.ask(i.HandTarget(hand, (part,) * len(world.opening())))


def stopped(world: World, event: e.Event) -> tuple[int, int]:
    """How many targets its hands are sent by a stop, and how many commands end with it."""
    world.trace.clear()
    world.do(event)
    world.wait(0.3, beats=True)
    outputs = [output for entry in world.trace for output in entry.outputs]
    targets = [each for each in outputs if isinstance(each, Send) and isinstance(each.intent, i.HandTarget)]
    ended = [report for entry in world.trace for report in entry.reports if report.kind == "ended"]
    return len(targets), len(ended)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("rest", [0.3, 0.1])
@pytest.mark.parametrize("event", [e.Pause("op"), e.Stop("op"), e.Disarm("op")])
def test_fingers_that_rest_keep_what_they_were_told(robot: str, rest: float, event: e.Event) -> None:
    world = told(robot)
    world.put(rest, 1.0)
    assert stopped(world, event) == (0, 0)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("seconds", [0.3, 2.0])
def test_fingers_that_have_not_begun_are_held_where_they_are(robot: str, seconds: float) -> None:
    """However long it takes: their report may be frozen."""
    world = told(robot)
    world.wait(seconds, beats=True)
    targets, ended = stopped(world, e.Pause("op"))
    assert targets > 0
    assert ended == 1


@pytest.mark.parametrize("robot", ROBOTS)
def test_fingers_that_move_are_held_where_they_are(robot: str) -> None:
    world = told(robot)
    for step in range(20):
        world.put(0.5 - 0.02 * step, 0.05)
    targets, ended = stopped(world, e.Pause("op"))
    assert targets > 0
    assert ended == 1


@pytest.mark.parametrize("robot", OWN_TOPIC)
@pytest.mark.parametrize("rested", [0.0, 1.0])
def test_fingers_of_a_hand_that_fell_silent_do_not_count_as_resting(robot: str, rested: float) -> None:
    world = told(robot)
    world.put(0.3, rested + 0.1)
    world.shown.silent = (world.core.setting.robot.roles["hands"],)
    world.wait(1.5, beats=True)
    targets, _ = stopped(world, e.Stop("op"))
    assert targets > 0


@pytest.mark.parametrize("robot", ROBOTS)
def test_fingers_that_move_again_after_a_pause_are_held_and_that_is_told(robot: str) -> None:
    """What they held has slipped out of them."""
    world = told(robot)
    world.put(0.3, 1.0)
    assert stopped(world, e.Pause("op")) == (0, 0)
    world.do(e.Resume("op"))
    world.put(0.25, 0.1)
    world.put(0.2, 0.1)
    targets, ended = stopped(world, e.Pause("op"))
    assert targets > 0
    assert ended == 1


@pytest.mark.parametrize("robot", ROBOTS)
def test_what_a_hand_was_told_outlives_its_run(robot: str) -> None:
    world = told(robot)
    world.put(0.3, 1.0)
    world.do(e.RunEnded(world.state.epoch))
    world.wait(1.5)
    world.do(e.RunConnected("the next run"))
    world.shown.fsm = world.profile.fsm.get("walk", 0)
    world.wait(0.2)
    world.arm()
    world.do(e.RunBegan(world.state.epoch))
    assert world.state.mode == "running", world.state.reason
    world.put(0.2, 0.1)
    targets, ended = stopped(world, e.Pause("op"))
    assert targets > 0
    assert ended == 0  # of a command of another run nothing is told to this one


SHARED = ["atom", "atom_w", "adam_u"]
"""Both hands of these stand in one message: a command to one tells the other one something, too."""


def beside(world: Fingers) -> tuple[float, ...]:
    """What the right hand would be told now beside a command to the left one."""
    return kept(world.state, "right", world.state.observed.hands["right"])


def again(world: Fingers) -> None:
    """The next run begins, after whatever has ended the last."""
    world.shown.flags = dict.fromkeys(world.shown.flags, False)
    world.shown.silent = ()
    world.wait(3.0)
    world.do(e.Acknowledge("op", "seen"))
    world.shown.fsm = world.profile.fsm.get("walk", 0)
    world.wait(0.2)
    if world.state.run is None:
        world.do(e.RunConnected("the next run"))
    world.arm()
    world.do(e.Choose("op", "resume") if world.state.choice_due else e.RunBegan(world.state.epoch))
    assert world.state.mode == "running", world.state.reason


@pytest.mark.parametrize("robot", SHARED)
@pytest.mark.parametrize("seconds", [0.0, 0.3, 1.0])
def test_a_hand_on_its_way_is_told_where_it_goes_beside_the_other_hand(robot: str, seconds: float) -> None:
    world = told(robot)
    for step in range(round(seconds / 0.05)):
        world.put(0.5 - 0.01 * step, 0.05)
    assert beside(world) == (0.1,) * len(world.opening())


@pytest.mark.parametrize("robot", SHARED)
@pytest.mark.parametrize("event", [e.Pause("op"), e.Stop("op"), e.Disarm("op")])
def test_a_hand_that_was_held_on_its_way_is_told_that_it_was_held(robot: str, event: e.Event) -> None:
    world = told(robot)
    world.put(0.4, 0.1)
    world.do(event)
    world.put(0.39, 1.5)
    assert beside(world) == (0.4,) * len(world.opening())
    if event == e.Pause("op"):
        world.do(e.Resume("op"))
    else:
        again(world)
    assert beside(world) == (0.4,) * len(world.opening())


@pytest.mark.parametrize("robot", SHARED)
@pytest.mark.parametrize("rested", [True, False])
def test_after_an_estop_a_hand_is_told_where_it_is(robot: str, rested: bool) -> None:
    """It may have let go, and what it held be gone."""
    world = told(robot)
    world.put(0.3, 1.0 if rested else 0.1)
    world.shown.flags[next(iter(world.shown.flags))] = True
    world.put(0.6, 0.5)
    assert world.state.mode == "estopped"
    again(world)
    assert beside(world) == world.opening() == (0.6,) * len(world.opening())


@pytest.mark.parametrize("robot", SHARED)
@pytest.mark.parametrize("rested", [True, False])
def test_after_somebody_else_commanded_a_hand_is_told_where_it_is(robot: str, rested: bool) -> None:
    world = told(robot)
    world.put(0.3, 1.0 if rested else 0.1)
    world.do(e.ForeignWriters(("somebody",), frozenset({"rt/hands/cmd"})))
    assert world.state.mode == "intervened"
    world.put(0.6, 0.5)
    world.do(e.ForeignWriters(()))
    again(world)
    assert beside(world) == (0.6,) * len(world.opening())


@pytest.mark.parametrize("robot", SHARED)
def test_a_hand_that_moved_between_two_runs_is_told_where_it_is(robot: str) -> None:
    world = told(robot)
    world.put(0.3, 1.0)
    world.do(e.RunEnded(world.state.epoch))
    world.put(0.3, 1.5)
    assert world.state.mode == "disarmed"
    world.put(0.6, 0.1)
    again(world)
    assert beside(world) == (0.6,) * len(world.opening())


@pytest.mark.parametrize("robot", SHARED)
def test_after_a_drop_a_hand_is_told_where_it_is(robot: str) -> None:
    world = Fingers(robot, with_allowed(default_config(), "drop"))
    world.run()
    assert tell(world, "right", 0.1).outputs
    world.put(0.3, 1.0)
    world.do(e.Stop("op", "drop"))
    assert beside(world) == (0.3,) * len(world.opening())


@pytest.mark.parametrize("robot", SHARED)
def test_after_a_restart_a_hand_is_told_where_it_is(robot: str) -> None:
    world = told(robot)
    world.put(0.3, 1.0)
    world.do(e.RobotRebooted("its counter went back"))
    world.put(0.6, 0.5)
    again(world)
    assert beside(world) == (0.6,) * len(world.opening())


@pytest.mark.parametrize("robot", SHARED)
def test_a_hand_that_was_never_told_what_was_let_out_is_told_where_it_is(robot: str) -> None:
    """The disk was full, or its writer failed: nothing left."""
    world = told(robot)
    world.do(e.HandNotTold("right"))
    assert beside(world) == world.opening() == (0.5,) * len(world.opening())
