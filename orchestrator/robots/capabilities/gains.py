"""Stiffness and damping of joints."""

from __future__ import annotations

from orchestrator.robots.intents import SetGains
from orchestrator.robots.judging import Context, Judge, Settling
from orchestrator.robots.knowledge import Known, Unknown

WITHIN = 5.0
"""The robot reports its motor configuration once a second."""
TOLERANCE = 1e-3


class Gains:
    """kp and kd by joint group."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def get(self, group: str) -> Known[tuple[tuple[float, ...], tuple[float, ...]]] | Unknown:
        """What the robot reports as kp and kd of a group."""
        kp, kd = (self._context.state.read(f"{part}.{group}") for part in ("kp", "kd"))
        if isinstance(kp, Unknown):
            return kp
        return kd if isinstance(kd, Unknown) else Known((kp.value, kd.value), kp.received)

    def set(self, group: str, kp: tuple[float, ...], kd: tuple[float, ...]) -> Judge:
        def reached(reported: tuple[tuple[float, ...], tuple[float, ...]]) -> bool:
            wanted, got = (*kp, *kd), (*reported[0], *reported[1])
            return len(wanted) == len(got) and all(abs(a - b) <= TOLERANCE for a, b in zip(wanted, got))

        intent = SetGains(group, kp, kd)
        return Settling(self._context, intent, lambda: self.get(group), reached, WITHIN, settled=0.0)
