"""Leaves that look at the body: pose and contact."""

from math import degrees, pi, radians
from typing import Annotated, Literal

from orchestrator.leaf import Angle, Between, Look, Percent, Pose, Status


class CheckPose(Look, needs="joints", looks=True, instant=True, timeout=1.0):
    """Succeed if every joint of a named pose is within a tolerance of it.

    - CheckPose: {pose: home, within: 5 deg}
    """

    pose: Pose
    within: Annotated[Angle, Between(0.0, pi)] = radians(5)

    def step(self) -> Status:
        return self.check("joints", self.robot.joints.distance(self.robot.profile.poses[self.pose]), self._too_far)

    def _too_far(self, distance: float) -> str:
        return f"a joint is {degrees(distance):.0f} deg from {self.pose}" if distance > self.within else ""


class CheckContact(Look, needs="body", families=("aurora",), looks=True, instant=True, timeout=1.0):
    """Succeed if the foot, or both, stand on the ground with at least that probability.

    - CheckContact: {foot: both, at_least: 80 %}
    """

    foot: Literal["left", "right", "both"] = "both"
    at_least: Percent = 50.0

    def step(self) -> Status:
        return self.check("contact", self.robot.body.contact(), self._in_the_air)

    def _in_the_air(self, probability: tuple[float, float]) -> str:
        by_foot = {foot: 100 * p for foot, p in zip(("left", "right"), probability) if self.foot in (foot, "both")}
        return ", ".join(f"{foot} foot {percent:.0f} %" for foot, percent in by_foot.items() if percent < self.at_least)
