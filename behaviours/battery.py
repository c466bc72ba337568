"""Leaves about the battery."""

from orchestrator.leaf import Leaf, Percent


class CheckBattery(Leaf, needs="battery", families=("atom",), looks=True, instant=True, timeout=1.0):
    """Succeed if the battery is at least that full.

    - CheckBattery: {at_least: 30 %}
    """

    at_least: Percent
