"""Where the body is, how it stands and what it touches."""

from __future__ import annotations

import math

from orchestrator.robots.judging import Context
from orchestrator.robots.knowledge import Derived, Known, Unknown


class Body:
    """Base pose and velocity, contact, end effectors. What a robot does not report is unknown."""

    def __init__(self, context: Context) -> None:
        self._state = state = context.state
        quaternion = state.reader("base.quaternion")
        self.position = state.reader("base.position")
        """x y z in the world, metres."""
        self.velocity = state.reader("base.velocity")
        """In its own frame, metres per second."""
        self.rpy = Derived(quaternion, rpy_of)
        """Roll, pitch, yaw in radians, from the quaternion: vendors' own angles have no sure unit."""
        self.yaw = Derived(quaternion, yaw_of)
        self.contact = state.reader("contact.probability")
        """The probability that the left and the right foot stand on the ground."""
        self.true_position = state.reader("true.position")
        """Where a simulated body really is."""

    def end_effector(self, arm: str) -> Known[tuple[float, ...]] | Unknown:
        """x y z and quaternion x y z w."""
        return self._state.reader(f"end.{arm}")()


def rpy_of(quaternion: tuple[float, float, float, float]) -> tuple[float, float, float]:
    """Roll, pitch and yaw (turning about z, then y, then x) of a quaternion w x y z."""
    w, x, y, z = quaternion
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
    return roll, pitch, yaw_of(quaternion)


def yaw_of(quaternion: tuple[float, float, float, float]) -> float:
    w, x, y, z = quaternion
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def turn_between(before: float, after: float) -> float:
    """The short way from one angle to another, from -pi to pi."""
    return (after - before + math.pi) % (2 * math.pi) - math.pi
