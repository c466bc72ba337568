"""The whole way: a watched field changes on the wire, a leaf succeeds, the next leaf's command is on the wire.

Run and guard are processes as in a real mission. Its tree waits for a button, sends a command, and so on.
Beside it, in the same run: bare cyclonedds-python, one process that waits for raw samples with a WaitSet, looks at the
button and writes a command made beforehand; and the same split in two with a socket between them, as run and guard are:
what is left when tree, rules, record and encoding take no time. The robot is the same for all: a quiet one, after which
whatever has slept wakes up slowly, and one that sends as much as an Atom-W.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec
from cyclonedds._clayer import ddspy_take, ddspy_write
from cyclonedds.core import ReadCondition, WaitSet
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic as DdsTopic

from benchmarks import Row, at_most, report
from benchmarks._bench_robot import QUIET, TOPICS, BenchRobot
from orchestrator.bus.settings import DdsSettings, loopback
from orchestrator.clock import RealClock
from orchestrator.wire.codec import codec
from orchestrator.wire.example import example

STEPS = 400
PAUSE = 0.025
"""Seconds between two presses: the guard lets 50 commands a second pass."""
LATE = 0.3
"""Seconds after which a press was too early: the mission has not begun, or is over."""
ANY = 0x7F
KEPT: list[object] = []
"""What DDS would end when Python forgets it."""
A_BUTTON = 3
"""The byte of the pad that has it."""
STATE, COMMAND = TOPICS["rt/lower/state"], TOPICS["rt/amr/cmd"]
ATOM_W = {**QUIET, STATE.name: 833.0, "rt/upper/state": 833.0, "rt/hands/state": 125.0, "rt/amr/state": 40.0}
"""Samples a second as the vendor gives them (docs/wire.md)."""


def rows() -> list[Row]:
    return [*_rows("quiet robot", QUIET), *_rows("Atom-W", ATOM_W)]


def _rows(name: str, rates: dict[str, float]) -> list[Row]:
    bare, split = _bare("bare", rates), _bare("split", rates)
    times, run, guard = _path(rates)
    bare, split = bare + _bare("bare", rates), split + _bare("split", rates)
    ours, theirs, worst = statistics.median(times), statistics.median(bare), sorted(times)[int(len(times) * 0.99)]
    return [
        report(f"wake-up, {name}: bare raw WaitSet, p50", theirs * 1e6, "us"),
        report(f"wake-up, {name}: two bare processes / bare", statistics.median(split) / theirs, "x"),
        report(f"wake-up, {name}: state sample to next command, p50", ours * 1e6, "us"),
        report(f"wake-up, {name}: state sample to next command, p99", worst * 1e6, "us"),
        at_most(f"wake-up, {name}: run and guard / bare", ours / theirs, "x", 2.0),
        at_most(f"memory of the run, {name}", run, "MB", 80),
        at_most(f"memory of the guard, {name}", guard, "MB", 50),
    ]


def _bare(role: str, rates: dict[str, float]) -> list[float]:
    """Seconds of every step."""
    network = _network()
    with contextlib.closing(BenchRobot(network, rates)) as robot, _other_side(role, network) as process:
        times = _steps(robot, lambda done: done < STEPS // 2)
        process.terminate()
    return times


def _path(rates: dict[str, float]) -> tuple[list[float], float, float]:
    """Seconds of every step, and the megabytes of run and guard."""
    network = _network()
    with (
        tempfile.TemporaryDirectory(prefix="o") as folder,
        contextlib.closing(BenchRobot(network, rates)) as robot,
        _other_side("run", network, folder) as process,
    ):
        times = _steps(robot, lambda done: process.poll() is None)
        assert process.stdout is not None
        said = process.stdout.read().splitlines()
    run, guard = json.loads(said[-1])
    return times[:STEPS], run, guard


def _network() -> DdsSettings:
    return loopback(60, tag=f"bench-{uuid.uuid4()}")


def _other_side(role: str, network: DdsSettings, folder: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.path", role, msgspec.json.encode(network).decode(), folder]
    environment = os.environ | {"XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": folder}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def _steps(robot: BenchRobot, goes_on: Callable[[int], bool]) -> list[float]:
    """From a press to the command that answers it; what is not answered is pressed again."""
    times: list[float] = []
    heard: list[float] = []
    robot.listen(COMMAND.name, lambda sample: heard.append(sample.received))
    while goes_on(len(times)):
        heard.clear()
        pressed = _press(robot, 1)
        while not heard and RealClock.now() < pressed + LATE:
            robot.turn()
        times += [heard[0] - pressed] if heard else []
        _press(robot, 0)
        _for(robot, PAUSE)
    return times


def _press(robot: BenchRobot, down: int) -> float:
    robot.lower.wireless_remote[A_BUTTON] = down
    return robot.show("rt/lower/state")


def _for(robot: BenchRobot, seconds: float) -> None:
    end = RealClock.now() + seconds
    while RealClock.now() < end:
        robot.turn(end - RealClock.now())


# The other sides: `python -m benchmarks.path bare|split|run NETWORK FOLDER`. The bare ones are ended by a signal.


def _answer_barely(network: DdsSettings, folder: Path) -> None:
    """cyclonedds-python as it comes, with raw samples and a WaitSet: the fastest it offers."""
    participant = _participant(network)
    send = _command(participant)
    for _ in _presses(participant):
        send()


def _answer_split(network: DdsSettings, folder: Path) -> None:
    """One process reads, the other one writes."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork():
        far.close()
        for _ in _presses(_participant(network)):
            near.send(b"!")
    near.close()
    send = _command(_participant(network))
    while far.recv(1):  # until the other process has ended
        send()


def _participant(network: DdsSettings) -> DomainParticipant:
    KEPT.append(Domain(network.domain, network.xml()))
    return DomainParticipant(network.domain)


def _command(participant: DomainParticipant) -> Callable[[], object]:
    writer = DataWriter(participant, DdsTopic(participant, COMMAND.name, COMMAND.type))
    KEPT.append(writer)
    return partial(ddspy_write, writer._ref, codec(COMMAND.type).encode(example(COMMAND.type)))


def _presses(participant: DomainParticipant) -> Iterator[None]:
    """For ever."""
    reader = DataReader(participant, DdsTopic(participant, STATE.name, STATE.type))
    waitset, condition = WaitSet(participant), ReadCondition(reader, ANY)
    waitset.attach(condition)
    buttons = codec(STATE.type).field("wireless_remote")
    was_down = 0
    while True:
        waitset.wait(1_000_000_000)
        for data, info in ddspy_take(reader._ref, ANY, 1):
            down = buttons(data)[A_BUTTON] if info.valid_data else 0
            if down and not was_down:
                yield
            was_down = down


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
    role = {"bare": _answer_barely, "split": _answer_split, "run": _run}[sys.argv[1]]
    role(msgspec.json.decode(sys.argv[2], type=DdsSettings), Path(sys.argv[3]))
