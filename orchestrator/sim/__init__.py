"""Simulated robots that speak the vendors' topics, and faults to test with."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.bus.contract import Bus
from orchestrator.clock import VirtualClock
from orchestrator.robots.profile import Profile
from orchestrator.sim.adam import AdamTwin
from orchestrator.sim.atom import AtomTwin
from orchestrator.sim.aurora import AuroraTwin
from orchestrator.sim.twin import Twin

_FAMILIES: dict[str, type[Twin]] = {"aurora": AuroraTwin, "atom": AtomTwin, "adam": AdamTwin}


def make_twin(
    profile: Profile,
    bus: Bus,
    clock: VirtualClock,
    seed: int = 0,
    full_rate: bool = False,
    connect: Callable[[str], Bus] | None = None,
    on_demand: bool = False,
) -> Twin:
    """The twin of a robot, not started yet.

    With `full_rate` every topic is sent at the robot's rate even in virtual time; with `on_demand` only changes are
    sent, and the rest is for those who look. `connect` joins the bus' network as another program, for faults that
    need one; a bus in memory needs none.
    """
    return _FAMILIES[profile.family](profile, bus, clock, seed, full_rate, connect, on_demand)


__all__ = ["Twin", "make_twin"]
