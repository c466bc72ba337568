"""Any rhythm a wheeled base may report in: `python -m tests.robots.traces 100000` tries so many at random.

A COMPLETED that is left over from another task never counts: whatever the base reports, a task succeeds only after it
was really completed. The parts of a report lag behind each other, as if they came from different programs.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from types import SimpleNamespace
from typing import Any, cast

from orchestrator.clock import VirtualClock
from orchestrator.robots.capabilities.base_task import Report, Task
from orchestrator.robots.intents import MoveToTag
from orchestrator.robots.judging import Context
from orchestrator.robots.knowledge import Known
from orchestrator.robots.outcome import Outcome
from orchestrator.robots.profiles import load_profile
from tests.support.fake_robot import Orders

STEP = 0.025
"""Seconds between two reports."""
LONGEST_LAG = 30
LEFT_OVER = ("completed", "completed", "completed", "failed", "canceled", "stopped", "idle", "unknown")
AT_WORK = ("queuing", "running", "paused", "running")
PROFILE = load_profile("atom_w")


@dataclass(frozen=True)
class Trace:
    """What a base does with one task, and how it reports it."""

    old: str
    """What it said before: the end of another task."""
    taken: int
    """How many reports before it takes the task."""
    phases: tuple[tuple[str, int], ...]
    """What it says while it works, for how many reports each; none: it never takes the task."""
    end: str
    changes_id: bool
    lags: tuple[int, int, int]
    """By how many reports status, device and task number are late."""

    def truth(self) -> tuple[list[tuple[str, str, int]], int]:
        """Status, device and task number as they really are, and from which of them on the task is over."""
        before = (self.old, "devidle", 5)
        task = 6 if self.changes_id else 5
        work = [(phase, "tasking", task) for phase, steps in self.phases for _ in range(steps)]
        after = (self.end, "devidle", task) if work else before
        return [before] * (self.taken + 1) + work + [after] * 200, self.taken + 1 + len(work)


class Script:
    """A base that follows a script, report by report; stands in for the capability and its context."""

    def __init__(self, old: str) -> None:
        self.clock = VirtualClock(100.0)
        self.orders = Orders(self.clock)
        self.latest = Report(self.clock.now(), "devidle", old, 5, 0, False, (), (0.0, 0.0, 0.0))
        calm = Known(False, 100.0)
        state: Any = SimpleNamespace(epoch=0, restart="")
        context = Context(PROFILE, state, self.orders, self.clock, lambda: calm)
        self.task = Task(cast(Any, self), context, MoveToTag(12, None))

    def report(self) -> Known[Report]:
        return Known(self.latest, self.latest.received)

    def free(self, report: Report) -> bool:
        return report.idle

    def follow(self, task: Task) -> None:
        self.task = task

    def say(self, navigation: str, device: str, task: int) -> Outcome:
        self.clock.advance(STEP)
        now = self.clock.now()
        self.latest = Report(now, device, navigation, task, 0, False, (), (now, 0.0, 0.0))  # always on the move
        self.task.see(self.latest)
        return self.task.outcome()


Judging = Callable[[str], Callable[[str, str, int], str]]
"""For what the base said before: what tells from a report whether the task is running, a success or a failure."""


def our_judge(old: str) -> Callable[[str, str, int], str]:
    script = Script(old)
    return lambda *report: script.say(*report).status


def verdict(trace: Trace, judging: Judging = our_judge) -> str:
    """How the task was judged in the end; raises AssertionError if it was called a success and was none."""
    truth, over = trace.truth()
    judge = judging(trace.old)
    for step in range(len(truth)):
        navigation, device, task = (truth[max(step - lag, 0)][part] for part, lag in enumerate(trace.lags))
        status = judge(str(navigation), str(device), int(task))
        if status == "success":
            assert trace.phases and trace.end == "completed", f"it succeeded though the task did not complete: {trace}"
            assert step >= over, f"it succeeded before the task completed: {trace}"
        if status != "running":
            return status
    return "running"


def traces(seed: int) -> Iterator[Trace]:
    """Random ones, for ever."""
    chance = random.Random(seed)
    while True:
        yield Trace(
            old=chance.choice(LEFT_OVER),
            taken=chance.randint(0, 120),
            phases=tuple((chance.choice(AT_WORK), chance.randint(1, 60)) for _ in range(chance.randint(0, 6))),
            end=chance.choice(LEFT_OVER),
            changes_id=chance.random() < 0.5,
            lags=(chance.randint(0, LONGEST_LAG), chance.randint(0, LONGEST_LAG), chance.randint(0, LONGEST_LAG)),
        )


def try_out(count: int, seed: int, judging: Judging = our_judge) -> dict[str, int]:
    """How so many random traces were judged: success, failure or still running."""
    found: dict[str, int] = {}
    for trace in islice(traces(seed), count):
        status = verdict(trace, judging)
        found[status] = found.get(status, 0) + 1
    return found


if __name__ == "__main__":
    number, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    judged = ", ".join(f"{count} {status}" for status, count in sorted(try_out(number, first).items()))
    print(f"{number} traces from seed {first}: no stale COMPLETED was taken for success ({judged})")
