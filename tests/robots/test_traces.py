"""A stale COMPLETED never counts, over random reports of a base."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.robots.traces import Trace, try_out, verdict


def test_no_random_trace_makes_an_unfinished_task_a_success() -> None:
    judged = try_out(300, seed=1)
    assert judged["success"] > 30
    assert judged["failure"] > 30


def by_level(old: str) -> Callable[[str, str, int], str]:
    """The tempting mistake: COMPLETED is success."""
    return lambda navigation, device, task: "success" if navigation == "completed" else "running"


def by_edge_of_status(old: str) -> Callable[[str, str, int], str]:
    """Better, and still wrong: any change to COMPLETED, without having seen the task at work."""
    last = [old]

    def judge(navigation: str, device: str, task: int) -> str:
        before, last[0] = last[0], navigation
        return "success" if navigation == "completed" and (before != "completed" or task == 6) else "running"

    return judge


@pytest.mark.parametrize("naive", [by_level, by_edge_of_status])
def test_naive_judges_are_caught(naive: Callable[[str], Callable[[str, str, int], str]]) -> None:
    with pytest.raises(AssertionError, match="succeeded"):
        try_out(300, seed=1, judging=naive)


def test_a_task_that_completes_is_a_success() -> None:
    assert verdict(Trace("completed", 10, (("queuing", 4), ("running", 40)), "completed", True, (0, 0, 0))) == "success"
