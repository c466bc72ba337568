"""Walking by velocity."""

from __future__ import annotations

import math
from collections.abc import Callable

from orchestrator.robots.capabilities.body import Body, turn_between
from orchestrator.robots.intents import SetVelocitySource
from orchestrator.robots.intents import Velocity as VelocityIntent
from orchestrator.robots.judging import Context, Decided, Judge, Settling
from orchestrator.robots.knowledge import Known, Read, Unknown
from orchestrator.robots.outcome import SUCCESS, Outcome, failure, running, unknown
from orchestrator.robots.reasons import Reason

STILL = 0.05
"""Slower than this, m/s, is standing."""
STILL_FOR = 0.5
STOP_WITHIN = 5.0
STARTS = 1.0
"""A walk shorter than this may be over before the robot reports that it moves."""
LEAST_TURN = 0.05
"""Radians that are more than noise."""
NO_PROGRESS = 5.0
"""Seconds without a part of the way done before walking counts as stuck."""


class Velocity:
    """Metres and radians per second in the robot's own frame."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._body = Body(context)
        self.source = context.state.reader("velocity.source")
        """Whose velocity the robot follows, where it has a choice (Aurora)."""

    def set_source(self, source: str) -> Judge:
        read = self._context.state.signal("velocity.source")
        return Settling(self._context, SetVelocitySource(source), read, lambda reported: reported == source)

    def walk(
        self,
        vx: float,
        vy: float,
        yaw: float,
        time: float | None = None,
        distance: float | None = None,
        heading: float | None = None,
    ) -> Judge:
        """Walk for a time, or until so far from here, or until turned by so much; without any, until cancelled."""
        intent = VelocityIntent(vx, vy, yaw)
        if distance is not None:
            return self._until(intent, distance, self._body.position, _distance)
        if heading is not None:
            return self._until(intent, abs(heading), self._body.yaw, _turned())
        return _Timed(self._context, intent, time, self._evidence(intent))

    def stop(self) -> Judge:
        """Stand, and wait until the robot says it stands, where it says so."""
        return _Stopping(self._context, self._body if self._context.state.has("base.velocity") else None)

    def _evidence(self, intent: VelocityIntent) -> Callable[[], bool] | None:
        """What shows that the robot walks, where it reports anything that does."""
        if math.hypot(intent.vx, intent.vy) > STILL:
            return self._walks if self._context.state.has("base.velocity") else None
        start = self._body.yaw()
        if abs(intent.yaw) <= STILL or isinstance(start, Unknown):
            return None
        return lambda: self._turned_from(start.value)

    def _walks(self) -> bool:
        found = self._body.velocity()
        return isinstance(found, Known) and math.hypot(*found.value[:2]) >= STILL

    def _turned_from(self, start: float) -> bool:
        found = self._body.yaw()
        return isinstance(found, Known) and abs(turn_between(start, found.value)) >= LEAST_TURN

    def _until(
        self,
        intent: VelocityIntent,
        goal: float,
        read: Read,
        measure: Callable[[object, object], float],
    ) -> Judge:
        start = read()
        if isinstance(start, Unknown):
            return Decided(self._context, unknown(start))
        return _Measured(self._context, intent, goal, read, measure)


class _Timed(Judge):
    """Walks until time is up; fails when the robot reports its motion and none was seen."""

    def __init__(
        self, context: Context, intent: VelocityIntent, time: float | None, moves: Callable[[], bool] | None
    ) -> None:
        self._time = time
        self._moves = moves
        super().__init__(context, intent)

    def judge(self, now: float) -> Outcome:
        walked = now - self.sent_at
        if self._moves is not None and self._moves():
            self._moves = None  # seen
        over = self._time is not None and walked >= self._time
        if self._moves is not None and (walked > NO_PROGRESS or (over and walked >= STARTS)):
            return failure(Reason.NO_PROGRESS, "it does not report that it moves")
        if self._time is None:
            return running()
        return SUCCESS if over else running(walked / self._time)


class _Measured(Judge):
    """Walks until the robot's own measurement says that the way is done."""

    def __init__(
        self,
        context: Context,
        intent: VelocityIntent,
        goal: float,
        read: Read,
        measure: Callable[[object, object], float],
    ) -> None:
        self._goal = goal
        self._read = read
        self._measure = measure
        self._start: object = None
        self._best = (0.0, context.clock.now())
        super().__init__(context, intent)

    def judge(self, now: float) -> Outcome:
        found = self.evidence(self._read)
        if isinstance(found, Unknown):
            return unknown(found)
        if found is None:
            return running()
        if self._start is None:
            self._start = found.value
            self._best = (0.0, now)
        done = self._measure(self._start, found.value)
        if done >= self._goal * (1 - 1e-9):  # steps add up to the goal but for rounding
            return SUCCESS
        if done > self._best[0] + 0.02 * self._goal:
            self._best = (done, now)
        if now - self._best[1] > NO_PROGRESS:
            return failure(Reason.NO_PROGRESS, f"{done:.2f} of {self._goal:.2f}")
        return running(max(done, 0.0) / self._goal)


class _Stopping(Judge):
    """Sends zero until the robot stands."""

    def __init__(self, context: Context, body: Body | None) -> None:
        self._body = body
        self._since: float | None = None
        super().__init__(context, VelocityIntent(0.0, 0.0, 0.0))

    def judge(self, now: float) -> Outcome:
        if self._body is None:  # the robot does not report how fast it walks
            return self._finish() if now - self.sent_at >= STILL_FOR else running()
        found = self.evidence(self._body.velocity)
        if isinstance(found, Unknown):
            return unknown(found)
        if found is None or math.hypot(*found.value[:2]) >= STILL:
            self._since = None
            slow = now - self.sent_at > STOP_WITHIN
            return failure(Reason.NO_PROGRESS, "it still moves") if slow else running()
        if self._since is None:
            self._since = found.received
        return self._finish() if found.received - self._since >= STILL_FOR else running()

    def _finish(self) -> Outcome:
        assert self.receipt is not None
        self.context.commander.end(self.receipt)
        return SUCCESS


def _distance(start: object, now: object) -> float:
    assert isinstance(start, tuple) and isinstance(now, tuple)
    return math.hypot(now[0] - start[0], now[1] - start[1])


def _turned() -> Callable[[object, object], float]:
    """Adds up small turns, so that more than half a turn can be asked for."""
    last: list[float] = []
    total = 0.0

    def measure(start: object, now: object) -> float:
        nonlocal total
        assert isinstance(now, float)
        if last:
            total += turn_between(last[0], now)
        last[:] = [now]
        return abs(total)

    return measure
