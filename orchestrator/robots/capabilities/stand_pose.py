"""The pose of a standing body, and whether it stands stably."""

from __future__ import annotations

from orchestrator.robots import intents
from orchestrator.robots.capabilities.progress import Progress
from orchestrator.robots.judging import Context, Judge, no_reaction
from orchestrator.robots.knowledge import Derived, Known, Unknown
from orchestrator.robots.outcome import RUNNING, SUCCESS, Outcome, failure, running, unknown
from orchestrator.robots.reasons import Reason

HEIGHT_TOLERANCE = 0.01
ANGLE_TOLERANCE = 0.03
STIRRED = 0.3
"""Tolerances by which the body must have moved to have moved at all: more than a standing body sways."""
SETTLED = 0.3
WINDOW = 3.0
"""Seconds in which the pose must get nearer: the body moves slowly, and starts to move late."""


class StandPose:
    """Height (m), pitch and yaw (rad) of the body over its feet."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._axes = [context.state.signal(f"stand.{axis}") for axis in ("dz", "pitch", "yaw")]
        self._level = context.state.signal("stand.level")
        limits = context.profile.stand_pose
        enough = limits.stable_level if limits is not None else 255
        self.stable = Derived(self._level, lambda level: level >= enough)
        """Whether it stands on its own feet and takes stand-pose commands."""

    def pose(self) -> Known[tuple[float, float, float]] | Unknown:
        found = [axis() for axis in self._axes]
        for axis in found:
            if isinstance(axis, Unknown):
                return axis
        dz, pitch, yaw = (axis.value for axis in found if isinstance(axis, Known))
        assert isinstance(found[0], Known)
        return Known((dz, pitch, yaw), found[0].received)

    def level(self) -> Known[int] | Unknown:
        return self._level()

    def set(self, dz: float, pitch: float, yaw: float) -> Judge:
        return _Posing(self, self._context, intents.StandPose(dz, pitch, yaw))

    def wait_stable(self, time: float) -> Judge:
        return _WaitingStable(self, self._context, time)


class _Posing(Judge):
    """Done when the reported pose is the wanted one and the body is stable, for a short time."""

    def __init__(self, body: StandPose, context: Context, wanted: intents.StandPose) -> None:
        self._body = body
        self._wanted = wanted
        self._progress = Progress(WINDOW)
        self._since: float | None = None
        self._start = body.pose()
        self._stirred = isinstance(self._start, Unknown)
        super().__init__(context, wanted)

    def judge(self, now: float) -> Outcome:
        pose, stable = self.evidence(self._body.pose), self._body.stable()
        if isinstance(pose, Unknown):
            return unknown(pose)
        if isinstance(stable, Unknown):
            return unknown(stable)
        if pose is None:
            return RUNNING
        if isinstance(self._start, Known) and _between(pose.value, self._start.value) > STIRRED:
            self._stirred = True
        wanted = self._wanted
        error = _between(pose.value, (wanted.dz, wanted.pitch, wanted.yaw))
        if error > 1 or not stable.value:
            self._since = None
            if self._progress.stalled(error, now):
                return self._stuck(stable.value)
            return running(self._progress.done(error))
        if self._since is None:
            self._since = pose.received
        return SUCCESS if pose.received - self._since >= SETTLED else running(0.95)

    def _stuck(self, stable: bool) -> Outcome:
        if not stable:
            return failure(Reason.NO_PROGRESS, "it does not stand stably, and ignores pose commands then")
        if not self._stirred:
            return no_reaction(self.context.profile, "the body has not moved")
        return failure(Reason.NO_PROGRESS)


def _between(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """How far two poses are apart, in tolerances."""
    height, pitch, yaw = (abs(a - b) for a, b in zip(one, other))
    return max(height / HEIGHT_TOLERANCE, max(pitch, yaw) / ANGLE_TOLERANCE)


class _WaitingStable(Judge):
    """Sends nothing: succeeds when the body has been stable for a time, waits as long as it is not or not known."""

    def __init__(self, body: StandPose, context: Context, time: float) -> None:
        self._body = body
        self._time = time
        self._since: float | None = None
        super().__init__(context, None)

    def judge(self, now: float) -> Outcome:
        stable = self._body.stable()
        if isinstance(stable, Unknown) or not stable.value:
            self._since = None
            return RUNNING
        if self._since is None:
            self._since = stable.received
        return SUCCESS if stable.received - self._since >= self._time else RUNNING
