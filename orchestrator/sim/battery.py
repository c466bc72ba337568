"""A battery that drains, faster while the robot works, and can be charged."""

from __future__ import annotations

from orchestrator.sim.model import NEVER

IDLE_DRAIN = 100.0 / (4 * 3600)
"""Percent per second: four hours standing by."""
WORK_DRAIN = 100.0 / (2 * 3600)
CHARGE = 100.0 / 3600
LOW = 20.0
"""Percent from which on it calls itself low."""


class Battery:
    """Percent of charge."""

    def __init__(self, level: float = 80.0) -> None:
        self.level = level
        self.working = False
        self.charging = False
        self._now = 0.0

    @property
    def low(self) -> bool:
        return self.level < LOW

    @property
    def voltage(self) -> float:
        return 44.0 + 0.1 * self.level

    @property
    def current(self) -> float:
        """Amperes out of the battery."""
        return -10.0 if self.charging else 8.0 if self.working else 3.0

    def advance(self, now: float) -> None:
        level = self.level + self._rate() * (now - self._now)
        self.level = 0.0 if level < 0.0 else 100.0 if level > 100.0 else level
        self._now = now

    def next_change(self) -> float:
        rate = self._rate()
        return self._now + (LOW - self.level) / rate + 1e-6 if rate < 0.0 and self.level >= LOW else NEVER

    def _rate(self) -> float:
        return CHARGE if self.charging else -(WORK_DRAIN if self.working else IDLE_DRAIN)
