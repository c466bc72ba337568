"""The samples of one topic in the order in which they were written, by a clock that somebody may set."""

from __future__ import annotations

import math

from orchestrator.bus.contract import Sample

IN_A_ROW = 3
OVER = 0.05
"""Seconds. So many samples in a row that seem older than the newest, in order and over this time: its clock was
set back. What was held up on its way comes all at once, or newer ones come in between."""


class Order:
    """Tells a sample that was overtaken from one whose writer's clock was set, and how late each one is."""

    def __init__(self) -> None:
        self._writer = self._newest = -1
        self._set_back = 0.0
        self._behind = 0
        self._behind_since = math.inf
        self._behind_newest = -1
        self.lag = math.nan
        """Arrival of the newest sample minus its writer's own time, in seconds from an arbitrary origin."""

    def overtaken(self, sample: Sample) -> bool:
        """Whether a newer sample of the same writer has been here before this one."""
        lag = sample.received - sample.source_time / 1e9
        if sample.writer != self._writer:
            self._writer, self._set_back = sample.writer, 0.0
        elif sample.source_time < self._newest:
            if not self._clock_was_set(sample):
                return True
            self._set_back = lag - self.lag  # as late as the last one in order
        self._newest, self._behind = sample.source_time, 0
        self.lag = lag - self._set_back
        return False

    def _clock_was_set(self, sample: Sample) -> bool:
        if self._behind == 0 or sample.source_time <= self._behind_newest:
            self._behind, self._behind_since = 0, sample.received
        self._behind += 1
        self._behind_newest = sample.source_time
        return self._behind >= IN_A_ROW and sample.received - self._behind_since >= OVER
