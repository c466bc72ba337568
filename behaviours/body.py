"""Leaves that look at the body: pose and contact."""

from math import pi, radians
from typing import Annotated, Literal

from orchestrator.leaf import Angle, Between, Leaf, Percent, Pose


class CheckPose(Leaf, needs="joints", looks=True, instant=True, timeout=1.0):
    """Succeed if every joint of a named pose is within a tolerance of it.

    - CheckPose: {pose: home, within: 5 deg}
    """

    pose: Pose
    within: Annotated[Angle, Between(0.0, pi)] = radians(5)


class CheckContact(Leaf, needs="body", families=("aurora",), looks=True, instant=True, timeout=1.0):
    """Succeed if the foot, or both, stand on the ground with at least that probability.

    - CheckContact: {foot: both, at_least: 80 %}
    """

    foot: Literal["left", "right", "both"] = "both"
    at_least: Percent = 50.0
