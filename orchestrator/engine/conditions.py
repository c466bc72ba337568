"""Conditions and values of the file, bound to a run."""

from __future__ import annotations

from collections.abc import Callable
from itertools import starmap
from math import isfinite
from typing import Any

from orchestrator.clock import Clock
from orchestrator.engine.run import Run
from orchestrator.leaf import Duration, ParamType, param_type
from orchestrator.treefile import Expression, Template
from orchestrator.treefile.evaluate import compiled
from orchestrator.treefile.expression import Expr
from orchestrator.treefile.model import text_of
from orchestrator.treefile.values import nearest_in


class Unknown(Exception):
    """A value is needed and not known, or not what it may be; a sentence that says which."""


class Condition:
    """An expression that is looked at while its node runs; `for T` is counted from the node's start."""

    def __init__(self, expression: Expression, run: Run, clock: Clock | None = None) -> None:
        self.expression = expression
        self._evaluate = expression.evaluate
        self._run = run
        self._now = (clock or run.clock).now
        self._hold = expression.hold
        self.since: float | None = None
        for field in expression.fields:
            run.fields.watch(field)

    def restart(self) -> None:
        self.since = None

    def look(self) -> bool | None:
        """Whether it holds now; None when that is not known."""
        run = self._run
        value: bool | None = self._evaluate(run.fields.read, run.values)
        if self._hold is None:
            return value
        if value is not True:
            self.since = None
            return value
        now = self._now()
        if self.since is None:
            self.since = now
        held_at = self.since + self._hold
        if now >= held_at:
            return True
        run.wake_at(held_at)
        return False

    def unknown(self) -> str:
        """Why it is not known."""
        return why_unknown(self.expression, self._run)

    def why_not(self) -> str:
        """Why it does not hold: with what it reads now, which is put into words only here."""
        expression, run = self.expression, self._run
        if self._evaluate(run.fields.read, run.values) is None:
            return self.unknown()
        reads = "" if expression.only_reads else ", ".join(starmap(self._read, expression.reads.items()))
        return f'"{expression.text}" does not hold' + (f": {reads}" if reads else "")

    def _read(self, written: str, part: Expr) -> str:
        run = self._run
        value = compiled(part)(run.fields.read, run.values)
        if value is not None:
            return f"{written} is {text_of(value, part.kind)}"
        return run.fields.why(written) if part.op == "field" else f"{written} was never saved"


def why_unknown(expression: Expression, run: Run) -> str:
    reasons = [run.fields.why(field) for field in expression.fields if run.fields.read(field) is None]
    return f'"{expression.text}" is not known: {"; ".join(reasons) or "a value in it was never saved"}'


DYNAMIC = (Expression, Template)
"""What is worked out when its node starts."""
_DURATION, _ = param_type(Duration)


def bind(value: Any, run: Run) -> Callable[[], Any]:
    """A function that gives a value of the file when its node starts; raises Unknown."""
    if isinstance(value, Expression):
        return _calculated(value, run)
    if isinstance(value, Template):
        return _filled_in(value, run)
    if isinstance(value, list) and any(isinstance(item, DYNAMIC) for item in value):
        items = [bind(item, run) for item in value]
        return lambda: [item() for item in items]
    if isinstance(value, dict) and any(isinstance(item, DYNAMIC) for item in value.values()):
        entries = {key: bind(item, run) for key, item in value.items()}
        return lambda: {key: item() for key, item in entries.items()}
    return lambda: value


def bind_time(name: str, value: Any, run: Run) -> Callable[[], float]:
    """The same for a duration, which must not be negative."""
    found = bind(value, run)

    def time() -> float:
        seconds: float = in_range(name, found(), _DURATION, None)
        return seconds

    return time if isinstance(value, DYNAMIC) else found


def _calculated(expression: Expression, run: Run) -> Callable[[], Any]:
    def calculated() -> Any:
        value = expression.evaluate(run.fields.read, run.values)
        if value is None:
            raise Unknown(why_unknown(expression, run))
        return value

    return calculated


def _filled_in(template: Template, run: Run) -> Callable[[], str]:
    def part_of(part: str | tuple[str, str]) -> str:
        if isinstance(part, str):
            return part
        value = run.values.get(part[0])
        if value is None:
            raise Unknown(f"${part[0]} is not known: it was never saved")
        return text_of(value, part[1])

    return lambda: "".join(part_of(part) for part in template.parts)


def in_range(name: str, value: Any, wanted: ParamType, limits: tuple[float, float] | None) -> Any:
    """What a file can't say before the run is checked when the node starts, as if it stood there; raises Unknown."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    lower, upper = limits or (None, None)
    for low, high in ((wanted.lower, wanted.upper), (lower, upper)):
        found = nearest_in(value, low, high) if isfinite(value) else None
        if found is None:
            shown = [text_of(bound, wanted.kind) if bound is not None else "any" for bound in (value, low, high)]
            raise Unknown(f"{name} is {shown[0]}, which is out of range: from {shown[1]} to {shown[2]}")
        value = found
    return value
