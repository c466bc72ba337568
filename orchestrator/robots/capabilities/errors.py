"""Errors of motors, joint groups and buses."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.robots.families import AURORA_GROUPS
from orchestrator.robots.intents import ClearErrors
from orchestrator.robots.judging import Context, Decided, Judge
from orchestrator.robots.knowledge import Known, Unknown, derived
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
        self._sources = self.sources(context)
        self._cleared = False

    def sources(self, context: Context) -> list[Callable[[], Problems]]:
        return [context.state.signal("errors")]

    def problems(self) -> Problems:
        found: list[str] = []
        oldest = float("inf")
        for read in self._sources:
            problems = read()
            if isinstance(problems, Unknown):
                return problems
            found += problems.value
            oldest = min(oldest, problems.received)
        return Known(tuple(found), oldest)

    def any(self) -> Known[bool] | Unknown:
        return derived(self.problems(), bool)

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
        return _Clearing(self, self._context)


class GroupErrors(Errors):
    """Aurora: joint groups report a motion error, motors an error number once a second. Nothing can be cleared."""

    def sources(self, context: Context) -> list[Callable[[], Problems]]:
        motion = context.state.signal("motion")
        found: list[Callable[[], Problems]] = [lambda: derived(motion(), _group_problems)]
        return found + [_motor_errors(context, group) for group in context.profile.groups]

    def clear(self, confirmed: bool = False) -> Judge:
        return Decided(self._context, failure(Reason.UNSUPPORTED, "it has no command to clear errors"))


class MotorErrors(Errors):
    """Adam: each motor reports a number, which is 0 when all is well."""

    def sources(self, context: Context) -> list[Callable[[], Problems]]:
        states = context.state.signal("motor.states")
        names = [joint.name for joint in context.profile.joints]
        return [lambda: derived(states(), lambda codes: _numbered(names, codes))]

    def clear(self, confirmed: bool = False) -> Judge:
        return Decided(self._context, failure(Reason.UNSUPPORTED, "it has no command to clear errors"))


class _Clearing(Judge):
    """Done when the robot reports no error any more; one command per request, never repeated."""

    def __init__(self, errors: Errors, context: Context) -> None:
        self._errors = errors
        super().__init__(context, ClearErrors())

    def judge(self, now: float) -> Outcome:
        found = self._errors.problems()
        if isinstance(found, Unknown):
            return unknown(found)
        if found.received < self.sent_at + CLEAR_AFTER:
            return RUNNING if now - self.sent_at <= CLEAR_WITHIN else failure(Reason.NOT_ACCEPTED)
        if not found.value:
            return SUCCESS
        return RUNNING if now - self.sent_at <= CLEAR_WITHIN else failure(Reason.FAILED, "; ".join(found.value))


def _group_problems(motion: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(f"{group}: motion error" for group, state in zip(AURORA_GROUPS, motion) if state == MOTION_ERROR)


def _motor_errors(context: Context, group: str) -> Callable[[], Problems]:
    codes = context.state.signal(f"motor_error.{group}")
    names = [joint.name for joint in context.profile.group(group)]
    return lambda: derived(codes(), lambda found: _numbered(names, found))


def _numbered(names: list[str], codes: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(f"{name}: error {code:#x}" for name, code in zip(names, codes) if code)
