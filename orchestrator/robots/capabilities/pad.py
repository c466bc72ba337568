"""The operator's pad."""

from __future__ import annotations

from orchestrator.bus.contract import Sample
from orchestrator.robots.judging import Context, Judge, Waiting
from orchestrator.robots.knowledge import Known, Read, Unknown

HELD = 0.1
"""A press counts for at least so long, so that no tick misses a short one: two of the longest ticks."""


class Pad:
    """Buttons and axes by name."""

    def __init__(self, context: Context) -> None:
        self._state = context.state
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
        return self.button_reader(name)()

    def button_reader(self, name: str) -> Read:
        read, last_down = self._state.reader(f"pad.{name}"), self._last_down

        def look() -> Known[bool] | Unknown:
            found = read()
            if name not in last_down or isinstance(found, Unknown) or found.value:
                return found
            down = last_down[name]
            return Known(True, down) if self._now() - down < HELD else found

        return look

    def wait_for(self, name: str) -> Judge:
        """Wait until it is pressed; one that is held down already must be let go first."""
        began = self._now()
        read = self._state.reader(f"pad.{name}")
        if f"pad.{name}" in self._state.signals:
            self._state.signal(f"pad.{name}").watch()
        return Waiting(self._context, read, lambda found: self._pressed_at.get(name, -1.0) > began)

    def axis(self, name: str) -> Known[float] | Unknown:
        """From -1 to 1, with the vendor's signs."""
        return self._state.reader(f"pad.{name}")()

    def _notice(self, sample: Sample) -> None:
        pressed = self._pressed.of(sample)
        if isinstance(pressed, Unknown) or not (pressed.value or self._down):
            return
        for name in pressed.value:
            self._last_down[name] = sample.received
            if name not in self._down:
                self._pressed_at[name] = sample.received
        self._down = frozenset(pressed.value)
