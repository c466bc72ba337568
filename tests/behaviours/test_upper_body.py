"""SetUpperFsm and SwitchUpperControl."""

from __future__ import annotations

import pytest

from behaviours.fsm import SetFsm
from behaviours.upper_body import SetUpperFsm, SwitchUpperControl
from orchestrator.leaf import Status
from tests.support.leaf_cases import (
    READY,
    STANDING,
    UPPER,
    Case,
    Step,
    check_emergency,
    check_late,
    check_lost,
    check_success,
    each,
    press,
)
from tests.support.leaf_harness import Stage

WALK: list[Step] = [*STANDING, (SetFsm, {"state": "walk"})]
SWITCH = "rpc/SwitchUpperLimbControl"
CASES = [
    *(
        Case(robot, SetUpperFsm, {"state": "remote"}, WALK, ["SetUpperFsm"], "upper_body_fsm_state_change_cmd")
        for robot in ("gr1", "gr2", "gr3", "n1")
    ),
    *(
        Case(robot, SwitchUpperControl, {"enabled": True}, READY, ["SwitchUpperControl"], SWITCH)
        for robot in ("atom", "atom_w")
    ),
    Case("atom_w", SwitchUpperControl, {"enabled": False}, UPPER, ["SwitchUpperControl"], SWITCH),
]


@each(CASES)
def test_control_changes_when_the_robot_reports_it(case: Case) -> None:
    check_success(case)


@each(CASES)
def test_a_robot_that_never_gets_the_command(case: Case) -> None:
    check_lost(case)


@each(CASES)
def test_a_robot_that_obeys_late(case: Case) -> None:
    check_late(case)


@each(CASES)
@pytest.mark.parametrize("after", [0.0, 0.1])
def test_an_emergency_stop(case: Case, after: float) -> None:
    check_emergency(case, after)


def test_taking_over_is_refused_while_the_body_is_limp() -> None:
    play = Stage("atom").play(SwitchUpperControl, enabled=True)
    assert (play.status, play.reason) == (Status.FAILURE, "refused")
    assert "fsm must be ready" in play.leaf.message


def test_giving_back_what_is_not_ours_sends_nothing() -> None:
    stage = Stage("atom")
    assert stage.play(SwitchUpperControl, enabled=False).status is Status.SUCCESS
    assert stage.sent == []


def test_giving_back_what_was_called_off_on_its_way_is_sent_after_it() -> None:
    stage = Stage("atom").prepare(*READY)
    stage.hurt(f"late_exec:{SWITCH},seconds=0.1s")
    stage.leaf(SwitchUpperControl, enabled=True).start().stop()
    stage.leaf(SwitchUpperControl, enabled=False).start()
    assert stage.sent == ["SwitchUpperControl"] * 2
    assert stage.last("SwitchUpperControl")["enabled"] is False


def test_in_an_emergency_there_is_no_success_even_if_nothing_is_left_to_do() -> None:
    stage = Stage("atom").prepare(*READY)
    press(stage)
    play = stage.play(SwitchUpperControl, enabled=False)
    assert (play.status, play.reason) == (Status.FAILURE, "emergency")


def test_the_upper_body_is_changed_in_walk_only() -> None:
    play = Stage("gr2").prepare(*STANDING).play(SetUpperFsm, state="remote")
    assert (play.status, play.reason) == (Status.FAILURE, "refused")
