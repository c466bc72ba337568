"""Leaves about the emergency stop."""

from orchestrator.leaf import Leaf


class CheckEmergency(Leaf, needs="emergency", looks=True, instant=True, timeout=1.0):
    """Succeed if no emergency stop is pressed or reported; what is not known counts as pressed.

    - CheckEmergency
    """
