"""What running a mission costs beside the tick itself: waking up, building, waiting."""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import threading
import time
import uuid
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
from orchestrator.mission.fields import RobotFields
from orchestrator.mission.processes import TwinProcess
from orchestrator.mission.twin import Settings
from orchestrator.robots.commander import Receipt
from orchestrator.robots.intents import AnyIntent
from orchestrator.robots.profiles import load_profile
from orchestrator.robots.robot import Robot
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


class Watched:
    """A bus that notes when its `wait` ends."""

    def __init__(self, bus: DdsBus) -> None:
        self._bus = bus
        self.clock = bus.clock
        self.wake = bus.wake
        self.returns: list[float] = []

    def wait(self, timeout: float) -> bool:
        woken = self._bus.wait(timeout)
        self.returns.append(time.perf_counter())
        return woken


def _waking() -> list[Row]:
    """From another thread's `wake` to the leaf's step, on the DDS bus, and how much of it is the bus' own wait."""
    ticks: list[float] = []
    bus = _on_dds()
    watched = Watched(bus)
    runner = Runner(_built(_tree("tree: t\nroot: [Listen]\n"), ticks, bus.clock), watched)
    thread = threading.Thread(target=runner.run)
    thread.start()
    time.sleep(0.2)
    whole, waits = [], []
    for _ in range(WAKE_UPS):
        count, number, at = len(ticks), len(watched.returns), time.perf_counter()
        bus.wake()
        time.sleep(0.003)  # a thread that is busy here would compete for the interpreter
        if len(ticks) > count and len(watched.returns) > number:
            whole.append((ticks[count] - at) * 1e6)
            waits.append((watched.returns[number] - at) * 1e6)
    runner.stop("measured")
    thread.join()
    bus.close()
    own = [all_of_it - wait for all_of_it, wait in zip(whole, waits)]
    return [
        at_most("event to tick, from another thread, p50", statistics.median(whole), "us", 40),
        report("event to tick, from another thread, p99", statistics.quantiles(whole, n=100)[98], "us"),
        report("of that, until the bus' wait has ended, p50", statistics.median(waits), "us"),
        report("of that, from there to the leaf's step, p50", statistics.median(own), "us"),
        report("event to tick, times the bus' wait alone", statistics.median(whole) / statistics.median(waits), "x"),
    ]


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
    silent = _on_dds()
    text = "tree: t\nroot: [Wait: {time: 1 h}]\n"
    share = _share_of_cpu(Runner(_built(_tree(text), None, RealClock()), silent))
    silent.close()
    return [
        at_most("CPU of a run that waits while the bus is silent", share, "%", 1),
        *(_idling_beside(name) for name in ("atom_w", "gr2", "adam_u")),
    ]


def _idling_beside(name: str) -> Row:
    """A run that waits and watches its battery, while the robot's twin sends all its topics at the vendor's rates."""
    found = load_profile(name)
    network = loopback(found.domain, tag=f"bench-{uuid.uuid4()}")
    twin = TwinProcess(Settings(name, network, 0, ()))
    bus = DdsBus(network)
    robot = Robot(found, bus, Silent())
    text = "tree: t\nroot: [Wait: {time: 1 h}]\n"
    built = build(_tree(text), _catalogue(), robot, RobotFields(robot), bus.clock)
    share = _share_of_cpu(Runner(built, bus))
    bus.close()
    twin.close()
    return report(f"CPU of a run that waits beside a {name} at vendor rates", share, "%")


class Silent:
    """Nothing is sent here."""

    def send(self, intent: AnyIntent) -> Receipt:
        raise NotImplementedError

    def end(self, receipt: Receipt) -> None:
        raise NotImplementedError


def _share_of_cpu(runner: Runner) -> float:
    """Percent of a core."""
    threading.Timer(IDLE, lambda: runner.stop("measured")).start()
    start, cpu = time.monotonic(), time.process_time()
    runner.run()
    return 100 * (time.process_time() - cpu) / (time.monotonic() - start)


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
