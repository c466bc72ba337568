"""A hand that closes until its fingers touch what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from orchestrator.sim.model import NEVER, ROUNDING, Touchable, by_hand

Vector = np.ndarray[Any, np.dtype[np.float64]]

SPEED = 1.25
"""Openings per second: a hand closes in 0.8 s."""
GRIP = 0.45
"""How far open the fingers stay on an object."""
_GRIP_TORQUE = 0.6
_FREE_TORQUE = 0.05
_TORQUE_RISE = 0.2
"""s from touch to full torque."""


class Hand(Touchable):
    """Fingers from 0 (closed) to 1 (open)."""

    def __init__(self, fingers: int) -> None:
        super().__init__()
        self.moving = False
        self.opening: Vector = np.ones(fingers)
        self.speed: Vector = np.zeros(fingers)
        self._target: Vector = np.ones(fingers)
        self._object = False
        self._stuck = False
        self._now = 0.0
        self._pressed_for: Vector = np.zeros(fingers)
        self._busy = False
        """Whether a finger moves or presses harder and harder: most of the time none does."""
        self._news = True

    def move(self, target: Vector) -> None:
        self._target = np.clip(target, 0.0, 1.0)
        self._busy = True

    def place(self, opening: Vector) -> None:
        """Be there at once, as another hand is."""
        self.opening = self._target = np.clip(opening, 0.0, 1.0)
        self._news = True

    @by_hand
    def _put(self, present: bool) -> None:
        self._object = present
        self._busy = True

    object = property(lambda self: self._object, _put, doc="Whether there is something between the closing fingers.")

    @by_hand
    def jam(self, jammed: bool = True) -> None:
        """Fingers that do not move any more, as with a broken tendon."""
        self._stuck = jammed
        self._busy = True

    @property
    def holding(self) -> bool:
        return self._object and not self.moving and bool(self._pressing().any())

    @property
    def torque(self) -> Vector:
        pressed = np.minimum(self._pressed_for / _TORQUE_RISE, 1.0) * _GRIP_TORQUE
        return np.where(self._pressing(), pressed, np.abs(self.speed) / SPEED * _FREE_TORQUE)

    def advance(self, now: float) -> None:
        seconds, self._now = now - self._now, now
        if not self._busy:
            return
        self._news = True
        reach = self._reach()
        gap = reach - self.opening
        arrival = np.abs(gap) / SPEED
        arrived = arrival <= seconds + ROUNDING
        self.opening = np.where(arrived, reach, self.opening + np.sign(gap) * SPEED * seconds)
        self.speed = np.where(arrived, 0.0, np.sign(gap) * SPEED)
        pressing = self._pressing()
        self._pressed_for = np.where(pressing, self._pressed_for + np.maximum(seconds - arrival, 0.0), 0.0)
        self.moving = not bool(arrived.all())
        rising = pressing & (self._pressed_for < _TORQUE_RISE)
        self._busy = self.moving or bool(rising.any())

    def take_news(self) -> bool:
        """Whether anything about it has changed since this was last asked."""
        news, self._news = self._news, False
        return news

    def next_change(self) -> float:
        if not self._busy:
            return NEVER
        gap = float(np.abs(self._reach() - self.opening).max())
        return self._now + gap / SPEED if gap else NEVER

    def _reach(self) -> Vector:
        """Where each finger ends up: an object stops those that would close past it."""
        if self._stuck:
            return self.opening
        return np.maximum(self._target, np.minimum(GRIP, self.opening)) if self._object else self._target

    def _pressing(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which fingers have met something on their way to their target."""
        pressing: np.ndarray[Any, np.dtype[np.bool_]] = (self._target < self.opening) & (self._reach() == self.opening)
        return pressing
