"""What a leaf says in its attributes. Leaves are written by others: what is not as it must be is not passed on."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite
from numbers import Real
from typing import Any

from orchestrator.engine.events import readable
from orchestrator.engine.run import in_steps
from orchestrator.leaf import Leaf


class WrongAttribute(Exception):
    """An attribute of a leaf is not what it must be."""

    def __init__(self, name: str, value: Any, wanted: str) -> None:
        super().__init__(name)
        self.name = name
        self.value = value
        self.wanted = wanted


def period_of(leaf: Leaf) -> float | None:
    """Seconds after which it wants to be ticked again, if it has a `rate` in Hz."""
    rate = getattr(leaf, "rate", None)
    if rate is None:
        return None
    if not _is_number(rate) or not 0 < rate < inf:
        raise WrongAttribute("rate", rate, "ticks per second, more than 0")
    return float(1 / rate)


def time_limit_of(leaf: Leaf) -> float | None:
    limit = leaf.time_limit
    if limit is not None and (not _is_number(limit) or not limit > 0):
        raise WrongAttribute("time_limit", limit, "seconds, or None")
    return limit


def same_until_of(leaf: Leaf) -> float:
    time = leaf.same_until
    if not _is_number(time) or time != time:
        raise WrongAttribute("same_until", time, "a time of the robot's clock")
    return float(time)


def said_by(leaf: Leaf) -> tuple[str, str, float | None]:
    """Reason, message, progress."""
    progress = leaf.progress
    if progress is not None:
        if not _is_number(progress) or not isfinite(progress):
            raise WrongAttribute("progress", progress, "a number from 0 to 1")
        progress = in_steps(progress)
    return reason_of(leaf), _text("message", leaf.message), progress


def reason_of(leaf: Leaf) -> str:
    return _text("reason", leaf.reason)


def why_of(leaf: Leaf) -> str:
    """Reason and message, for people."""
    _text("reason", leaf.reason)
    _text("message", leaf.message)
    return readable(leaf.why)


def result_of(leaf: Leaf) -> str | None:
    result = leaf.result
    return None if result is None else _text("result", result)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise WrongAttribute(name, value, "a text")
    return readable(value)


def shown(value: object, show: Callable[[object], str] = repr) -> str:
    """Something that a leaf has made, in words; even that may raise."""
    try:
        return readable(show(value))
    except (Exception, SystemExit):
        return f"<{type(value).__name__} that cannot be shown>"


def _is_number(value: Any) -> bool:
    """Also one of numpy's."""
    return type(value) is float or (isinstance(value, Real) and not isinstance(value, bool))
