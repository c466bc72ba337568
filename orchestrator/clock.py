"""Time for everything that decides: real (monotonic) or virtual.

Nothing else in the code asks the time. Wall-clock time is for people and log files only and never decides anything.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """Seconds that only go forward, from an arbitrary start."""

    def now(self) -> float: ...


class RealClock:
    """The machine's monotonic clock."""

    now = staticmethod(time.monotonic)


class Timer:
    """A call planned on a virtual clock; cancel it and it never happens."""

    __slots__ = ("action", "due")

    def __init__(self, due: float, action: Callable[[], None] | None) -> None:
        self.due = due
        self.action = action

    def cancel(self) -> None:
        self.action = None


class VirtualClock:
    """Time that stands still until somebody advances it, and runs planned calls in order on the way.

    Calls planned for the same instant run in the order in which they were planned, so that a run repeats exactly.
    """

    def __init__(self, start: float = 0.0) -> None:
        self._now = start
        self._order = itertools.count()
        self._planned: list[tuple[float, int, Timer]] = []

    def now(self) -> float:
        return self._now

    def at(self, due: float, action: Callable[[], None]) -> Timer:
        """Plan a call; one planned for the past runs as soon as time moves on."""
        timer = Timer(max(due, self._now), action)
        heapq.heappush(self._planned, (timer.due, next(self._order), timer))
        return timer

    def after(self, delay: float, action: Callable[[], None]) -> Timer:
        return self.at(self._now + delay, action)

    def next_due(self) -> float | None:
        """When the next planned call is due, or None if nothing is planned."""
        while self._planned and self._planned[0][2].action is None:
            heapq.heappop(self._planned)
        return self._planned[0][0] if self._planned else None

    def step(self, until: float) -> bool:
        """Run the next planned call if it is due by `until`; otherwise move to `until`. Says whether a call ran."""
        due = self.next_due()
        if due is None or due > until:
            self._now = max(self._now, until)
            return False
        _, _, timer = heapq.heappop(self._planned)
        self._now = due
        action = timer.action
        assert action is not None
        action()
        return True

    def advance(self, seconds: float) -> None:
        """Move forward, running everything that falls due on the way."""
        until = self._now + seconds
        while self.step(until):
            pass
