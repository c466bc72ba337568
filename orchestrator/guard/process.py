"""The guard as a process of its own: `python -m orchestrator.guard.process`, started by a run.

It outlives a run that crashes, holding the robot, and ends only after an orderly end of the run.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import hashlib
import math
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import IO

import msgspec

from orchestrator.bus.contract import BusError
from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import DdsSettings
from orchestrator.data import own_path
from orchestrator.guard import base_task, remote
from orchestrator.guard.config import GuardConfigError, load_guard_config
from orchestrator.guard.driver import Guard
from orchestrator.guard.events import AuditState, Event, Heartbeat, RunConnected, RunEnded, Stop
from orchestrator.guard.latch_file import LatchFile
from orchestrator.guard.link import GuardServer, Host
from orchestrator.guard.modes import ACTIVE, Mode
from orchestrator.guard.rpc import RpcCaller
from orchestrator.journal.audit import AuditError, AuditFile
from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import ProfileError, load_profile
from orchestrator.wire.topics import topics

LONGEST_WAIT = 0.02
"""Seconds between two looks at the clock, however quiet it is."""
NAME = "orchestrator guard"
"""What it is called on DDS."""
REAL_TIME_PRIORITY = 20
STOP_TIME = 5.0
"""Seconds after which the guard leaves although it has not seen the robot stand: it has told, and can do no more."""
PARK_TIME = 20.0
"""The same for a robot that goes limp when nothing is sent: it is parked first, which takes its time."""


LATE_TASK = 8.0
"""Seconds since it was sent for which a task the base has not shown is waited for; the run waits for 10 s."""
TWIN_SILENT = 2.0
"""Seconds without a word and without a run after which a simulated robot has gone: it ends with its run."""

STANDS = "the robot stands still"
NOTHING_MOVED = "nothing moved"
TWIN_GONE = "the simulated robot has gone with its run"
CALM = frozenset({STANDS, NOTHING_MOVED, TWIN_GONE})
"""Last words after which nobody has to do anything."""
BUT = "; but "
"""Between them and what is left behind on a robot that stands."""

OUTCOMES = {
    "stopped": STANDS,
    "unverified": "whether the robot stands still is not known",
    "ineffective": "the robot still moved after the stop",
}
ALREADY_GUARDED = "already guarded"
"""What a guard says, instead of "up", when another one holds the lock."""


DISCOVERY = 0.3
"""Seconds to find out whether a guard on another machine commands the robot: programs find each other in 0.1 s."""


class AlreadyGuarded(Exception):
    """Another guard watches this robot on this machine."""


class CommandedElsewhere(Exception):
    """A guard of another machine or user commands this robot; one sentence."""


class Settings(msgspec.Struct, frozen=True):
    """What a run tells the guard it starts."""

    robot: str
    network: DdsSettings
    folder: str
    """Socket and lock of this robot."""
    audit: str
    """Its file of records."""
    rpc: str | None = None
    """host:port of the robot's JSON-RPC, where it is to be used."""
    simulated: bool = False
    """Whether the robot is a twin, which ends with its run."""


class GuardProcess:
    """One robot's guard, its socket and its loop."""

    def __init__(self, settings: Settings) -> None:
        self._folder = Path(settings.folder)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        profile, config = load_profile(settings.robot), load_guard_config()
        self._lock = lock(self._folder)
        self._simulated = settings.simulated
        self._run_ended = self._told_to_stop = False
        self._leave_by = math.inf
        self._sleeps_until = math.inf
        Path(settings.audit).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        audit = AuditFile(Path(settings.audit))
        self._latch = None if settings.simulated else LatchFile(Path(settings.audit))
        granted = priority()  # first, for threads inherit it: DDS' own must not wait either
        self._bus = DdsBus(settings.network, name=NAME, breather=0.0)
        if not settings.simulated:  # nobody else knows the tag of a simulated one
            refuse_second(self._bus, profile)
        rpc = RpcCaller(settings.rpc) if settings.rpc else None
        latched = self._latch.read() if self._latch else frozenset[str]()
        self._guard = Guard(profile, config, self._bus, audit, rpc, latched)
        self._introduce(audit, granted)
        self._server = GuardServer(
            self._folder / "guard.sock",
            Host(
                self._handle,
                lambda: self._guard.state.epoch,
                lambda: self._guard.state.mode.value,
                granted,
                settings.audit,
            ),
            self._bus.clock,
        )
        self._guard.on_report = self._server.tell
        self._attended = self._bus.clock.now()

    def _introduce(self, audit: AuditFile, granted: str) -> None:
        """Record that this guard begins, and by which file: the evidence that records are kept."""
        rules = hashlib.blake2b(own_path("config/guard.yaml").read_bytes(), digest_size=6).hexdigest()
        about = f"process {os.getpid()}, {granted}, guard file {rules}"
        core = self._guard.core
        core.setting = replace(core.setting, priority=granted, audit=f"{audit.path}, guard file {rules}")
        try:
            audit.append({"at": self._bus.clock.now(), "epoch": 0, "role": "note", "cause": f"guard started: {about}"})
        except OSError:
            self._guard.handle(AuditState(False))

    def run(self) -> None:
        """Watch, decide and publish until the run has ended in good order, or a person wants it gone."""
        clock, guard = self._bus.clock, self._guard
        while not self._may_leave():
            self._sleeps_until = math.inf  # whoever comes before that is known rings, needed or not
            self._sleeps_until = until = guard.next_due()
            self._bus.wait(max(0.0, min(until - clock.now(), LONGEST_WAIT)))
            if self._told_to_stop:
                self._told_to_stop = False
                self._stop_robot()
            if clock.now() >= guard.next_due():
                guard.run_due()
            self._remember_latch()
        self._remember_latch()
        self._server.close()
        self._bus.close()
        self._say_what_came_of_it()

    def _remember_latch(self) -> None:
        """The next guard must not arm what this one has seen stopped; a simulated robot has no next one."""
        if self._latch is not None:
            self._latch.keep(self._guard.state.latched)

    def tell_to_stop(self) -> None:
        """From a signal's handler, which may interrupt a step at any point: leave a note, the loop sees it."""
        self._told_to_stop = True

    def _stop_robot(self) -> None:
        """A person wants the robot stopped and the guard gone: stop, and leave when it stands or after a while."""
        endless = self._guard.core.setting.robot.hold.duration is None
        self._server.close()
        self._handle(Stop("orchestrator stop", "park" if endless else "hold"))
        self._leave_by = self._bus.clock.now() + (PARK_TIME if endless else STOP_TIME)

    def _may_leave(self) -> bool:
        if self._simulated and self._twin_is_gone():
            return True
        if self._leave_by < math.inf:
            return self._at_rest() or self._bus.clock.now() >= self._leave_by
        return self._run_ended and self._at_rest()

    def _twin_is_gone(self) -> bool:
        """A simulated robot that fell silent when its run was killed will not come again, and nothing can hurt it."""
        now = self._bus.clock.now()
        if self._server.attends:
            self._attended = now
        heard = max((source.last for source in self._guard.state.sources.values()), default=-math.inf)
        return now - max(heard, self._attended) > TWIN_SILENT

    def _at_rest(self) -> bool:
        """Whether nothing of ours moves or is held, and the last stop has been seen to work."""
        state, now = self._guard.state, self._bus.clock.now()
        quiet = state.mode not in ACTIVE and state.mode is not Mode.STOPPING
        stopped = state.stop is None or state.stop.outcome == "stopped"
        held = any(hold.until > now for hold in state.holds.values())
        return quiet and stopped and not held and state.remote is None and self._nothing_more_to_end(now)

    def _nothing_more_to_end(self, now: float) -> bool:
        """Whether the base has no task of ours, or none about which the guard could do any more."""
        task, base = self._guard.state.task, self._guard.state.observed.base
        if task is None:
            return True
        if not task.accepted:
            return now >= task.sent + LATE_TASK
        return base is not None and base.navigation == "paused"

    def _handle(self, event: Event) -> None:
        """From the socket's threads: decide and publish there, then let the loop look at the clock again."""
        if type(event) is Heartbeat:
            self._guard.handle(event)  # it puts off what is due, and nothing else
            return
        self._guard.handle(event)
        if isinstance(event, RunConnected | RunEnded):
            self._run_ended = isinstance(event, RunEnded)
        if self._run_ended or self._guard.next_due() < self._sleeps_until:
            self._bus.wake()

    def _say_what_came_of_it(self) -> None:
        """For whoever asked us to leave, in the second line of the lock file."""
        stop = self._guard.state.stop
        words = OUTCOMES.get(stop.outcome, "the stop was not over") if stop else NOTHING_MOVED
        state = self._guard.state
        for left in filter(None, (base_task.left_behind(state), remote.left_behind(state))):
            words += BUT + left
        gone = words not in CALM and self._simulated and self._twin_is_gone()
        print(TWIN_GONE if gone else words, file=self._lock, flush=True)


def lock(folder: Path) -> IO[str]:
    """One guard per robot on this machine; its process number is in the file."""
    file = os.fdopen(os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise AlreadyGuarded from None
    file.truncate(0)
    print(os.getpid(), file=file, flush=True)
    return file


def refuse_second(bus: DdsBus, profile: Profile) -> None:
    """One commander per robot: this guard must not even make its writers while another one has the robot."""
    until = bus.clock.now() + DISCOVERY
    while (left := until - bus.clock.now()) > 0:
        bus.wait(left)
    for topic in topics(profile.family, profile.variants, profile.prefix).values():
        for writer in bus.writers(topic.name):
            if writer.name == NAME:
                advice = "end its run, or type `orchestrator stop` there"
                raise CommandedElsewhere(f"{profile.name} is commanded by another {writer.who}: {advice}")


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
    except AlreadyGuarded:
        print(ALREADY_GUARDED, flush=True)
        return 2
    except (AuditError, BusError, CommandedElsewhere, GuardConfigError, ProfileError, OSError) as error:
        print(f"error: {error}", flush=True)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: process.tell_to_stop())
    gc.freeze()  # what is there by now stays: to look through all of it for garbage takes milliseconds
    print("up", flush=True)
    process.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
