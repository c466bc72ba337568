"""Joint groups."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.robots.capabilities.progress import Progress
from orchestrator.robots.families import AURORA_GROUPS
from orchestrator.robots.intents import EnableMotors, JointPath, JointTarget, Keyframe, MoveHand
from orchestrator.robots.judging import Context, Judge, Settling
from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.outcome import SUCCESS, Outcome, failure, running, unknown
from orchestrator.robots.reasons import Reason
from orchestrator.robots.state.atom import UPPER, topic_of
from orchestrator.robots.state.aurora import MOTION_ERROR, MOTION_MOVE

TOLERANCE = 0.05
"""Radians from the target that count as there."""
SETTLED = 0.1
MOVE_STARTS = 0.2
"""A robot that plans by itself still reports its old rest for so long (docs/state.md)."""


class Joints:
    """Angles in radians, in the profile's joint order."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def position(self, group: str) -> Known[tuple[float, ...]] | Unknown:
        return self._context.state.read(f"q.{group}")

    def distance(self, pose: Mapping[str, tuple[float, ...]]) -> Known[float] | Unknown:
        """How far the joint that is furthest away is from a pose, given by groups."""
        furthest, oldest = 0.0, float("inf")
        for group, wanted in pose.items():
            q = self.position(group)
            if isinstance(q, Unknown):
                return q
            furthest = max(furthest, _distance(q.value, wanted))
            oldest = min(oldest, q.received)
        return Known(furthest, oldest)

    def move(self, group: str, q: tuple[float, ...], duration: float, tolerance: float = TOLERANCE) -> Judge:
        return _Moving(self._context, JointTarget(group, q, duration), group, q, duration, tolerance)

    def play(self, group: str, keyframes: tuple[Keyframe, ...], tolerance: float = TOLERANCE) -> Judge:
        last = keyframes[-1]
        return _Playing(self._context, JointPath(group, keyframes), group, last.q, last.time, tolerance)

    def move_hand(self, arm: str, pose: tuple[float, ...], straight: bool, speed: float) -> Judge:
        """Let the robot plan and drive an arm's end to a pose (x y z qx qy qz qw), where it can (GR-2, GR-3)."""
        x, y, z, qx, qy, qz, qw = pose
        return _PlannedMove(self._context, MoveHand(arm, (x, y, z, qx, qy, qz, qw), straight, speed), arm)

    def enable_motors(self, enabled: bool) -> Judge:
        wanted = EnableMotors((enabled,) * len(self._context.profile.joints))
        read = self._context.state.signal("motors.enabled")
        return Settling(self._context, wanted, read, lambda on: all(x is enabled for x in on))


class _Moving(Judge):
    """Done when every joint is near its target; stuck when the error stops falling."""

    def __init__(
        self,
        context: Context,
        intent: JointTarget | JointPath,
        group: str,
        target: tuple[float, ...],
        duration: float,
        tolerance: float,
    ) -> None:
        self._q = context.state.signal(f"q.{group}")
        upper = context.state.has("upper.control") and topic_of(group) == UPPER
        self._control = context.state.signal("upper.control") if upper else None
        self._target = target
        self._duration = duration
        self._tolerance = tolerance
        self._progress = Progress(max(1.0, duration / 3))  # smooth motions begin slowly
        self._since: float | None = None
        super().__init__(context, intent)

    def judge(self, now: float) -> Outcome:
        found = self.evidence(self._q)
        if isinstance(found, Unknown):
            return unknown(found)
        control = self._control() if self._control is not None else None
        if isinstance(control, Known) and not control.value:
            return failure(Reason.CONTROL_LOST, "the robot has taken back its upper body")
        if found is None:
            return running()
        return self._measure(_distance(found.value, self._target), found.received, now)

    def _measure(self, error: float, received: float, now: float) -> Outcome:
        if error > self._tolerance:
            self._since = None
            if self._progress.stalled(error, now):
                return failure(Reason.NO_PROGRESS, f"{error:.2f} rad from the target")
            return running(self._progress.done(error))
        if self._since is None:
            self._since = received
        return SUCCESS if received - self._since >= SETTLED else running(0.95)


class _Playing(_Moving):
    """A path may pass its end on the way: only what is measured after its time counts."""

    def _measure(self, error: float, received: float, now: float) -> Outcome:
        played = now - self.sent_at
        if played < self._duration:
            return running(0.95 * played / self._duration)
        return super()._measure(error, received, now)


class _PlannedMove(Judge):
    """Done when the arm's group no longer reports that it moves, not judged before it can have begun."""

    def __init__(self, context: Context, intent: MoveHand, arm: str) -> None:
        self._motion = context.state.signal("motion")
        self._place = list(AURORA_GROUPS).index(arm)
        super().__init__(context, intent)

    def judge(self, now: float) -> Outcome:
        found = self._motion()
        if isinstance(found, Unknown):
            return unknown(found)
        state = found.value[self._place]
        if state == MOTION_ERROR:
            return failure(Reason.FAILED, "the arm reports a motion error")
        if found.received < self.sent_at + MOVE_STARTS or state == MOTION_MOVE:
            return running()
        return SUCCESS


def _distance(q: tuple[float, ...], target: tuple[float, ...]) -> float:
    return max((abs(a - b) for a, b in zip(q, target)), default=0.0)
