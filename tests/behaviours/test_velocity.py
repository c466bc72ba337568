"""SetVelocitySource, Walk, Stop."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from behaviours.velocity import SetVelocitySource, Stop, Walk
from orchestrator.leaf import Status
from tests.support.leaf_cases import (
    AURORA_WALKING,
    STANDING,
    WALKING,
    Case,
    check_emergency,
    check_interruption,
    check_late,
    check_lost,
    check_success,
    each,
)
from tests.support.leaf_harness import Stage

STREAM = ["Velocity", "Velocity"]
"""Its first and its last message, which is zero."""


def stands(twin: Any) -> bool:
    return not twin.walking.moving


def walk(robot: str, **values: float) -> Case:
    aurora = robot not in ("atom", "atom_w")
    command = "velocity_cmd" if aurora else "rpc/SetVel"
    before = AURORA_WALKING if aurora else WALKING
    return Case(robot, Walk, values, before, STREAM, command, "no_progress", resting=stands)


AURORA = ("gr1", "gr2", "gr3", "n1")
SEEN = [
    *(walk(robot, forward=0.3, time=2.0) for robot in AURORA),
    walk("gr2", forward=0.3, distance=1.0),
    walk("gr2", left=-0.2, distance=0.5),
    *(walk(robot, turn=0.4, heading=1.0) for robot in ("gr2", "atom", "atom_w")),
    walk("atom", turn=0.4, time=2.0),
]
BLIND = [walk("atom", forward=0.3, time=2.0), walk("atom_w", forward=0.3, time=2.0)]
"""Nothing an Atom reports shows that it walks straight on."""
SOURCE = [
    Case(robot, SetVelocitySource, {"source": "navigation"}, sends=["SetVelocitySource"], command="velocity_source_cmd")
    for robot in AURORA
]

WALKS = [*SEEN, *BLIND]
STOPS = [
    replace(case, leaf=Stop, values={}, under_way=[(Walk, case.values)], midway=1.0)
    for case in (SEEN[1], *BLIND)  # while it walks
]
CASES = [*WALKS, *SOURCE, *STOPS]


@each([*WALKS, *SOURCE])
def test_it_succeeds(case: Case) -> None:
    play = check_success(case)
    assert stands(play.stage.twin)


@each([*SEEN, *SOURCE])
def test_a_robot_that_never_gets_the_command(case: Case) -> None:
    check_lost(case)


@each([*SEEN, *SOURCE])
def test_a_robot_that_obeys_late(case: Case) -> None:
    check_late(case)


@each(WALKS)
@pytest.mark.parametrize("after", [0.0, 1.0])
def test_an_emergency_stop(case: Case, after: float) -> None:
    check_emergency(case, after)


@each(WALKS)
def test_interrupted_it_ends_with_zero_velocity_and_stands(case: Case) -> None:
    play = check_interruption(case)
    assert play.stage.sent == STREAM
    assert play.stage.last("Velocity") == {"intent": "Velocity", "vx": 0.0, "vy": 0.0, "yaw": 0.0}


@pytest.mark.parametrize("values", [{"time": 3.0}, {"distance": 0.9}])
def test_paused_it_stands_and_resumed_it_walks_what_is_left(values: dict[str, float]) -> None:
    stage = Stage("gr2").prepare(*AURORA_WALKING)
    play = stage.leaf(Walk, forward=0.3, **values).go(1.0)
    play.leaf.pause()
    stage.wait(5.0)
    assert stands(stage.twin)
    play.leaf.resume()
    assert play.finish().status is Status.SUCCESS
    assert math.hypot(stage.twin.walking.x, stage.twin.walking.y) == pytest.approx(0.9, abs=0.1)


def test_the_way_is_measured_not_computed() -> None:
    stage = Stage("gr2").prepare(*AURORA_WALKING)
    stage.play(Walk, forward=0.3, distance=1.0)
    assert stage.twin.walking.x == pytest.approx(1.0, abs=0.05)


def test_an_atom_measures_no_distance() -> None:
    stage = Stage("atom").prepare(*WALKING)
    play = stage.play(Walk, forward=0.3, distance=1.0)
    assert (play.status, play.reason) == (Status.FAILURE, "not_reported")
    assert stage.sent == []


def test_faster_than_the_robot_may_is_refused() -> None:
    play = Stage("gr2").prepare(*AURORA_WALKING).play(Walk, forward=3.0, time=1.0)
    assert (play.status, play.reason) == (Status.FAILURE, "refused")


def test_walking_needs_our_velocity_source() -> None:
    play = Stage("gr2").prepare(*STANDING).play(Walk, forward=0.3, time=1.0)
    assert (play.status, play.reason) == (Status.FAILURE, "refused")


def test_a_robot_that_leaves_its_walking_state_ends_the_walk() -> None:
    stage = Stage("gr2").prepare(*AURORA_WALKING)
    play = stage.leaf(Walk, forward=0.3, time=5.0).go(1.0)
    stage.twin.change_fsm(stage.profile.fsm["pd_stand"])
    assert play.finish().reason == "ended"
    assert stands(stage.twin)


def test_stop_waits_until_the_robot_stands() -> None:
    stage = Stage("gr2").prepare(*AURORA_WALKING)
    stage.leaf(Walk, forward=0.3, time=5.0).go(1.0)
    play = stage.play(Stop)
    assert play.status is Status.SUCCESS
    assert stands(stage.twin)


@pytest.mark.parametrize("robot", ["atom", "atom_w"])
def test_stop_on_a_robot_that_does_not_report_its_speed(robot: str) -> None:
    stage = Stage(robot).prepare(*WALKING)
    assert stage.play(Stop).status is Status.SUCCESS
    assert stage.sent == STREAM
