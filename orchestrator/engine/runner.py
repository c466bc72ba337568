"""Runs a built tree: ticks it when there is a reason to, and does what the operator wants."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable, Iterator
from math import inf, nextafter
from typing import Literal, NamedTuple, Protocol

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.clock import Clock
from orchestrator.engine.builder import BuiltTree
from orchestrator.engine.compile import compile_tree
from orchestrator.engine.events import Control, End, Event, NodeInfo, RunStatus
from orchestrator.engine.nodes.finally_ import Finally
from orchestrator.engine.original import Original
from orchestrator.engine.overruns import Overruns
from orchestrator.engine.run import PERIOD, Cleanup, StopRun, node_id
from orchestrator.engine.statistics import NodeStatistics, Statistics
from orchestrator.engine.telling import Teller

SHORTEST = 0.001
"""Seconds between two ticks at least, whatever happens."""
A_LOOK = 1e-6
"""Seconds the bus gets even if a tick is late, to take in what has arrived."""
ROUNDING = 1e-6
"""Seconds: a heartbeat so shortly before a deadline waits for it."""

SUCCESS, RUNNING = Status.SUCCESS, Status.RUNNING


class Outcome(NamedTuple):
    """How a run ended, and through which node of the file."""

    status: RunStatus
    reason: str = ""
    node: NodeInfo | None = None
    place: str = ""


class WakingBus(Protocol):
    """What the runner needs of a bus: its time, and to be woken when something happens."""

    @property
    def clock(self) -> Clock: ...

    def wait(self, timeout: float) -> bool: ...

    def wake(self) -> None: ...


class Runner:
    """`run` blocks until the tree has ended. Everything else may be called from any thread while it runs."""

    def __init__(
        self,
        built: BuiltTree,
        bus: WakingBus,
        heartbeat: Callable[[], object] = lambda: None,
        on_event: Callable[[Event], object] = lambda event: None,
        verdict: Callable[[Outcome], Outcome] = lambda outcome: outcome,
        hold: Callable[[bool], object] = lambda on: None,
        news: Callable[[], bool] = lambda: True,
    ) -> None:
        """`hold(True)` is called when all leaves hold their motion, `hold(False)` before any moves again.

        `news` says whether anything may have changed that nodes look at, since it was last asked.

        `verdict` has the last word about the outcome, once nothing runs any more.
        """
        self.built = built
        self.ticks = 0
        self._overruns = Overruns(built.run)
        self._run = built.run
        self._run.on_event = self.emit
        self._bus = bus
        self._clock = bus.clock
        self._heartbeat = heartbeat
        self._hold = hold
        self._on_event = on_event
        self._verdict = verdict
        self._requests: deque[Callable[[], object]] = deque()
        self._teller = Teller(built.shown, built.run, self.emit)
        self._original = Original(built.root)
        self._tick_tree = compile_tree(built.root, changed=self._report, on_edit=self._refuse_edit)
        self._started = -inf
        self._paused = False
        self._may_resume = False
        self._stepping = False
        self._news = news
        self._changed = False  # a node, in this tick
        self._settled = False  # in the last turn all nodes were ticked, and none of them changed
        self._aborting: tuple[str, list[Cleanup]] | None = None
        self._outcome: Outcome | None = None
        self._statistics: Statistics | None = None
        built.run.prompts.on_answer = bus.wake

    # What others may ask for

    def pause(self, reason: str = "") -> None:
        """Every running leaf holds its motion, and time stands still for all nodes."""
        self._request(lambda: self._pause(reason))

    def resume(self) -> None:
        self._request(self._resume)

    def step(self) -> None:
        """Go on until a node changes, then pause again."""
        self._request(self._step)

    def abort(self, reason: str = "aborted by the operator") -> None:
        """The orderly way out: what runs is interrupted, and `finally` is done."""
        self._request(lambda: self._abort(reason))

    def stop(self, reason: str) -> None:
        """The end, at once: nothing more is sent. The robot is stopped by others."""
        self._request(lambda: _raise(StopRun(reason)))

    def between_ticks(self, action: Callable[[], object]) -> None:
        """Have something done while the tree stands still, such as a checkpoint; it may raise StopRun."""
        self._request(action)

    def break_at(self, pattern: str | int) -> list[NodeInfo]:
        """Pause before these nodes start: a name or path, both with `*`, or a number. Returns those that it means."""
        nodes = self.built.find(pattern)
        self._request(lambda: self._set_breakpoints(nodes))
        return nodes

    def no_break_at(self, pattern: str | int = "*") -> list[NodeInfo]:
        nodes = self.built.find(pattern)
        self._request(lambda: self._take_breakpoints_away(nodes))
        return nodes

    def measure(self) -> list[NodeStatistics]:
        """Measure every node from the first call on; the list, by number, is kept up to date."""
        statistics = self._statistics
        if statistics is None:
            statistics = self._statistics = Statistics(self.built.shown)
            self._request(lambda: self._measure(statistics))
        return statistics.nodes

    @property
    def paused(self) -> bool:
        return self._paused

    def emit(self, event: Event) -> None:
        """Put an event into the run's stream; the guard's reports and commands come this way."""
        self._on_event(event)

    def _request(self, action: Callable[[], object]) -> None:
        self._requests.append(action)
        self._bus.wake()

    def _measure(self, statistics: Statistics) -> None:
        statistics.begin()
        self._tick_tree = compile_tree(self.built.root, statistics.visit, self._report, self._refuse_edit)

    # The loop

    def run(self) -> Outcome:
        for _ in self.turns():
            pass
        assert self._outcome is not None
        return self._outcome

    def turns(self) -> Iterator[None]:
        """As `run`, but gives way after every turn: a test looks and acts in between."""
        self.emit(self.built.described())
        try:
            self._report_all()  # a restored tree begins in the middle
            yield from self._loop()
        except StopRun as stop:
            self._outcome = Outcome("stopped", stop.reason)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # a mistake in a node of ours: the run can't be trusted any more
            self.emit_note("".join(traceback.format_exception(error)))
            self._outcome = Outcome("stopped", self._edited() or f"internal error: {type(error).__name__}: {error}")
        assert self._outcome is not None
        skipped = self._leave_undone() if self._outcome.status == "stopped" else []
        self._report_all()
        self._outcome = self._verdict(self._outcome)
        self.emit(self.end(self._outcome, skipped))

    @property
    def overruns(self) -> int:
        """Ticks that took longer than the time to the next heartbeat."""
        return self._overruns.count

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; None before."""
        return self._outcome

    @property
    def goes_on(self) -> bool:
        """Whether the tree will be ticked again: it has not ended and is not being aborted."""
        return self._outcome is None and self._aborting is None

    def _loop(self) -> Iterator[None]:
        self._started = self._clock.now()
        while True:
            self._run.begin_turn(self._started)
            while self._requests and self._outcome is None:
                self._settled = False
                self._requests.popleft()()
            if self._paused:
                self._look_while_paused()
            if not self._paused and self._outcome is None:
                self._advance()
            self._heartbeat()
            self._overruns.turn_took(self._clock.now() - self._started)
            if self._outcome is not None:
                return
            yield
            self._started = self._wait()

    def _advance(self) -> None:
        run = self._run
        if self._would_be_the_same():
            self.ticks += 1
            return
        self._settled = False
        run.due = run.same_until = inf
        if (why := self._file_pauses()) and self._required():
            self._pause(why)
            return
        status = self._tick()
        if status is not RUNNING:
            self._ended(status)
        elif run.breakpoints.reached is not None:
            self._pause_at(run.breakpoints.reached)
        elif self._stepping and self._changed:
            self._pause("step")
        elif run.held:
            run.resume_held()  # now that everything was looked at that may be against it
        else:
            self._settled = not self._changed and self._statistics is None

    def _tick(self) -> Status:
        """Of the tree, or of what an abort still has to do."""
        self.ticks += 1
        self._changed = False
        status = self._tick_tree() if self._aborting is None else self._clean_up(self._aborting[1])
        if self._run.said:
            self._report([])
        return status

    def _would_be_the_same(self) -> bool:
        """Whether a tick now would find what the last one found, and so do nothing."""
        run = self._run
        return not self._news() and self._settled and run.now < min(run.due, run.same_until) - ROUNDING

    def _wait(self) -> float:
        """Until something happens or is due, but not for ever and not too short; gives the time then."""
        due = self._run.due + (0.0 if self._paused else self._run.clock.lost)
        heartbeat, earliest = self._started + PERIOD, self._started + SHORTEST
        self._bus.wait(self._time_to(max(due if due < heartbeat + ROUNDING else heartbeat, earliest)))
        while (now := self._clock.now()) < earliest:
            self._bus.wait(self._time_to(earliest))
        return now

    def _time_to(self, moment: float) -> float:
        now = self._clock.now()
        timeout = moment - now if moment > now else A_LOOK
        while now + timeout < moment:  # by rounding
            timeout = nextafter(timeout, inf)
        return timeout

    def _ended(self, status: Status) -> None:
        if self._aborting is not None:
            self._outcome = Outcome("aborted", self._aborting[0])
            return
        if status is SUCCESS:
            self._outcome = Outcome("success")
            return
        failure = self._run.failure
        reason = failure.reason if failure else f"{self.built.root.name} failed"
        self._outcome = Outcome("failure", reason, *self.built.where(failure.node if failure else None))

    # Pause

    def _set_breakpoints(self, nodes: list[NodeInfo]) -> None:
        if self._aborting is None:
            self._run.breakpoints.nodes.update(self.built.shown[node.number] for node in nodes)
            self._tell_breakpoints("breakpoint", nodes)

    def _take_breakpoints_away(self, nodes: list[NodeInfo]) -> None:
        here = self._run.breakpoints.nodes
        nodes = [node for node in nodes if self.built.shown[node.number] in here]
        here.difference_update([self.built.shown[node.number] for node in nodes])
        self._tell_breakpoints("no_breakpoint", nodes)

    def _tell_breakpoints(self, action: Literal["breakpoint", "no_breakpoint"], nodes: list[NodeInfo]) -> None:
        for node in nodes:
            self.emit(Control(at=self._run.at(), action=action, node=node.number))

    def _pause_at(self, node: Behaviour) -> None:
        self._run.breakpoints.reached = None
        self._pause(f"breakpoint at {node.name}", node_id(node))

    def _pause(self, reason: str, node: int | None = None) -> None:
        if self._paused:
            return
        self._paused = True
        self._may_resume = False
        self._stepping = False
        self._run.clock.pause()
        still_held, self._run.held = self._run.held, list(self._run.leaves)
        for leaf in self._run.held:
            if leaf not in still_held:
                leaf.pause()
        self._hold(True)  # after the leaves, which end their streams themselves
        if self.built.pause is not None:
            self.built.pause[1].restart()
        self._run.due = inf
        self.emit(Control(at=self._run.at(), action="paused", reason=reason, node=node))

    def _resume(self) -> None:
        self._stepping = False
        if not self._paused:
            return
        if why := self._file_pauses():
            self.emit_note(f"still paused: {why}")
            return
        self._end_pause()

    def _step(self) -> None:
        self._resume()
        self._stepping = not self._paused

    def _end_pause(self, reason: str = "") -> None:
        if self._paused:
            self._paused = False
            self._run.clock.resume()
            self._hold(False)
            self.emit(Control(at=self._run.at(), action="resumed", reason=reason))

    def _file_pauses(self) -> str:
        """Why the file wants a pause, if it does."""
        when = self.built.pause[0] if self.built.pause is not None else None
        return f'"{when.expression.text}" holds' if when is not None and when.look() else ""

    def _required(self) -> bool:
        """Without what the file requires there is no pause: the next tick ends everything, if that has not begun."""
        if self._aborting is not None:
            return True
        require = self.built.require
        return any(guard.cleanups for guard in require) or all(guard.condition.look() is True for guard in require)

    def _look_while_paused(self) -> None:
        stays = bool(self._file_pauses())
        if not self._required():
            self._end_pause("what is required does not hold")  # the next tick finds the same and interrupts everything
            return
        if any(guard.is_broken for guard in self.built.require_of_used):
            self._tick_while_paused()
        self._run.due = inf
        if self._outcome is not None or self.built.pause is None:
            return
        holds = self.built.pause[1].look()
        if holds is False:
            self._may_resume = True
        elif holds and self._may_resume and not stays:
            self._resume()

    def _tick_while_paused(self) -> None:
        """A used file whose requirement is broken is interrupted at once; what follows from that waits for a person."""
        self._run.frozen = True
        status = self._tick()
        self._run.frozen = False
        if status is not RUNNING:
            self._end_pause()
            self._ended(status)

    # The end

    def _abort(self, reason: str) -> None:
        if self._aborting is not None:
            return
        self._run.breakpoints.forget()
        self._stepping = False
        if not self._file_pauses():
            self._end_pause("aborting")
        self.emit(Control(at=self._run.at(), action="aborting", reason=reason))
        self._aborting = reason, self._run.interrupt([self.built.root])
        self._report_all()
        if not self._aborting[1]:
            self._end_pause("nothing is left to do")
            self._ended(SUCCESS)

    def _clean_up(self, cleanups: list[Cleanup]) -> Status:
        while cleanups and cleanups[0].clean_up():
            del cleanups[0]
        self._report_all()
        return RUNNING if cleanups else SUCCESS

    def _leave_undone(self) -> list[str]:
        """After a stop: what would still have been done, and is not, because nothing may be sent."""
        self._original.put_back()
        undone = self._undone()
        for leaf in self._run.leaves:
            leaf.abandon()
        self._run.leaves.clear()
        self._run.interrupt([self.built.root])
        for node in self._open_finallies():
            node.forget()
        return undone

    def _undone(self) -> list[str]:
        leaves = [f"the end of {self._named(leaf)}" for leaf in list(self._run.leaves)]
        return leaves + [f"finally of {self._named(node)}" for node in self._open_finallies()]

    def _open_finallies(self) -> list[Finally]:
        return [node for node in self._original.nodes if isinstance(node, Finally) and node.open]

    def _named(self, node: Behaviour) -> str:
        info = self.built.structure[node_id(node)]
        return f"{info.name} on line {info.line}"

    def end(self, outcome: Outcome, skipped: list[str] | None = None) -> End:
        """The last event. Also for another thread, which ends a run whose tick does not come back."""
        return End(
            at=self._run.at(),
            status=outcome.status,
            reason=outcome.reason,
            node=outcome.node.number if outcome.node else None,
            place=outcome.place,
            skipped=self._undone() if skipped is None else skipped,
            ticks=self.ticks,
        )

    def _refuse_edit(self, node: Behaviour) -> None:
        """What runs must be what was checked."""
        raise StopRun(self._edit_of(node))

    def _edited(self) -> str:
        """What was changed in the tree, if anything was."""
        return next((self._edit_of(node) for node, _ in self._original.edited()), "")

    def _edit_of(self, node: Behaviour) -> str:
        source = self.built.sources[node_id(node)]
        return f"the tree was changed while it ran: {source.title} has other children than in the file ({source.place})"

    # Telling what happens

    def emit_note(self, text: str) -> None:
        self._run.note(self.built.root, text)

    def _report_all(self) -> None:
        self._report(self.built.shown)

    def _report(self, nodes: list[Behaviour]) -> None:
        """Looks for edits too: what a node has lost is not stopped when the node ends."""
        changed = self._teller.tell(nodes, self.ticks)
        if self._statistics is not None:
            for number in changed:
                self._statistics.nodes[number].changed_at = self._run.clock.now()
        if changed:
            self._changed = True
            if edited := self._edited():
                raise StopRun(edited)


def _raise(problem: Exception) -> None:
    raise problem
