"""How long it takes until the program does something: whole processes, best of nine."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import Row, as_installed, at_most, report

_STARTS = {
    "python itself": ["-c", "pass"],
    "orchestrator --version": ["-m", "orchestrator.cli", "--version"],
    "import the codec and all types": ["-c", "import orchestrator.wire.topics, orchestrator.wire.codec"],
    "import the bus": ["-c", "import orchestrator.bus.dds"],
    "cyclonedds alone": ["-c", "import cyclonedds"],
}


_HEAD = "tree: fifty\nrobot: atom_w\nroot:\n  - SetFsm: {state: ready}\n"
_FOUR_NODES = """  - selector:
      - MoveToTag: {tag: shelf, heading: 90 deg}
        timeout: 2 min
        retry: {times: 2, wait: 500 ms}
      - check: battery.level > 15 %
      - Log: {text: Not there}
"""


def rows() -> list[Row]:
    started = [report(f"start-up: {name}", _best(arguments) * 1000, "ms") for name, arguments in _STARTS.items()]
    with TemporaryDirectory() as folder:
        tree = Path(folder) / "fifty.yaml"
        tree.write_text(_HEAD + 12 * _FOUR_NODES)
        checked = _best(["-m", "orchestrator.cli", "check", str(tree)]) * 1000
    return [*started, at_most("start-up: orchestrator check of a tree of 50 nodes", checked, "ms", 500)]


def _best(arguments: list[str]) -> float:
    times = []
    for _ in range(9):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=as_installed())
        times.append(time.perf_counter() - start)
    return min(times)
