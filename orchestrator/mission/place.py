"""Where a mission meets its robot: on the robot's network, or with a simulated one behind a private tag on loopback."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from orchestrator.bus.network import load_network
from orchestrator.bus.settings import DdsSettings, loopback
from orchestrator.clock import RealClock
from orchestrator.mission import twin
from orchestrator.mission.loading import Loaded
from orchestrator.mission.processes import TwinProcess


class Place(NamedTuple):
    network: DdsSettings
    rpc: str | None
    """host:port of the robot's JSON-RPC."""
    simulated: bool
    began: float
    """When the run came to it: what people, and the faults of a simulated robot, count from."""


@contextmanager
def place_of(loaded: Loaded, simulated: bool, faults: tuple[str, ...] = (), seed: int = 0) -> Iterator[Place]:
    """With simulation the robot lives as long as the place is held."""
    profile = loaded.profile
    if not simulated:
        yield Place(load_network().on_domain(profile.domain, profile.interface), profile.rpc, False, RealClock.now())
        return
    network = loopback(profile.domain, tag=f"sim-{uuid.uuid4().hex[:12]}")
    robot = TwinProcess(twin.Settings(loaded.robot, network, seed, faults))
    try:
        yield Place(network, robot.rpc, True, RealClock.now())
    finally:
        robot.close()
