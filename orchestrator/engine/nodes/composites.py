"""Composites that py_trees has not, or not so: `parallel` with N of M, and sequence and selector without memory."""

from __future__ import annotations

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.nodes.interrupt import Interrupter
from orchestrator.engine.run import Run

RUNNING, SUCCESS, FAILURE, INVALID = Status.RUNNING, Status.SUCCESS, Status.FAILURE, Status.INVALID


class Parallel(Interrupter):
    """Starts every child once; the first rule that is met ends it, on a tie failure."""

    def __init__(
        self, name: str, run: Run, children: list[Behaviour], succeed: str | int, fail: str | int | None
    ) -> None:
        super().__init__(name, run, children)
        self._succeed = succeed
        self._fail = fail

    def initialise(self) -> None:
        self.halt()

    def advance(self) -> Status:
        for child, tick in zip(self.children, self.ticks):
            if child.status is RUNNING or child.status is INVALID:
                tick()
        end = self._verdict()
        return RUNNING if end is RUNNING else self.interrupt_all_running(end)

    def interrupt_all_running(self, end: Status) -> Status:
        ended = self.interrupt([child for child in self.children if child.status is RUNNING], end)
        assert ended is not None
        return ended

    def _verdict(self) -> Status:
        counted = [child.status for child in self.children if not getattr(child, "skipped", False)]
        total = len(counted)
        if not total:
            return SUCCESS
        succeeded, failed = counted.count(SUCCESS), counted.count(FAILURE)
        wanted = _number(self._succeed, total)
        if self._fail is None:
            too_many = failed > total - wanted
        else:
            too_many = failed >= _number(self._fail, total)
        if too_many:
            return FAILURE
        if succeeded >= wanted:
            return SUCCESS
        return RUNNING if succeeded + failed < total else FAILURE


def _number(rule: str | int, total: int) -> int:
    return {"all": total, "any": 1}[rule] if isinstance(rule, str) else rule


class ReactiveSequence(Interrupter):
    """Begins with its first child on every tick; all but the last only look."""

    def initialise(self) -> None:
        self.halt()

    def advance(self) -> Status:
        for index, tick in enumerate(self.ticks):
            status = tick()
            if status is RUNNING and self.run.breakpoints.reached is not None:
                return RUNNING  # held up: that decides nothing
            if status is not SUCCESS:
                later = [child for child in self.children[index + 1 :] if child.status is RUNNING]
                if not later:
                    return status
                ended = self.interrupt(later, FAILURE if status is FAILURE else None)
                return RUNNING if ended is None else ended
        return SUCCESS


class ReactiveSelector(Interrupter):
    """Begins with its first child on every tick. A child that takes over starts after the other one has ended.

    A child in front of the running one is first tried: in it nothing may start that has an effect. If it would
    not fail, the running one is interrupted, and only then the child is ticked in earnest; if that takes more than a
    tick, all children are looked at anew.
    """

    def __init__(self, name: str, run: Run, children: list[Behaviour]) -> None:
        super().__init__(name, run, children)
        self.running: int | None = None

    def initialise(self) -> None:
        self.halt()
        self.running = None

    def advance(self) -> Status:
        for index, tick in enumerate(self.ticks):
            if self.running is not None and index < self.running:
                status = self._try(index)
                if status is RUNNING and self.run.breakpoints.reached is not None:
                    return RUNNING  # held up: that decides nothing
                if status is not FAILURE:
                    ended = self.interrupt([self.children[self.running]], SUCCESS if status is SUCCESS else None)
                    self.running = None
                    if ended is RUNNING:
                        self._forget(self.children[index])
                    if ended is not None:
                        return ended
                    if self.run.wanted:
                        status = tick()
            else:
                status = tick()
            if status is not FAILURE:
                self.running = index if status is RUNNING else None
                return status
        self.running = None
        return FAILURE

    def _forget(self, child: Behaviour) -> None:
        """Take back a trial, in which nothing was started."""
        for cleanup in self.run.interrupt([child]):
            cleanup.forget()

    def _try(self, index: int) -> Status:
        run = self.run
        outer, run.trying, run.wanted = run.trying, True, False
        try:
            return self.ticks[index]()
        finally:
            run.trying = outer
