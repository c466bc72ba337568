"""Joints that follow their targets with a lag, no faster than they can and no further than their limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from orchestrator.robots.profile import Joint
from orchestrator.sim.model import NEVER

Vector = np.ndarray[Any, np.dtype[np.float64]]

LAG = 0.04
"""Time constant of the joint controllers, s."""
_SPEED = 3.14
"""rad/s where the profile knows none: the rated speed of Dobot's arms."""
_STIFFNESS = 20.0
"""N·m of estimated torque per radian of following error."""
_ARRIVED = 1e-5


class Joints:
    """All joints of a robot, in the profile's order."""

    def __init__(self, joints: tuple[Joint, ...]) -> None:
        self._low = np.array([joint.position.low for joint in joints])
        self._high = np.array([joint.position.high for joint in joints])
        self._fastest = np.array([joint.velocity or _SPEED for joint in joints])
        self.speed = self._fastest.copy()
        self.q: Vector = np.clip(np.zeros(len(joints)), self._low, self._high)
        self.dq: Vector = np.zeros(len(joints))
        self.tau: Vector = np.zeros(len(joints))
        self.target: Vector = self.q.copy()
        self._now = 0.0
        self._moving = False
        self._news = True

    def follow(self, where: slice | Vector, target: Vector, speed: float = 1.0) -> None:
        """New targets for some joints, cut to their limits; `speed` is a fraction of the fastest."""
        self.target[where] = target
        np.clip(self.target, self._low, self._high, out=self.target)
        self.speed[where] = self._fastest[where] * speed
        self._moving = True

    def block(self, where: slice | Vector) -> None:
        """Something holds them: whatever they are told, they hardly move."""
        self._fastest[where] = self.speed[where] = 1e-9

    def stay(self, where: slice | Vector) -> None:
        """Stop following: without torque or control a joint keeps its angle."""
        if self._moving:
            self.target[where] = self.q[where]

    def place(self, where: slice | Vector, q: Vector) -> None:
        """Be there at once, as another robot is."""
        self.q[where] = self.target[where] = q
        self._news = True

    def home(self) -> None:
        """All joints to zero, or as near as their limits allow."""
        if self._moving or self.q.any():
            self.follow(slice(None), np.zeros(len(self.q)))

    def moving(self, where: slice) -> bool:
        return self._moving and bool(np.any(np.abs(self.target[where] - self.q[where]) > 1e-3))

    def advance(self, now: float) -> None:
        seconds, self._now = now - self._now, now
        if not self._moving or seconds <= 0.0:
            return
        self._news = True
        error = self.target - self.q
        size = np.abs(error)
        near = self.speed * LAG  # from here on the speed falls with the distance
        cruising = np.maximum(size - near, 0.0) / self.speed
        left = np.minimum(size, near) * np.exp(-np.maximum(seconds - cruising, 0.0) / LAG)
        left = np.where(seconds < cruising, size - self.speed * seconds, left)
        self.q = self.target - np.sign(error) * left
        self.dq = np.sign(error) * np.minimum(left / LAG, self.speed)
        self.tau = np.sign(error) * left * _STIFFNESS
        if left.max(initial=0.0) < _ARRIVED:
            self.q = self.target.copy()
            self.dq, self.tau = np.zeros_like(self.q), np.zeros_like(self.q)
            self._moving = False

    def take_news(self) -> bool:
        """Whether they have moved since this was last asked."""
        news, self._news = self._news, False
        return news

    def next_change(self) -> float:
        return NEVER
