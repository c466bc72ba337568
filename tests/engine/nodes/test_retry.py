from collections.abc import Sequence

from py_trees.behaviours import StatusQueue
from py_trees.common import Status

from orchestrator.engine import compile_tree
from orchestrator.engine.nodes import Retry

S, F, R = Status.SUCCESS, Status.FAILURE, Status.RUNNING


def run(outcomes: Sequence[Status], times: int) -> tuple[list[Status], Retry]:
    retry = Retry("retry", StatusQueue("leaf", list(outcomes), eventually=F), times=times)
    tick = compile_tree(retry)
    return [tick() for _ in outcomes], retry


def test_a_failed_attempt_is_followed_by_another_in_the_next_tick() -> None:
    statuses, retry = run([F, R, S], times=1)
    assert statuses == [R, R, S]
    assert retry.feedback_message == "attempt 2 of 2"


def test_it_fails_when_no_attempt_is_left() -> None:
    statuses, retry = run([F, F, F], times=2)
    assert statuses == [R, R, F]
    assert retry.feedback_message == "failed 3 times"


def test_it_has_all_attempts_again_when_it_is_started_again() -> None:
    statuses, _ = run([F, F, F, F], times=1)
    assert statuses == [R, F, R, F]
