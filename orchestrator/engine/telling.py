"""Tells what nodes do: their changes of status after a tick, and what running ones say in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.events import Change, NodeStatus, Tick
from orchestrator.engine.run import Run

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
        for number in list(self._run.said):
            if self._told[number][0] is Status.RUNNING:
                changes[number] = self._change(number)
        self._run.said.clear()
        if changes:
            self._emit(Tick(at=self._run.at(), tick=tick, changes=changes))
        return changed

    def _change(self, number: int) -> Change:
        status, skipped = self._told[number]
        said = self._run.said.pop(number, None)
        if status is Status.RUNNING and said is not None:
            return Change("running", *said)
        word = "skipped" if skipped and status is not INVALID else _WORDS[status]
        message = self._shown[number].feedback_message
        if status is not Status.RUNNING:
            why = self._run.failed.pop(number, "")
            if status is Status.FAILURE:
                message = message or why  # modifiers around a leaf say nothing
        return Change(word, message)
