"""Ticks that took longer than the time to the next heartbeat: counted, told of, and never made up for."""

from __future__ import annotations

from math import inf

from orchestrator.engine.run import PERIOD, Run

ALARMING = 3
"""So many in a row mean that the run does not keep up."""
SILENCE = 10.0
"""Seconds between two notes of the same kind: who reads them needs no more."""


class Overruns:
    """Hears of every turn."""

    def __init__(self, run: Run) -> None:
        self.count = 0
        self._run = run
        self._in_a_row = 0
        self._warned_at = self._alarmed_at = -inf

    def turn_took(self, seconds: float) -> None:
        if seconds <= PERIOD:
            self._in_a_row = 0
            return
        self.count += 1
        self._in_a_row += 1
        now = self._run.at()
        if now - self._warned_at >= SILENCE:
            self._warned_at = now
            self._warn(seconds)
        if self._in_a_row >= ALARMING and now - self._alarmed_at >= SILENCE:
            self._alarmed_at = now
            text = f"ALARM: {self._in_a_row} ticks in a row took longer than {PERIOD:g} s: the run does not keep up"
            self._run.note(None, f"{text} ({self.count} were too long so far)")

    def _warn(self, seconds: float) -> None:
        took, leaf = self._run.slowest
        if leaf is not None and took >= seconds / 2:
            text = f"{leaf.name} blocked the run for {took:.2f} s: a leaf must come back at once ({leaf.place})"
            self._run.note(leaf, text)
        else:
            self._run.note(None, f"a tick took {seconds:.2f} s, and no leaf most of it; it may take {PERIOD:g} s")
