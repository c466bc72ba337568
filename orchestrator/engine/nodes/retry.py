"""Further attempts for a child that fails."""

from __future__ import annotations

from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.decorators import Decorator

from orchestrator.engine.passing import passes_on

FAILURE, RUNNING = Status.FAILURE, Status.RUNNING


class Retry(Decorator):
    """Start a failed child again, up to `times` more often; each attempt begins in a new tick."""

    def __init__(self, name: str, child: Behaviour, times: int) -> None:
        super().__init__(name, child)
        self.times = times
        self.attempt = 1

    def initialise(self) -> None:
        self.attempt = 1
        self.feedback_message = ""

    @passes_on(Status.RUNNING, Status.SUCCESS, Status.INVALID)
    def update(self) -> Status:
        status = self.decorated.status
        if status is not FAILURE:
            return status
        if self.attempt > self.times:
            self.feedback_message = f"failed {self.attempt} times"
            return FAILURE
        self.attempt += 1
        self.feedback_message = f"attempt {self.attempt} of {self.times + 1}"
        return RUNNING
