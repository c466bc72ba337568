"""Is it still getting nearer? An error that must keep falling."""

from __future__ import annotations

FALL = 0.1
"""The part of the error that must be gone after every window."""
WINDOW = 1.0


class Progress:
    """Watches an error that should fall to nothing."""

    def __init__(self, window: float = WINDOW) -> None:
        self._window = window
        self._first: float | None = None
        self._mark: tuple[float, float] | None = None

    def stalled(self, error: float, now: float) -> bool:
        """Whether a whole window has passed in which the error fell by less than a tenth."""
        if self._mark is None:
            self._first = error
            self._mark = (error, now)
            return False
        before, since = self._mark
        if now - since < self._window:
            return False
        self._mark = (error, now)
        return error > before * (1 - FALL)

    def restart(self) -> None:
        """Begin a new window: what held it up was no fault."""
        self._mark = None

    def done(self, error: float) -> float | None:
        """How much of the way is done, from 0 to 1."""
        if not self._first:
            return None
        return min(max(1 - error / self._first, 0.0), 1.0)
