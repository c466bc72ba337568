"""Nodes that tick their children themselves run alike with and without compiling."""

from __future__ import annotations

from random import Random

import pytest
from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.composites import Selector, Sequence
from py_trees.decorators import Inverter

from orchestrator.engine import compile_tree
from orchestrator.engine.own import Own

STATUSES = [Status.SUCCESS, Status.FAILURE, Status.RUNNING]


class Scripted(Behaviour):
    """Reports one status after the other and notes what is called."""

    def __init__(self, name: str, script: list[Status], log: list[str]) -> None:
        super().__init__(name)
        self._script, self._log, self._at = script, log, 0

    def initialise(self) -> None:
        self._log.append(f"initialise {self.name}")

    def update(self) -> Status:
        self._at += 1
        self._log.append(f"update {self.name}")
        return self._script[self._at % len(self._script)]

    def terminate(self, new_status: Status) -> None:
        self._log.append(f"terminate {self.name} {new_status.name}")


class Alternating(Own):
    """Ticks one child after the other and interrupts the one before."""

    def __init__(self, name: str, children: list[Behaviour], log: list[str]) -> None:
        super().__init__(name, children)
        self._log, self._at = log, 0

    def initialise(self) -> None:
        self._log.append(f"initialise {self.name}")

    def update(self) -> Status:
        self._at = (self._at + 1) % len(self.ticks)
        if self._at == 0:
            self.halt()
        return self.ticks[self._at]()


def random_tree(random: Random, depth: int, log: list[str]) -> Behaviour:
    name = str(random.randrange(1000))
    kind = random.choice(["leaf", "own", "own", "sequence", "selector", "inverter"]) if depth else "leaf"
    children = [random_tree(random, depth - 1, log) for _ in range(random.randint(1, 3))] if kind != "leaf" else []
    if kind == "own":
        return Alternating(name, children, log)
    if kind == "sequence":
        return Sequence(name, random.random() < 0.5, children)
    if kind == "selector":
        return Selector(name, random.random() < 0.5, children)
    if kind == "inverter":
        return Inverter(name, children[0])
    return Scripted(name, random.choices(STATUSES, k=5), log)


@pytest.mark.parametrize("group", range(4))
def test_compiled_and_interpreted_trees_do_the_same(group: int) -> None:
    for seed in range(group * 100, group * 100 + 100):
        logs: tuple[list[str], list[str]] = ([], [])
        plain, compiled = (random_tree(Random(seed), 4, log) for log in logs)
        tick = compile_tree(compiled)
        for _ in range(12):
            plain.tick_once()
            assert tick() is plain.status
            assert logs[0] == logs[1]
            statuses = [[node.status for node in tree.iterate()] for tree in (plain, compiled)]
            assert statuses[0] == statuses[1]
        plain.stop(Status.INVALID)
        compiled.stop(Status.INVALID)
        assert logs[0] == logs[1]
