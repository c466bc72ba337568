"""What a tick costs: ns per ticked node, with py_trees measured in the same run.

BehaviorTree.CPP's figures come from another machine, on which py_trees was measured too. What is to be reached here is
0.6 x its figure, times how much slower or faster py_trees runs here.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.composites import Selector, Sequence
from py_trees.decorators import Retry, Timeout

from benchmarks import NoFields, Row, at_most
from orchestrator.clock import RealClock
from orchestrator.engine import Prompts, compile_tree, unit
from orchestrator.engine.nodes.modifiers import Attempts, Limit
from orchestrator.engine.run import Run

SUCCESS, FAILURE, RUNNING = Status.SUCCESS, Status.FAILURE, Status.RUNNING
ROUNDS = 60  # short ones, of which the best counts: that is least disturbed by whatever else runs
WARM_UP = 30  # ticks; Python adapts code to its data only after some calls
NODES_PER_ROUND = 5000
PY_TREES_NODES_PER_ROUND = 100
PY_TREES_FLAT1000_BUILD = 4.9  # ms, on the machine where the anchors were measured


class Succeeds(Behaviour):
    def update(self) -> Status:
        return SUCCESS


class Fails(Behaviour):
    def update(self) -> Status:
        return FAILURE


class Runs(Behaviour):
    def update(self) -> Status:
        return RUNNING


@dataclass(frozen=True)
class Case:
    """A tree, and what the anchors took for it on the machine where both were measured, in ns per ticked node."""

    name: str
    tree: Callable[[], Behaviour]
    py_trees: float
    bt_cpp: float
    tree_for_py_trees: Callable[[], Behaviour] | None = None


def flat(count: int, memory: bool = False) -> Behaviour:
    return Sequence("flat", memory, [Succeeds(f"leaf {number}") for number in range(count)])


def alternating(depth: int, sequence: bool = True, result: bool = True) -> Behaviour:
    """A full binary tree, sequences and selectors in turn, in which every node is ticked."""
    if depth == 0:
        return (Succeeds if result else Fails)("leaf")
    children = [alternating(depth - 1, not sequence, sequence), alternating(depth - 1, not sequence, result)]
    return (Sequence if sequence else Selector)("composite", False, children)


def chain(depth: int) -> Behaviour:
    node: Behaviour = Succeeds("leaf")
    for _ in range(depth):
        node = Sequence("link", False, [node])
    return node


def guard() -> Behaviour:
    return Sequence("guard", False, [Succeeds("check"), Runs("action")])


def mission(step: Behaviour) -> Behaviour:
    """Three guards and 20 steps, of which the third goes on and on: 8 of 27 nodes are ticked."""
    steps = [Succeeds("step 1"), Succeeds("step 2"), step, *(Succeeds(f"step {number}") for number in range(4, 21))]
    guards = [Succeeds(f"guard {number}") for number in range(3)]
    return Sequence("mission", False, [*guards, Sequence("steps", True, steps)])


def our_mission() -> Behaviour:
    """With the nodes that a file's `retry` and `timeout` become."""
    run = _run()
    return mission(Attempts("retry", run, Limit("timeout", run, Runs("action"), lambda: 1e6), 3, None, "attempt"))


def py_trees_mission() -> Behaviour:
    step = Timeout(name="timeout", child=Runs("action"), duration=1e6)
    return mission(Retry(name="retry", child=step, num_failures=3))


def _run() -> Run:
    return Run(RealClock(), None, NoFields(), Prompts())


class Acts(Runs):
    """A leaf with all callbacks."""

    def initialise(self) -> None:
        pass

    def terminate(self, new_status: Status) -> None:
        pass


class Done(Acts):
    def update(self) -> Status:
        return SUCCESS


@dataclass(frozen=True)
class Shape:
    """What a node is to become: a composite of children, or a leaf, perhaps with timeout and retry around it."""

    children: tuple[Shape, ...] = ()
    kind: type[Sequence | Selector] = Sequence
    memory: bool = True
    timeout: bool = False
    retry: bool = False

    @property
    def nodes(self) -> int:
        return 1 + self.timeout + self.retry + sum(child.nodes for child in self.children)

    def make(self, run: Run, leaf: type[Behaviour]) -> Behaviour:
        if self.children:
            return self.kind("composite", self.memory, [child.make(run, leaf) for child in self.children])
        node: Behaviour = leaf("action")
        node = Limit("timeout", run, node, lambda: 1.0) if self.timeout else node
        return Attempts("retry", run, node, 3, None, "attempt") if self.retry else node


@cache
def irregular(count: int) -> Shape:
    """Composites of 2 to 8 children, leaves with callbacks, some with retry and timeout: little to share."""
    dice, children = random.Random(1), list[Shape]()
    while sum(child.nodes for child in children) < count - 1:
        children.append(_irregular(dice, depth=3))
    return Shape(tuple(children))


def _irregular(dice: random.Random, depth: int) -> Shape:
    if depth == 0 or dice.random() < 0.5:
        return Shape(timeout=dice.random() < 0.2, retry=dice.random() < 0.2)
    children = tuple(_irregular(dice, depth - 1) for _ in range(dice.randint(2, 8)))
    return Shape(children, Sequence if dice.random() < 0.7 else Selector, dice.random() < 0.7)


CASES = [
    Case("flat10", lambda: flat(10), 6046, 180),
    Case("flat100", lambda: flat(100), 6096, 180),
    Case("flat1000", lambda: flat(1000), 6034, 180),
    Case("flat1000 with memory", lambda: flat(1000, memory=True), 6055, 200),
    Case("alternating, 511 nodes", lambda: alternating(8), 6565, 205),
    Case("alternating, 2047 nodes", lambda: alternating(10), 6840, 220),
    Case("chain50", lambda: chain(50), 6108, 240),
    Case("chain200", lambda: chain(200), 10939, 240),
    Case("guard", guard, 2527, 140),
    Case("mission", our_mission, 2916, 172, py_trees_mission),
]
OBSERVED = [
    Case("flat1000", lambda: flat(1000), 6034, 312),
    Case("alternating, 2047 nodes", lambda: alternating(10), 6840, 370),
    Case("mission", our_mission, 2916, 200, py_trees_mission),
]


def rows() -> list[Row]:
    return [
        *(_tick_row(case) for case in CASES),
        *(_observed_row(case) for case in OBSERVED),
        *_build_rows(),
    ]


def _tick_row(case: Case) -> Row:
    tree = case.tree()
    ours, py_trees = _compare(compile_tree(tree), _py_trees_tree(case, tree), _ticked_nodes(tree))
    return _row(f"tick, {case.name}", ours, py_trees, case)


def _observed_row(case: Case) -> Row:
    tree = case.tree()
    tick = compile_tree(tree, changed=lambda nodes: None)
    ours, py_trees = _compare(tick, _py_trees_tree(case, tree), _ticked_nodes(tree))
    return _row(f"tick with observer, {case.name}", ours, py_trees, case)


def _py_trees_tree(case: Case, tree: Behaviour) -> Behaviour:
    return case.tree_for_py_trees() if case.tree_for_py_trees else tree


def _row(name: str, ours: float, py_trees: float, case: Case) -> Row:
    reach = 0.6 * case.bt_cpp * py_trees / case.py_trees
    note = (
        f"{py_trees / ours:.0f} x faster than py_trees, which takes {py_trees:.0f}; "
        f"elsewhere BT.CPP 4.10 took {case.bt_cpp:.0f} and py_trees {case.py_trees:.0f}"
    )
    return {**at_most(name, ours, "ns/node", round(reach)), "note": note}


def _ticked_nodes(tree: Behaviour) -> int:
    visited: list[Behaviour] = []
    tick = compile_tree(tree, visit=visited.append)
    for _ in range(4):  # a mission needs some ticks to get to its third step
        visited.clear()
        tick()
    return len(visited)


def _compare(tick: Callable[[], object], tree: Behaviour, nodes: int) -> tuple[float, float]:
    """Best ns per node of both, measured in turn so that both see the same machine."""
    ours, py_trees = [], []
    _time(tick, WARM_UP)
    for _ in range(ROUNDS):
        ours.append(_time(tick, max(5, NODES_PER_ROUND // nodes)) / nodes)
        py_trees.append(_time(tree.tick_once, max(1, PY_TREES_NODES_PER_ROUND // nodes)) / nodes)
    return min(ours), min(py_trees)


def _time(action: Callable[[], object], repeats: int) -> float:
    """Nanoseconds of this thread per call; the wall clock would count whatever else runs on the machine."""
    collects = gc.isenabled()
    gc.disable()
    try:
        start = time.thread_time_ns()
        for _ in range(repeats):
            action()
        return (time.thread_time_ns() - start) / repeats
    finally:
        if collects:
            gc.enable()


def _build_rows() -> list[Row]:
    trees = {
        "1001 nodes, flat": lambda: flat(1000),
        "1023 nodes, alternating": lambda: alternating(9),
        "1000 nodes, no two parts alike, code for the first leaf alone": lambda: irregular(1000).make(_run(), Acts),
        "1000 nodes, no two parts alike, all code": lambda: irregular(1000).make(_run(), Done),
    }
    return [_build_row(name, tree) for name, tree in trees.items()]


def _build_row(name: str, tree: Callable[[], Behaviour]) -> Row:
    """From nothing to the end of the first tick, which has the code written for all nodes that it ticks.

    Code that Python compiled before does not count. All trees but one are ticked through.
    """
    times, py_trees = [], []
    for _ in range(7):
        times.append(_time(lambda: _build_from_nothing(tree), 1) / 1e6)
        py_trees.append(_time(lambda: flat(1000), 1) / 1e6)
    best, reach = min(times), 60.0 * min(py_trees) / PY_TREES_FLAT1000_BUILD
    note = f"py_trees' 1000 leaves alone {min(py_trees):.1f}; elsewhere {PY_TREES_FLAT1000_BUILD}"
    return {**at_most(f"build, {name}", best, "ms", round(reach)), "note": note}


def _build_from_nothing(tree: Callable[[], Behaviour]) -> None:
    unit._code.cache_clear()
    compile_tree(tree())()
