"""A mission on real DDS: the guard in a process of its own, and with simulation the robot too."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from orchestrator.bus.dds import DdsBus
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
from orchestrator.mission.hanging import Watch
from orchestrator.mission.loading import Loaded
from orchestrator.mission.mission import Mission
from orchestrator.mission.place import Place
from orchestrator.mission.processes import GuardProcess, state_folder
from orchestrator.mission.recording import Recorder, take_in_audits

GUARD_IS_GONE = "the guard is gone"
GUARD_HANGS = "the guard hangs"
GUARD_STARTS = 10.0
"""Seconds a guard that is already there has to answer."""
GUARD_LEAVES = 10.0
"""Seconds the guard has to see the robot stopped after an orderly end."""


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
        self._open = ExitStack()
        self._rpc = place.rpc
        try:
            network = place.network
            folder = state_folder(profile.name, network)
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
            if armed is not None:
                armed()
            with Watch(self.mission, on_hung):
                return self.mission.run()
        finally:
            self._link.finish()  # a guard that was never needed leaves
            if self._link.lost:
                self._stop_robot()

    def _lost(self) -> None:
        farewell = self._link.farewell
        self.mission.stop(f"the guard ended the connection: {farewell}" if farewell else self._trouble)

    @property
    def _trouble(self) -> str:
        return GUARD_HANGS if self._link.hangs else GUARD_IS_GONE

    def _stop_robot(self) -> None:
        say = self.mission.take_report
        say(Report("warning", f"{self._trouble}: the run stops the robot itself", value="guard"))
        if self._link.hangs:
            self.guard.kill()
        rpc = RpcCaller(self._rpc) if self._rpc else None
        link, robot = self._link, self.mission.robot
        full = robot.hands.full() if robot.has("hands") else ()
        if not last_stop(self._profile, self._config, self._bus, link.let_through, say, rpc, link.latched, full):
            say(Report("press_hardware_estop", "PRESS HARDWARE E-STOP: the robot was not seen to stand still"))

    def hurry(self) -> bool:
        """Do not wait for the guard in the end, it stops the robot by itself; False when there is none to do so."""
        self._patience = 0.0
        return not self._link.lost

    def close(self) -> bool:
        """End everything this run started; says whether the guard has left, which it does when the robot stands."""
        try:
            return self.guard.wait(self._patience)
        finally:
            self._open.close()
