"""What a robot shows, in the fields a person looks at first."""

from __future__ import annotations

from typing import Any

from orchestrator.robots.fields import sources
from orchestrator.robots.knowledge import Known, Read
from orchestrator.robots.robot import Robot

_LOOKED_AT = (
    *("fsm.state", "upper.state", "body.stable", "battery.level", "battery.voltage", "battery.base"),
    *("navigation.device", "navigation.status", "base.blocked", "base.x", "base.y"),
)
PROBLEMS = "errors.problems"
"""Beside the fields: what is wrong, one sentence each. How many there are helps nobody."""
_DECIMALS = {"percent": 0, "length": 1, "voltage": 1}
"""Measured values are rounded: they are for people, and noise is no news."""


class Showing:
    """Reads those of the fields that the robot has; a field that is not known is None."""

    def __init__(self, robot: Robot) -> None:
        known = sources(robot.profile)
        emergency = [name for name in known if name.startswith("emergency.")]
        names = [*emergency, *(name for name in _LOOKED_AT if name in known)]
        self._reads: dict[str, tuple[Read, int | None]] = {
            name: (robot.field(name), _DECIMALS.get(known[name].field.type)) for name in names
        }
        if "errors.any" in known:
            self._reads[PROBLEMS] = robot.errors.problems, None

    def look(self) -> dict[str, Any]:
        return {name: _value(read, decimals) for name, (read, decimals) in self._reads.items()}


def _value(read: Read, decimals: int | None) -> Any:
    found = read()
    if not isinstance(found, Known):
        return None
    if isinstance(found.value, tuple):
        return list(found.value)  # as it comes back from a history
    return found.value if decimals is None else round(float(found.value), decimals) + 0.0  # no -0.0
