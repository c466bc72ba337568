"""A limit on how long a child may run."""

from __future__ import annotations

from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.decorators import Decorator

from orchestrator.clock import Clock
from orchestrator.engine.passing import passes_on

FAILURE, RUNNING = Status.FAILURE, Status.RUNNING


class Timeout(Decorator):
    """Stop and fail a child that still runs `duration` seconds after its start."""

    def __init__(self, name: str, child: Behaviour, duration: float, clock: Clock) -> None:
        super().__init__(name, child)
        self.duration = duration
        self.deadline = 0.0
        self._now = clock.now

    def initialise(self) -> None:
        self.deadline = self._now() + self.duration
        self.feedback_message = ""

    @passes_on(Status.SUCCESS, Status.FAILURE, Status.INVALID)
    def update(self) -> Status:
        status = self.decorated.status
        if status is RUNNING and self._now() >= self.deadline:
            self.feedback_message = f"not done after {self.duration:g} s"
            return FAILURE  # a decorator that ends stops its child
        return status
