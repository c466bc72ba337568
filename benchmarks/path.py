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
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
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
from benchmarks.guard_dds import resident
from orchestrator.bus.settings import DdsSettings, loopback
from orchestrator.clock import RealClock
from orchestrator.wire.codec import codec
from orchestrator.wire.example import example

STEPS = 400
IN_A_ROW = 40
"""Steps of one side before it is the next one's turn: the machine changes, and must change for all of them."""
PAUSE = 0.025
"""Seconds between two presses: the guard lets 50 commands a second pass."""
LATE = 0.3
"""Seconds after which a press was too early: the mission has not begun."""
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
    times: dict[str, list[float]] = {"bare": [], "split": [], "run": []}
    with Side("run", 60) as ours:
        while len(times["run"]) < STEPS:
            times["run"] += ours.steps(rates)
            for role in ("bare", "split"):
                with Side(role, 61) as theirs:
                    times[role] += theirs.steps(rates, beside=ours.robot)
        run, guard = (resident(process) for process in json.loads(ours.first_line))
    worst = sorted(times["run"])[int(STEPS * 0.99)]
    barely, p50 = statistics.median(times["bare"]), statistics.median(times["run"])
    return [
        report(f"wake-up, {name}: bare raw WaitSet, p50", barely * 1e6, "us"),
        report(f"wake-up, {name}: two bare processes / bare", statistics.median(times["split"]) / barely, "x"),
        report(f"wake-up, {name}: state sample to next command, p50", p50 * 1e6, "us"),
        report(f"wake-up, {name}: state sample to next command, p99", worst * 1e6, "us"),
        at_most(f"wake-up, {name}: run and guard / bare", p50 / barely, "x", 2.0),
        at_most(f"memory of the run, {name}", run, "MB", 80),
        at_most(f"memory of the guard, {name}", guard, "MB", 50),
    ]


class Side:
    """Whoever answers presses with commands, and the robot it has for itself."""

    def __init__(self, role: str, domain: int) -> None:
        network = loopback(domain, tag=f"bench-{uuid.uuid4()}")
        self._open = ExitStack()
        folder = self._open.enter_context(tempfile.TemporaryDirectory(prefix="o"))
        self.robot = self._open.enter_context(contextlib.closing(BenchRobot(network)))
        command = [sys.executable, "-m", "benchmarks.path", role, msgspec.json.encode(network).decode(), folder]
        environment = os.environ | {"XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": folder}
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        self._heard: list[float] = []
        self.robot.listen(COMMAND.name, lambda sample: self._heard.append(sample.received))

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        while self._process.poll() is None:
            self.robot.turn()  # the guard leaves when it has seen it stand
        self._process.communicate()
        self._open.close()

    def steps(self, rates: dict[str, float], beside: BenchRobot | None = None) -> list[float]:
        """Seconds from a press to the command that answers it; what is not answered is pressed again.

        The robot beside is that of a run which waits for its turn: it only has to stay alive.
        """
        while self._step(beside) is None:
            self._turn(PAUSE, beside)  # it has not begun yet
        self.robot.rates = rates
        times: list[float] = []
        while len(times) < IN_A_ROW:
            self._turn(PAUSE, beside)
            seconds = self._step(beside)
            times += [] if seconds is None else [seconds]
        self.robot.rates = QUIET
        return times

    def _step(self, beside: BenchRobot | None) -> float | None:
        self._heard.clear()
        pressed = self._press(1)
        while not self._heard and RealClock.now() < pressed + LATE:
            self._turn_once(0.05, beside)
        self._press(0)
        return self._heard[0] - pressed if self._heard else None

    def _press(self, down: int) -> float:
        self.robot.lower.wireless_remote[A_BUTTON] = down
        return self.robot.show(STATE.name)

    def _turn(self, seconds: float, beside: BenchRobot | None) -> None:
        end = RealClock.now() + seconds
        while (left := end - RealClock.now()) > 0:
            self._turn_once(left, beside)

    def _turn_once(self, longest: float, beside: BenchRobot | None) -> None:
        if beside is None:
            self.robot.turn(longest)
        else:
            self.robot.turn(min(longest, 0.01))
            beside.turn(0.0)

    @property
    def first_line(self) -> str:
        """What it said at its beginning."""
        assert self._process.stdout is not None
        return self._process.stdout.readline()


# The other sides: `python -m benchmarks.path bare|split|run NETWORK FOLDER`. A signal ends them.


def _answer_barely(network: DdsSettings, folder: Path) -> None:
    """cyclonedds-python as it comes, with raw samples and a WaitSet: the fastest it offers."""
    participant = _participant(network)
    send = _command(participant)
    for _ in _presses(participant):
        send()


def _answer_split(network: DdsSettings, folder: Path) -> None:
    """One process reads, the other one writes, and ends with it."""
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


TREE = """
tree: bench
root:
  sequence:
    - WaitForButton: {button: a}
    - SubscribeLaser: {enabled: true}
  repeat: forever
"""


def _run(network: DdsSettings, folder: Path) -> None:
    from orchestrator.engine.prompts import Prompts
    from orchestrator.mission.live import LiveMission
    from orchestrator.mission.loading import load_mission
    from orchestrator.mission.place import Place

    (folder / "tree.yaml").write_text(TREE)
    loaded = load_mission(folder / "tree.yaml", "atom_w")
    place = Place(network, None, False, RealClock.now())
    mission = LiveMission(loaded, place, lambda event: None, Prompts())
    signal.signal(signal.SIGTERM, lambda *_: mission.mission.abort())
    print(json.dumps([os.getpid(), mission.guard.pid]), flush=True)
    outcome = mission.run("bench")
    mission.close()
    if outcome.status != "aborted":
        print(outcome, file=sys.stderr)


if __name__ == "__main__":
    role = {"bare": _answer_barely, "split": _answer_split, "run": _run}[sys.argv[1]]
    role(msgspec.json.decode(sys.argv[2], type=DdsSettings), Path(sys.argv[3]))
