"""Errors of motors, joint groups and buses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orchestrator.robots.families import AURORA_GROUPS
from orchestrator.robots.intents import ClearErrors
from orchestrator.robots.judging import Context, Decided, Judge
from orchestrator.robots.knowledge import Combined, Derived, Doubt, Known, Unknown
from orchestrator.robots.outcome import RUNNING, SUCCESS, Outcome, failure, unknown
from orchestrator.robots.reasons import Reason
from orchestrator.robots.state.aurora import MOTION_ERROR

CLEAR_AFTER, CLEAR_WITHIN = 0.5, 3.0
"""When clearing may be seen at the earliest, and must be at the latest: node states come five times a second."""

Problems = Known[tuple[str, ...]] | Unknown


class Errors:
    """What is wrong, one sentence each; an empty list is good news, an unknown one is not."""

    def __init__(self, context: Context) -> None:
        self._context = context
        sources = self.sources(context)
        self.problems = Combined(sources, _together) if len(sources) > 1 else sources[0]
        self.any = Derived(self.problems, bool)
        self._cleared = False

    def sources(self, context: Context) -> list[Callable[[], Problems]]:
        return [context.state.signal("errors")]

    def clear(self, confirmed: bool = False) -> Judge:
        """Clear what can be cleared. Nothing is sent when there is nothing, nor a second time unless confirmed."""
        now = self.problems()
        if isinstance(now, Unknown):
            return Decided(self._context, unknown(now))
        if not now.value:
            return Decided(self._context, SUCCESS)
        if self._cleared and not confirmed:
            again = "errors were cleared in this run before; a person must confirm that they are cleared again"
            return Decided(self._context, failure(Reason.REFUSED, again))
        self._cleared = True
        return _Clearing(self, self._context, confirmed)


class GroupErrors(Errors):
    """Aurora: joint groups report a motion error, motors an error number once a second. Nothing can be cleared."""

    def sources(self, context: Context) -> list[Callable[[], Problems]]:
        motors = _numbered([joint.name for joint in context.profile.joints])
        return [
            context.state.reader("motion", _group_problems),
            context.state.reader("motor.errors", lambda groups: motors([code for codes in groups for code in codes])),
        ]

    def clear(self, confirmed: bool = False) -> Judge:
        return Decided(self._context, failure(Reason.UNSUPPORTED, "it has no command to clear errors"))


class MotorErrors(Errors):
    """Adam: each motor reports a number, which is 0 when all is well."""

    def sources(self, context: Context) -> list[Callable[[], Problems]]:
        return [context.state.reader("motor.states", _numbered([joint.name for joint in context.profile.joints]))]

    def clear(self, confirmed: bool = False) -> Judge:
        return Decided(self._context, failure(Reason.UNSUPPORTED, "it has no command to clear errors"))


class _Clearing(Judge):
    """Done when the robot reports no error any more; one command per request, never repeated."""

    def __init__(self, errors: Errors, context: Context, confirmed: bool) -> None:
        self._errors = errors
        super().__init__(context, ClearErrors(confirmed))

    def judge(self, now: float) -> Outcome:
        found = self._errors.problems()
        if isinstance(found, Unknown):
            return unknown(found)
        if found.received < self.sent_at + CLEAR_AFTER:
            return RUNNING if now - self.sent_at <= CLEAR_WITHIN else failure(Reason.NOT_ACCEPTED)
        if not found.value:
            return SUCCESS
        return RUNNING if now - self.sent_at <= CLEAR_WITHIN else failure(Reason.FAILED, "; ".join(found.value))


def _together(parts: list[Problems]) -> Problems:
    found: tuple[str, ...] = ()
    oldest = float("inf")
    for problems in parts:
        if isinstance(problems, Unknown):
            return problems
        found += problems.value
        oldest = min(oldest, problems.received)
    return Known(found, oldest)


def _group_problems(motion: tuple[int, ...]) -> tuple[str, ...]:
    if len(motion) == len(AURORA_GROUPS) and MOTION_ERROR not in motion:
        return ()
    _as_many(motion, len(AURORA_GROUPS))
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
