"""Where the body is, how it stands and what it touches."""

from __future__ import annotations

import math
from typing import Any

from orchestrator.robots.judging import Context
from orchestrator.robots.knowledge import Derived, Known, Unknown
from orchestrator.robots.reasons import Reason


class Body:
    """Base pose and velocity, contact, end effectors. What a robot does not report is unknown."""

    def __init__(self, context: Context) -> None:
        self._state = context.state
        self.rpy = Derived(lambda: self._read("base.quaternion"), rpy_of)
        """Roll, pitch, yaw in radians, from the quaternion: vendors' own angles have no sure unit."""
        self.yaw = Derived(lambda: self._read("base.quaternion"), yaw_of)

    def position(self) -> Known[tuple[float, float, float]] | Unknown:
        """In the world, metres."""
        return self._read("base.position")

    def velocity(self) -> Known[tuple[float, float, float]] | Unknown:
        """In its own frame, metres per second."""
        return self._read("base.velocity")

    def contact(self) -> Known[tuple[float, float]] | Unknown:
        """The probability that the left and the right foot stand on the ground."""
        return self._read("contact.probability")

    def end_effector(self, arm: str) -> Known[tuple[float, ...]] | Unknown:
        """x y z and quaternion x y z w."""
        return self._read(f"end.{arm}")

    def true_position(self) -> Known[tuple[float, float, float]] | Unknown:
        """Where a simulated body really is."""
        return self._read("true.position")

    def _read(self, name: str) -> Known[Any] | Unknown:
        if not self._state.has(name):
            return Unknown(Reason.NOT_REPORTED, f"this robot does not report {name}")
        return self._state.read(name)


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
