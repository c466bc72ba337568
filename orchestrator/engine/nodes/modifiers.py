"""What stands beside a node in the file, each as a node around it; docs/engine.md has their order."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, Protocol

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.conditions import Condition, Unknown
from orchestrator.engine.nodes.interrupt import Interrupter
from orchestrator.engine.own import Own
from orchestrator.engine.run import SILENCE, Run

RUNNING, SUCCESS, FAILURE, INVALID = Status.RUNNING, Status.SUCCESS, Status.FAILURE, Status.INVALID

Value = Callable[[], Any]


class Modifier(Own):
    """A node around one child."""

    def __init__(self, name: str, run: Run, child: Behaviour) -> None:
        super().__init__(name, [child])
        self.run = run

    def initialise(self) -> None:
        self.feedback_message = ""


class When(Modifier):
    """`when` and `unless`: decides once whether the node runs; otherwise it is skipped.

    Skipped is not a fifth status: a skipped node reports what lets its parent go on, SUCCESS in a sequence and FAILURE
    in a selector, and says so in `skipped`; a parallel leaves it out of its count.
    """

    def __init__(
        self, name: str, run: Run, child: Behaviour, conditions: list[tuple[Condition, bool]], skipped_as: Status
    ) -> None:
        super().__init__(name, run, child)
        self._conditions = conditions
        self._skipped_as = skipped_as
        self.skipped = False

    def update(self) -> Status:
        if self.starting:
            if self.hold_up(self.run.breakpoints):
                return RUNNING
            self.skipped = False
            for condition, wanted in self._conditions:
                holds = condition.look()
                if holds is None:
                    return self.run.fail(self, condition.unknown())
                if holds is not wanted:
                    return self._skip(condition, holds)
        return self.ticks[0]()

    def _skip(self, condition: Condition, holds: bool) -> Status:
        self.skipped = True
        self.halt()
        self.feedback_message = f'"{condition.expression.text}" holds' if holds else condition.why_not()
        return self._skipped_as


class Leaving(Protocol):
    """A leaf that may leave a result when it ends by itself."""

    result: str | None


class Save(Modifier):
    """`save`: keeps the result of its leaf, if that has left one; otherwise the value stays what it was."""

    def __init__(self, name: str, run: Run, child: Behaviour, key: str, leaf: Leaving) -> None:
        super().__init__(name, run, child)
        self._key = key
        self._leaf = leaf

    def initialise(self) -> None:
        super().initialise()
        self._leaf.result = None  # of an earlier start: this time the leaf may not get so far

    def update(self) -> Status:
        status = self.ticks[0]()
        if status is not RUNNING and self._leaf.result is not None:
            self.run.save({self._key: self._leaf.result})
        return status


_RESULTS = {
    "success": {SUCCESS: SUCCESS, FAILURE: SUCCESS},
    "failure": {SUCCESS: FAILURE, FAILURE: FAILURE},
    "inverted": {SUCCESS: FAILURE, FAILURE: SUCCESS},
}


class Result(Modifier):
    """`result`: changes what the node reports when it ends."""

    def __init__(self, name: str, run: Run, child: Behaviour, result: str) -> None:
        super().__init__(name, run, child)
        self._result = result
        self._table = _RESULTS[result]

    def update(self) -> Status:
        status = self.ticks[0]()
        if status is RUNNING:
            return status
        reported = self._table[status]
        if reported is FAILURE and status is SUCCESS:
            return self.run.fail(self, f"it succeeded, and its result is {self._result}")
        return reported


class Guard(Interrupter):
    """`while`, `until` and `require`: a condition that is looked at before the start and all the time."""

    def __init__(
        self, name: str, run: Run, child: Behaviour, condition: Condition, *, ends_when: bool, ends_as: Status
    ) -> None:
        super().__init__(name, run, [child])
        self.condition = condition
        self._ends_when = ends_when
        self._ends_as = ends_as

    @property
    def is_broken(self) -> bool:
        """Whether it would interrupt in a tick just now."""
        return self.status is RUNNING and not self.cleanups and self.condition.look() is not (not self._ends_when)

    def initialise(self) -> None:
        self.feedback_message = ""
        self.condition.restart()

    def advance(self) -> Status:
        if self.starting and self.hold_up(self.run.breakpoints):
            return RUNNING
        holds = self.condition.look()
        if holds is None:
            return self._over(FAILURE, self.condition.unknown())
        if holds is self._ends_when:
            reason = f'"{self.condition.expression.text}" holds' if holds else self.condition.why_not()
            return self._over(self._ends_as, reason)
        return self.ticks[0]()

    def _over(self, end: Status, reason: str) -> Status:
        if self.run.is_stopped():
            return RUNNING
        if end is FAILURE:
            self.run.fail(self, reason)
        else:
            self.feedback_message = reason
        return self.interrupt_all(end)


class Cooldown(Modifier):
    """`cooldown`: not again within a time of its last end."""

    def __init__(self, name: str, run: Run, child: Behaviour, time: Value) -> None:
        super().__init__(name, run, child)
        self._time = time
        self.until = -inf

    def update(self) -> Status:
        if self.starting:
            if self.hold_up(self.run.breakpoints):
                return RUNNING
            left = self.until - self.run.clock.now()
            if left > 0:
                return self.run.fail(self, f"not again within the next {left:.3g} s")
            if self._cool_down(RUNNING) is FAILURE:  # found out before anything starts
                return FAILURE
        status = self.ticks[0]()
        return status if status is RUNNING else self._cool_down(status)

    def halt(self) -> None:
        if self.status is RUNNING and not self.held_up:
            self._cool_down(INVALID)
        super().halt()

    def _cool_down(self, status: Status) -> Status:
        try:
            self.until = self.run.clock.now() + self._time()
        except Unknown as unknown:
            return self.run.fail(self, str(unknown))
        return status


class Delay(Modifier):
    """`delay`: waits before the start."""

    def __init__(self, name: str, run: Run, child: Behaviour, time: Value) -> None:
        super().__init__(name, run, child)
        self._time = time
        self.until = 0.0

    def update(self) -> Status:
        now = self.run.clock.now()
        if self.starting:
            if self.hold_up(self.run.breakpoints):
                return RUNNING
            try:
                self.until = now + self._time()
            except Unknown as unknown:
                return self.run.fail(self, str(unknown))
        if now < self.until:
            self.run.wake_at(self.until)
            return RUNNING
        return self.ticks[0]()


class Repeat(Modifier):
    """`repeat`: rounds, each in a new tick, up to the first failure."""

    def __init__(
        self, name: str, run: Run, child: Behaviour, rounds: float = inf, until: Condition | None = None
    ) -> None:
        super().__init__(name, run, child)
        self._rounds = rounds
        self._until = until
        self.done = 0

    def initialise(self) -> None:
        super().initialise()
        self.done = 0

    def update(self) -> Status:
        status = self.ticks[0]()
        if status is not SUCCESS:
            return status
        self.done += 1
        if self._until is not None:
            holds = self._until.look()
            if holds is None:
                return self.run.fail(self, self._until.unknown())
            if holds:
                return SUCCESS
        elif self.done >= self._rounds:
            return SUCCESS
        self.run.wake_at(self.run.clock.now())
        return RUNNING


class ForEach(Modifier):
    """`for_each`: a round per value, each in a new tick, up to the first failure."""

    def __init__(self, name: str, run: Run, child: Behaviour, key: str, values: Value) -> None:
        super().__init__(name, run, child)
        self._key = key
        self._make_values = values
        self.values: list[Any] = []
        self.done = 0

    def update(self) -> Status:
        if self.starting:
            if self.hold_up(self.run.breakpoints):
                return RUNNING
            self.done = 0
            try:
                self.values = list(self._make_values())
            except Unknown as unknown:
                return self.run.fail(self, str(unknown))
        if self.done == len(self.values):
            return SUCCESS
        self.run.values[self._key] = self.values[self.done]
        status = self.ticks[0]()
        if status is not SUCCESS:
            return status
        self.done += 1
        if self.done == len(self.values):
            return SUCCESS
        self.run.wake_at(self.run.clock.now())
        return RUNNING


class Attempts(Modifier):
    """`retry`: further attempts of a child that fails, each in a new tick."""

    def __init__(self, name: str, run: Run, child: Behaviour, times: int, wait: Value | None, key: str) -> None:
        super().__init__(name, run, child)
        self._times = times
        self._wait = wait
        self._key = key
        self.attempt = 1
        self.until: float | None = None
        """When the next attempt starts; None during an attempt."""
        self._told_at = -inf

    def initialise(self) -> None:
        super().initialise()
        self.attempt = 1
        self.until = -inf

    def update(self) -> Status:
        if self.until is not None:
            if self.run.clock.now() < self.until:
                self.run.wake_at(self.until)
                return RUNNING
            self.until = None
            self.run.values[self._key] = self.attempt
        status = self.ticks[0]()
        if status is not FAILURE or self.attempt > self._times:
            return status
        return self._fail_again()

    def _fail_again(self) -> Status:
        self._tell_failure()
        self.attempt += 1
        self.run.say(self, f"attempt {self.attempt} of {self._times + 1}")
        try:
            self.until = self.run.clock.now() + (0.0 if self._wait is None else self._wait())
        except Unknown as unknown:
            return self.run.fail(self, str(unknown))
        self.run.wake_at(self.until)
        return RUNNING

    def _tell_failure(self) -> None:
        """The node goes on running, so that its status tells nothing; what fails at once all the time is no news."""
        if self.run.now - self._told_at >= SILENCE:
            self._told_at = self.run.now
            self.run.note(self, f"attempt {self.attempt} of {self._times + 1} failed{self._why()}")

    def _why(self) -> str:
        failure = self.run.failure
        node = failure.node if failure is not None else None
        while node is not None and node is not self:
            node = node.parent
        return f": {failure.reason}" if failure is not None and node is self else ""


class Limit(Interrupter):
    """`timeout` of everything but a leaf, which minds its own; `waits_for`: what its child waits for."""

    def __init__(self, name: str, run: Run, child: Behaviour, time: Value, waits_for: Condition | None = None) -> None:
        super().__init__(name, run, [child])
        self._time = time
        self._waits_for = waits_for
        self._unknown = ""
        self.started_at = 0.0
        self.deadline = inf

    def initialise(self) -> None:
        self.feedback_message = self._unknown = ""
        self.started_at = self.run.clock.now()
        try:
            self.deadline = self.started_at + self._time()
        except Unknown as unknown:
            self._unknown = str(unknown)

    def update(self) -> Status:
        if self.cleanups or self._unknown:
            return super().update()
        run, deadline = self.run, self.deadline
        status = self.ticks[0]() if not run.held or run.now < deadline else RUNNING  # what is paused need not go on
        if status is not RUNNING:
            return status
        if run.now >= deadline:
            why = f" ({self._waits_for.why_not()})" if self._waits_for else ""
            run.fail(self, f"timeout: not done after {deadline - self.started_at:g} s{why}")
            return self.interrupt_all(FAILURE)
        if deadline < run.due:
            run.due = deadline
        return RUNNING

    def advance(self) -> Status:
        return self.run.fail(self, self._unknown)


class Use(Modifier):
    """`use`: passes what is known only now to the names of the used file."""

    def __init__(self, name: str, run: Run, child: Behaviour, passed: dict[str, Value]) -> None:
        super().__init__(name, run, child)
        self._passed = passed

    def update(self) -> Status:
        if self.starting:
            if self.hold_up(self.run.breakpoints):
                return RUNNING
            try:
                self.run.values.update({key: value() for key, value in self._passed.items()})
            except Unknown as unknown:
                return self.run.fail(self, str(unknown))
        return self.ticks[0]()
