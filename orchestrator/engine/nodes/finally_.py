"""`finally`: what is done after a node, however it ended."""

from __future__ import annotations

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.own import Own
from orchestrator.engine.run import Run

RUNNING, SUCCESS, INVALID = Status.RUNNING, Status.SUCCESS, Status.INVALID
LONGEST = 30.0
"""Seconds a `finally` may take; then it is stopped and reported."""


class TryAll(Own):
    """Tries its children in order, even if one fails; always succeeds."""

    def __init__(self, name: str, children: list[Behaviour]) -> None:
        super().__init__(name, children)
        self.at = 0

    def initialise(self) -> None:
        self.halt()
        self.at = 0

    def update(self) -> Status:
        while self.at < len(self.ticks):
            if self.ticks[self.at]() is RUNNING:
                return RUNNING
            self.at += 1
        return SUCCESS


class Finally(Own):
    """Its first child is the node, its second what is done afterwards, once, without changing the result.

    When it is interrupted it stops the node at once and leaves the rest to whoever interrupted, as a `Cleanup`.
    """

    def __init__(self, name: str, run: Run, child: Behaviour, after: TryAll, key: str) -> None:
        super().__init__(name, [child, after])
        self.run = run
        self._key = key
        self.outcome: Status | None = None
        """How the node ended; None while it runs."""
        self.open = False
        """Started, and what is to be done afterwards is not over."""
        self.deadline = 0.0

    def initialise(self) -> None:
        self.feedback_message = ""
        self.outcome = None
        if self.children[1].status is not INVALID:
            self.children[1].stop(INVALID)

    def update(self) -> Status:
        if self.starting:
            if self.hold_up(self.run.breakpoints):
                return RUNNING
            self.open = True
        if self.outcome is None:
            status = self.ticks[0]()
            if status is RUNNING:
                return RUNNING
            self._begin(status)
        assert self.outcome is not None
        return self.outcome if self.clean_up() else RUNNING

    def halt(self) -> None:
        """Interrupted. `finally` goes on, from its beginning or from where it was."""
        if self.children[0].status is not INVALID:
            self.children[0].stop(INVALID)
        held_up, self.held_up = self.held_up, False
        if held_up or self.status is not RUNNING:
            return
        if self.outcome is None:
            self._begin(INVALID)
        self.run.cleanups.append(self)

    def clean_up(self) -> bool:
        if self.run.clock.now() >= self.deadline:
            self._give_up()
        elif self._tick_after() is RUNNING:
            self.run.wake_at(self.deadline)
            return False
        self.open = False
        return True

    def _tick_after(self) -> Status:
        """What fails in here is told, but the tree does not fail of it."""
        failure = self.run.failure
        status = self.ticks[1]()
        self.run.failure = failure
        return status

    def forget(self) -> None:
        self.open = False
        self.run.interrupt([self.children[1]])

    def _begin(self, outcome: Status) -> None:
        self.outcome = outcome
        self.deadline = self.run.clock.now() + LONGEST
        self.run.values[self._key] = "interrupted" if outcome is INVALID else outcome.name.lower()

    def _give_up(self) -> None:
        self.run.interrupt([self.children[1]])
        inner = [node for node in self.children[1].iterate() if isinstance(node, Finally) and node.open]
        for node in inner:
            node.forget()
        undone = "".join(f"; finally of {node.name} in it was left undone" for node in inner)
        self.run.note(self, f"finally of {self.name} was stopped after {LONGEST:g} s{undone}")
