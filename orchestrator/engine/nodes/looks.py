"""Nodes that only look: `check`, `wait_for`, and `if`."""

from __future__ import annotations

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.conditions import Condition
from orchestrator.engine.own import Own
from orchestrator.engine.run import Run

RUNNING, SUCCESS, FAILURE, INVALID = Status.RUNNING, Status.SUCCESS, Status.FAILURE, Status.INVALID


class Check(Behaviour):
    """Succeeds if a condition holds, fails if not or if that is not known."""

    def __init__(self, name: str, run: Run, condition: Condition) -> None:
        super().__init__(name)
        self._run = run
        self._condition = condition

    def update(self) -> Status:
        if self.status is not RUNNING and self._run.breakpoints.hold(self):
            return RUNNING
        holds = self._condition.look()
        if holds:
            self.feedback_message = ""  # of an earlier look
            return SUCCESS
        return self._run.fail(self, self._condition.why_not())


class Dead(Behaviour):
    """In the place of a node that a constant condition keeps from ever running on this robot."""

    def __init__(self, name: str, run: Run) -> None:
        super().__init__(name)
        self._run = run

    def update(self) -> Status:
        return self._run.fail(self, "cannot run on this robot")


class WaitFor(Behaviour):
    """Runs until a condition holds; what is not known is waited for."""

    def __init__(self, name: str, run: Run, condition: Condition) -> None:
        super().__init__(name)
        self._run = run
        self.condition = condition

    def initialise(self) -> None:
        self.condition.restart()

    def update(self) -> Status:
        if self.status is not RUNNING and self._run.breakpoints.hold(self):
            return RUNNING
        return SUCCESS if self.condition.look() else RUNNING


class If(Own):
    """Decides once which of its children runs; without `else` it succeeds."""

    def __init__(self, name: str, run: Run, condition: Condition, branches: list[Behaviour]) -> None:
        super().__init__(name, branches)
        self._run = run
        self._condition = condition
        self.branch = 0

    def initialise(self) -> None:
        self.feedback_message = ""
        self.halt()

    def update(self) -> Status:
        if self.starting:
            if self.hold_up(self._run.breakpoints):
                return RUNNING
            holds = self._condition.look()
            if holds is None:
                return self._run.fail(self, self._condition.unknown())
            self.branch = 0 if holds else 1
        return self.ticks[self.branch]() if self.branch < len(self.ticks) else SUCCESS
