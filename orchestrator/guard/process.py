"""The guard as a process of its own: `python -m orchestrator.guard.process`, started by a run.

It outlives a run that crashes, holding the robot, and ends only after an orderly end of the run.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import signal
import sys
import threading
from pathlib import Path
from typing import IO

import msgspec

from orchestrator.bus.contract import BusError
from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import DdsSettings
from orchestrator.guard.config import GuardConfigError, load_guard_config
from orchestrator.guard.driver import Guard
from orchestrator.guard.events import Event, RunConnected, RunEnded, Stop
from orchestrator.guard.link import GuardServer, Host
from orchestrator.guard.modes import ACTIVE, Mode
from orchestrator.guard.rpc import RpcCaller
from orchestrator.journal.audit import AuditFile
from orchestrator.robots.profiles import ProfileError, load_profile

LONGEST_WAIT = 0.02
"""Seconds between two looks at the clock, however quiet it is."""
NAME = "orchestrator guard"
"""What it is called on DDS."""
REAL_TIME_PRIORITY = 20
STOP_TIME = 5.0
"""Seconds after which the guard leaves although it has not seen the robot stand: it has told, and can do no more."""


class Settings(msgspec.Struct, frozen=True):
    """What a run tells the guard it starts."""

    robot: str
    network: DdsSettings
    folder: str
    """Socket, lock and audit file of this robot."""
    rpc: str | None = None
    """host:port of the robot's JSON-RPC, where it is to be used."""


class GuardProcess:
    """One robot's guard, its socket and its loop."""

    def __init__(self, settings: Settings) -> None:
        self._folder = Path(settings.folder)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._locked = lock(self._folder)
        profile = load_profile(settings.robot)
        self._lock = threading.RLock()
        self._done = self._ended = False
        self._leave_by = math.inf
        self._bus = DdsBus(settings.network, name=NAME, breather=0.0)
        rpc = RpcCaller(settings.rpc) if settings.rpc else None
        self._guard = Guard(profile, load_guard_config(), self._bus, AuditFile(self._folder / "audit.log"), rpc)
        self._server = GuardServer(
            self._folder / "guard.sock",
            Host(self._handle, lambda: self._guard.state.epoch, lambda: self._guard.state.mode.value, priority()),
            self._bus.clock,
        )
        self._guard.on_report = self._server.tell

    def run(self) -> None:
        """Watch, decide and publish until the run has ended in good order."""
        clock = self._bus.clock
        while not self._done:
            with self._lock:
                due = self._guard.next_due()
            self._bus.wait(max(0.0, min(due - clock.now(), LONGEST_WAIT)))
            with self._lock:
                if clock.now() >= self._guard.next_due():
                    self._guard.run_due()
                self._done = self._ended and (self._at_rest() or clock.now() >= self._leave_by)
        self._server.close()
        self._bus.close()

    def stop_robot(self) -> None:
        """A person wants the robot stopped and the guard gone: stop, and leave when it stands or after a while."""
        self._handle(Stop("orchestrator stop"))
        self._ended = True
        self._leave_by = self._bus.clock.now() + STOP_TIME

    def _at_rest(self) -> bool:
        """Whether nothing of ours moves or is held, and the last stop has been seen to work."""
        state, now = self._guard.state, self._bus.clock.now()
        quiet = state.mode not in ACTIVE and state.mode is not Mode.STOPPING
        stopped = state.stop is None or state.stop.outcome == "stopped"
        return quiet and stopped and not any(hold.until > now for hold in state.holds.values())

    def _handle(self, event: Event) -> None:
        """From the socket's thread: decide and publish there, then let the loop look at the clock again."""
        with self._lock:
            before = self._guard.next_due()
            self._guard.handle(event)
            if isinstance(event, RunConnected | RunEnded):
                self._ended = isinstance(event, RunEnded)
            sooner = self._guard.next_due() < before
        if sooner:
            self._bus.wake()


def lock(folder: Path) -> IO[str]:
    """One guard per robot on this machine."""
    file = (folder / "lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BusError("another guard already watches this robot on this machine") from None
    file.write(str(os.getpid()))
    file.flush()
    return file


def priority() -> str:
    """Ask for real-time scheduling; says what was granted."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(REAL_TIME_PRIORITY))
        return f"real-time priority {REAL_TIME_PRIORITY}"
    with contextlib.suppress(OSError):
        os.nice(-10)
        return "raised priority"
    return "normal priority"


def main() -> int:
    """Started with its settings as JSON on the command line; says "up" when it watches."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = GuardProcess(msgspec.json.decode(sys.argv[1], type=Settings))
    except (BusError, GuardConfigError, ProfileError, OSError) as error:
        print(f"error: {error}", flush=True)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: process.stop_robot())
    print("up", flush=True)
    process.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
