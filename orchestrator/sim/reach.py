"""An arm's end effector that moves to cartesian goals in a straight line, without the kinematics behind it."""

from __future__ import annotations

import math

from orchestrator.sim.model import NEVER

_SPEED = 0.5
"""m/s at full speed."""


class Reach:
    """Position (x y z) and quaternion (x y z w) in the base frame."""

    def __init__(self, pose: tuple[float, ...]) -> None:
        self.pose = pose
        self._start = self._goal = pose
        self._began = self._due = self._now = 0.0

    @property
    def moving(self) -> bool:
        return self._now < self._due

    def go(self, goal: tuple[float, ...], speed: float, now: float) -> None:
        """Move there at a fraction of full speed."""
        self.advance(now)
        self._start, self._goal, self._began = self.pose, goal, now
        self._due = now + max(math.dist(self.pose[:3], goal[:3]) / (_SPEED * max(speed, 0.01)), 0.1)

    def stay(self) -> None:
        self._goal, self._due = self.pose, self._now

    def advance(self, now: float) -> None:
        self._now = now
        if now >= self._due:
            self.pose = self._goal
            return
        part = (now - self._began) / (self._due - self._began)
        pose = [start + part * (goal - start) for start, goal in zip(self._start, self._goal)]
        length = math.hypot(*pose[3:]) or 1.0
        self.pose = (*pose[:3], *(value / length for value in pose[3:]))

    def next_change(self) -> float:
        return self._due if self.moving else NEVER
