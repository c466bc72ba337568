"""How long it takes until the program does something: whole processes, best of five."""

from __future__ import annotations

import subprocess
import sys
import time

from benchmarks import Row, report

_STARTS = {
    "python itself": ["-c", "pass"],
    "orchestrator --version": ["-m", "orchestrator.cli", "--version"],
    "import the codec and all types": ["-c", "import orchestrator.wire.topics, orchestrator.wire.codec"],
    "import the bus": ["-c", "import orchestrator.bus.dds"],
    "cyclonedds alone": ["-c", "import cyclonedds"],
}


def rows() -> list[Row]:
    return [report(f"start-up: {name}", _best(arguments) * 1000, "ms") for name, arguments in _STARTS.items()]


def _best(arguments: list[str]) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return min(times)
