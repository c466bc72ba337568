"""A mission from preflight to its end, whatever the time and whatever the robot."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from math import inf
from typing import Any, Protocol

import msgspec
from py_trees.common import Status

from orchestrator.bus.contract import Bus
from orchestrator.engine.builder import BuiltTree, build
from orchestrator.engine.checkpoint import Checkpoint, Keeper, restore, take
from orchestrator.engine.events import (
    Answer,
    Command,
    End,
    Event,
    GuardReport,
    NodeInfo,
    Note,
    Prompt,
    RobotShown,
    Structure,
    Tick,
    Withdrawn,
)
from orchestrator.engine.nodes.leaf import LeafNode
from orchestrator.engine.prompts import NoAnswer, Prompts
from orchestrator.engine.run import Failure, StopRun, node_id
from orchestrator.engine.runner import Outcome, Runner
from orchestrator.guard.outputs import LET_GO, Report
from orchestrator.guard.policy import POLICIES
from orchestrator.mission.arming import ABORT, LATCHED, Arming, Declined, NotArmed, Told
from orchestrator.mission.cause import Cause, Failures
from orchestrator.mission.fields import RobotFields
from orchestrator.mission.loading import CannotRun, Loaded
from orchestrator.mission.recording import Recorder
from orchestrator.mission.showing import Showing
from orchestrator.robots.commander import Receipt
from orchestrator.robots.intents import AnyIntent
from orchestrator.robots.robot import Robot
from orchestrator.yamlfile.findings import nearest

SHOWN_EVERY = 0.5
"""Seconds between two looks at what the robot shows, for people."""
RESTART = "restart the step"
_ENDS_THE_RUN = LATCHED | {"offline", "stopping", "disarmed"}
"""Modes of the guard that end a run which has begun."""
LAST_WORD = 0.5
"""Seconds in which an e-stop may still explain what the guard reported: its topic may come ten times a second only."""


class Left(Exception):
    """Somebody wants to leave while nothing runs."""


class GuardLink(Protocol):
    """The way to the guard: in this process, or through its socket."""

    on_report: Callable[[Report], None]

    @property
    def mode(self) -> str:
        """The guard's mode when the run came."""

    def send(self, intent: AnyIntent) -> Receipt: ...

    def end(self, receipt: Receipt) -> None: ...

    def begin(self) -> None: ...

    def heartbeat(self) -> None: ...

    def finish(self) -> None: ...

    def act(self, act: str, who: str) -> None: ...


class Mission:
    """One run of one tree. `person`, if there is one, may arm the robot again after a latch and restart the step.

    With `watched` the stream also tells what the robot shows, twice a second when it has changed. A `recorder` keeps
    the stream and where the tree stands.
    """

    def __init__(
        self,
        loaded: Loaded,
        bus: Bus,
        link: GuardLink,
        prompts: Prompts,
        on_event: Callable[[Event], None],
        person: str | None = None,
        watched: bool = False,
        recorder: Recorder | None = None,
    ) -> None:
        self._loaded = loaded
        self._bus = bus
        self._link = link
        self._prompts = prompts
        self._person = person
        self._recorder = recorder
        self._telling = threading.Lock()
        self._on_event = on_event
        self._running = False
        self._moved = False
        self._lease_lost = False
        self._expects_latch = False
        self._leaving: str | None = None
        self._breaks: list[str] = []
        self._told = Told(link.mode, f"the robot is {link.mode}")
        self._kept: Checkpoint | None = None
        self._described: BuiltTree | None = None
        self.robot = Robot(loaded.profile, bus, _Telling(link, self._tell_command))
        self._showing = Showing(self.robot)
        self._shown: dict[str, Any] = {}
        self._failure: Failure | None = None
        self._shown_at_failure: dict[str, Any] = {}
        self._look_due = -inf if watched else inf
        self._arming = Arming(loaded.profile, link, self._told, bus.clock, self._pass_time, self._show_preflight)
        self._use(self._build())
        self._cause = Cause(self.built, bus.clock.now())
        link.on_report = self.take_report  # last: what it says is told, and the tree's structure before it

    def _build(self) -> BuiltTree:
        loaded, fields = self._loaded, RobotFields(self.robot)
        stand_ins = loaded.substitutes
        built = build(loaded.tree, loaded.catalogue, self.robot, fields, self._bus.clock, self._prompts, stand_ins)
        if stand_ins is not None and stand_ins.unused:
            raise CannotRun(_nothing_fits(stand_ins.unused, tuple(node.name for node in built.structure)))
        return built

    def _use(self, built: BuiltTree) -> None:
        self.built = built
        built.run.is_stopped = self._is_stopped
        self._failures = Failures(built.structure)
        self.runner = Runner(
            built,
            self._bus,
            heartbeat=self._after_tick,
            on_event=self._tell,
            verdict=self._verdict,
            hold=self._hold,
            news=self._bus.anything_new,
        )
        self._keeper = Keeper(built) if self._recorder is not None else None
        for pattern in self._breaks:
            self.runner.break_at(pattern)
        if self._leaving is not None:  # somebody stopped the runner before this one
            self.runner.stop(self._leaving)

    def start_from(self, checkpoint: Checkpoint, agreed: bool = False) -> None:
        """Go on where another run of this tree was, with the next `run`.

        Leaves that were cut off and can't be resumed ask whether to start again, unless a person has agreed to that.
        Raises WrongCheckpoint.
        """
        built = self._build()
        restore(built, checkpoint)
        if agreed:
            for node in built.root.iterate():
                if isinstance(node, LeafNode):
                    node.was_cut_off = False
        elif self.robot.has("hands"):
            self.robot.hands.continue_earlier_run()
        self._use(built)

    def arm(self, who: str, by_hand: bool = False) -> None:
        """Preflight until it is clean, then arm; by hand, a person looks at every line and agrees.

        Raises NotArmed with every reason, Declined when the person is against it, Left after `stop`.
        """
        try:
            self._arming.arm(who, self._ask if by_hand else None)
        except NoAnswer as problem:
            raise NotArmed(str(problem)) from None

    def look(self, seconds: float) -> dict[str, Any]:
        """What the robot shows after this time; before it is armed."""
        self._pass_time(seconds)
        return self._showing.look()

    def run(self) -> Outcome:
        """From the first tick to the last; the robot must be armed."""
        for _ in self.turns():
            pass
        assert self.runner.outcome is not None
        return self.runner.outcome

    def turns(self) -> Iterator[None]:
        """As `run`, turn by turn."""
        self._begin()
        self._link.begin()
        goes_on = True
        while goes_on:
            if self._told.mode in _ENDS_THE_RUN:  # since it was armed
                self._cause.take(self._told.reason, self._told.mode)
                self.runner.between_ticks(self._halt)
            self._expects_latch = False
            yield from self.runner.turns()
            self._running = False
            goes_on = self._kept is not None and self._armed_again(self._kept)
        shown = self._showing.look()  # without a recorder too, see `_keep`
        if self._recorder is not None:
            self._recorder.keep_last(shown)
        self._link.finish()

    def _begin(self) -> None:
        self._cause = Cause(self.built, self._bus.clock.now())
        self._running = True

    def stop(self, reason: str, node: int | None = None) -> None:
        """Leave at once; from any thread. The robot is stopped by the guard. `node` runs, where that is known."""
        self._leaving = reason
        self._cause.take(reason, node=None if node is None else self.built.shown[node])
        self.runner.stop(reason)

    def break_at(self, pattern: str) -> list[NodeInfo]:
        """Pause before these nodes start, also after a step was restarted. Returns them."""
        self._breaks.append(pattern)
        return self.runner.break_at(pattern)

    def abort(self) -> None:
        """The orderly way out of a tree that runs, `finally` included; from any thread."""
        if self._running:
            self.runner.abort()

    # When a tick does not come back; from another thread

    @property
    def heard(self) -> float:
        """When it last finished a tick, or passed time."""
        return self._cause.heard

    @property
    def asking(self) -> bool:
        return self._prompts.asking

    def tell_stuck(self, leaf: LeafNode | None, text: str) -> None:
        where = f" ({self.built.where(leaf)[1]})" if leaf is not None else ""
        self._tell(Note(at=self._bus.clock.now(), node=node_id(leaf), text=text + where))

    def hung(self, leaf: LeafNode | None, text: str) -> StopRun:
        self._cause.take(text, node=leaf)
        return StopRun(text)

    def give_up(self, leaf: LeafNode | None, text: str) -> Outcome:
        """The end of the stream: if the tick should come back all the same, it is not heard any more."""
        outcome = Outcome("stopped", text, *self.built.where(leaf))
        self._telling.acquire(timeout=LAST_WORD)  # for ever
        self._pass_on(self.runner.end(outcome))
        self._link.finish()
        return outcome

    # After a latch

    def _armed_again(self, kept: Checkpoint) -> bool:
        """Whether a person has armed the robot again and wants the interrupted step to start again."""
        self._kept = None
        if self._person is None or self._lease_lost or self._leaving is not None:
            return False
        try:
            self._arming.arm(self._person, self._ask)
            answer = self._ask("Armed. What becomes of the mission?", [RESTART, ABORT])
        except (Declined, NotArmed, NoAnswer, Left):
            return False
        if answer == ABORT:
            self._link.act("abort", self._person)
            return False
        self.start_from(kept, agreed=True)
        self._begin()
        if self._told.estopped:
            self._link.act("restart", self._person)
        else:
            self._link.begin()
        return True

    def _ask(self, text: str, choices: list[str]) -> str:
        """Ask a person outside of the tree, while the guard goes on hearing from us."""
        question = self._prompts.ask(0, "", text, choices)
        at = self._bus.clock.now
        self._tell(Prompt(at=at(), number=question.number, node=0, question=text, choices=choices))
        try:
            while question.answer is None:
                self._pass_time(0.05)
        except BaseException:  # somebody leaves: nobody waits for the answer any more
            self._tell(Withdrawn(at=at(), number=question.number))
            raise
        finally:
            self._prompts.close(question)
        self._tell(Answer(at=at(), number=question.number, answer=question.answer))
        return question.answer

    def _show_preflight(self) -> None:
        lines = [{"ok": good, "text": text} for good, text in list(self._told.preflight.values())]
        self._tell(GuardReport(at=self._bus.clock.now(), report="preflight", details={"lines": lines}))

    def _hold(self, on: bool) -> None:
        self._link.act("pause" if on else "resume", "the run")

    def _pass_time(self, seconds: float) -> None:
        until = self._bus.clock.now() + seconds
        while (left := until - self._bus.clock.now()) > 1e-9:
            if self._leaving is not None:
                raise Left(self._leaving)
            self._bus.wait(min(left, 0.05))
            self._beat()
            if self._recorder is not None:
                self._recorder.flush()

    def _after_tick(self) -> None:
        self._look_at_late_failure()
        self._beat()
        if self._moved and self.runner.goes_on:
            self._moved = False
            self._keep()
        elif self._recorder is not None:
            self._recorder.flush()

    def _keep(self) -> None:
        """Looks without a recorder too: whoever looks has samples made in virtual time, and so changes the run."""
        state = self._keeper.take_json() if self._keeper is not None else b""
        shown = self._showing.look()
        if self._recorder is not None:
            self._recorder.keep(state, shown)

    def _beat(self) -> None:
        self._link.heartbeat()
        now = self._bus.clock.now()
        self._cause.beat(now)
        if now >= self._look_due:
            self._look_due = now + SHOWN_EVERY
            shown = self._showing.look()
            if shown != self._shown:
                self._shown = shown
                self._tell(RobotShown(at=now, fields=shown))

    # What is told

    def take_report(self, report: Report) -> None:
        """From the guard, perhaps in another thread."""
        self._told.take(report)
        if report.kind == "lease" and report.value == "lost":
            self._lease_lost = True
        if report.value == LET_GO:
            self._expects_latch = True
        stopped = report.kind == "mode" and report.value in _ENDS_THE_RUN
        if self._running and (stopped or report.value == LET_GO):
            self._cause.take(report.text, report.value)
            self.runner.between_ticks(self._halt)
        if report.kind not in ("preflight", "sent"):
            at = self._bus.clock.now()
            self._tell(GuardReport(at=at, report=report.kind, details=msgspec.to_builtins(report)))

    def _is_stopped(self) -> bool:
        """Whether the robot has been stopped. Run and guard see what stops it at the same time: either may be first."""
        if not self._running or self._told.mode in _ENDS_THE_RUN or self._expects_latch:
            return self._running
        if sign := self.robot.sign_of_a_stop:
            self._expects_latch = True
            self._cause.take(sign, LET_GO)
            self.runner.between_ticks(self._halt)
        return self._expects_latch

    def _halt(self) -> None:
        """The robot was stopped: the run is over. After a latch a person may let it go on from here."""
        self._hear_out()
        if self._person is not None and self._told.mode in LATCHED and self.runner.goes_on:
            self._kept = take(self.built)
        raise StopRun(self._cause.text)

    def _hear_out(self) -> None:
        """An e-stop makes itself felt before its flag is seen: what the guard says last counts."""
        until = self._bus.clock.now() + LAST_WORD
        with suppress(Left):
            while self._is_in_doubt() and self._bus.clock.now() < until - 1e-9:
                self._pass_time(0.05)

    def _is_in_doubt(self) -> bool:
        mode = self._told.mode
        return mode in ("intervened", "fault") or (self._expects_latch and mode not in LATCHED) or self._cause.is_hung

    def _verdict(self, outcome: Outcome) -> Outcome:
        """A tree may fail of what the guard has reported or is about to: then it was stopped."""
        if outcome.status == "failure":
            with suppress(Left):
                self._pass_time(0.05)
            self._hear_out()
        cause = self._cause
        if not cause.text:
            return outcome._replace(reason=self._failures.tell(outcome.reason, outcome.node))
        where = (outcome.node, outcome.place) if cause.node is None else self.built.where(cause.node)
        return Outcome("stopped", cause.tell(self._bus.clock.now()), *where)

    def _tell_command(self, number: int, intent: AnyIntent) -> None:
        leaf, once = self.built.run.acting, not POLICIES[type(intent)].idempotent
        if leaf is not None and once:
            leaf.unrepeatable = True
        node = None if leaf is None else node_id(leaf)
        details = msgspec.to_builtins(intent)
        name = details.pop("intent")
        self._tell(Command(at=self._bus.clock.now(), id=number, node=node, once=once, intent=name, details=details))

    def _tell(self, event: Event) -> None:
        """One event after the other, whichever thread it comes from; the structure of a tree before all others."""
        if isinstance(event, Tick):
            self._look_at_failures(event)
        shown = self._shown_at(event) if isinstance(event, End) and event.status != "success" else None
        with self._telling:
            if self._described is not self.built:
                self._described = self.built
                self._pass_on(self.built.described())
            if isinstance(event, Structure):
                return
            if shown is not None:
                self._pass_on(RobotShown(at=event.at, fields=shown))
            self._pass_on(event)

    def _shown_at(self, end: End) -> dict[str, Any]:
        """Whoever looks takes in samples, and a command that follows from one is told of in between."""
        return (self._shown_at_failure if end.status == "failure" else None) or self._showing.look()

    def _pass_on(self, event: Event) -> None:
        if _moves_on(event):
            self._moved = True
        self._on_event(event)
        if self._recorder is not None:
            self._recorder.tell(event)

    def _look_at_failures(self, tick: Tick) -> None:
        """What the robot shows at the moment when a node fails is the best hint why."""
        self._failures.take(tick)
        if any(change.status == "failure" for change in tick.changes.values()):
            self._look_at_failure()

    def _look_at_late_failure(self) -> None:
        """A node that has a `finally` to do, or waits for one, is told of as failed only after that."""
        failure = self.built.run.failure
        if failure is not None and self.built.shown[node_id(failure.node)].status is Status.RUNNING:
            self._look_at_failure()

    def _look_at_failure(self) -> None:
        if self._failure is not self.built.run.failure:
            self._failure = self.built.run.failure
            self._shown_at_failure = self._showing.look()


def _moves_on(event: Event) -> bool:
    """Whether the tree stands elsewhere after it."""
    if isinstance(event, Tick):
        return any(change.status != "running" for change in event.changes.values())
    return isinstance(event, Command)


def _nothing_fits(patterns: list[str], names: tuple[str, ...]) -> str:
    guesses = ((pattern, nearest(pattern, names)) for pattern in patterns)
    return "\n".join(
        f'no node is called "{pattern}"' + (f': did you mean "{guess}"?' if guess else "") for pattern, guess in guesses
    )


class _Telling:
    """A commander that tells what it is asked for. It counts as every way to the guard does: from 1."""

    def __init__(self, link: GuardLink, tell: Callable[[int, AnyIntent], None]) -> None:
        self._link = link
        self._tell = tell
        self._count = 0

    def send(self, intent: AnyIntent) -> Receipt:
        self._count += 1
        self._tell(self._count, intent)
        return self._link.send(intent)

    def end(self, receipt: Receipt) -> None:
        self._link.end(receipt)
