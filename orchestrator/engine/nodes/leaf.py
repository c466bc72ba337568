"""A leaf of the catalogue as a node of the tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.asking import Asked
from orchestrator.engine.conditions import Unknown
from orchestrator.engine.nodes.attributes import (
    WrongAttribute,
    period_of,
    reason_of,
    result_of,
    said_by,
    same_until_of,
    shown,
    time_limit_of,
    why_of,
)
from orchestrator.engine.nodes.flow import Confirm
from orchestrator.engine.run import SILENCE, Run, StopRun
from orchestrator.leaf import Leaf, own_line
from orchestrator.leaf import Status as LeafStatus
from orchestrator.yamlfile import Place
from orchestrator.yamlfile.findings import Placed

RUNNING, FAILURE = Status.RUNNING, Status.FAILURE
_LEAF_RUNNING, _LEAF_SUCCESS, _LEAF_FAILURE = LeafStatus.RUNNING, LeafStatus.SUCCESS, LeafStatus.FAILURE

PASSING = (StopRun, KeyboardInterrupt)
"""What leaves a leaf without being its failure: the run is over, or a person wants Python itself to stop."""

AGAIN, DONE, FAIL = "start again", "treat as done", "fail"
_NOTHING: tuple[str, str, float | None] = ("", "", None)  # reason, message, progress


class LeafNode(Behaviour):
    """Starts a fresh leaf, steps it and stops it exactly once, whatever it does in between.

    `make` gives the leaf and the parts of the robot it uses; it is called when the node starts, because values may
    become known only then. Without a `timeout` the leaf's own counts.
    """

    def __init__(
        self,
        name: str,
        run: Run,
        make: Callable[[], tuple[Leaf, Iterable[str]]],
        timeout: Callable[[], float] | None,
        resumable: bool,
        looks: bool,
        is_saved: bool,
        source: Placed,
    ) -> None:
        super().__init__(name)
        self.resumable = resumable
        self._looks = looks
        self.run = run
        self._source = source
        self.leaf: Leaf | None = None
        self.result: str | None = None
        self.was_cut_off = False
        """It was running when an earlier process ended; whether it may be started again is to be found out."""
        self.unrepeatable = False
        """Since it started it has asked for something that must not be done twice."""
        self.agreement: Confirm | None = None
        """What a person has agreed to before this node started: good for one start of a leaf, until that has ended."""
        self._asked = Asked(run, self)
        self._choices = [AGAIN, FAIL] if is_saved else [AGAIN, DONE, FAIL]  # what it found out nobody else knows
        self._make = make
        self._timeout = timeout
        self._now = run.clock.now
        self._started_at = 0.0
        self._deadline = inf
        self._period: float | None = None
        self._lost = ""  # why it can't go on
        self._heard = _NOTHING
        self._silent_until = -inf
        self._same_until = -inf

    def update(self) -> Status:
        leaf = self.leaf
        if leaf is None:
            if self._lost and self.status is RUNNING:
                return self.run.fail(self, self._lost)
            if self.run.holds_back(self, self._looks):
                return RUNNING
            if self.was_cut_off and (self.unrepeatable or not self.resumable):
                return self._ask()
            problem = self._start()
            if problem:
                return self._end(FAILURE, problem)
            leaf = self.leaf
            assert leaf is not None
        elif self._lost:
            return self._end(FAILURE, self._lost)
        elif self.run.held and self in self.run.held:
            return self._go_on(self.run.now)
        self.run.acting = self
        try:
            status = leaf.step()
            if status is _LEAF_RUNNING:
                self._listen(leaf)
            reason = why_of(leaf) if status is _LEAF_FAILURE else reason_of(leaf)
        except PASSING:
            raise
        except BaseException as error:
            return self._end(FAILURE, self._said("step", error))
        now = self.run.come_back(self)
        if status is _LEAF_RUNNING:
            return self._go_on(now)
        if status is _LEAF_SUCCESS:
            return self._end(Status.SUCCESS, reason)
        if status is _LEAF_FAILURE:
            return self._end(FAILURE, reason or f"{type(leaf).__name__} failed")
        found = f"py_trees' {status}" if isinstance(status, Status) else shown(status)
        text = f"{type(leaf).__name__}.step returned {found} instead of a Status of orchestrator.leaf"
        return self._end(FAILURE, f"{text} ({self._source.place})")

    def terminate(self, new_status: Status) -> None:
        """Interrupted, unless it has ended by itself."""
        self._lost = ""
        self._asked.withdraw()
        if self.leaf is not None:
            problem = self._stop()
            if problem:
                self.run.note(self, problem)

    def pause(self) -> None:
        if self.leaf is None:
            return
        problem = self._guarded("pause", self.leaf.pause)
        if problem:  # nobody else would end what it has sent
            self.give_up(problem)
            self.run.note(self, self._lost)

    def resume(self) -> None:
        if self.leaf is None:
            return
        if self.resumable:
            self._lost = self._guarded("resume", self.leaf.resume)
        else:
            self._lost = "not_resumable"

    def give_up(self, reason: str) -> None:
        """It can't go on: another leaf needs its part of the robot, or it can't hold still in a pause."""
        self._lost = reason
        problem = self._stop()
        if problem:
            self._lost = f"{reason}; {problem}"

    def abandon(self) -> None:
        """The run is over and nothing may be sent: leave the leaf as it is."""
        self.leaf = None

    @property
    def has_begun(self) -> bool:
        """Whether a leaf was started, here or before it was cut off, and the node has not ended since."""
        return self.leaf is not None or self.was_cut_off or self._lost != ""

    @property
    def place(self) -> Place:
        return self._source.place

    @property
    def elapsed(self) -> float:
        return self._now() - self._started_at

    def _ask(self) -> Status:
        try:
            answer = self._asked.answer(lambda: f"{self.name} was cut off. Start it again?", lambda: self._choices)
        except Unknown as unknown:
            return self.run.fail(self, str(unknown))
        if answer is None:
            return RUNNING
        self.was_cut_off = self.unrepeatable = False
        if answer == AGAIN:
            return self.update()
        self._use_up_agreement()
        if answer == FAIL:
            return self.run.fail(self, "cut off, and not started again")
        self.feedback_message = "cut off, and treated as done"
        return Status.SUCCESS

    def _start(self) -> str:
        self.was_cut_off = self.unrepeatable = False
        self.result = None
        self.feedback_message = ""
        self._heard = _NOTHING
        self._silent_until = -inf
        method = "__init__"
        try:
            made, parts = self._make()
            made.confirmed = self.agreement is not None and not self.agreement.used_up
            method = "takes"
            timeout = time_limit_of(made) if self._timeout is None else self._timeout()
            self._period = period_of(made)
        except Unknown as unknown:
            return str(unknown)
        except PASSING:
            raise
        except BaseException as error:
            return self._said(method, error)
        self.run.resources.claim(parts, self)
        self._started_at = self._now()
        self._deadline = inf if timeout is None else self._started_at + timeout
        self.leaf = made
        self.run.leaves[self] = None
        return self._guarded("start", made.start)

    def _go_on(self, now: float) -> Status:
        if now >= self._deadline:
            return self._end(FAILURE, f"timeout: not done after {self._deadline - self._started_at:g} s{self._waiting}")
        run = self.run
        run.wake_at(self._deadline if self._period is None else min(self._deadline, now + self._period))
        run.changes_at(self._same_until - run.clock.lost)
        if run.now < self._silent_until:
            run.changes_at(self._silent_until)
        return RUNNING

    @property
    def _waiting(self) -> str:
        """What a leaf that ran out of time was waiting for, where it says so."""
        return f" ({self.leaf.message or self.leaf.reason})" if self.leaf is not None and self.leaf.reason else ""

    def _listen(self, leaf: Leaf) -> None:
        """Pass on what a running leaf says when it is something new; then not again for a while."""
        self._same_until = same_until_of(leaf)
        if self.run.now < self._silent_until:
            return
        heard = said_by(leaf)
        if heard != self._heard:
            self._heard = heard
            self._silent_until = self.run.now + SILENCE
            self.run.say(self, why_of(leaf), heard[2])

    def _end(self, status: Status, reason: str) -> Status:
        if status is FAILURE and self.run.is_stopped():
            return RUNNING  # and is left as it is: to stop it would send something
        problem = "; ".join(filter(None, (self._keep_result(), self._stop())))
        if problem:
            reason = f"{reason}; {problem}" if status is FAILURE else problem
            status = FAILURE
        if status is FAILURE:
            return self.run.fail(self, reason)
        self.feedback_message = reason
        return status

    def _keep_result(self) -> str:
        leaf = self.leaf
        return "" if leaf is None else self._guarded("result", lambda: setattr(self, "result", result_of(leaf)))

    def _stop(self) -> str:
        leaf, self.leaf = self.leaf, None
        if leaf is None:
            return ""
        self.run.leaves.pop(self, None)
        self._use_up_agreement()
        problem = self._guarded("stop", leaf.stop)
        self.run.resources.release(self)
        return problem

    def _use_up_agreement(self) -> None:
        """Only now: a leaf that is cut off and started again by another process is still at what was agreed to."""
        if self.agreement is not None:
            self.agreement.used_up = True

    def _guarded(self, method: str, call: Callable[[], object]) -> str:
        """Call the leaf; what goes wrong there is a reason to fail."""
        self.run.acting = self
        try:
            call()
        except PASSING:
            raise
        except BaseException as error:
            return self._said(method, error)
        finally:
            self.run.come_back(self)
        return ""

    def _said(self, method: str, error: BaseException) -> str:
        if isinstance(error, WrongAttribute):
            what = f"{error.name} of {self.name} is {shown(error.value)}: it must be {error.wanted}"
            return f"{what} ({self._source.place})"
        what = f"{method} of {self.name} raised {type(error).__name__}: {shown(error, str)}"
        line = own_line(error)
        return f"{what} ({self._source.place}{'; ' + line if line else ''})"
