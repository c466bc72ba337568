"""Leaves about the battery."""

from orchestrator.leaf import Look, Percent, Status


class CheckBattery(Look, needs="battery", families=("atom",), looks=True, instant=True, timeout=1.0):
    """Succeed if the battery is at least that full.

    - CheckBattery: {at_least: 30 %}
    """

    at_least: Percent

    def step(self) -> Status:
        return self.check("battery.level", self.robot.battery.level(), self._too_low)

    def _too_low(self, level: float) -> str:
        return f"the battery is at {level:.0f} %" if level < self.at_least else ""
