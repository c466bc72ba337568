"""SetFsm, WaitForFsm, WaitStable."""

from __future__ import annotations

import pytest

from behaviours.fsm import SetFsm, WaitForFsm, WaitStable
from orchestrator.leaf import Status
from tests.support.leaf_cases import (
    STANDING,
    Case,
    check_emergency,
    check_interruption,
    check_late,
    check_lost,
    check_success,
    each,
)
from tests.support.leaf_harness import Stage

THRICE = ["SetFsm"] * 3
"""The guard repeats it until the robot shows it; a change takes about a second."""
AURORA = [
    Case(robot, SetFsm, {"state": "pd_stand"}, sends=THRICE, command="whole_body_fsm_state_change_cmd")
    for robot in ("gr1", "gr2", "gr3", "n1")
]
ATOM = [Case(robot, SetFsm, {"state": "ready"}, sends=THRICE, command="rpc/SetFsmId") for robot in ("atom", "atom_w")]
OLD_ATOM = Case("atom", SetFsm, {"state": "ready"}, sends=THRICE, command="rt/set/fsm/id", changes={"rpc": None})
CASES = [*AURORA, *ATOM, OLD_ATOM]


@each(CASES)
def test_a_state_is_set_when_the_robot_reports_it(case: Case) -> None:
    play = check_success(case)
    assert play.stage.robot.fsm.state().value == case.values["state"]  # type: ignore[union-attr]


@each(CASES)
def test_a_robot_that_never_gets_the_command(case: Case) -> None:
    check_lost(case)


@each(CASES)
def test_a_robot_that_obeys_late(case: Case) -> None:
    check_late(case)


@each(CASES)
@pytest.mark.parametrize("after", [0.0, 0.5])
def test_an_emergency_stop(case: Case, after: float) -> None:
    check_emergency(case, after)


@each(CASES)
def test_interrupted_nothing_more_is_sent_than_the_guards_repetitions_and_the_next_change_works(case: Case) -> None:
    play = check_interruption(case)
    assert play.stage.sent == case.sends
    assert play.stage.play(SetFsm, **case.values).status is Status.SUCCESS


def test_only_the_first_of_three_is_lost() -> None:
    stage = Stage("gr2")
    stage.hurt("lost:whole_body_fsm_state_change_cmd,nth=1")
    assert stage.play(SetFsm, state="pd_stand").status is Status.SUCCESS


def test_a_change_the_robot_refuses_fails() -> None:
    play = Stage("atom").play(SetFsm, state="walk")  # not from damping
    assert (play.status, play.reason) == (Status.FAILURE, "not_accepted")


def test_a_state_in_which_the_robot_falls_is_refused_by_the_guard() -> None:
    stage = Stage("gr2").prepare(*STANDING)
    play = stage.play(SetFsm, state="security")
    assert (play.status, play.reason) == (Status.FAILURE, "refused")
    assert "falls" in play.leaf.message
    assert stage.sent == []


def test_a_reboot_on_the_way_fails() -> None:
    stage = Stage("atom")
    play = stage.leaf(SetFsm, state="ready").go(0.5)
    stage.hurt("reboot,seconds=0.2s")
    assert play.finish().status is Status.FAILURE
    assert play.reason in ("reboot", "stale")


def test_waiting_for_a_state_takes_whoever_sets_it_and_sends_nothing() -> None:
    stage = Stage("gr2")
    wait = stage.leaf(WaitForFsm, state="pd_stand").go(2.0)
    assert wait.status is Status.RUNNING
    stage.twin.change_fsm(stage.profile.fsm["pd_stand"])
    assert wait.finish().status is Status.SUCCESS
    assert [kind for kind in stage.sent if kind != "Velocity"] == []


def test_waiting_for_a_state_that_never_comes() -> None:
    play = Stage("atom").play(WaitForFsm, state="walk")
    assert (play.status, play.reason) == (Status.FAILURE, "timeout")
    assert play.took == pytest.approx(60.0, abs=0.1)


def test_stable_for_a_time() -> None:
    stage = Stage("gr2").prepare((SetFsm, {"state": "pd_stand"}))
    play = stage.play(WaitStable, time=1.0)
    assert play.status is Status.SUCCESS
    assert play.took > 1.0
    assert stage.sent == []


def test_a_robot_that_fell_is_never_stable() -> None:
    stage = Stage("gr2").prepare(*STANDING)
    stage.twin.fall()
    assert stage.play(WaitStable, time=0.5).reason == "timeout"


def test_silence_is_not_stable() -> None:
    stage = Stage("gr2").prepare(*STANDING)
    stage.hurt("off:robot_stand_pose_state")
    stage.wait(1.0)
    assert stage.play(WaitStable, time=0.5).status is Status.FAILURE
