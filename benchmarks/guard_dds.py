"""The guard on real DDS, with robots that cost nothing: `make bench-guard`; `--quick` shows whether it works.

Every e-stop, kill and start is one of a real guard process. As a robot that was stopped takes more than a second to be
armed again, and that is not cut short, many robots with a guard each take their turns at once.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import queue
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import Row, at_least, at_most, report
from benchmarks.__main__ import print_rows
from benchmarks._bench_robot import TOPICS, BenchRobot, like_another_machine
from orchestrator.bus.contract import Sample
from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import loopback
from orchestrator.clock import RealClock
from orchestrator.guard import process as guard_process
from orchestrator.guard.link import LinkCommander, LinkError
from orchestrator.guard.outputs import Report
from orchestrator.mission.processes import GuardProcess
from orchestrator.robots.commander import Receipt
from orchestrator.robots.intents import HandTarget, JointTarget
from orchestrator.wire.codec import codec

MOTION = JointTarget("left_arm", (0.1,) * 7, 1.0)
GIVE_UP = 180.0
LONGEST = "BENCH_SECONDS"
"""In the environment: seconds after which a measurement ends with what it has."""
PROGRESS = 10.0
"""Seconds between two words about how far it is."""
PARTS = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
PR_CAPBSET_DROP, CAP_SYS_NICE = 24, 23
angles = [codec(TOPICS["rt/upper/cmd"].type).field(f"motor_cmd[{n}].q") for n in range(1, 8)]  # the left arm


def moves(sample: Sample) -> bool:
    """Whether a joint command wants the arm elsewhere than at zero, where the robot shows it."""
    return any(abs(angle(sample.data)) > 1e-5 for angle in angles)


# The run: `python -m benchmarks.guard_dds run SOCKET [hog]`, killed by its robot


def run(path: str, hog: bool) -> None:
    """A run and a person who arms again and again; says when it lets the robot move."""
    if hog:
        threading.Thread(target=_hog, daemon=True).start()
    while True:  # a run that counted as hung for a moment has to come anew
        with suppress(LinkError):  # too early: the guard still has the old connection
            _live(LinkCommander(Path(path), "bench", wake=lambda: None, patience=GIVE_UP))
        time.sleep(0.05)


def _live(link: LinkCommander) -> None:
    mode, lost = [link.mode], []

    def hear(said: Report) -> None:
        if said.kind == "mode":
            mode.append(said.value)
        elif said.kind == "lease" and said.value == "lost":
            lost.append(said)

    link.on_report = hear
    motion: Receipt | None = None
    while not lost and not link.lost:
        link.heartbeat()
        if mode[-1] != "running":
            _step_on(link, mode[-1])
        elif motion is None or motion.state in ("refused", "ended"):
            motion = link.send(MOTION)
        time.sleep(0.02)
    link.close()


def _step_on(link: LinkCommander, mode: str) -> None:
    """What a person does next, from each mode."""
    if mode in ("estopped", "fault", "intervened"):
        link.act("acknowledge", "bench", "measured")
    elif mode == "disarmed":
        link.act("preflight", "bench")
        link.act("arm", "bench")
    elif mode == "armed":
        print(time.time_ns(), flush=True)
        link.begin()  # the first time
        link.act("restart", "bench")  # after an e-stop


def _hog() -> None:
    while True:
        sum(range(10_000))


# A robot, its guard and its run: `python -m benchmarks.guard_dds robot ORDERS`


class Death:
    """When the kernel closed what a run had open: seen by a thread at the other end of a pipe."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._at = 0.0
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        os.read(self._pipe, 1)
        self._at = RealClock.now()
        os.close(self._pipe)

    def seen_at(self) -> float:
        self._thread.join()
        return self._at


class Bench:
    """What every measurement at one robot needs. Everything happens in this thread."""

    def __init__(self, number: int, real_time: bool, hog: bool) -> None:
        self.network = loopback(10 + number, tag=f"bench-{uuid.uuid4()}")
        self.robot = like_another_machine(lambda: BenchRobot(self.network))
        if not real_time:
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0)
        self.hog = hog
        self.folder = tempfile.mkdtemp(prefix="o")
        self.random = random.Random(number)
        self.moving_at = self.held_at = self.cancelled_at = -math.inf
        self.cancelled_source = 0
        self.may_move_from = 0
        """Wall clock, as the writers' time stamps: when the run was last allowed to move the robot."""
        self.unwanted = 0
        """Motion commands that left after a stop and before somebody let the run begin again."""
        self._stopped_source = 2**63
        self.robot.listen("rt/upper/cmd", self._joints)
        self.robot.listen("rt/amr/cmd", self._base)
        self.guard: GuardProcess | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.death: Death | None = None
        self.dying: list[float] = []
        """Seconds the kernel took each time to close what a killed run had open."""

    def settings(self) -> guard_process.Settings:
        return guard_process.Settings("atom_w", self.network, self.folder, f"{self.folder}/audit.log")

    def _joints(self, sample: Sample) -> None:
        if not moves(sample):
            self.held_at = sample.received
            return
        self.moving_at = sample.received
        if sample.source_time > self._stopped_source and sample.source_time > self.may_move_from:
            self.unwanted += 1

    def _base(self, sample: Sample) -> None:
        self.cancelled_at = sample.received
        if sample.source_time > self.may_move_from:
            self._stopped_source = min(self._stopped_source, sample.source_time)

    def start(self) -> None:
        """A guard if there is none, and a run that makes the robot move."""
        self.guard = self.guard or GuardProcess(self.settings())
        command = [sys.executable, "-m", "benchmarks.guard_dds", "run", str(self.guard.socket)]
        command += ["hog"] if self.hog else []
        ours, its = os.pipe()
        self.process = subprocess.Popen(command, stdin=its, stdout=subprocess.PIPE)
        os.close(its)
        self.death = Death(ours)
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)

    def until_moving(self) -> None:
        """Until the robot has been told to move, by a run that was armed for it."""
        assert self.process is not None
        assert self.process.stdout is not None
        seen = self.moving_at
        self._until(lambda: self._let() and self.moving_at > seen, "the robot to move")
        self._for(self.random.uniform(0.02, 0.15))

    def _let(self) -> bool:
        assert self.process is not None
        assert self.process.stdout is not None
        said = (self.process.stdout.read() or b"").split()
        if said:
            self.may_move_from = int(said[-1])
            self._stopped_source = 2**63
        return self.may_move_from > 0

    def _until(self, happened: Callable[[], bool], what: str) -> None:
        end = RealClock.now() + GIVE_UP
        while not happened():
            if RealClock.now() > end:
                raise TimeoutError(f"waited in vain for {what}")
            self.robot.turn(0.01)

    def _for(self, seconds: float) -> None:
        end = RealClock.now() + seconds
        while RealClock.now() < end:
            self.robot.turn(end - RealClock.now())

    # What is measured

    def estop(self) -> float:
        """Seconds from an e-stop sample to the stop command."""
        self.until_moving()
        self.cancelled_at = -math.inf
        channel = self.random.choice(("soft", "hard", "di", "amr")) + "_emergency_triggered"
        setattr(self.robot.emergency, channel, True)
        at = self.robot.show("rt/emergency/state")
        self._until(lambda: self.cancelled_at > at, "the stop after an e-stop")
        self._for(0.05)
        setattr(self.robot.emergency, channel, False)
        self.robot.show("rt/emergency/state")
        return self.cancelled_at - at

    def silence_run(self, how: signal.Signals) -> float:
        """Seconds from a signal that ends or stops the run to the robot's being held."""
        self.start()
        self.until_moving()
        assert self.process is not None
        at = RealClock.now()
        self.process.send_signal(how)
        self._until(lambda: self.held_at > at, "the stop after the run")
        took = self.held_at - at
        self.process.kill()
        self.process.wait()
        assert self.death is not None
        self.dying.append(self.death.seen_at() - at)
        self.may_move_from = 0
        return took

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        pid = self.guard.pid if self.guard else None
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        self.robot.close()
        shutil.rmtree(self.folder)


def estops(bench: Bench) -> list[float]:
    if bench.process is None:
        bench.start()
    return [bench.estop()]


def kills(bench: Bench) -> list[float]:
    return [bench.silence_run(signal.SIGKILL)]


def hangs(bench: Bench) -> list[float]:
    return [bench.silence_run(signal.SIGSTOP)]


def firsts(bench: Bench) -> list[float]:
    """1.0 for every first command that was lost: after a guard's start, and after the robot's readers came anew."""
    said: list[Report] = []
    with _hands(bench) as hands:
        bench.guard = guard = GuardProcess(bench.settings())
        link = LinkCommander(guard.socket, "bench", wake=lambda: None)
        link.on_report = said.append
        beats = [0.0]

        def turn() -> None:
            bench.robot.turn(0.005)
            if RealClock.now() - beats[0] > 0.03:
                beats[0] = RealClock.now()
                link.heartbeat()

        _arm(link, said, turn)
        lost = [_first(link, hands, turn)]
    for _ in range(20):  # the robot starts again, and its readers are other ones
        turn()
    with _hands(bench) as hands:
        lost.append(_first(link, hands, turn))
    link.finish()
    while guard.pid is not None:  # the robot must be seen to stand still
        bench.robot.turn(0.01)
    guard.wait(0.0)
    link.close()
    return lost


@contextmanager
def _hands(bench: Bench) -> Iterator[Callable[[], int]]:
    """A participant with the robot's own kind of reader, which is best-effort; gives how many commands it got."""
    with DdsBus(bench.network, "hands") as bus:
        reader = bus.reader(replace(TOPICS["rt/hands/cmd"], kind="stream"))

        def received() -> int:
            reader.newest()
            return reader.received

        yield received


def _arm(link: LinkCommander, said: list[Report], turn: Callable[[], None]) -> None:
    def mode() -> str:
        return next((each.value for each in reversed(said) if each.kind == "mode"), link.mode)

    tried, end = 0.0, RealClock.now() + GIVE_UP
    while mode() != "running":
        if RealClock.now() > end:
            raise TimeoutError(f"the robot stays {mode()}: {[each.text for each in said[-20:]]}")
        turn()
        if RealClock.now() - tried > 0.1:
            tried = RealClock.now()
            link.act("preflight", "bench")
            link.act("arm", "bench")
            link.begin()


def _first(link: LinkCommander, received: Callable[[], int], turn: Callable[[], None]) -> float:
    """Ask until the guard lets a command out, which must then arrive."""
    before, end = received(), RealClock.now() + GIVE_UP
    receipt = link.send(HandTarget("left", (0.5,) * 6))
    while receipt.state != "sent":
        if RealClock.now() > end:
            raise TimeoutError(f"the first command is refused: {receipt.reason}")
        turn()
        if receipt.state == "refused":
            receipt = link.send(HandTarget("left", (0.5,) * 6))
    until = RealClock.now() + 0.3
    while received() == before and RealClock.now() < until:
        turn()
    return 0.0 if received() > before else 1.0


MEASUREMENTS: dict[str, Callable[[Bench], list[float]]] = {
    "estops": estops,
    "kills": kills,
    "hangs": hangs,
    "firsts": firsts,
}


def robot(orders: dict[str, Any]) -> None:
    """Measure until our input is closed, a line for each measurement."""
    bench = Bench(orders["number"], orders["real_time"], orders["hog"])
    try:
        while not select.select([sys.stdin], [], [], 0)[0]:
            answer: dict[str, Any] = {"times": MEASUREMENTS[orders["what"]](bench)}
            guard = bench.guard.pid if bench.guard else None
            if guard is not None:
                answer |= {"memory": resident(guard), "priority": _priority(guard)}
            print(json.dumps(answer | {"unwanted": bench.unwanted, "dying": bench.dying[-1:]}), flush=True)
    except TimeoutError as error:
        print(json.dumps({"times": [], "gave_up": str(error), "unwanted": bench.unwanted}), flush=True)
    finally:
        bench.close()


def _priority(process: int) -> str:
    return (
        "real-time"
        if os.sched_getscheduler(process) == os.SCHED_FIFO
        else f"nice {os.getpriority(os.PRIO_PROCESS, process)}"
    )


def resident(process: int) -> float:
    """Megabytes a process holds in memory."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


# All robots at once


class Measured:
    """What the robots of one measurement have said so far."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.dying: list[float] = []
        self.unwanted: dict[int, int] = {}
        self.gave_up: list[str] = []
        self.memory = 0.0
        self.priority = ""

    def take(self, number: int, said: dict[str, Any]) -> None:
        self.times += said["times"]
        self.dying += said.get("dying", ())
        self.unwanted[number] = said["unwanted"]
        self.gave_up += [said["gave_up"]] if "gave_up" in said else []
        self.memory = max(self.memory, said.get("memory", 0.0))
        self.priority = said.get("priority", self.priority)


def measure(what: str, count: int, robots: int, real_time: bool = True, hog: bool = False) -> Measured:
    """Robots measure at once until there are enough, all of them have given up, or time is up."""
    measured, said, processes = Measured(), queue.SimpleQueue[tuple[int, str]](), []
    for number in range(min(robots, count)):
        orders = {"what": what, "number": number, "real_time": real_time, "hog": hog}
        command = [sys.executable, "-m", "benchmarks.guard_dds", "robot", json.dumps(orders)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=_forward, args=(number, process, said), daemon=True).start()
        processes.append(process)
        time.sleep(0.5)
    _collect(measured, said, count, len(processes))
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
    for process in processes:
        process.wait()
    return measured


def _forward(number: int, process: subprocess.Popen[str], said: queue.SimpleQueue[tuple[int, str]]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        said.put((number, line))
    said.put((number, ""))


def _collect(measured: Measured, said: queue.SimpleQueue[tuple[int, str]], count: int, robots: int) -> None:
    began = shown = RealClock.now()
    end = began + float(os.environ.get(LONGEST, math.inf))
    while len(measured.times) < count and robots and RealClock.now() < end:
        with suppress(queue.Empty):
            number, line = said.get(timeout=PROGRESS)
            if line:
                measured.take(number, json.loads(line))
            else:
                robots -= 1
        if RealClock.now() - shown > PROGRESS:
            shown = RealClock.now()
            print(f"  {len(measured.times)} of {count} after {shown - began:.0f} s", file=sys.stderr, flush=True)


def part(times: list[float], fraction: float) -> float:
    return times[min(len(times) - 1, int(len(times) * fraction))] * 1000


def latency(name: str, count: int, got: Measured, goals: dict[str, float]) -> list[Row]:
    """Percentiles beside their goals; a measurement somebody gave up is a stop that did not come."""
    rows = [
        at_least(f"{name}, n", len(got.times), "", count),
        at_most(f"{name}, given up", len(got.gave_up), "", 0),
        at_most(f"{name}, motion commands after a latch", sum(got.unwanted.values()), "", 0),
    ]
    for why in got.gave_up:
        print(f"{name}, one robot gave up: {why}", file=sys.stderr, flush=True)
    return [*rows, *percentiles(name, got.times, goals)]


def percentiles(name: str, times: list[float], goals: dict[str, float]) -> list[Row]:
    ordered, rows = sorted(times), []
    for key, fraction in PARTS.items() if ordered else ():
        value, label = part(ordered, fraction), f"{name}, {key}"
        rows.append(at_most(label, value, "ms", goals[key]) if key in goals else report(label, value, "ms"))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guard_dds", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="idle, loaded, kills, hangs, firsts (default: all)")
    parser.add_argument("--quick", action="store_true", help="few of each, to see whether it works")
    options = parser.parse_args()
    rows: list[Row] = []
    for name in options.names or BENCHES:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        began = RealClock.now()
        measured = BENCHES[name](options.quick)
        print_rows(measured)
        print(f"{name} took {RealClock.now() - began:.0f} s", file=sys.stderr, flush=True)
        rows += measured
    missed = [row["name"] for row in rows if row["ok"] is False]
    print(f"{len(rows)} numbers; not reached: {', '.join(missed) or 'none'}")
    return 0


def idle(quick: bool) -> list[Row]:
    count = 20 if quick else 10_000
    got = measure("estops", count, 4 if quick else 12)
    return [
        *latency("e-stop sample to stop command", count, got, {"p99": 10, "p99.9": 50}),
        at_most("memory of a guard after its e-stops", got.memory, "MB", 50),
    ]


def loaded(quick: bool) -> list[Row]:
    return [*_loaded(quick, real_time=True, goal=10), *_loaded(quick, real_time=False, goal=50)]


def _loaded(quick: bool, real_time: bool, goal: float) -> list[Row]:
    """Two runs for each core, and each of them never rests."""
    count = 8 if quick else 600
    got = measure("estops", count, 2 * (os.cpu_count() or 1), real_time, hog=True)
    return latency(f"e-stop, cores loaded by hogging runs, guard {got.priority}", count, got, {"p99": goal})


def killed(quick: bool) -> list[Row]:
    """One robot: a run that starts beside it would take the processor from the one that is to die."""
    count = 4 if quick else 200
    got = measure("kills", count, 1)
    return [
        *latency("run killed to stop command", count, got, {"p99": 20}),
        *percentiles("run killed: kernel closes what it had open", got.dying, {}),
    ]


def hung(quick: bool) -> list[Row]:
    count = 4 if quick else 200
    return latency("run hung (SIGSTOP) to stop command", count, measure("hangs", count, 4), {"max": 250})


def first(quick: bool) -> list[Row]:
    """Two for each start of a guard: the first command, and the first one after the robot's readers came anew."""
    count = 8 if quick else 1000
    got = measure("firsts", count, 4)
    return [
        at_least("first command after a start or re-match, sent", len(got.times), "", count),
        at_most("first command after a start or re-match, given up", len(got.gave_up), "", 0),
        at_most("first command after a start or re-match, lost", sum(got.times), "", 0),
    ]


BENCHES: dict[str, Callable[[bool], list[Row]]] = {
    "idle": idle,
    "loaded": loaded,
    "kills": killed,
    "hangs": hung,
    "firsts": first,
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        with suppress(KeyboardInterrupt):
            run(sys.argv[2], sys.argv[3:] == ["hog"])
    elif sys.argv[1:2] == ["robot"]:
        robot(json.loads(sys.argv[2]))
    else:
        sys.exit(main())
