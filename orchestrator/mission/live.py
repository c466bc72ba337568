"""A mission on real DDS: the guard in a process of its own, and with simulation the robot too."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack

from orchestrator.bus.dds import DdsBus
from orchestrator.clock import RealClock
from orchestrator.engine.events import Event
from orchestrator.engine.prompts import Prompts
from orchestrator.engine.runner import Outcome
from orchestrator.guard import process as guard_process
from orchestrator.guard.config import load_guard_config
from orchestrator.guard.last_stop import last_stop
from orchestrator.guard.link import LinkCommander
from orchestrator.guard.outputs import Report
from orchestrator.guard.rpc import RpcCaller
from orchestrator.journal.audits import audit_file
from orchestrator.mission.arming import NotArmed
from orchestrator.mission.hanging import Watch
from orchestrator.mission.loading import Loaded
from orchestrator.mission.mission import Left, Mission
from orchestrator.mission.place import Place
from orchestrator.mission.processes import GuardProcess, last_words, state_folder
from orchestrator.mission.recording import Recorder, take_in_audits

GUARD_IS_GONE = "the guard is gone"
GUARD_HANGS = "the guard hangs"
GUARD_STARTS = 10.0
"""Seconds a guard that is already there has to answer."""
GUARD_LEAVES = 10.0
"""Seconds the guard has to see the robot stopped after an orderly end."""
KILLED_WITHIN = 1.0
"""Seconds the kernel has to end a guard that was killed."""
STILL_HELD = "the guard still holds the robot: orchestrator stop ends it"


class LiveMission:
    """A mission on a robot, or on its simulated twin."""

    def __init__(
        self,
        loaded: Loaded,
        place: Place,
        on_event: Callable[[Event], None],
        prompts: Prompts,
        person: str | None = None,
        watched: bool = False,
        recorder: Recorder | None = None,
    ) -> None:
        self._profile = profile = loaded.profile
        self._config = load_guard_config()
        self._patience = GUARD_LEAVES
        self.failed = False
        """Whether there was no guard any more in the end."""
        self._open = ExitStack()
        self._rpc = place.rpc
        try:
            network = place.network
            self._folder = folder = state_folder(profile.name, network)
            audit = audit_file(folder.name, place.simulated)
            take_in_audits(audit)
            self.guard = GuardProcess(
                guard_process.Settings(loaded.robot, network, str(folder), str(audit), self._rpc, place.simulated)
            )
            self._bus = DdsBus(network, name="orchestrator run")
            self._open.callback(self._bus.close)
            patience = GUARD_STARTS if self.guard.joined else 0.0
            self._link = LinkCommander(self.guard.socket, loaded.tree.name, self._bus.wake, patience)
            self._open.callback(self._link.close)
            if recorder is not None:
                recorder.counts_from(place.began)
                recorder.audit_at(self._link.audit)
            self.mission = Mission(loaded, self._bus, self._link, prompts, on_event, person, watched, recorder)
        except BaseException:
            self._open.close()
            raise

    def run(
        self,
        who: str,
        by_hand: bool = False,
        armed: Callable[[], None] | None = None,
        on_hung: Callable[[Outcome], None] = lambda outcome: None,
    ) -> Outcome:
        """`armed` is called between arming and the first tick.

        `on_hung` is called from another thread if a tick does not come back: all that is left is to end the process.
        """
        self._link.on_lost = self._lost
        try:
            self.mission.arm(who, by_hand)
        except Left as problem:
            if self._link.over:  # nobody wanted to leave
                raise NotArmed(str(problem)) from None
            raise
        if armed is not None:
            armed()
        with Watch(self.mission, on_hung):
            return self.mission.run()

    def _lost(self) -> None:
        farewell = self._link.farewell
        self.mission.stop(f"the guard ended the connection: {farewell}" if farewell else self._trouble)

    @property
    def _trouble(self) -> str:
        return GUARD_HANGS if self._link.hangs else GUARD_IS_GONE

    def _stop_robot(self) -> str:
        """In the guard's place. Says what came of it."""
        say = self.mission.take_report
        say(Report("warning", f"{self._trouble}: the run stops the robot itself", value="guard"))
        if self._link.hangs:
            self.guard.kill()
        rpc = RpcCaller(self._rpc) if self._rpc else None
        link, robot = self._link, self.mission.robot
        full = robot.hands.full() if robot.has("hands") else ()
        if last_stop(self._profile, self._config, self._bus, link.let_through, say, rpc, link.latched, full):
            return f"{self._trouble}: the run has stopped the robot itself"
        say(Report("press_hardware_estop", "PRESS HARDWARE E-STOP: the robot was not seen to stand still"))
        return f"{self._trouble}. PRESS THE HARDWARE EMERGENCY STOP: the robot was not seen to stand still"

    def hurry(self) -> bool:
        """Do not wait for the guard in the end, it stops the robot by itself; False when there is none to do so."""
        self._patience = 0.0
        return not self._link.lost

    def close(self) -> str:
        """End everything this run started. Says what a person must know: nothing, if the guard has left.

        It does so when the robot stands. One that fails before no longer stops the robot: then we do.
        """
        try:
            self._link.finish()  # also a guard that was never needed leaves
            left = self._has_left()
            self.failed = self._link.hangs or self._link.lost or (left and not last_words(self._folder))
            if not self.failed:
                return "" if left else STILL_HELD
            said = self._stop_robot()
            self.guard.wait(KILLED_WITHIN)
            return said
        finally:
            self._open.close()

    def _has_left(self) -> bool:
        """Wait for the guard, and see that it does not hang: if nobody waits, that it reads at least."""
        link, until = self._link, RealClock.now() + self._patience
        while not self.guard.wait(0.0):
            if link.hangs or (RealClock.now() >= until and (link.over or not link.unread)):
                return False
            link.heartbeat()
            time.sleep(0.01)
        return True
