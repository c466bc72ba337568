"""Sensor noise that repeats exactly."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

Vector = np.ndarray[Any, np.dtype[Any]]

_ROWS = 509
"""A prime, so that what is drawn together with something periodic does not repeat with it."""


class Noise:
    """Rows of normal noise: a table drawn once from a seed and gone through row by row.

    `code`: "f" for what goes onto the wire as 32-bit numbers; adding is quick where nothing has to be converted.
    """

    def __init__(self, seed: int, *deviations: float, rows: int | None = None, code: str = "d") -> None:
        shape = (_ROWS, len(deviations)) if rows is None else (_ROWS, rows, len(deviations))
        table = np.random.default_rng(seed).standard_normal(shape) * np.array(deviations)
        self._draws = itertools.cycle(list(table.astype(code)))

    def draw(self) -> Vector:
        """One value for every deviation, or `rows` of them."""
        return next(self._draws)
