"""Simulated robots: how much faster than real time they are, and what one at the vendor's rates costs on DDS."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from benchmarks import Row, at_least, at_most
from orchestrator.bus.dds import DdsBus
from orchestrator.bus.memory import MemoryNetwork
from orchestrator.clock import VirtualClock
from orchestrator.robots.profiles import load_profile
from orchestrator.sim import make_twin
from orchestrator.sim.process import private_network
from orchestrator.sim.template import blank
from orchestrator.wire import dobot_atom
from orchestrator.wire.topics import topics

ROBOT = "atom_w"
_TAGS = (12, 15, 1)
_REPEATS = 20
_LOOK = 0.05
"""s between two looks at the robot: a mission ticks that often when nothing happens."""
_LOOKED_AT = ("rt/lower/state", "rt/amr/state", "rt/emergency/state")
"""What a mission that drives looks at; it receives all topics."""
_ALL = (*_LOOKED_AT, "rt/upper/state", "rt/hands/state", "rt/main/nodes/state")
_CPU_SECONDS = 5.0


def rows() -> list[Row]:
    virtual = max(_speed(_LOOKED_AT, seconds=20.0) for _ in range(_REPEATS))
    closely = max(_speed(_ALL, seconds=20.0) for _ in range(_REPEATS))
    full = max(_speed(_LOOKED_AT, seconds=1.0, full_rate=True) for _ in range(_REPEATS))
    return [
        at_least("Atom-W driving in virtual time, looked at 20 times a second", virtual, "x real time", 1000),
        at_least("the same with every event topic looked at", closely, "x real time", 1000),
        at_least("the same with every topic at the vendor's rate", full, "x real time", 30),
        at_most("Atom-W at the vendor's rates on DDS, everything read", _cpu(), "% of a core", 35),
    ]


def _speed(looked_at: tuple[str, ...], seconds: float, full_rate: bool = False) -> float:
    """How much faster than real time a twin lives that drives from tag to tag while somebody watches all its topics."""
    clock = VirtualClock()
    network = MemoryNetwork(clock)
    twin: Any = make_twin(load_profile(ROBOT), network.bus("robot"), clock, full_rate=full_rate, on_demand=True)
    twin.start()
    bus = network.bus("run")
    readers = {name: bus.reader(topic) for name, topic in twin.topics.items() if topic.kind != "command"}
    state, drive = bus.writer(twin.topics["rt/set/fsm/id"]), bus.writer(twin.topics["rt/amr/cmd"])
    bus.wait(0.2)
    state.write(dobot_atom.SetFsmId_(2, ""))
    bus.wait(2.0)
    for tag in _TAGS * 3:
        drive.write(_move_to(tag))
    began = time.process_time()  # other programs share the machine
    for _ in range(round(seconds / _LOOK)):
        bus.wait(_LOOK)
        for name in looked_at:
            readers[name].newest()
    return seconds / (time.process_time() - began)


def _move_to(tag: int) -> Any:
    message = blank(dobot_atom.AMRCommand_)
    message.command_type, message.target_id = dobot_atom.AMRCommandType.MOVE_TO_TAG, tag
    return message


def _cpu() -> float:
    """What `orchestrator sim` takes of a core while another program reads all its topics."""
    profile, tag = load_profile(ROBOT), f"bench-{uuid.uuid4()}"
    command = [sys.executable, "-m", "orchestrator.cli", "sim", ROBOT, "--tag", tag]
    with (
        DdsBus(private_network(profile, tag), "run") as bus,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as sim,
    ):
        try:
            readers = [bus.reader(topic) for topic in topics(profile.family).values() if topic.kind != "command"]
            while not all(reader.received for reader in readers if reader.topic.kind == "event"):
                bus.wait(0.05)
            began, used = time.perf_counter(), _used(sim.pid)
            while (passed := time.perf_counter() - began) < _CPU_SECONDS:
                bus.wait(0.05)
            return 100.0 * (_used(sim.pid) - used) / passed
        finally:
            sim.terminate()


def _used(process: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
