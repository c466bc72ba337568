"""Sets of robot modes: which combinations of state machine, upper-body control and the like are possible.

A set is one integer with a bit per combination, so that union, intersection and comparison are single operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from orchestrator.leaf import MODES
from orchestrator.robots.facts import RobotFacts
from orchestrator.treefile.expression import NOT_CONSTANT, Expr

# The field that shows a mode; a bool field stands for on and off.
SHOWN_BY = {
    "fsm.state": "fsm",
    "upper.state": "upper",
    "upper.control": "upper",
    "velocity.source": "velocity_source",
    "base.remote": "remote",
}
_FLAGS = {True: "on", False: "off"}
CALLED = {
    "fsm": "fsm",
    "upper": "upper-body control",
    "velocity_source": "velocity source",
    "remote": "the base's remote mode",
}


class ModeSpace:
    """All combinations of modes of one robot."""

    def __init__(self, robot: RobotFacts) -> None:
        remote = ("off", "on") if "mobile_base" in robot.capabilities else ()
        values = (robot.fsm_states, robot.upper_states, robot.velocity_sources, remote)
        self.values = {mode: named for mode, named in zip(MODES, values) if named}
        self._stride: dict[str, int] = {}
        size = 1
        for mode, named in self.values.items():
            self._stride[mode] = size
            size *= len(named)
        self.everything = (1 << size) - 1
        self._size = size
        self._masks: dict[tuple[str, str], int] = {}
        for mode, named in self.values.items():
            for index, value in enumerate(named):
                self._masks[mode, value] = self._mask(mode, index)

    def _mask(self, mode: str, index: int) -> int:
        stride, count = self._stride[mode], len(self.values[mode])
        return sum(1 << bit for bit in range(self._size) if bit // stride % count == index)

    def at_start(self) -> int:
        """Anything is possible before the first node, but no remote session is open: nobody arms a robot in one."""
        return self.where("remote", ("off",)) if "remote" in self.values else self.everything

    def where(self, mode: str, allowed: Iterable[str]) -> int:
        """All combinations in which a mode has one of the values; everything if this robot has no such mode."""
        if mode not in self.values:
            return self.everything
        mask = 0
        for value in allowed:
            mask |= self._masks.get((mode, value), 0)
        return mask

    def possible(self, combinations: int, mode: str) -> list[str]:
        """The values a mode can have."""
        return [value for value in self.values.get(mode, ()) if combinations & self._masks[mode, value]]

    def changed(self, combinations: int, mode: str, value: str) -> int:
        """The combinations after a mode took a value."""
        named = self.values.get(mode)
        if named is None or value not in named:
            return combinations
        stride, target = self._stride[mode], named.index(value)
        result = 0
        for index, old in enumerate(named):
            part = combinations & self._masks[mode, old]
            shift = stride * (target - index)
            result |= part << shift if shift >= 0 else part >> -shift
        return result

    def anything_in(self, combinations: int, modes: Iterable[str]) -> int:
        """The combinations if some modes may have any value."""
        for mode in modes:
            for value in self.values.get(mode, ()):
                combinations |= self.changed(combinations, mode, value)
        return combinations

    def meets(self, requirement: Iterable[Mapping[str, tuple[str, ...]]]) -> int:
        """All combinations that meet one of the alternatives completely."""
        mask = 0
        for alternative in requirement:
            part = self.everything
            for mode, allowed in alternative.items():
                part &= self.where(mode, allowed)
            mask |= part
        return mask

    def told_by(self, condition: Expr, truth: bool) -> int:
        """All combinations in which a condition can be true (or false), as far as it speaks of modes."""
        op = condition.op
        if condition.const is not NOT_CONSTANT:
            return self.everything
        if op == "not":
            return self.told_by(condition.args[0], not truth)
        if op in ("and", "or"):
            left, right = (self.told_by(part, truth) for part in condition.args)
            return left & right if (op == "and") is truth else left | right
        if op == "field" and condition.value in SHOWN_BY:
            return self._shows(condition.value, True, truth)
        if op == "compare" and len(condition.args) == 2 and condition.value[0] in ("==", "!="):
            return self._told_by_equality(condition, truth)
        return self.everything

    def _told_by_equality(self, condition: Expr, truth: bool) -> int:
        left, right = condition.args
        if left.op != "field":
            left, right = right, left
        if left.op != "field" or right.const is NOT_CONSTANT:
            return self.everything
        return self._shows(left.value, right.const, (condition.value[0] == "==") is truth)

    def _shows(self, field: str, value: Any, equal: bool) -> int:
        """All combinations in which a field shows a value, or another one; everything if it shows no mode."""
        mode = SHOWN_BY.get(field, "")
        shown = _FLAGS[value] if isinstance(value, bool) else value
        if shown not in self.values.get(mode, ()):
            return self.everything
        found = self._masks[mode, shown]
        return found if equal else self.everything & ~found
