"""SetVelocitySource, Walk, Stop."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import behaviours
from behaviours.fsm import SetFsm
from behaviours.velocity import SetVelocitySource, Stop, Walk
from orchestrator.leaf import Catalogue, Status, leaves_of
from orchestrator.robots.capabilities.velocity import NO_PROGRESS, NOTHING_SHOWS_IT
from orchestrator.treefile import Surroundings, check_file
from tests.support.leaf_cases import (
    AURORA_WALKING,
    READY,
    STANDING,
    WALKING,
    Case,
    Step,
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
    if_lost = "not_accepted" if aurora else "ended"  # an Atom would have answered
    return Case(robot, Walk, values, before, STREAM, command, if_lost, resting=stands)


AURORA = ("gr1", "gr2", "gr3", "n1")
SEEN = [
    *(walk(robot, forward=0.3, time=2.0) for robot in AURORA),
    walk("gr2", forward=0.3, distance=1.0),
    walk("gr2", left=-0.2, distance=0.5),
    walk("gr2", turn=-0.4, heading=-1.0),
    *(walk(robot, turn=0.4, heading=1.0) for robot in ("gr2", "atom", "atom_w")),
    walk("atom", turn=0.4, time=2.0),
]
BLIND = [walk("atom", forward=0.3, time=2.0), walk("atom_w", forward=0.3, time=2.0)]
"""Nothing an Atom reports shows that it walks straight on: its answer does."""
SOURCE = [
    Case(robot, SetVelocitySource, {"source": "navigation"}, sends=["SetVelocitySource"], command="velocity_source_cmd")
    for robot in AURORA
]

WALKS = [*SEEN, *BLIND]
STOPS = [
    replace(case, leaf=Stop, values={}, under_way=[(Walk, case.values)], midway=1.0)
    for case in (SEEN[1], *BLIND)  # while it walks
]
REFUSED = [case for case in (*WALKS, *STOPS) if case.command == "rpc/SetVel"]
CASES = [*WALKS, *SOURCE, *STOPS]


@each([*WALKS, *SOURCE])
def test_it_succeeds(case: Case) -> None:
    play = check_success(case)
    assert stands(play.stage.twin)


@each([*WALKS, *SOURCE, *STOPS[1:]])
def test_a_robot_that_never_gets_the_command(case: Case) -> None:
    check_lost(case)


SLOW_OR_SHORT = [
    walk("gr2", forward=0.05, time=60.0),
    walk("gr2", left=-0.02, time=60.0),
    walk("gr2", turn=math.radians(2.8), time=60.0),
    walk("gr2", forward=0.3, time=0.9),
    walk("gr2", turn=-0.4, time=0.9),
]


@each(SLOW_OR_SHORT)
def test_a_slow_or_short_walk_must_be_seen_too(case: Case) -> None:
    check_success(case)
    check_lost(case)


@pytest.mark.parametrize("values", [{"turn": 0.35}, {"turn": 0.35, "forward": 0.1}, {"turn": -0.05, "left": 0.1}])
def test_an_atom_that_agrees_and_stands_is_seen_not_to_turn(values: dict[str, float]) -> None:
    stage = Stage("atom").prepare(*WALKING)
    stage.hurt("ack_only:rpc/SetVel")
    play = stage.play(Walk, **values, time=10.0)
    assert (play.status, play.reason) == (Status.FAILURE, "not_accepted"), play


def test_who_walks_in_a_curve_must_be_seen_to_walk_and_to_turn() -> None:
    stage = Stage("gr2").prepare(*AURORA_WALKING)
    walking = stage.twin.walking
    go = walking.go
    walking.go = lambda vx, vy, turn, duration, now: go(0.0, 0.0, turn, duration, now)
    play = stage.play(Walk, forward=0.3, turn=0.4, time=5.0)
    assert (play.status, play.reason) == (Status.FAILURE, "not_accepted"), play


@pytest.mark.parametrize(
    "values",
    [{"forward": 0.005, "time": 60.0}, {"turn": 0.005, "time": 60.0}, {"forward": 0.02, "turn": 1.0, "time": 10.0}],
)
def test_who_walks_very_slowly_or_on_the_spot_succeeds(values: dict[str, float]) -> None:
    play = Stage("gr2").prepare(*AURORA_WALKING).play(Walk, **values)
    assert play.status is Status.SUCCESS, play
    assert play.leaf.message == ""


@pytest.mark.parametrize(
    ("robot", "values"),
    [
        ("gr2", {"forward": 0.05, "time": 1.0}),
        ("gr2", {"turn": 0.4, "time": 0.5}),
        ("atom", {"forward": 0.3, "time": 2.0}),
    ],
)
def test_a_walk_that_nothing_reported_can_show_says_so(robot: str, values: dict[str, float]) -> None:
    play = Stage(robot).prepare(*(AURORA_WALKING if robot == "gr2" else WALKING)).play(Walk, **values)
    assert play.status is Status.SUCCESS, play
    assert play.leaf.message == NOTHING_SHOWS_IT


@each(REFUSED)
def test_a_robot_that_refuses_says_why(case: Case) -> None:
    stage = case.stage()
    stage.hurt("refused:rpc/SetVel")
    play = stage.leaf(case.leaf, **case.values).finish()
    assert (play.status, play.reason) == (Status.FAILURE, "ended"), play
    assert "SetVel was refused: refused (6)" in play.leaf.message


@pytest.mark.parametrize("time", [0.1, 0.6])
def test_a_walk_that_is_over_before_the_robot_could_answer_is_no_success(time: float) -> None:
    stage = Stage("atom").prepare(*WALKING)
    stage.hurt("lost:rpc/SetVel")
    play = stage.play(Walk, forward=0.3, time=time)
    assert (play.status, play.reason) == (Status.FAILURE, "not_accepted"), play


@each([*WALKS, *SOURCE, *STOPS[1:]])
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


@pytest.mark.parametrize("values", [{"time": 6.0}, {"distance": 1.8}])
def test_paused_again_right_after_it_was_resumed_nothing_is_left_out(values: dict[str, float]) -> None:
    stage = Stage("gr2").prepare(*AURORA_WALKING)
    play = stage.leaf(Walk, forward=0.3, **values).go(3.0)
    for _ in range(3):
        play.leaf.pause()
        stage.wait(5.0)
        play.leaf.resume()
    assert play.finish().status is Status.SUCCESS
    assert math.hypot(stage.twin.walking.x, stage.twin.walking.y) == pytest.approx(1.8, abs=0.1)


def test_the_way_is_measured_not_computed() -> None:
    stage = Stage("gr2").prepare(*AURORA_WALKING)
    stage.play(Walk, forward=0.3, distance=1.0)
    assert stage.twin.walking.x == pytest.approx(1.0, abs=0.05)


LONG_AND_SLOW = [
    walk("gr2", forward=0.2, distance=100.0),
    walk("n1", left=0.01, distance=5.0),
    walk("gr2", turn=0.05, heading=18.0),
    walk("atom", turn=-0.05, heading=-18.0),
]


@each(LONG_AND_SLOW)
def test_a_long_walk_gets_on_however_slow_it_is(case: Case) -> None:
    play = case.begin().finish()
    assert play.status is Status.SUCCESS, play


@each(LONG_AND_SLOW)
def test_a_robot_that_stops_far_from_the_goal_is_noticed_at_once(case: Case) -> None:
    play = case.begin().go(20.0)
    play.stage.hurt(f"lost:{case.command}" if case.robot != "atom" else f"ack_only:{case.command}")
    play.stage.twin.walking.halt(play.stage.clock.now())
    began = play.stage.clock.now()
    play.finish()
    assert (play.status, play.reason) == (Status.FAILURE, "no_progress"), play
    assert play.stage.clock.now() - began < 2 * NO_PROGRESS


def test_a_place_that_jumps_is_no_way() -> None:
    stage = Stage("gr2").prepare(*AURORA_WALKING)
    play = stage.leaf(Walk, forward=0.3, distance=2.0).go(1.5)
    stage.hurt("wrong:base_data_pub.pos_W[0],value=3")
    play.finish()
    assert (play.status, play.reason) == (Status.FAILURE, "out_of_range"), play
    assert stage.twin.walking.x < 0.6


@pytest.mark.parametrize("robot", ["gr2", "atom"])
@pytest.mark.parametrize("heading", [1.5, -1.5, 4.0])
def test_it_turns_the_way_it_was_told_to(robot: str, heading: float) -> None:
    stage = Stage(robot).prepare(*(AURORA_WALKING if robot == "gr2" else WALKING))
    before = stage.twin.walking.yaw
    assert stage.play(Walk, turn=math.copysign(0.4, heading), heading=heading).status is Status.SUCCESS
    assert stage.twin.walking.yaw - before == pytest.approx(heading, abs=0.1)


def test_a_turn_the_wrong_way_is_no_progress() -> None:
    stage = Stage("gr2").prepare(*AURORA_WALKING)
    walking = stage.twin.walking
    go = walking.go
    walking.go = lambda vx, vy, turn, duration, now: go(vx, vy, -turn, duration, now)
    play = stage.play(Walk, turn=0.4, heading=1.0)
    assert (play.status, play.reason) == (Status.FAILURE, "no_progress")


def test_a_distance_is_walked_in_a_circle_too() -> None:
    stage = Stage("gr2").prepare(*AURORA_WALKING)
    play = stage.play(Walk, forward=0.3, turn=0.5, distance=3.0)
    assert play.status is Status.SUCCESS
    assert play.took == pytest.approx(10.0, abs=1.0)


CONTRADICTIONS = [
    ({"turn": "30 deg/s", "heading": "-90 deg"}, "heading", "opposite ways"),
    ({"turn": "-30 deg/s", "heading": "90 deg"}, "heading", "opposite ways"),
    ({"forward": "0.2 m/s", "heading": "90 deg"}, "heading", "needs a velocity: turn"),
    ({"turn": "30 deg/s", "distance": "1 m"}, "distance", "needs a velocity: forward or left"),
    ({"time": "3 s"}, "time", "there is no velocity"),
    ({"forward": "0 m/s", "time": "3 s"}, "time", "there is no velocity"),
]


@pytest.mark.parametrize(("written", "where", "why"), CONTRADICTIONS)
def test_a_goal_that_does_not_go_with_the_velocity_is_found_before_anything_moves(
    written: dict[str, str], where: str, why: str, tmp_path: Path
) -> None:
    parameters = "".join(f"\n      {name}: {value}" for name, value in written.items())
    path = tmp_path / "tree.yaml"
    path.write_text(f"tree: tried\nroot:\n  - Walk:{parameters}\n")
    line = 4 + list(written).index(where)
    found = check_file(path, Surroundings(Catalogue(leaves_of(behaviours)), {})).findings.sorted()
    assert [(f.code, f.place.line, f.place.column) for f in found] == [
        ("contradiction", line, len(f"      {where}: ") + 1)
    ]
    assert why in found[0].message


@pytest.mark.parametrize(
    "values",
    [{"turn": 0.5, "heading": -1.5}, {"forward": 0.2, "heading": 1.5}, {"turn": 0.5, "distance": 1.0}, {"time": 3.0}],
)
def test_it_refuses_such_a_goal_when_it_becomes_known_only_in_the_run(values: dict[str, float]) -> None:
    stage = Stage("gr2").prepare(*AURORA_WALKING)
    play = stage.play(Walk, **values)
    assert (play.status, play.reason) == (Status.FAILURE, "refused")
    assert stage.sent == []


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


@pytest.mark.parametrize(("robot", "before"), [("gr2", AURORA_WALKING), ("atom", WALKING)])
def test_a_robot_that_turns_on_has_not_stopped(robot: str, before: list[Step]) -> None:
    stage = Stage(robot).prepare(*before)
    stage.leaf(Walk, turn=0.4, time=60.0).go(1.0)
    walking = stage.twin.walking
    go = walking.go
    walking.go = lambda vx, vy, turn, duration, now: go(vx, vy, 0.3, 1.0, now)
    play = stage.play(Stop)
    assert (play.status, play.reason) == (Status.FAILURE, "no_progress")


def test_a_report_that_only_repeats_itself_shows_no_standstill() -> None:
    stage = Stage("atom").prepare(*WALKING)
    stage.hurt("stuck:rt/lower/state")
    play = stage.play(Stop)
    assert play.status is Status.FAILURE


def test_stop_is_allowed_wherever_walking_is() -> None:
    assert Stop.declaration.requires == Walk.declaration.requires
    stage = Stage("atom").prepare(*READY, (SetFsm, {"state": "balance"}))
    assert stage.play(Stop).status is Status.SUCCESS


@pytest.mark.parametrize("robot", ["atom", "atom_w"])
def test_stop_on_a_robot_that_does_not_report_its_speed(robot: str) -> None:
    stage = Stage(robot).prepare(*WALKING)
    assert stage.play(Stop).status is Status.SUCCESS
    assert stage.sent == STREAM
