"""A remote session of the base ends for certain, whatever gets lost on the way."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.guard import events as e
from orchestrator.guard.outputs import Send
from orchestrator.guard.remote import left_behind
from orchestrator.guard.state import Base
from orchestrator.robots import intents as i
from tests.support.guard_world import World, default_config, with_allowed

IDLE, IN_REMOTE = Base("devidle", "idle", 0, 0), Base("devidle", "idle", 3, 0)


def asked(robot: str = "atom_w") -> World:
    """A run that has asked for a remote session."""
    world = World(robot, with_allowed(default_config(), "remote_drive")).run()
    assert world.ask(i.StartRemote()).outputs
    return world


def driving() -> World:
    world = asked()
    world.shown.base, world.shown.speed = IN_REMOTE, 0.3
    world.wait(0.1, beats=True)
    world.ask(i.DriveBase(0.3, 0.0))
    world.wait(0.1, beats=True)
    world.trace.clear()
    return world


def told(world: World) -> list[float]:
    """When the base was told zero and StopRemote, in this order."""
    times = []
    for entry in world.trace:
        intents = [output.intent for output in entry.outputs if isinstance(output, Send)]
        if i.StopRemote() in intents:
            assert intents[intents.index(i.StopRemote()) - 1] == i.DriveBase(0.0, 0.0)
            times.append(entry.at)
    return times


def reports(world: World) -> list[str]:
    return [report.kind for entry in world.trace for report in entry.reports]


def no_longer_wanted(world: World) -> None:
    for stream in world.state.streams:
        world.do(e.StreamEnded(world.state.epoch, stream.id))


def somebody_at_the_pad(world: World) -> None:
    for _ in range(2):
        world.do(e.Observation("rt/lower/state", {"pad": True}, {}))


ENDINGS: dict[str, Callable[[World], object]] = {
    "the leaf ends": no_longer_wanted,
    "an e-stop": lambda world: world.do(e.Observation("rt/emergency/state", {}, {"soft": True})),
    "the run is gone": lambda world: world.do(e.RunGone(world.state.epoch)),
    "a person's stop": lambda world: world.do(e.Stop("op")),
    "somebody at the pad": somebody_at_the_pad,
    "a restart": lambda world: world.do(e.RobotRebooted("test")),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_base_that_goes_on_is_told_again_until_it_is_out_of_it(ending: str) -> None:
    world = driving()
    ENDINGS[ending](world)
    world.wait(1.1, beats=True)
    assert len(told(world)) >= 4
    world.shown.base, world.shown.speed = IDLE, 0.0
    world.wait(0.1, beats=True)
    world.trace.clear()
    world.wait(30.0, beats=True)
    assert told(world) == []
    assert world.state.remote is None


def test_a_base_that_never_ends_it_is_told_all_the_time_and_a_person_is_called() -> None:
    world = driving()
    no_longer_wanted(world)
    world.wait(1.9, beats=True)
    assert "press_hardware_estop" not in reports(world)
    world.wait(10.0, beats=True)
    assert reports(world).count("press_hardware_estop") >= 4
    assert told(world)[-1] > world.now - 2.1
    assert left_behind(world.state)


def test_no_stop_is_over_while_the_base_stands_in_a_session_that_was_ended() -> None:
    """Something is in its way: it drives on when that has gone."""
    world = driving()
    no_longer_wanted(world)
    world.shown.speed = 0.0
    world.wait(5.0, beats=True)
    world.do(e.RunEnded(world.state.epoch))
    world.wait(10.0)
    assert "stopped" not in reports(world)
    world.shown.base = IDLE
    world.wait(1.0)
    assert "stopped" in reports(world)
    assert world.state.mode.value == "disarmed"


def test_a_task_that_waits_for_a_key_is_no_remote_session() -> None:
    world = driving()
    no_longer_wanted(world)
    world.shown.base, world.shown.speed = IDLE, 0.0
    world.wait(0.1, beats=True)
    world.ask(i.MoveToTag(12, None))
    world.trace.clear()
    world.shown.base = Base("tasking", "waiting_confirm", 0, 1)
    world.wait(10.0, beats=True)
    assert told(world) == []
    assert "press_hardware_estop" not in reports(world)


def test_one_that_opens_late_is_told_as_often_as_any_other_before_a_person_is_called() -> None:
    world = asked()
    world.ask(i.StopRemote())
    world.wait(3.0, beats=True)
    world.trace.clear()
    world.shown.base = IN_REMOTE
    world.wait(1.9, beats=True)
    assert len(told(world)) >= 9
    assert "press_hardware_estop" not in reports(world)


def test_one_that_waits_for_its_key_is_told_again_when_that_is_pressed() -> None:
    world = asked()
    world.shown.base = Base("devidle", "waiting_confirm", 0, 0)
    world.wait(0.1, beats=True)
    world.ask(i.StopRemote())
    world.wait(5.1, beats=True)
    world.trace.clear()
    world.shown.base = IN_REMOTE
    world.sample()
    assert told(world) == [world.now]


def test_when_nobody_else_commands_the_base_any_more_it_is_ended_or_forgotten() -> None:
    world = driving()
    world.do(e.ForeignWriters(("other on rt/amr/cmd",), frozenset({"rt/amr/cmd"})))
    world.wait(5.0, beats=True)
    world.do(e.ForeignWriters(()))
    world.trace.clear()
    world.wait(3.0, beats=True)
    assert told(world)
    world.shown.base, world.shown.speed = IDLE, 0.0
    world.wait(3.0, beats=True)
    assert world.state.remote is None


def test_a_stop_of_a_person_ends_it_however_long_ago_it_should_have_ended() -> None:
    world = driving()
    world.do(e.ForeignWriters(("other on rt/amr/cmd",), frozenset({"rt/amr/cmd"})))
    world.wait(1.0, beats=True)
    assert len(told(world)) == 1  # nobody fights over it
    world.trace.clear()
    world.do(e.Stop("op"))
    assert told(world) == [world.now]


@pytest.mark.parametrize("shown", [IN_REMOTE, Base("devidle", "waiting_confirm", 0, 0)])
def test_one_that_opens_after_its_end_is_ended_at_once(shown: Base) -> None:
    world = asked()
    world.ask(i.StopRemote())
    world.wait(1.0, beats=True)
    world.trace.clear()
    world.shown.base = shown
    world.sample()
    assert told(world) == [world.now]
    assert world.state.mode.value == "running"


def test_one_that_opens_much_later_is_somebody_elses() -> None:
    world = asked()
    world.ask(i.StopRemote())
    world.wait(6.0, beats=True)
    world.trace.clear()
    world.shown.base = IN_REMOTE
    world.sample()
    assert told(world) == []
    assert world.state.mode.value == "intervened"


def test_the_next_session_is_not_ended_by_the_end_of_the_one_before() -> None:
    world = driving()
    no_longer_wanted(world)
    world.shown.base, world.shown.speed = IDLE, 0.0
    world.wait(0.1, beats=True)
    world.ask(i.StartRemote())
    world.shown.base = IN_REMOTE
    world.wait(0.1, beats=True)
    world.trace.clear()
    world.ask(i.DriveBase(0.3, 0.0))
    world.wait(3.0, beats=True)
    assert told(world) == []
    assert world.state.streams
