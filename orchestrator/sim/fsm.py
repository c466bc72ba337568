"""A whole-body state machine: transitions that take time, and transitions that are refused."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.sim.model import NEVER

Allowed = Callable[[int, int], bool]
"""Whether the robot goes from one state to another."""
Duration = Callable[[int], float]
"""How long it takes to enter a state, in seconds."""


class StateMachine:
    """Shows the old state until the new one is reached."""

    def __init__(self, start: int, known: frozenset[int], allowed: Allowed, duration: Duration) -> None:
        self.state = start
        self.entered = 0.0
        self._known = known
        self._allowed = allowed
        self._duration = duration
        self._target = start
        self._due = NEVER

    def request(self, state: int, now: float) -> bool:
        """Ask for a state; says whether the robot goes there. A newer request replaces one under way."""
        if state not in self._known or not self._allowed(self.state, state):
            return False
        self._target = state
        self._due = NEVER if state == self.state else now + self._duration(state)
        return True

    def force(self, state: int, now: float) -> None:
        """Be in a state at once, whatever was going on."""
        self._target, self._due = state, NEVER
        if state != self.state:
            self.state, self.entered = state, now

    def advance(self, now: float) -> None:
        if now >= self._due:
            self.state, self.entered, self._due = self._target, self._due, NEVER

    def next_change(self) -> float:
        return self._due
