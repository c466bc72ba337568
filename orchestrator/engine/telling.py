"""Tells what nodes do: their changes of status after a tick, and what running ones say in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.events import Change, NodeStatus, Tick
from orchestrator.engine.run import Run, node_id

AGAIN_AFTER, ROUNDING = 0.2, 1e-6
"""Seconds between two remarks of a node whose status stays the same: a screen needs no more."""

INVALID = Status.INVALID
_WORDS: dict[Status, NodeStatus] = {
    Status.SUCCESS: "success",
    Status.FAILURE: "failure",
    Status.RUNNING: "running",
    INVALID: "idle",
}


class Teller:
    """Knows what was told of every node of the file last, and tells what is new."""

    def __init__(self, shown: list[Behaviour], run: Run, emit: Callable[[Tick], object]) -> None:
        self._shown = shown
        self._run = run
        self._emit = emit
        self._numbers = {node: number for number, node in enumerate(shown)}
        self._told: list[tuple[Status, bool]] = [(INVALID, False)] * len(shown)
        self._told_at = [-inf] * len(shown)

    def tell(self, nodes: Sequence[Behaviour], tick: int) -> list[int]:
        """Tell of those with another status than was told last, and what is said; gives the numbers of the former."""
        changes: dict[int, Change] = {}
        for node in nodes:
            number = self._numbers.get(node)
            if number is None:
                continue
            state = node.status, getattr(node, "skipped", False)
            if state != self._told[number]:
                self._told[number] = state
                changes[number] = self._change(number)
        changed = list(changes)
        if self._run.said:
            self._add_said(changes)
        if changes:
            now = self._run.at()
            for number in changes:
                self._told_at[number] = now
            self._emit(Tick(at=now, tick=tick, changes=changes))
        return changed

    def _change(self, number: int) -> Change:
        status, skipped = self._told[number]
        said = self._run.said.pop(number, None)
        if status is Status.RUNNING and said is not None:
            return Change("running", *said)
        word = "skipped" if skipped and status is not INVALID else _WORDS[status]
        return Change(word, self._shown[number].feedback_message or self._reason(number, status))

    def _reason(self, number: int, status: Status) -> str:
        """Why a leaf failed, where modifiers stand around it."""
        failure = self._run.failure
        if status is not Status.FAILURE or failure is None or node_id(failure.node) != number:
            return ""
        return failure.reason

    def _add_said(self, changes: dict[int, Change]) -> None:
        """What was said too soon after the last remark is kept for a later tick."""
        soonest = self._run.at() - AGAIN_AFTER + ROUNDING
        for number in list(self._run.said):
            if self._told[number][0] is not Status.RUNNING:
                del self._run.said[number]
            elif self._told_at[number] <= soonest:
                changes[number] = self._change(number)
