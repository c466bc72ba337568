"""Wait, Log, Set, Ask."""

from __future__ import annotations

import pytest

from behaviours.flow import Ask, Log, Set, Wait
from orchestrator.leaf import Status
from tests.support.leaf_harness import TICK, Play, Stage


@pytest.fixture(scope="module")
def stage() -> Stage:
    return Stage("adam_u")


def test_waiting_takes_its_time(stage: Stage) -> None:
    play = stage.leaf(Wait, time=2.0).go(1.0)
    assert play.leaf.progress == pytest.approx(0.5, abs=0.03)
    assert play.finish().status is Status.SUCCESS
    assert play.took == pytest.approx(2.0, abs=1.5 * TICK)


def test_waiting_no_time_is_over_at_once(stage: Stage) -> None:
    assert stage.leaf(Wait, time=0.0).start().status is Status.SUCCESS


def test_while_paused_no_time_passes(stage: Stage) -> None:
    play = stage.leaf(Wait, time=2.0).go(1.5)
    play.leaf.pause()
    stage.wait(60.0)
    play.leaf.resume()
    play.finish()
    assert play.took == pytest.approx(62.0, abs=1.5 * TICK)


def test_the_same_leaf_waits_again_when_it_is_started_again(stage: Stage) -> None:
    first = stage.leaf(Wait, time=1.0).finish()
    assert Play(stage, first.leaf).finish().took == pytest.approx(1.0, abs=1.5 * TICK)


def test_a_remark_is_shown(stage: Stage) -> None:
    play = stage.play(Log, text="Delivered to 15")
    assert (play.status, play.leaf.message) == (Status.SUCCESS, "Delivered to 15")


def test_a_value_is_kept_by_the_engine(stage: Stage) -> None:
    assert stage.play(Set).status is Status.SUCCESS


@pytest.mark.parametrize(("answer", "status"), [("yes", Status.SUCCESS), ("no", Status.FAILURE)])
def test_a_question_waits_for_its_answer(stage: Stage, answer: str, status: Status) -> None:
    play = stage.leaf(Ask, question="Is the box in the hand?", choices=["yes", "no"], fail_on=["no"]).go(30.0)
    assert play.status is Status.RUNNING
    assert play.leaf.message == "Is the box in the hand?"
    assert isinstance(play.leaf, Ask)
    play.leaf.answer(answer)
    assert play.finish().status is status
    assert play.leaf.result == answer
