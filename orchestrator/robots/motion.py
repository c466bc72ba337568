"""Joint motion as a function of time: from where the joints are, through keyframes, never faster than they may go.

Between two keyframes each joint follows a polynomial of fifth degree. It starts and ends at rest, passes through a
keyframe without stopping where it goes on in the same direction, and has no step in speed or acceleration. At a
keyframe its speed is the lower one of the mean speeds before and after it, and zero where the direction changes. So it
never leaves the interval between two keyframes, and its speed never exceeds PEAK times the mean speed between them:
what holds for the keyframes holds at every instant.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from orchestrator.robots.intents import Keyframe
from orchestrator.robots.profile import Joint

PEAK = 1.875
"""Highest speed of a movement from rest to rest, as a multiple of its mean speed."""

Position = tuple[float, ...]


@dataclass(frozen=True)
class Motion:
    """Where the joints of one group are to be at any time; after its end it stays at the last keyframe."""

    times: tuple[float, ...]
    positions: tuple[Position, ...]
    speeds: tuple[Position, ...]
    note: str
    """Why it takes longer than was asked for; empty when it does not."""

    @property
    def duration(self) -> float:
        return self.times[-1]

    @property
    def spans(self) -> tuple[float, ...]:
        """How long each part of the way takes."""
        return tuple(after - before for before, after in pairwise(self.times))

    def at(self, time: float) -> Position:
        """The position at a time after the start (s)."""
        if not time > 0.0:
            return self.positions[0]
        if time >= self.duration:
            return self.positions[-1]
        index = bisect_right(self.times, time) - 1
        span = self.times[index + 1] - self.times[index]
        part = (time - self.times[index]) / span
        rows = zip(
            self.positions[index],
            self.positions[index + 1],
            self.speeds[index],
            self.speeds[index + 1],
            strict=True,
        )
        return tuple(_between(q0, q1, v0 * span, v1 * span, part) for q0, q1, v0, v1 in rows)


def move(joints: Sequence[Joint], start: Position, target: Position, duration: float) -> Motion:
    """From `start` to `target` in `duration` seconds, or as soon as the joints' speeds allow."""
    return path(joints, start, (Keyframe(time=duration, q=target),))


def path(joints: Sequence[Joint], start: Position, keyframes: Sequence[Keyframe]) -> Motion:
    """From `start` through the keyframes; where they are too close in time, they and all after them come later."""
    _check(joints, start, keyframes)
    positions = (start, *(keyframe.q for keyframe in keyframes))
    asked = (0.0, *(keyframe.time for keyframe in keyframes))
    times, notes = [0.0], []
    for index in range(len(keyframes)):
        span = asked[index + 1] - asked[index]
        needed, joint = _time_needed(joints, positions[index], positions[index + 1])
        if needed > span:
            notes.append(f"{joint.name} needs {needed:.3g} s instead of {span:.3g} s")
        times.append(times[-1] + max(span, needed))
    return Motion(tuple(times), positions, _speeds(times, positions), "; ".join(notes))


def slowest(motions: Iterable[Motion]) -> list[float]:
    """How long each part of the way takes where several groups keep in step."""
    return [max(spans) for spans in zip(*(motion.spans for motion in motions), strict=True)]


def _check(joints: Sequence[Joint], start: Position, keyframes: Sequence[Keyframe]) -> None:
    if not keyframes:
        raise ValueError("a path needs at least one keyframe")
    times = [0.0, *(keyframe.time for keyframe in keyframes)]
    if not all(map(math.isfinite, times)) or not all(a < b for a, b in pairwise(times)):
        raise ValueError("the times of keyframes must be finite, above 0 and increasing")
    for position in (start, *(keyframe.q for keyframe in keyframes)):
        if len(position) != len(joints):
            raise ValueError(f"a position has {len(position)} values for {len(joints)} joints")
        if not all(map(math.isfinite, position)):
            raise ValueError("a position is not finite")


def _time_needed(joints: Sequence[Joint], start: Position, end: Position) -> tuple[float, Joint]:
    """The shortest time in which every joint gets there, and the joint that takes it."""
    times = [
        0.0 if joint.velocity is None else PEAK * abs(b - a) / joint.velocity
        for joint, a, b in zip(joints, start, end, strict=True)
    ]
    longest = max(times)
    return longest, joints[times.index(longest)]


def _speeds(times: Sequence[float], positions: Sequence[Position]) -> tuple[Position, ...]:
    """Every joint's speed at every keyframe."""
    means = [
        tuple((b - a) / (times[index + 1] - times[index]) for a, b in zip(positions[index], positions[index + 1]))
        for index in range(len(positions) - 1)
    ]
    rest = (0.0,) * len(positions[0])
    passing = [tuple(_lower(a, b) for a, b in zip(*pair)) for pair in pairwise(means)]
    return (rest, *passing, rest)


def _lower(before: float, after: float) -> float:
    if before * after <= 0.0:
        return 0.0
    return math.copysign(min(abs(before), abs(after)), before)


def _between(q0: float, q1: float, v0: float, v1: float, s: float) -> float:
    """Fifth-degree polynomial on 0 <= s <= 1 with these ends and end speeds, and no acceleration at the ends."""
    r = 1.0 - s
    moved = s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)
    leaving = s * r * r * r * (1.0 + 3.0 * s)
    arriving = r * s * s * s * (1.0 + 3.0 * r)
    value = q0 + (q1 - q0) * moved + v0 * leaving - v1 * arriving
    return min(max(value, min(q0, q1)), max(q0, q1))  # the last bit of rounding must not leave the interval
