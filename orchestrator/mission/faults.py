"""Faults on the robot of a mission: one on a command that no mission sends would never be noticed."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.bus.memory import MemoryNetwork
from orchestrator.clock import VirtualClock
from orchestrator.guard.policy import WRITES
from orchestrator.guard.rpc import PROBE
from orchestrator.robots.drive import methods
from orchestrator.robots.profile import Profile
from orchestrator.sim import make_twin
from orchestrator.sim.faults import FAULTS, Fault, FaultError, checked, inject, parse_fault
from orchestrator.sim.twin import Twin
from orchestrator.yamlfile.findings import listed


def hurt(twin: Twin, fault: Fault | str) -> None:
    """Put a fault into the robot of a mission, unless the mission would never notice."""
    fault = checked(parse_fault(fault, twin) if isinstance(fault, str) else fault, twin)
    if problem := unnoticed(twin, fault):
        raise FaultError(problem, "target")
    inject(twin, fault)


def check_faults(profile: Profile, faults: Iterable[str]) -> None:
    """Refuse what a robot of this kind could not have, or a mission not notice, before there is one."""
    clock = VirtualClock()
    twin = make_twin(profile, MemoryNetwork(clock).bus(profile.name), clock)
    for fault in faults:
        hurt(twin, fault)


def unnoticed(twin: Twin, fault: Fault) -> str | None:
    """Why a fault would change nothing: no mission sends the command that it is about."""
    sent = _sent_to(twin)
    if FAULTS[fault.name].target != "command" or fault.target in sent:
        return None
    return f"{fault.name} on {fault.target} would change nothing: missions send {twin.profile.name} {listed(sent)}"


def _sent_to(twin: Twin) -> list[str]:
    """Commands by topic or method; a topic that only stands in for a silent JSON-RPC is not among them."""
    called = methods(twin.profile)
    sent: list[str] = []
    for intent, routes in WRITES[twin.profile.family].items():
        sent += [f"rpc/{called[intent]}"] if intent in called else routes
    sent += [f"rpc/{PROBE.method}"] if called else []
    return [name for name in dict.fromkeys(sent) if name in twin.commands]
