"""Drives `orchestrator sim gr2 --open` with Fourier's own client and prints what it saw; run in a network of its own.

The client needs multicast on loopback, and must not find real robots: tests start this in a network namespace.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 20.0
ARM = "left_manipulator"


def until(what: str, happened: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if happened():
                print(f"saw {what}", flush=True)
                return
        except KeyError:
            pass  # the client has no sample of that topic yet
        time.sleep(0.02)
    print(f"did not see {what}", flush=True)


def near(value: float, expected: float) -> bool:
    return abs(value - expected) < 0.01


def drive(client: Any, moves: Any) -> None:
    client.set_fsm_state(2)
    until("stand", lambda: client.get_fsm_state() == 2 and client.get_stand_pose()[3] >= 100)
    client.set_stand_pose(-0.1, 0.0, 0.0)
    until("stand pose", lambda: near(client.get_stand_pose()[0], -0.1))
    client.set_group_cmd({ARM: [0.3] * 7})
    until("group command", lambda: near(client.get_group_state(ARM)[0], 0.3))
    client.set_fsm_state(3)
    until("walk", lambda: client.get_fsm_state() == 3)
    client.set_velocity_source(2)
    until("velocity source", lambda: client.get_velocity_source() == 2)
    client.set_velocity(0.5, 0.0, 0.0, 1.0)
    until("velocity", lambda: near(client.get_true_data("pos_W")[0], 0.5))
    client.set_upper_fsm_state(4)
    until("upper state", lambda: client.get_upper_fsm_state() == 4)
    moves.joint_move_command(0, ARM, [0.1] * 7)
    client.set_move_command(moves.get_move_command())
    until("move command", lambda: near(client.get_group_state(ARM)[0], 0.1))
    until(
        "body", lambda: near(client.get_base_data("rpy")[0], 0.0) and client.get_contact_data("contact_prob")[0] == 1.0
    )


def main() -> None:
    for words in ("link set lo up", "link set lo multicast on", "route add 224.0.0.0/4 dev lo"):
        subprocess.run(["ip", *words.split()], check=True)
    vendor = importlib.import_module("fourier_aurora_client")
    command = [sys.executable, "-m", "orchestrator.cli", "sim", "gr2", "--open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as sim:
        assert sim.stdout is not None
        sim.stdout.readline()
        try:
            drive(vendor.AuroraClient.get_instance(123, robot_name="gr2"), vendor.MoveCommandManager(robot_name="gr2"))
        finally:
            sim.terminate()
    sys.stdout.flush()
    os._exit(0)  # the client's threads do not end by themselves


if __name__ == "__main__":
    main()
