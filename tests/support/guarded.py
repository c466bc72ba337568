"""A guard in its own process, the simulated robot it guards, a run, and somebody who listens on the wire."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.bus.contract import Sample
from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import DdsSettings
from orchestrator.clock import RealClock
from orchestrator.guard import process as guard_process
from orchestrator.guard.link import LinkCommander
from orchestrator.guard.outputs import Report
from orchestrator.mission.processes import GuardProcess
from orchestrator.mission.virtual import put_objects
from orchestrator.robots.commander import Receipt
from orchestrator.robots.intents import AnyIntent
from orchestrator.robots.profiles import load_profile
from orchestrator.sim.process import LiveTwin
from orchestrator.wire.codec import codec
from orchestrator.wire.topics import topics

PATIENCE = 30.0
"""s after which a test gives up on something that takes a moment."""
BEAT = 0.04


class Heard(NamedTuple):
    """A command on the wire."""

    topic: str
    message: Any
    at: float


class Guarded:
    """All of it; the robot and the run live in this thread, in `turn`."""

    def __init__(self, robot: str, network: DdsSettings, folder: Path, live: LiveTwin) -> None:
        self.folder = folder
        self.live = live
        self.twin: Any = live.twin
        self.heard: list[Heard] = []
        self.reports: list[Report] = []
        self.beating = True
        self._next_beat = 0.0
        profile = live.twin.profile
        self.wire = DdsBus(network, "listener")
        for name, topic in topics(profile.family, profile.variants, profile.prefix).items():
            if topic.kind == "command" and name not in self.twin.publications:  # Dobot's robots write one themselves
                self._listen(name, replace(topic, kind="event"))
        rpc = f"127.0.0.1:{live.rpc_port}" if live.rpc_port else None
        if rpc is not None:
            self._listen_to_rpc(self.twin.rpc)  # type: ignore[attr-defined]
        self.settings = guard_process.Settings(robot, network, str(folder), str(folder / "audit.log"), rpc)
        self.guard = GuardProcess(self.settings)
        self.run = self.connect()

    def _listen(self, name: str, topic: Any) -> None:
        decode = codec(topic.type).decode

        def keep(sample: Sample) -> None:
            self.heard.append(Heard(name, decode(sample.data), sample.received))

        self.wire.reader(topic).on_sample(keep)

    def _listen_to_rpc(self, service: Any) -> None:
        """Calls that ask for something are commands like those on topics."""
        call = service.call

        def keep(method: str, params: dict[str, Any], answer: Callable[[dict[str, Any]], None]) -> None:
            if not method.startswith("Get"):
                self.heard.append(Heard(f"rpc/{method}", params, RealClock.now()))
            call(method, params, answer)

        service.call = keep

    def connect(self) -> LinkCommander:
        run = LinkCommander(self.guard.socket, "mission", wake=lambda: None)
        run.on_report = self._take
        self.mode = run.mode
        return run

    def _take(self, report: Report) -> None:
        self.reports.append(report)
        if report.kind == "mode":
            self.mode = report.value

    # Time

    def turn(self) -> None:
        self.live.turn()
        self.wire.wait(0.0)
        if self.beating and RealClock.now() >= self._next_beat:
            self._next_beat = RealClock.now() + BEAT
            self.run.heartbeat()

    def go(self, seconds: float) -> None:
        until = RealClock.now() + seconds
        while RealClock.now() < until:
            self.turn()

    def until(self, happened: Callable[[], object], what: str) -> None:
        end = RealClock.now() + PATIENCE
        while not happened():
            assert RealClock.now() < end, (what, self.mode, [report.text for report in self.reports[-12:]])
            self.turn()

    # The run and the person

    def said(self, kind: str) -> list[str]:
        return [report.text for report in self.reports if report.kind == kind]

    def arm(self) -> Guarded:
        """Acknowledge where it is needed, preflight, arm: as a person does it, until it works."""

        def try_it() -> bool:
            if self.mode in ("estopped", "fault", "intervened"):
                self.run.act("acknowledge", "anna", "seen")
            self.run.act("preflight", "anna")
            self.run.act("arm", "anna")
            self.go(0.1)
            return self.mode == "armed"

        self.until(try_it, "armed")
        return self

    def begin(self) -> Guarded:
        self.arm()
        self.run.begin()
        self.until(lambda: self.mode == "running", "running")
        return self

    def ask(self, intent: AnyIntent) -> Receipt:
        receipt = self.run.send(intent)
        self.until(lambda: receipt.state != "pending", f"an answer to {intent}")
        return receipt

    def bring(self, intent: AnyIntent, there: Callable[[], object]) -> None:
        """Ask for something until the robot is there: it may need its time between two states."""

        def try_it() -> object:
            if not there():
                self.ask(intent)
                self.go(0.3)
            return there()

        self.until(try_it, f"{intent}")

    def commands(self, *names: str) -> list[Any]:
        """What was heard on these topics since they were last forgotten."""
        return [heard.message for heard in self.heard if heard.topic in names]

    def close(self) -> None:
        self.run.finish()
        self.go(0.1)
        self.run.close()
        self.wire.close()
        pid = self.guard.pid
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        assert self.guard.wait(PATIENCE)


@contextmanager
def guarded(robot: str, network: DdsSettings, prepare: Callable[[Any], None] = lambda twin: None) -> Iterator[Guarded]:
    """The twin starts in the state `prepare` gives it. In the end the guard is killed, whatever the test did."""
    live = LiveTwin(load_profile(robot), network)
    prepare(live.twin)
    put_objects(live.twin)
    live.twin.start()
    with tempfile.TemporaryDirectory(prefix="o") as folder:
        try:
            lab = Guarded(robot, network, Path(folder), live)
            try:
                yield lab
            finally:
                lab.close()
        finally:
            live.close()
