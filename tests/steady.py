"""Whether the machine kept time: what happens in real time proves nothing while the machine stands still.

A test in real time that fails is run again, twice at most, if the machine did not let a program that sleeps for 10 ms
go on for another 50 ms during the test; the summary says so. A failure on a steady machine is a failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest
from _pytest.runner import runtestprotocol

NAP = 0.01
STILL = 0.05
"""Seconds late: half of what a robot may be silent."""
ATTEMPTS = 3
STOOD_STILL = "stood still"


class Watch:
    """A process beside the tests that notes how late it wakes, on each CPU."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.steady"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self._said = self._process.stdout.fileno()
        os.read(self._said, 1)  # it watches
        os.set_blocking(self._said, False)

    def longest(self) -> float:
        """Seconds that the machine stood still since this was asked last; 0 if it kept time."""
        said = b""
        with suppress(BlockingIOError):
            while part := os.read(self._said, 65536):
                said += part
        return max(map(float, said.split()), default=0.0)

    def close(self) -> None:
        self._process.communicate()


def run_steadily(item: pytest.Item, nextitem: pytest.Item | None, watch: Watch) -> None:
    """Run a test, again if it failed while the machine stood still."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in range(ATTEMPTS):
        watch.longest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        late = watch.longest()
        if attempt == ATTEMPTS - 1 or not late or not any(report.failed for report in reports):
            break
        item.user_properties.append((STOOD_STILL, late))
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _watch(cpu: int) -> None:
    os.sched_setaffinity(0, {cpu})
    while True:
        asked = time.monotonic()
        time.sleep(NAP)
        late = time.monotonic() - asked - NAP
        if late > STILL:
            print(f"{late:.3f}", flush=True)


def main() -> None:
    for cpu in os.sched_getaffinity(0):
        threading.Thread(target=_watch, args=(cpu,), daemon=True).start()
    print(flush=True)
    sys.stdin.read()  # until the tests are over, however they end


if __name__ == "__main__":
    main()
