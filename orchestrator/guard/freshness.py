"""Whether what a source says about the robot can be relied on: fresh, stale, frozen, late or bad.

Unknown is not fresh: a source that has never been heard permits nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec

DRIFT = 200e-6
"""Seconds by which two clocks may drift apart in a second: that much later each sample may come without being late."""

WINDOW = 2.0
"""Seconds over which the longest pause between two samples is remembered, twice: this window and the one before."""


@dataclass(frozen=True)
class FreshnessLimits:
    """When a source counts as stale: `factor` times its usual pause, but between `floor` and `cap`."""

    factor: float
    floor: float
    cap: float
    frozen: float
    """A liveness counter that stands still this long (or three usual pauses, if longer) means frozen."""
    identical: float
    """The same for a topic without a counter whose numbers are never at rest: its bytes are the counter."""
    late: float
    """A sample this much later than the fastest one was held up on its way."""
    bad_samples: int
    """More bad samples than this within a second, and the source cannot be relied on."""

    def silence(self, usual: float) -> float:
        """Seconds without a sample after which a source is stale, by its usual pause."""
        silence = self.factor * usual
        if silence >= self.cap or not silence:
            return self.cap
        return silence if silence > self.floor else self.floor

    def standstill(self, usual: float, noisy: bool) -> float:
        """Seconds after which one whose counter has not moved is frozen."""
        return max(self.identical if noisy else self.frozen, 3 * usual)


class Freshness(msgspec.Struct, frozen=True):
    """What is remembered of one source."""

    last: float = -math.inf
    longest: float = 0.0
    longest_before: float = 0.0
    window_began: float = -math.inf
    counter: int | None = None
    counter_changed: float = math.inf
    least_lag: float = math.inf
    late: bool = False
    bad: tuple[float, ...] = ()
    noisy: bool = False
    stale_at: float = -math.inf
    """When it turns stale or frozen unless something new comes."""

    def seen(
        self, now: float, counter: int | None, lag: float | None, limits: FreshnessLimits, noisy: bool = False
    ) -> Freshness:
        """After a good sample."""
        pause = now - self.last if self.last > -math.inf else 0.0
        longest, before, began = self.longest, self.longest_before, self.window_began
        if now - began >= WINDOW:
            longest, before, began = 0.0, longest, now
        least_lag, late = self.least_lag, False
        if lag is not None:
            least_lag = min(least_lag + pause * DRIFT, lag)
            late = lag - least_lag > limits.late
        moved = counter is not None and counter != self.counter
        moved_at = now if moved else self.counter_changed
        longest = pause if pause > longest else longest
        usual = longest if longest > before else before
        stale_at = now + limits.silence(usual)
        if counter is not None:
            stale_at = min(stale_at, moved_at + limits.standstill(usual, noisy))
        return Freshness(
            last=now,
            longest=longest,
            longest_before=before,
            window_began=began,
            counter=counter,
            counter_changed=moved_at,
            least_lag=least_lag,
            late=late,
            bad=self.bad,
            noisy=noisy,
            stale_at=stale_at,
        )

    def spoilt(self, now: float, limits: FreshnessLimits) -> Freshness:
        """After a sample that could not be believed."""
        recent = tuple(at for at in self.bad if now - at < 1.0)[-limits.bad_samples :]
        return msgspec.structs.replace(self, bad=(*recent, now))

    def problem(self, now: float, limits: FreshnessLimits) -> str | None:
        """Why the source cannot be relied on now, or None when it can."""
        if now >= self.stale_at:
            usual = max(self.longest, self.longest_before)
            silent = now >= self.last + limits.silence(usual)
            return "unknown" if self.last == -math.inf else "stale" if silent else "frozen"
        if self.late:
            return "late"
        if self.bad and sum(now - at < 1.0 for at in self.bad) > limits.bad_samples:
            return "bad"
        return None


NEVER_HEARD = Freshness()


def went_backwards(old: int, new: int, bits: int) -> bool:
    """Whether a wrapping counter has jumped back: the robot has been restarted."""
    span = 1 << bits
    return (new - old) % span >= span // 2


def may_have_gone_round(gap: float, bits: int, rate: float) -> bool:
    """Whether a wrapping counter that counts so often a second may have gone half round in a gap (s).

    Then forward and back look the same. It may count twice as fast as is known.
    """
    return gap * 2 * rate >= 1 << (bits - 1)
