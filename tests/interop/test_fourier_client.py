"""Fourier's own client against the simulated GR-2, over Fast DDS, in a network namespace with loopback only."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from tests.support.tools import lacking, need

pytestmark = [pytest.mark.interop, pytest.mark.dds, pytest.mark.timeout(300)]

NAMESPACE = ["unshare", "--user", "--map-root-user", "--net"]
SEEN = ["stand", "stand pose", "group command", "walk", "velocity source", "velocity", "upper state", "move command"]


def test_the_vendors_client_drives_the_twin() -> None:
    need("unshare", "ip")
    if importlib.util.find_spec("fourier_aurora_client") is None:
        lacking("fourier_aurora_client==0.1.8 is not installed: pip install -e '.[interop]'")
    if subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode:
        lacking("this machine allows no network namespaces")
    command = [*NAMESPACE, sys.executable, "-m", "tests.support.fourier_client"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith(("saw", "did not see"))]
    assert lines == [f"saw {what}" for what in (*SEEN, "body")], done.stdout + done.stderr
