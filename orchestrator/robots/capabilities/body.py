"""Where the body is, how it stands and what it touches."""

from __future__ import annotations

import math
from collections.abc import Callable

from orchestrator.robots.judging import Context
from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.signals import Convert, quaternion


class Body:
    """Base pose and velocity, contact, end effectors. What a robot does not report is unknown."""

    def __init__(self, context: Context) -> None:
        self._state = state = context.state
        self.position = state.reader("base.position")
        """x y z in the world, metres."""
        self.velocity = state.reader("base.velocity")
        """In its own frame, metres per second."""
        self.roll, self.pitch, self.yaw = (
            state.reader("base.quaternion", _of_rotation(angle)) for angle in (roll_of, pitch_of, yaw_of)
        )
        """In radians, from the quaternion: vendors' own angles have no sure unit."""
        self.contact = state.reader("contact.probability")
        """The probability that the left and the right foot stand on the ground."""
        self.true_position = state.reader("true.position")
        """Where a simulated body really is."""

    def end_effector(self, arm: str) -> Known[tuple[float, ...]] | Unknown:
        """x y z and quaternion x y z w."""
        return self._state.reader(f"end.{arm}")()


Rotation = tuple[float, float, float, float]
"""A quaternion w x y z; roll, pitch and yaw turn about x after y after z."""


def _of_rotation(angle: Callable[[Rotation], float]) -> Convert:
    return lambda raw: angle(quaternion(raw))


def roll_of(rotation: Rotation) -> float:
    w, x, y, z = rotation
    return math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))


def pitch_of(rotation: Rotation) -> float:
    w, x, y, z = rotation
    sine = 2 * (w * y - z * x)
    return math.asin(sine) if -1 <= sine <= 1 else math.copysign(math.pi / 2, sine)


def yaw_of(rotation: Rotation) -> float:
    w, x, y, z = rotation
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def turn_between(before: float, after: float) -> float:
    """The short way from one angle to another, from -pi to pi."""
    return (after - before + math.pi) % (2 * math.pi) - math.pi
