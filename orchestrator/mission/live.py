"""A mission on real DDS: the guard in a process of its own, and with simulation the robot too."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import ExitStack

from orchestrator.bus.dds import DdsBus
from orchestrator.bus.network import load_network
from orchestrator.bus.settings import loopback
from orchestrator.engine.events import Event
from orchestrator.engine.prompts import Prompts
from orchestrator.engine.runner import Outcome
from orchestrator.guard import process as guard_process
from orchestrator.guard.link import LinkCommander
from orchestrator.mission import twin
from orchestrator.mission.loading import Loaded
from orchestrator.mission.mission import Mission
from orchestrator.mission.processes import GuardProcess, TwinProcess, state_folder

GUARD_LEAVES = 10.0
"""Seconds the guard has to see the robot stopped after an orderly end."""


class LiveMission:
    """A mission on a robot, or on its simulated twin on loopback behind a private tag."""

    def __init__(
        self,
        loaded: Loaded,
        simulated: bool,
        on_event: Callable[[Event], None],
        prompts: Prompts,
        faults: tuple[str, ...] = (),
        seed: int = 0,
        person: str | None = None,
        watched: bool = False,
    ) -> None:
        profile = loaded.profile
        self._open = ExitStack()
        try:
            if simulated:
                network = loopback(profile.domain, tag=f"sim-{uuid.uuid4().hex[:12]}")
                self._open.callback(TwinProcess(twin.Settings(profile.name, network, seed, faults)).close)
            else:
                network = load_network().on_domain(profile.domain, profile.interface)
            folder = state_folder(profile.name, network)
            self.guard = GuardProcess(guard_process.Settings(profile.name, network, str(folder)))
            bus = DdsBus(network, name="orchestrator run")
            self._open.callback(bus.close)
            self._link = LinkCommander(self.guard.socket, loaded.tree.name, bus.wake)
            self._open.callback(self._link.close)
            self.mission = Mission(loaded, bus, self._link, prompts, on_event, person, watched)
        except BaseException:
            self._open.close()
            raise

    def run(self, who: str, by_hand: bool = False) -> Outcome:
        self._link.on_lost = lambda: self.mission.stop("the guard is gone")
        self.mission.arm(who, by_hand)
        return self.mission.run()

    def close(self) -> bool:
        """End everything this run started; says whether the guard has left, which it does when the robot stands."""
        left = self.guard.wait(GUARD_LEAVES)
        self._open.close()
        return left
