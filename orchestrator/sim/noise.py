"""Sensor noise that repeats exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

_ROWS = 509
"""A prime, so that what is drawn together with something periodic does not repeat with it."""


class Noise:
    """Rows of normal noise: a table drawn once from a seed and gone through row by row."""

    def __init__(self, seed: int, *deviations: float) -> None:
        self._table = np.random.default_rng(seed).standard_normal((_ROWS, len(deviations))) * np.array(deviations)
        self._next = 0

    def draw(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """One value for every deviation."""
        self._next = (self._next + 1) % _ROWS
        row: np.ndarray[Any, np.dtype[np.float64]] = self._table[self._next]
        return row
