"""The whole way: a watched field changes on the wire, a leaf succeeds, the next leaf's command is on the wire.

Run and guard are processes as in a real mission. Its tree waits for a button, sends a command, and so on.
Beside it, in the same run: bare cyclonedds-python, raw samples and a WaitSet, there and back between two processes;
at the same pace, because whatever has slept wakes up slowly, and without a pause.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import msgspec

from benchmarks import Row, at_most, report
from benchmarks._bench_robot import BenchRobot
from benchmarks.bus import PING, _BareSide, _child, _median, _private
from orchestrator.bus.settings import DdsSettings, loopback
from orchestrator.clock import RealClock
from orchestrator.wire.codec import codec
from orchestrator.wire.example import example

STEPS = 400
PAUSE = 0.025
"""Seconds between two presses: the guard lets 50 commands a second pass."""
LATE = 0.3
"""Seconds after which a press was too early: the mission has not begun, or is over."""
A_BUTTON = 3
"""The byte of the pad that has it."""


def rows() -> list[Row]:
    bare = [_bare()]
    path, run, guard = _path()
    bare.append(_bare())
    at_once, usual = (statistics.mean(each) for each in zip(*bare))
    return [
        report("wake-up: bare raw WaitSet, there and back without a pause, p50", at_once * 1e6, "us"),
        report("wake-up: the same at the pace of the mission, p50", usual * 1e6, "us"),
        report("wake-up: state sample to next command, p50", statistics.median(path) * 1e6, "us"),
        report("wake-up: state sample to next command, p99", sorted(path)[int(len(path) * 0.99)] * 1e6, "us"),
        at_most("wake-up: run and guard / bare", statistics.median(path) / usual, "x", 2.0),
        at_most("memory of the run", run, "MB", 80),
        at_most("memory of the guard", guard, "MB", 50),
    ]


def _bare() -> tuple[float, float]:
    """Seconds without a pause, and with the mission's."""
    data = codec(PING.type).encode(example(PING.type))
    settings = _private()
    with _child("bare_echo", settings), _BareSide(settings, "ping", "pong") as side:
        at_once, paced = (_median(lambda: side.round_trip(data), 400, pause) for pause in (0.0, PAUSE))
    return at_once, paced


def _path() -> tuple[list[float], float, float]:
    """Seconds of every step, and the megabytes of run and guard."""
    network = loopback(60, tag=f"bench-{uuid.uuid4()}")
    times: list[float] = []
    heard: list[float] = []
    with tempfile.TemporaryDirectory(prefix="o") as folder, contextlib.closing(BenchRobot(network)) as robot:
        robot.listen("rt/amr/cmd", lambda sample: heard.append(sample.received))
        command = [sys.executable, "-m", "benchmarks.path", msgspec.json.encode(network).decode(), folder]
        environment = os.environ | {"XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": folder}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            while process.poll() is None:
                heard.clear()
                pressed = _press(robot, 1)
                while not heard and RealClock.now() < pressed + LATE:
                    robot.turn(0.05)
                times += [heard[0] - pressed] if heard else []
                _press(robot, 0)
                _for(robot, PAUSE)
            assert process.stdout is not None
            said = process.stdout.read().splitlines()
    run, guard = json.loads(said[-1])
    return times[:STEPS], run, guard


def _press(robot: BenchRobot, down: int) -> float:
    robot.lower.wireless_remote[A_BUTTON] = down
    return robot.show("rt/lower/state")


def _for(robot: BenchRobot, seconds: float) -> None:
    end = RealClock.now() + seconds
    while RealClock.now() < end:
        robot.turn(end - RealClock.now())


# The run: `python -m benchmarks.path NETWORK FOLDER`


TREE = f"""
tree: bench
root:
  sequence:
    - WaitForButton: {{button: a}}
    - SubscribeLaser: {{enabled: true}}
  repeat: {STEPS}
"""


def _run(network: DdsSettings, folder: Path) -> None:
    from benchmarks.guard_dds import resident
    from orchestrator.engine.prompts import Prompts
    from orchestrator.mission.live import LiveMission
    from orchestrator.mission.loading import load_mission
    from orchestrator.mission.place import Place

    (folder / "tree.yaml").write_text(TREE)
    loaded = load_mission(folder / "tree.yaml", "atom_w")
    place = Place(network, None, False, RealClock.now())
    mission = LiveMission(loaded, place, lambda event: None, Prompts())
    guard = mission.guard.pid
    assert guard is not None
    outcome = mission.run("bench")
    memory = [resident(os.getpid()), resident(guard)]
    mission.close()
    if outcome.status != "success":
        print(outcome, file=sys.stderr)
    print(json.dumps(memory))


if __name__ == "__main__":
    _run(msgspec.json.decode(sys.argv[1], type=DdsSettings), Path(sys.argv[2]))
