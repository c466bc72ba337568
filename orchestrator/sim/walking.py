"""Where a walking robot gets to: velocities that hold for a while and a pose that follows from them."""

from __future__ import annotations

import math

from orchestrator.robots.profile import VelocityLimits
from orchestrator.sim.model import NEVER


class Walking:
    """Position and heading in the world; velocity in the robot's own frame."""

    def __init__(self, limits: VelocityLimits | None) -> None:
        self.x = self.y = self.yaw = 0.0
        self.vx = self.vy = self.turn = 0.0
        self._limits = limits
        self._now = 0.0
        self._until = NEVER

    def go(self, vx: float, vy: float, turn: float, duration: float, now: float) -> None:
        """Walk at a velocity, cut to what the robot can, until another one comes or the duration is over."""
        self.advance(now)
        duration = max(duration, 0.0)
        if self._limits is not None:
            vx = min(max(vx, self._limits.vx.low), self._limits.vx.high)
            vy = min(max(vy, self._limits.vy.low), self._limits.vy.high)
            turn = min(max(turn, self._limits.yaw.low), self._limits.yaw.high)
        self.vx, self.vy, self.turn = vx, vy, turn
        self._until = now + duration if self.moving else NEVER

    def halt(self, now: float) -> None:
        self.go(0.0, 0.0, 0.0, 0.0, now)

    @property
    def moving(self) -> bool:
        return bool(self.vx or self.vy or self.turn)

    def advance(self, now: float) -> None:
        if self.moving:
            self._walk(min(now, self._until) - self._now)
            if now >= self._until:
                self.vx = self.vy = self.turn = 0.0
                self._until = NEVER
        self._now = now

    def next_change(self) -> float:
        return self._until

    def _walk(self, seconds: float) -> None:
        self.x, self.y, self.yaw = arc(self.x, self.y, self.yaw, (self.vx, self.vy, self.turn), seconds)


def arc(
    x: float, y: float, yaw: float, velocity: tuple[float, float, float], seconds: float
) -> tuple[float, float, float]:
    """Where a body at this pose gets to with a constant velocity in its own frame."""
    vx, vy, turn = velocity
    angle = turn * seconds
    if abs(angle) > 1e-9:
        ahead, aside = math.sin(angle) / turn, (1.0 - math.cos(angle)) / turn
    else:
        ahead, aside = seconds, 0.0
    dx, dy = vx * ahead - vy * aside, vx * aside + vy * ahead
    cos, sin = math.cos(yaw), math.sin(yaw)
    return x + dx * cos - dy * sin, y + dx * sin + dy * cos, yaw + angle
