"""Why a run was stopped or has failed: what happened first, not only what followed from it."""

from __future__ import annotations

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.builder import BuiltTree
from orchestrator.engine.events import NodeInfo, Tick
from orchestrator.engine.nodes.leaf import LeafNode
from orchestrator.engine.run import PERIOD
from orchestrator.guard.modes import Mode
from orchestrator.guard.outputs import HUNG, LET_GO

_RANKS = {LET_GO: 1, Mode.ESTOPPED.value: 3}
"""An e-stop is felt before it is seen, so it comes first wherever it is told; a robot that let go explains nothing."""
_OTHERS = 2


class Cause:
    """Hears every heartbeat, and everything that stops a run."""

    def __init__(self, built: BuiltTree, now: float) -> None:
        self.text = ""
        self._built = built
        self._rank = 0
        self._node: Behaviour | None = None
        self._leaf: LeafNode | None = None
        self._blocking: Behaviour | None = None
        self.heard = now
        self._longest = 0.0

    def beat(self, now: float) -> None:
        run = self._built.run
        if now - self.heard > self._longest:
            self._longest, self._blocking = now - self.heard, run.blocking
        self.heard = now
        self._leaf = next(reversed(run.leaves), None)
        run.blocking = None

    def take(self, text: str, value: str = "", node: Behaviour | None = None) -> None:
        """`value` is the machine-readable part of the guard's report; `node`, where it is known, is to blame."""
        rank = _RANKS.get(value, _OTHERS)
        if rank > self._rank:
            self._node = node or self._node or self._leaf or self._innermost()
            self.text, self._rank = text, rank

    def _innermost(self) -> Behaviour | None:
        """A node that waits or asks, where no leaf runs."""
        return next((node for node in reversed(self._built.shown) if node.status is Status.RUNNING), None)

    @property
    def node(self) -> Behaviour | None:
        """Which was running when it happened, or did not let the run go on."""
        return self._blocking or self._node if self.is_hung else self._node

    @property
    def is_hung(self) -> bool:
        return HUNG in self.text

    def tell(self, now: float) -> str:
        """For people."""
        if not self.is_hung:
            return self.text
        still = max(self._longest, now - self.heard)
        if still < 2 * PERIOD:
            return "the guard did not hear from the run any more, so it stopped the robot"
        return f"the run stood still for {still:.1f} s, so the guard stopped the robot"


class Failures:
    """What of a tree has failed, as its ticks tell: a selector fails with its last child, but not because of it."""

    def __init__(self, nodes: list[NodeInfo]) -> None:
        self._nodes = nodes
        self._reasons: dict[int, str] = {}

    def take(self, tick: Tick) -> None:
        for number, change in tick.changes.items():
            if change.status == "failure":
                self._reasons[number] = change.message
            else:
                self._reasons.pop(number, None)

    def tell(self, reason: str, node: NodeInfo | None) -> str:
        """Why a run failed at a node, with the first that failed in each selector around it."""
        while node is not None and node.parent is not None:
            parent = self._nodes[node.parent]
            first = self._first_below(parent) if parent.kind == "selector" else None
            if first is not None and first.number < node.number:
                origin = self._origin(first)
                reason += f" (after {origin.name} failed: {self._reasons[origin.number]})"
            node = parent
        return reason

    def _origin(self, failed: NodeInfo) -> NodeInfo:
        """A node without a reason of its own failed of one below it."""
        while not self._reasons[failed.number] and (below := self._first_below(failed)) is not None:
            failed = below
        return failed

    def _first_below(self, parent: NodeInfo) -> NodeInfo | None:
        failed = (node for node in self._nodes if node.parent == parent.number and node.number in self._reasons)
        return next(failed, None)
