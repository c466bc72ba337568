"""What a run pays for its history: `python -m benchmarks.journal`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from orchestrator.bus.memory import MemoryNetwork
from orchestrator.clock import VirtualClock
from orchestrator.data import data_path
from orchestrator.engine.builder import build
from orchestrator.engine.checkpoint import Keeper
from orchestrator.engine.events import Change, Tick, to_json
from orchestrator.journal.history import History
from orchestrator.journal.writer import Writer
from orchestrator.mission.fields import RobotFields
from orchestrator.mission.loading import load_mission
from orchestrator.robots.robot import Robot

EVENT = Tick(at=12.25, tick=245, changes={7: Change("success"), 8: Change("running", "1.2 m driven")})


def main() -> None:
    print(f"{'what':<52}{'best':>10}{'median':>10}")
    with tempfile.TemporaryDirectory() as folder:
        _row("an event, on the tick's side (encode and hand over)", _event(Path(folder)))
        for nodes in (10, 100, 1000):
            _row(f"a checkpoint of {nodes} nodes, on the tick's side", _checkpoint(Path(folder), nodes))
        _row("a commit of an event and a checkpoint, in its thread", _commit(Path(folder)))


def _row(name: str, action: Callable[[], object]) -> None:
    taken = []
    for _ in range(300):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    taken.sort()
    print(f"{name:<52}{taken[0] * 1e6:>7.1f} µs{taken[150] * 1e6:>7.1f} µs")


def _event(folder: Path) -> Callable[[], object]:
    writer = Writer(History.create(folder / "events", {}), print)
    return lambda: writer.put([to_json(EVENT)])


def _checkpoint(folder: Path, nodes: int) -> Callable[[], object]:
    tree = folder / "tree.yaml"
    tree.write_text("tree: many\nrobot: atom_w\nroot:\n" + "  - MoveToTag: {tag: 12}\n" * nodes)
    loaded = load_mission(tree)
    clock = VirtualClock()
    robot = Robot(loaded.profile, MemoryNetwork(clock).bus("run"), _Nobody())  # type: ignore[arg-type]
    return Keeper(build(loaded.tree, loaded.catalogue, robot, RobotFields(robot), clock)).take_json


class _Nobody:
    """A commander of a robot that is never told anything."""


def _commit(folder: Path) -> Callable[[], object]:
    history = History.create(folder / "commits", {})
    event, state = to_json(EVENT), data_path("trees/04_deliver_atom_w.yaml").read_bytes()
    return lambda: history.write([event], {"checkpoint": b'"%b"' % state.hex().encode()})


if __name__ == "__main__":
    main()
