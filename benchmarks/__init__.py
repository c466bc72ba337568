"""Numbers, measured side by side in one run: `make bench`.

Every module here that has a function `rows()` gives rows of the table. Machines are shared and noisy: both sides are
measured in turn within one run, the best or the median of many repeats counts, and the ratio is what is compared.
"""

from __future__ import annotations

import os
import tempfile
from functools import cache
from typing import Any, NotRequired, TypedDict


class Row(TypedDict):
    """One line of the table."""

    name: str
    value: float
    unit: str
    reach: str | None
    ok: bool | None
    note: NotRequired[str]


def at_least(name: str, value: float, unit: str, goal: float) -> Row:
    return Row(name=name, value=value, unit=unit, reach=f">= {goal:g}", ok=value >= goal)


def at_most(name: str, value: float, unit: str, goal: float) -> Row:
    return Row(name=name, value=value, unit=unit, reach=f"<= {goal:g}", ok=value <= goal)


def report(name: str, value: float, unit: str) -> Row:
    """A number without a goal, for comparison."""
    return Row(name=name, value=value, unit=unit, reach=None, ok=None)


def as_installed() -> dict[str, str]:
    """The environment of a process that finds its modules compiled, as those of an installed program are."""
    others = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**others, "PYTHONPYCACHEPREFIX": _bytecode().name}


@cache
def _bytecode() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="bytecode")


class NoFields:
    """Nothing is known."""

    def read(self, name: str) -> Any:
        return None

    def why(self, name: str) -> str:
        return f"{name} is not known"

    def watch(self, name: str) -> None:
        pass
