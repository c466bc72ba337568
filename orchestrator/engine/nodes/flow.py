"""Nodes that need the run and no robot: waiting, remarks, values, questions."""

from __future__ import annotations

from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.asking import Asked
from orchestrator.engine.conditions import Unknown, why_unknown
from orchestrator.engine.nodes.modifiers import Modifier, Value
from orchestrator.engine.run import SILENCE, Run, in_steps
from orchestrator.treefile import Expression

RUNNING, SUCCESS, FAILURE = Status.RUNNING, Status.SUCCESS, Status.FAILURE


class Flow(Behaviour):
    """A leaf of ours; a value it needs and does not get fails it."""

    looks = False

    def __init__(self, name: str, run: Run) -> None:
        super().__init__(name)
        self.run = run

    def initialise(self) -> None:
        self.feedback_message = ""  # of an earlier attempt

    def update(self) -> Status:
        if self.status is not RUNNING and self.run.holds_back(self, self.looks):
            return RUNNING
        try:
            return self.advance()
        except Unknown as unknown:
            return self.run.fail(self, str(unknown))

    def advance(self) -> Status:
        raise NotImplementedError


class Wait(Flow):
    """Runs for a time."""

    def __init__(self, name: str, run: Run, time: Value) -> None:
        super().__init__(name, run)
        self._time = time
        self.length = 0.0
        self.until: float | None = None
        self._told = 0.0
        self._silent_until = 0.0

    def initialise(self) -> None:
        super().initialise()
        self.until = None
        self._told = 0.0

    def advance(self) -> Status:
        now = self.run.clock.now()
        if self.until is None:
            self.length = self._time()
            self.until = now + self.length
            self._silent_until = now + SILENCE
        if now >= self.until:
            return SUCCESS
        if now >= self._silent_until:
            self._say(now)
        self.run.changes_at(self._silent_until)
        self.run.wake_at(self.until)
        return RUNNING

    def _say(self, now: float) -> None:
        assert self.until is not None
        progress = in_steps(1 - (self.until - now) / self.length)
        if progress != self._told:
            self._told = progress
            self._silent_until = now + SILENCE
            self.run.say(self, "", progress)


class Log(Flow):
    """Makes a remark."""

    def __init__(self, name: str, run: Run, text: Value) -> None:
        super().__init__(name, run)
        self._text = text

    def advance(self) -> Status:
        self.run.note(self, self._text())
        return SUCCESS


class Set(Flow):
    """Keeps the values of expressions, all or none."""

    def __init__(self, name: str, run: Run, sets: dict[str, Expression]) -> None:
        super().__init__(name, run)
        self._sets = sets

    def advance(self) -> Status:
        self.run.save({key: self._value(expression) for key, expression in self._sets.items()})
        return SUCCESS

    def _value(self, expression: Expression) -> Any:
        value = expression.evaluate(self.run.fields.read, self.run.values)
        if value is None:
            raise Unknown(why_unknown(expression, self.run))
        return value


class Ask(Flow):
    """Asks the operator; the answer is its result."""

    def __init__(self, name: str, run: Run, question: Value, choices: Value, fail_on: Value) -> None:
        super().__init__(name, run)
        self._text = question
        self._choices = choices
        self._fail_on = fail_on
        self._asked = Asked(run, self)
        self.result: str | None = None

    def initialise(self) -> None:
        super().initialise()
        self.result = None

    def terminate(self, new_status: Status) -> None:
        self._asked.withdraw()

    def advance(self) -> Status:
        self.result = self._asked.answer(self._text, self._all_choices)
        if self.result is None:
            return RUNNING
        if self.result in self._fail_on():
            return self.run.fail(self, f'the operator answered "{self.result}"')
        return SUCCESS

    def _all_choices(self) -> list[str]:
        return list(dict.fromkeys([*self._choices(), *self._fail_on()]))


class Confirm(Modifier):
    """`confirm`: an operator must agree before the node starts.

    It is asked once for all rounds and attempts of the node. What a leaf does only because a person has agreed to it
    (`Leaf.confirmed`) it may do in the first of them.
    """

    YES, NO = "yes", "no"

    def __init__(self, name: str, run: Run, child: Behaviour, text: Value) -> None:
        super().__init__(name, run, child)
        self._text = text
        self._asked = Asked(run, self, confirms=True)
        self.agreed = False
        self.used_up = False
        """The leaf has been started and has ended since."""

    def initialise(self) -> None:
        super().initialise()
        self.agreed = False

    def halt(self) -> None:
        self._asked.withdraw()
        super().halt()

    def update(self) -> Status:
        if not self.agreed:
            if self.starting and self.run.holds_back(self):
                return RUNNING
            try:
                answer = self._asked.answer(self._text, lambda: [self.YES, self.NO])
            except Unknown as unknown:
                return self.run.fail(self, str(unknown))
            if answer is None:
                return RUNNING
            if answer == self.NO:
                return self.run.fail(self, "the operator did not agree")
            self.agreed = True
            self.used_up = False
        return self.ticks[0]()
