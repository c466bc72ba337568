"""Ending something that runs: what is below is stopped at once, and every `finally` below it is waited for."""

from __future__ import annotations

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.own import Own
from orchestrator.engine.run import Cleanup, Run

RUNNING = Status.RUNNING


class Interrupter(Own):
    """A node that may interrupt its children. While a `finally` of theirs runs it stays running and starts nothing."""

    def __init__(self, name: str, run: Run, children: list[Behaviour]) -> None:
        super().__init__(name, children)
        self.run = run
        self.cleanups: list[Cleanup] = []
        self.end: Status | None = None

    def update(self) -> Status:
        if self.cleanups:
            ended = self._wait_for_cleanups()
            if ended is not None:
                return ended
        return self.advance()

    def advance(self) -> Status:
        """What the node does when it is not waiting for what it interrupted."""
        raise NotImplementedError

    def interrupt(self, children: list[Behaviour], end: Status | None) -> Status | None:
        """Stop children and wait for what they still have to do, then end with a status; None: go on with `advance`."""
        self.end = end
        self.cleanups = self.run.interrupt(children)
        return self._wait_for_cleanups()

    def interrupt_all(self, end: Status) -> Status:
        ended = self.interrupt(self.children, end)
        assert ended is not None
        return ended

    def halt(self) -> None:
        super().halt()
        self.run.cleanups += self.cleanups
        self.cleanups = []

    def _wait_for_cleanups(self) -> Status | None:
        while self.cleanups:
            if not self.cleanups[0].clean_up():
                return RUNNING
            del self.cleanups[0]
        return self.end
