"""What the nodes of one run share: its time, its values, what it reads, who holds what, and why something failed."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.clock import Clock
from orchestrator.engine.breakpoints import Breakpoints
from orchestrator.engine.events import Event, Note, Saved
from orchestrator.engine.prompts import Prompts
from orchestrator.engine.resources import Resources

if TYPE_CHECKING:
    from orchestrator.engine.nodes.leaf import LeafNode


PERIOD = 0.05
"""Seconds after which a tick comes even if nothing has happened: the heartbeat, and a look at streams."""
SILENCE = 0.2 - 1e-6
"""Seconds between two remarks of a node: a screen needs no more. A little less than four heartbeats, by rounding."""


class FieldSource(Protocol):
    """What expressions read of the robot."""

    def read(self, name: str) -> Any:
        """The value of a field, or None when it is not known."""

    def why(self, name: str) -> str:
        """Why a field is not known, with its age: a sentence that names it."""

    def watch(self, name: str) -> None:
        """From now on a change of this field ends the bus' wait, if it is an event field."""


class StopRun(Exception):
    """The run is over at once and in no orderly way: an e-stop, the guard, a lost robot. Not a failure of a node."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Cleanup(Protocol):
    """What an interrupted node still has to do; whoever interrupted it waits for that."""

    def clean_up(self) -> bool:
        """Go on with it; True when it is over."""

    def forget(self) -> None:
        """It will not be done."""


class RunClock:
    """The time of a run: it stands still while the run is paused."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.lost = 0.0  # by pauses so far
        self._paused_at: float | None = None

    def now(self) -> float:
        at = self._clock.now() if self._paused_at is None else self._paused_at
        return at - self.lost

    def at(self, outside: float) -> float:
        """What this clock shows when the one that never stands still shows that."""
        return (outside if self._paused_at is None else self._paused_at) - self.lost

    def outside(self) -> float:
        """The time that never stands still."""
        return self._clock.now()

    def pause(self) -> None:
        self._paused_at = self._clock.now()

    def resume(self) -> None:
        assert self._paused_at is not None
        self.lost += self._clock.now() - self._paused_at
        self._paused_at = None


class Failure(NamedTuple):
    """Where a failure came from."""

    node: Behaviour
    reason: str


class Run:
    """One per built tree."""

    def __init__(self, clock: Clock, robot: Any, fields: FieldSource, prompts: Prompts) -> None:
        self.clock = RunClock(clock)
        self.robot = robot
        self.fields = fields
        self.prompts = prompts
        self.values: dict[str, Any] = {}
        self.resources = Resources()
        self.leaves: dict[LeafNode, None] = {}  # started and not stopped, in the order of their start
        self.acting: LeafNode | None = None  # the leaf that was called last: what is asked of the robot comes from it
        self.now = self.clock.now()  # when this tick began
        self.held: list[LeafNode] = []  # by a pause, and not resumed yet
        self.due = inf  # when the next tick is needed at the latest
        self.same_until = inf  # until when a tick would find what the last one found, unless something new comes
        self.back_at = self.now  # when a leaf came back last in this tick, or it began
        self.slowest: tuple[float, LeafNode | None] = (0.0, None)  # seconds, and the leaf that took them in this tick
        self.blocking: Behaviour | None = None  # the leaf that made a tick too long
        self.cleanups: list[Cleanup] = []  # of what was interrupted and nobody has taken care of yet
        self.failure: Failure | None = None  # the latest that a tree can fail of
        self.failed: dict[int, str] = {}  # by node, and not told yet: why
        self.trying = False  # a reactive selector looks whether a child would run: nothing may start
        self.wanted = False  # something would have started
        self.frozen = False  # a tick during a pause: what is interrupted ends, and nothing starts
        self.breakpoints = Breakpoints()
        self.said: dict[int, tuple[str, float | None]] = {}  # by running nodes, and not told yet: message, progress
        self.on_event: Callable[[Event], object] = lambda event: None
        self.is_stopped: Callable[[], bool] = lambda: False
        """Whether the robot has been stopped, so that whatever fails now fails of that: nothing may follow from it."""

    def at(self) -> float:
        """The time for events."""
        return self.clock.outside()

    def begin_turn(self, outside: float) -> None:
        self.now = self.back_at = self.clock.at(outside)
        self.slowest = 0.0, None

    def come_back(self, leaf: LeafNode) -> float:
        """The time after a call of a leaf, which must not have taken long."""
        now = self.clock.now()
        if now - self.back_at > self.slowest[0]:
            self.slowest = now - self.back_at, leaf
        if now - self.now > PERIOD:
            self.blocking = self.slowest[1]
        self.back_at = now
        return now

    def wake_at(self, time: float) -> None:
        if time < self.due:
            self.due = time

    def changes_at(self, time: float) -> None:
        """Somebody may do something else then, even if nothing new comes."""
        if time < self.same_until:
            self.same_until = time

    def fail(self, node: Behaviour, reason: str) -> Status:
        if self.is_stopped():
            return Status.RUNNING
        node.feedback_message = reason
        self.failure = Failure(node, reason)
        self.failed[node_id(node)] = reason
        return Status.FAILURE

    def say(self, node: Behaviour, message: str, progress: float | None = None) -> None:
        """What a running node does just now; shown with its status, not kept."""
        self.said[node_id(node)] = message, progress

    def note(self, node: Behaviour | None, text: str) -> None:
        self.on_event(Note(at=self.at(), node=node_id(node), text=text))

    def save(self, values: dict[str, Any]) -> None:
        self.values.update(values)
        self.on_event(Saved(at=self.at(), values=values))

    def interrupt(self, nodes: list[Behaviour]) -> list[Cleanup]:
        """Stop nodes at once; what they still have to do, inner before outer, is up to the caller."""
        outer, self.cleanups = self.cleanups, []
        for node in nodes:
            if node.status is not Status.INVALID:
                node.stop(Status.INVALID)
        found, self.cleanups = self.cleanups, outer
        return found

    def resume_held(self) -> None:
        held, self.held = self.held, []
        for leaf in held:
            if leaf in self.leaves:
                leaf.resume()

    def holds_back(self, node: Behaviour, looks: bool = False) -> bool:
        """Whether it must not start in this tick; what only looks has no effect, and a trial depends on it."""
        if self.trying and not looks:
            self.wanted = True
            return True
        return self.frozen or self.is_stopped() or self.breakpoints.hold(node)


def in_steps(progress: float) -> float:
    """Progress as it is told: finer steps would only make more events."""
    return min(max(round(progress * 100), 0), 100) / 100


def node_id(node: Behaviour | None) -> int:
    """The number of the file's node to which a node of the tree belongs."""
    while node is not None:
        found = getattr(node, "number", None)
        if found is not None:
            return int(found)
        node = node.parent
    return 0
