"""The whole-body state machine: when a state counts as reached."""

from __future__ import annotations

import pytest

from orchestrator.robots import intents
from orchestrator.robots.reasons import Reason
from tests.support.fake_robot import ready, reason


def test_a_state_is_reached_when_the_robot_has_reported_it_for_a_moment() -> None:
    fake = ready("atom")
    change = fake.robot.fsm.set("walk")
    assert fake.orders.intents == [intents.SetFsm("walk")]
    fake.set("rt/lower/state", fsm_id=301)
    fake.run(0.1)
    assert change.outcome().status == "running"
    fake.run(0.3)
    assert change.outcome().status == "success"


def test_a_state_the_robot_was_in_before_needs_new_evidence_too() -> None:
    fake = ready("atom")
    change = fake.robot.fsm.set("ready")
    fake.clock.advance(0.05)
    assert change.outcome().status == "running"
    assert fake.judge(change).status == "success"


def test_a_change_that_shows_no_effect_fails_and_is_not_repeated_here() -> None:
    """Repeating is the guard's."""
    fake = ready("atom")
    outcome = fake.judge(fake.robot.fsm.set("walk"))
    assert reason(outcome) is Reason.NOT_ACCEPTED
    assert fake.orders.intents == [intents.SetFsm("walk")]


def test_once_somebody_else_has_changed_the_state_it_fails() -> None:
    fake = ready("atom")
    change = fake.robot.fsm.set("walk")
    fake.set("rt/lower/state", fsm_id=1)
    outcome = fake.judge(change)
    assert reason(outcome) is Reason.FAILED
    assert "damping" in outcome.text
    assert fake.orders.intents == [intents.SetFsm("walk")]


def test_a_state_nobody_knows_on_the_way_is_not_success_and_not_the_end() -> None:
    fake = ready("atom")
    change = fake.robot.fsm.set("walk")
    fake.set("rt/lower/state", fsm_id=9999)
    fake.run(1.0)
    assert change.outcome().status == "running"
    assert reason(fake.judge(change)) is Reason.UNKNOWN_STATE


def test_a_state_that_does_not_last_is_not_reached() -> None:
    fake = ready("gr2")
    change = fake.robot.fsm.set("pd_stand")
    fake.set("aurora_state", whole_body_fsm_state=2)
    fake.run(0.1)
    fake.set("aurora_state", whole_body_fsm_state=1)
    assert reason(fake.judge(change)) is Reason.FAILED


@pytest.mark.parametrize("name", ["atom", "gr2"])
def test_silence_fails_a_change(name: str) -> None:
    fake = ready(name)
    change = fake.robot.fsm.set("walk")
    fake.silent |= set(fake.writers)
    assert reason(fake.judge(change)) is Reason.STALE


def test_waiting_for_a_state_sends_nothing() -> None:
    fake = ready("atom")
    change = fake.robot.fsm.wait_for("walk")
    fake.run(10.0)
    assert change.outcome().status == "running"
    fake.set("rt/lower/state", fsm_id=301)
    assert fake.judge(change).status == "success"
    assert fake.orders.intents == []
