"""Standing: a stable level that rises until the robot takes stand-pose commands, and a pose that moves."""

from __future__ import annotations

from orchestrator.robots.profile import Range, StandPoseLimits
from orchestrator.sim.model import NEVER, ROUNDING

TIME_TO_STABLE = 2.0
"""s from the start of standing until the level from which commands are taken."""
_SPEEDS = (0.08, 0.3, 0.3)
"""m/s and rad/s of height, pitch and yaw."""


class StandPose:
    """Height, pitch and yaw away from the upright stand."""

    def __init__(self, limits: StandPoseLimits) -> None:
        self.pose = [0.0, 0.0, 0.0]
        self.stance = limits.stable_level
        self.full = limits.stable_level + (10 if limits.stable_level >= 100 else 5)
        """The level stops rising here: 110 on robots, 15 in the vendor's simulator."""
        self._ranges: tuple[Range, ...] = (limits.dz, limits.pitch, limits.yaw)
        self._target = [0.0, 0.0, 0.0]
        self._now = 0.0
        self._since: float | None = None

    def rise(self, since: float) -> None:
        if self._since is None:
            self._since = since

    def give_way(self) -> None:
        """Not standing any more: upright again and the level at zero."""
        self._since = None
        self.pose, self._target = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]

    @property
    def level(self) -> int:
        if self._since is None:
            return 0
        return min(int((self._now - self._since) / TIME_TO_STABLE * self.stance + 1e-9), self.full)

    @property
    def arrived(self) -> bool:
        return self.pose == self._target

    @property
    def stable(self) -> bool:
        return self.level >= self.stance

    def move(self, target: tuple[float, float, float]) -> None:
        self._target = [min(max(value, r.low), r.high) for value, r in zip(target, self._ranges)]

    def advance(self, now: float) -> None:
        seconds, self._now = now - self._now, now
        if self.pose != self._target:
            self.pose = [
                _towards(value, target, speed * seconds)
                for value, target, speed in zip(self.pose, self._target, _SPEEDS)
            ]

    def next_change(self) -> float:
        """When the level reaches the stance or its top, or the pose its target."""
        moments = [
            self._now + abs(target - value) / speed
            for value, target, speed in zip(self.pose, self._target, _SPEEDS)
            if target != value
        ]
        if self._since is not None and self.level < self.full:
            level = self.stance if self.level < self.stance else self.full
            moments.append(self._since + level / self.stance * TIME_TO_STABLE)
        return min(moments) if moments else NEVER


def _towards(value: float, target: float, step: float) -> float:
    if abs(target - value) <= step + ROUNDING:
        return target
    return value + step if target > value else value - step
