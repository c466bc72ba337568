"""`orchestrator sim` as a process of its own."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.live import SIM, simulated

pytestmark = pytest.mark.dds


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_it_lives_until_it_is_told_to_end(end: signal.Signals) -> None:
    with simulated("atom_w", "soft") as robot:
        assert robot.first_line.startswith("SIM atom_w on domain 0, loopback, private, tag test-")
        robot.see("rt/emergency/state", lambda m: m.soft_emergency_triggered)
        robot.process.send_signal(end)
        out, err = robot.process.communicate(timeout=60)
    assert (robot.process.returncode, err) == (0, "")
    assert out.endswith("SIM ended.\n")


def test_a_fault_that_no_mission_would_notice_is_warned_of(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("faults:\n  - {fault: refused, target: rt/switch/upper/control}\n")
    with simulated("atom_w", "lost:rt/set/fsm/id", "lost:rpc/SetFsmId", more=["--faults", str(file)]) as robot:
        assert robot.first_line.startswith("SIM atom_w")
        robot.process.terminate()
        warnings = robot.process.communicate(timeout=60)[1].splitlines()
    assert [warning.partition(" would change nothing: ")[0] for warning in warnings] == [
        "warning: lost on rt/set/fsm/id",
        "warning: refused on rt/switch/upper/control",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["atomw"], "did you mean atom_w?"),
        (["atom_w", "--fault", "of:rt/amr/state"], "error: no fault 'of'; did you mean off?"),
        (["atom_w", "--fault", "hard@3s+0ms"], "error: hard: it must last longer than 0 s"),
        (["atom_w", "--faults", "nowhere.yaml"], "nowhere.yaml:1:1: error: "),
        (["gr2", "--open", "--fault", "security"], "faults need a network of their own"),
    ],
)
def test_mistakes_end_with_2(arguments: list[str], message: str) -> None:
    done = subprocess.run([*SIM, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert message in done.stderr
