"""The operator's pad."""

from __future__ import annotations

from typing import Any

from orchestrator.bus.contract import Sample
from orchestrator.robots.judging import Context, Judge, Waiting
from orchestrator.robots.knowledge import Known, Read, Unknown

HELD = 0.1
"""A press counts for at least so long, so that no tick misses a short one: two of the longest ticks."""


class Pad:
    """Buttons and axes by name."""

    def __init__(self, context: Context) -> None:
        self._state = context.state
        self._reads: dict[str, Read] = {}
        self._now = context.clock.now
        self._pressed = context.state.signal("pad")
        self._context = context
        self._last_down: dict[str, float] = {}
        self._pressed_at: dict[str, float] = {}
        self._down: frozenset[str] = frozenset()
        # Not through the feed: a sample that was lost and sent again late tells of a press all the same.
        self._pressed.feed.reader.on_sample(self._notice)

    def button(self, name: str) -> Known[bool] | Unknown:
        """Whether it is down, or was a moment ago."""
        now_down = self._read(name)
        if isinstance(now_down, Unknown) or now_down.value:
            return now_down
        recently = self._now() - self._last_down.get(name, -1.0) < HELD
        return Known(True, self._last_down[name]) if recently else now_down

    def wait_for(self, name: str) -> Judge:
        """Wait until it is pressed; one that is held down already must be let go first."""
        began = self._now()
        return Waiting(self._context, lambda: self._read(name), lambda found: self._pressed_at.get(name, -1.0) > began)

    def axis(self, name: str) -> Known[float] | Unknown:
        """From -1 to 1, with the vendor's signs."""
        return self._read(name)

    def _read(self, name: str) -> Known[Any] | Unknown:
        if name not in self._reads:
            self._reads[name] = self._state.reader(f"pad.{name}")
        return self._reads[name]()

    def _notice(self, sample: Sample) -> None:
        pressed = self._pressed.of(sample)
        if isinstance(pressed, Unknown) or not (pressed.value or self._down):
            return
        for name in pressed.value:
            self._last_down[name] = sample.received
            if name not in self._down:
                self._pressed_at[name] = sample.received
        self._down = frozenset(pressed.value)
