"""The batteries."""

from __future__ import annotations

from orchestrator.robots.judging import Context


class Battery:
    """Level in percent; voltage where the robot has no level (Adam)."""

    def __init__(self, context: Context) -> None:
        self.level = context.state.reader("battery.level")
        self.base_level = context.state.reader("amr.battery")
        """Of the wheeled base's own battery."""
        self.voltage = context.state.reader("battery.voltage")
