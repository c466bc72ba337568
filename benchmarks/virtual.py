"""The delivery mission again and again in virtual time: how much faster than real time, and which room takes how long.

`python -m benchmarks virtual` measures; `python -m benchmarks.virtual [calls]` prints where the time goes, by room or
by function.
"""

from __future__ import annotations

import cProfile
import pstats
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from benchmarks import Row, at_least, report
from orchestrator.data import data_path
from orchestrator.mission.loading import Loaded, load_mission
from orchestrator.mission.virtual import VirtualMission

DELIVERY = "04_deliver_atom_w.yaml"
ROUNDS = 45
"""Deliveries one after the other: more than ten minutes."""
AT_LEAST = 600.0
REPEATS = 7


def rows() -> list[Row]:
    loaded = deliveries()
    speeds = [_speed(loaded) for _ in range(REPEATS)]
    return [
        at_least("ten minutes of deliveries in virtual time, best", max(speeds), "x real time", 1000),
        report("the same, median", statistics.median(speeds), "x real time"),
    ]


def deliveries() -> Loaded:
    """The delivery, repeated until ten minutes are over."""
    with tempfile.TemporaryDirectory() as folder:
        trees = shutil.copytree(data_path("trees"), Path(folder) / "trees")  # a subtree's path is relative
        tree = trees / "deliveries.yaml"
        tree.write_text(f"tree: deliveries\nrobot: atom_w\nroot:\n  use: {DELIVERY}\n  repeat: {ROUNDS}\n")
        return load_mission(tree)


def _speed(loaded: Loaded) -> float:
    """Virtual seconds in a second of processor time: other programs share the machine."""
    mission = _armed(loaded)
    began, since = time.process_time(), mission.clock.now()
    _run(mission)
    return (mission.clock.now() - since) / (time.process_time() - began)


def _armed(loaded: Loaded) -> VirtualMission:
    mission = VirtualMission(loaded)
    mission.mission.arm("benchmark")
    return mission


def _run(mission: VirtualMission) -> None:
    since = mission.clock.now()
    outcome = mission.mission.run()
    passed = mission.clock.now() - since
    if outcome.status != "success" or passed < AT_LEAST:
        raise RuntimeError(f"{outcome.status} after {passed:.0f} virtual s: {outcome.reason}")


def main() -> None:
    mission = _armed(deliveries())
    since = mission.clock.now()
    profile = cProfile.Profile(time.process_time)  # other programs share the machine
    profile.runcall(_run, mission)
    passed = mission.clock.now() - since
    found = pstats.Stats(profile)
    if "calls" in sys.argv:
        found.sort_stats("tottime").print_stats(60)
        return
    rooms = _by_room(found)
    total = sum(rooms.values())
    for room, seconds in sorted(rooms.items(), key=lambda each: -each[1]):
        print(f"{100 * seconds / total:5.1f} %  {1e6 * seconds / passed:8.1f} us a virtual second  {room}")
    print(f"{1e6 * total / passed:16.1f} us a virtual second in all, with the profiler's own cost")


def _by_room(found: pstats.Stats) -> dict[str, float]:
    """Seconds by folder; what built-in functions take counts for whoever calls them."""
    rooms: dict[str, float] = defaultdict(float)
    for (file, _, _), (_, _, own, _, callers) in found.stats.items():  # type: ignore[attr-defined]
        if file.startswith(("~", "<")):
            for (caller, _, _), (_, _, part, _) in callers.items():
                rooms[_room(caller)] += part
        else:
            rooms[_room(file)] += own
    return rooms


def _room(file: str) -> str:
    parts = Path(file).parts
    if "orchestrator" in parts:
        return "/".join(parts[parts.index("orchestrator") + 1 :][:2])
    return "behaviours" if "behaviours" in parts else "libraries"


if __name__ == "__main__":
    main()
