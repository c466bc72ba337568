"""Errors of motors, joint groups and buses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from orchestrator.robots.families import AURORA_GROUPS
from orchestrator.robots.intents import ClearErrors
from orchestrator.robots.judging import Context, Decided, Judge
from orchestrator.robots.knowledge import INFINITE, Combined, Doubt, Known, Read, Unknown, either
from orchestrator.robots.outcome import RUNNING, SUCCESS, Outcome, failure, unknown
from orchestrator.robots.reasons import Reason
from orchestrator.robots.signals import Convert
from orchestrator.robots.state.atom import errors_to_clear, node_errors
from orchestrator.robots.state.aurora import MOTION_ERROR

_GROUPS = len(AURORA_GROUPS)
CLEAR_AFTER, CLEAR_WITHIN = 0.5, 3.0
"""When clearing may be seen at the earliest, and must be at the latest: node states come five times a second."""


class Errors:
    """What is wrong, one sentence each; an empty list is good news, an unknown one is not."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.problems = self._reading(tuple, _added)
        self.any = self._reading(bool, either)
        self.count = self._reading(len, _added)
        self._clearings: list[_Clearing] = []

    def sources(self) -> dict[str, Convert]:
        """Signals, and what is wrong by what they have on the wire."""
        return {"errors": node_errors(self._context.profile)}

    def _reading(self, convert: Callable[[tuple[str, ...]], Any], combine: Callable[[list[Any]], Any]) -> Read:
        state = self._context.state
        reads = [state.reader(name, _then(problems, convert)) for name, problems in self.sources().items()]
        return reads[0] if len(reads) == 1 else Combined(reads, combine)

    def clear(self, confirmed: bool = False) -> Judge:
        """Clear what can be cleared. Nothing is sent when there is nothing, nor a second time unless confirmed."""
        to_clear = self._context.state.reader("errors", errors_to_clear(self._context.profile))
        now = to_clear()
        if isinstance(now, Unknown):
            return Decided(self._context, unknown(now))
        if not now.value:
            return Decided(self._context, SUCCESS)
        if any(each.was_let_through for each in self._clearings) and not confirmed:
            again = "errors were cleared in this run before; a person must confirm that they are cleared again"
            return Decided(self._context, failure(Reason.REFUSED, again))
        clearing = _Clearing(to_clear, self._context, confirmed)
        self._clearings.append(clearing)
        return clearing


class GroupErrors(Errors):
    """Aurora: joint groups report a motion error, motors an error number once a second. Nothing can be cleared."""

    def sources(self) -> dict[str, Convert]:
        motors = _numbered([joint.name for joint in self._context.profile.joints])
        return {
            "motion": _group_problems,
            "motor.errors": lambda groups: motors([code for codes in groups for code in codes]),
        }

    def clear(self, confirmed: bool = False) -> Judge:
        return Decided(self._context, failure(Reason.UNSUPPORTED, "it has no command to clear errors"))


class MotorErrors(Errors):
    """Adam: each motor reports a number, which is 0 when all is well."""

    def sources(self) -> dict[str, Convert]:
        return {"motor.states": _numbered([joint.name for joint in self._context.profile.joints])}

    def clear(self, confirmed: bool = False) -> Judge:
        return Decided(self._context, failure(Reason.UNSUPPORTED, "it has no command to clear errors"))


class _Clearing(Judge):
    """Done when the robot reports nothing to clear any more; one command per request, never repeated."""

    def __init__(self, to_clear: Read, context: Context, confirmed: bool) -> None:
        self._to_clear = to_clear
        super().__init__(context, ClearErrors(confirmed))

    @property
    def was_let_through(self) -> bool:
        """One that was refused has cleared nothing."""
        return self.receipt is not None and self.receipt.state != "refused"

    def judge(self, now: float) -> Outcome:
        found = self._to_clear()
        if isinstance(found, Unknown):
            return unknown(found)
        if found.received < self.sent_at + CLEAR_AFTER:
            return RUNNING if now - self.sent_at <= CLEAR_WITHIN else failure(Reason.NOT_ACCEPTED)
        if not found.value:
            return SUCCESS
        return RUNNING if now - self.sent_at <= CLEAR_WITHIN else failure(Reason.FAILED, "; ".join(found.value))


def _then(first: Convert, second: Convert) -> Convert:
    return lambda raw: second(first(raw))


def _added(parts: list[Any]) -> Known[Any] | Unknown:
    """All parts together; one that is not known leaves all unknown."""
    total, oldest = None, INFINITE
    for part in parts:
        if isinstance(part, Unknown):
            return part
        total = part[0] if total is None else total + part[0]
        if part[1] < oldest:
            oldest = part[1]
    return Known(total, oldest)


def _group_problems(motion: tuple[int, ...]) -> tuple[str, ...]:
    if MOTION_ERROR not in motion and len(motion) == _GROUPS:
        return ()
    _as_many(motion, _GROUPS)
    return tuple(f"{group}: motion error" for group, state in zip(AURORA_GROUPS, motion) if state == MOTION_ERROR)


def _numbered(names: list[str]) -> Callable[[Sequence[int]], tuple[str, ...]]:
    """What error numbers say, one for each name."""
    count = len(names)

    def problems(codes: Sequence[int]) -> tuple[str, ...]:
        if len(codes) == count and not any(codes):
            return ()
        _as_many(codes, count)
        return tuple(f"{name}: error {code:#x}" for name, code in zip(names, codes) if code)

    return problems


def _as_many(values: Sequence[int], count: int) -> None:
    if len(values) != count:
        raise Doubt(Reason.BAD_SAMPLE, f"{len(values)} values instead of {count}")
