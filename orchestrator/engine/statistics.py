"""Per node: how often it was ticked, how long that took, when it last changed. Costs nothing until somebody asks."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.composites import Composite


@dataclass(slots=True)
class NodeStatistics:
    """One node of the file since the measuring began."""

    ticks: int = 0
    seconds: float | None = None
    """Spent in it and below; None for sequences and selectors with memory, which are only code and not measured."""
    changed_at: float | None = None
    """When its status last changed, by the run's clock."""


class Statistics:
    """Measures the nodes of a tree."""

    def __init__(self, shown: list[Behaviour]) -> None:
        self.nodes = [NodeStatistics() for _ in shown]
        self._numbers = {node: number for number, node in enumerate(shown)}

    def begin(self) -> None:
        for node, found in zip(self._numbers, self.nodes):
            if not isinstance(node, Composite):
                found.seconds = 0.0
                node.update = _timed(node.update, found)  # type: ignore[method-assign]

    def visit(self, node: Behaviour) -> None:
        number = self._numbers.get(node)
        if number is not None:
            self.nodes[number].ticks += 1


def _timed(update: Callable[[], Status], found: NodeStatistics) -> Any:
    now = time.perf_counter  # what it costs, not what the mission decides by

    def timed() -> Status:
        start = now()
        try:
            return update()
        finally:
            found.seconds = (found.seconds or 0.0) + now() - start

    return timed
