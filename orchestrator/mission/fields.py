"""What a mission's expressions read, from the robot's capabilities."""

from __future__ import annotations

from typing import Any

from orchestrator.robots.knowledge import Known, Read, Unknown
from orchestrator.robots.robot import Robot


class RobotFields:
    """Fields by name, as the engine wants them: a value, or None and a sentence why."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._reads: dict[str, Read] = {}

    def _look(self, name: str) -> Known[Any] | Unknown:
        if name not in self._reads:
            self._reads[name] = self._robot.field(name)
        return self._reads[name]()

    def read(self, name: str) -> Any:
        read = self._reads.get(name)
        found = self._look(name) if read is None else read()
        return found.value if isinstance(found, Known) else None

    def why(self, name: str) -> str:
        found = self._look(name)
        return f"{name} is not known: {found.text}" if isinstance(found, Unknown) else f"{name} is known"

    def watch(self, name: str) -> None:
        self._robot.watch(name)
