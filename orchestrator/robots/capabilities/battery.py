"""The batteries."""

from __future__ import annotations

from orchestrator.robots.judging import Context
from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.reasons import Reason


class Battery:
    """Level in percent; voltage and current where the robot has no level (Adam)."""

    def __init__(self, context: Context) -> None:
        self._state = context.state

    def level(self) -> Known[float] | Unknown:
        return self._read("battery.level")

    def base_level(self) -> Known[float] | Unknown:
        """Of the wheeled base's own battery."""
        return self._read("amr.battery")

    def voltage(self) -> Known[float] | Unknown:
        return self._read("battery.voltage")

    def _read(self, name: str) -> Known[float] | Unknown:
        if not self._state.has(name):
            return Unknown(Reason.NOT_REPORTED, f"this robot does not report {name}")
        return self._state.read(name)
