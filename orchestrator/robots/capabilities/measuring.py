"""How much of a way is done, from where the robot says it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from orchestrator.robots.capabilities.body import turn_between

LEAST_STEP = 0.1
"""Metres after which a part of a way is added up: more than a walking body sways."""

Measure = Callable[[Any], float]
"""How much of the way is done; told every new report."""


def way() -> Measure:
    """Adds up the way step by step: whoever walks in a circle gets no further from where it began."""
    mark: Any = None
    walked = 0.0

    def measure(now: Any) -> float:
        nonlocal mark, walked
        mark = now if mark is None else mark
        step = math.hypot(now[0] - mark[0], now[1] - mark[1])
        if step < LEAST_STEP:
            return walked + step
        mark, walked = now, walked + step
        return walked

    return measure


def turned(direction: float) -> Measure:
    """Adds up small turns, so that more than half a turn can be asked for; turns the other way count against it."""
    last: Any = None
    total = 0.0

    def measure(now: Any) -> float:
        nonlocal last, total
        total += 0.0 if last is None else direction * turn_between(last, now)
        last = now
        return total

    return measure
