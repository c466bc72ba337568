"""Leaves about the emergency stop."""

from orchestrator.leaf import Look, Status


class CheckEmergency(Look, needs="emergency", looks=True, instant=True, timeout=1.0):
    """Succeed if no emergency stop is pressed or reported; what is not known counts as pressed.

    - CheckEmergency
    """

    def step(self) -> Status:
        emergency = self.robot.emergency
        pressed = f"pressed: {', '.join(emergency.pressed())}"
        return self.check("emergency.any", emergency.any(), lambda on: pressed * on, "emergency")
