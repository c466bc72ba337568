"""What running a mission costs beside the tick itself: waking up, building, waiting."""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import behaviours
from benchmarks import NoFields, Row, at_most, report
from benchmarks.language import FIELDS, ROBOT, mission
from orchestrator.bus.dds import DdsBus
from orchestrator.bus.memory import MemoryNetwork
from orchestrator.bus.settings import loopback
from orchestrator.clock import Clock, RealClock, VirtualClock
from orchestrator.engine import BuiltTree, Runner, build
from orchestrator.leaf import Catalogue, Declaration, Leaf, Status, leaves_of
from orchestrator.treefile import Surroundings, Tree, check_file

WAKE_UPS = 400
BUILDS = 5
IDLE = 3.0


class Listen(Leaf, timeout=None):
    """Note the moment of every tick.

    - Listen
    """

    def step(self) -> Status:
        self.robot.append(time.perf_counter())
        return Status.RUNNING


def rows() -> list[Row]:
    return [*_waking(), *_building(), *_idling(), _virtual()]


def _catalogue() -> Catalogue:
    return Catalogue([*leaves_of(behaviours), *_own()])


def _own() -> list[Declaration]:
    return [Listen.declaration]


def _tree(text: str) -> Tree:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mission.yaml"
        path.write_text(text)
        checked = check_file(path, Surroundings(_catalogue(), FIELDS, robot=ROBOT))
        if not checked.ok:
            raise RuntimeError(checked.findings.render())
        return checked.tree


def _built(tree: Tree, robot: Any, clock: Clock) -> BuiltTree:
    return build(tree, _catalogue(), robot, NoFields(), clock)


def _on_dds() -> DdsBus:
    return DdsBus(loopback(domain=100 + os.getpid() % 20 + 3, tag=f"bench-{uuid.uuid4()}"))


def _waking() -> list[Row]:
    """From another thread's `wake` to the leaf's step, on the DDS bus; beside it, to the end of the bus' own `wait`."""
    ticks: list[float] = []
    bus = _on_dds()
    runner = Runner(_built(_tree("tree: t\nroot: [Listen]\n"), ticks, bus.clock), bus)
    ours = _delays(bus, ticks, runner.run, lambda: runner.stop("measured"))
    returns: list[float] = []
    listening = [True]

    def listen() -> None:
        while listening:
            bus.wait(0.05)
            returns.append(time.perf_counter())

    bare = _delays(bus, returns, listen, listening.clear)
    bus.close()
    return [
        at_most("event to tick, from another thread, p50", statistics.median(ours), "us", 40),
        report("event to tick, from another thread, p99", statistics.quantiles(ours, n=100)[98], "us"),
        report("the same to the end of the bare bus' wait, p50", statistics.median(bare), "us"),
    ]


def _delays(bus: DdsBus, moments: list[float], run: Callable[[], object], end: Callable[[], object]) -> list[float]:
    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.2)
    delays = []
    for _ in range(WAKE_UPS):
        count, at = len(moments), time.perf_counter()
        bus.wake()
        time.sleep(0.003)  # a thread that is busy here would compete for the interpreter
        if len(moments) > count:
            delays.append((moments[count] - at) * 1e6)
    end()
    bus.wake()
    thread.join()
    return delays


def _building() -> list[Row]:
    tree = _tree(mission())
    bus = MemoryNetwork(VirtualClock()).bus("bench")
    best = best_nodes = float("inf")
    for _ in range(BUILDS):
        gc.collect()
        start = time.process_time()
        built = _built(tree, None, bus.clock)
        nodes = time.process_time()
        Runner(built, bus)
        best = min(best, time.process_time() - start)
        best_nodes = min(best_nodes, nodes - start)
    return [
        at_most(f"build {tree.nodes} nodes of a mission, code generation included", best * 1e3, "ms", 60),
        report("of that, the nodes", best_nodes * 1e3, "ms"),
    ]


def _idling() -> list[Row]:
    bus = _on_dds()
    runner = Runner(_built(_tree("tree: t\nroot: [Wait: {time: 1 h}]\n"), None, RealClock()), bus)
    threading.Timer(IDLE, lambda: runner.stop("measured")).start()
    start, cpu = time.monotonic(), time.process_time()
    runner.run()
    share = (time.process_time() - cpu) / (time.monotonic() - start)
    bus.close()
    return [at_most("CPU of a run that waits while the bus is silent", share * 100, "%", 1)]


def _virtual() -> Row:
    text = "tree: t\nroot:\n  sequence:\n    - Wait: {time: 1 s}\n    - Log: {text: round}\n  repeat: 600\n"
    clock = VirtualClock()
    bus = MemoryNetwork(clock).bus("bench")
    runner = Runner(_built(_tree(text), None, clock), bus)
    start = time.process_time()
    runner.run()
    return report(
        "virtual time: ten minutes of waiting, times real time", clock.now() / (time.process_time() - start), "x"
    )
