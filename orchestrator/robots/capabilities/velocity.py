"""Walking by velocity."""

from __future__ import annotations

import math
from collections.abc import Callable

from orchestrator.robots.capabilities.body import Body, turn_between
from orchestrator.robots.capabilities.measuring import Measure, turned, way
from orchestrator.robots.intents import SetVelocitySource
from orchestrator.robots.intents import Velocity as VelocityIntent
from orchestrator.robots.judging import Context, Decided, Judge, Settling, no_reaction
from orchestrator.robots.knowledge import Known, Read, Unknown
from orchestrator.robots.outcome import SUCCESS, Outcome, failure, running, unknown
from orchestrator.robots.reasons import Reason

STILL = 0.05
"""Slower than this, m/s, is standing."""
STILL_FOR, STILL_BY_TURN_FOR = 0.5, 1.2
"""Seconds; longer where only its heading shows it, because a report that repeats itself is found out after 1 s."""
STOP_WITHIN = 5.0
STARTS = 1.0
"""A walk shorter than this may be over before the robot reports that it moves."""
LEAST_TURN = 0.05
"""Radians that are more than noise."""
NO_PROGRESS = 5.0
"""Seconds without a part of the way done before walking counts as stuck."""
STIRRED = 0.05
"""Metres or radians, more than a standing body sways: who has not gone that far has not set out."""


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
        """Walk for a time, a way of so many metres, or until turned by so much; without any, until cancelled."""
        intent = VelocityIntent(vx, vy, yaw)
        if distance is not None:
            return self._until(intent, distance, self._body.position, way())
        if heading is not None:
            return self._until(intent, abs(heading), self._body.yaw, turned(math.copysign(1.0, heading)))
        return _Timed(self._context, intent, time, self._evidence(intent))

    def stop(self) -> Judge:
        """Stand, and wait until the robot says it stands, where it says so."""
        return _Stopping(self._context, self._body)

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
        measure: Measure,
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
            return no_reaction(self.context.profile, "it does not report that it moves")
        if over and self.unanswered:
            return failure(Reason.NOT_ACCEPTED, "the robot has not answered")
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
        measure: Measure,
    ) -> None:
        self._goal = goal
        self._read = read
        self._measure = measure
        self._best: tuple[float, float] | None = None
        self._set_out = False
        super().__init__(context, intent)

    def judge(self, now: float) -> Outcome:
        found = self.evidence(self._read)
        if isinstance(found, Unknown):
            return unknown(found)
        if found is None:
            return running()
        done = self._measure(found.value)
        if done >= self._goal * (1 - 1e-9):  # steps add up to the goal but for rounding
            return SUCCESS
        self._set_out = self._set_out or abs(done) > min(STIRRED, self._goal / 2)
        if self._best is None or done > self._best[0] + 0.02 * self._goal:
            self._best = (done, now)
        if now - self._best[1] > NO_PROGRESS:
            return self._stuck(f"{done:.2f} of {self._goal:.2f}")
        return running(max(done, 0.0) / self._goal)

    def _stuck(self, done: str) -> Outcome:
        if self._set_out:
            return failure(Reason.NO_PROGRESS, done)
        return no_reaction(self.context.profile, f"it has not moved, {done}")


class _Stopping(Judge):
    """Sends zero until the robot neither walks nor turns, as far as it reports that."""

    def __init__(self, context: Context, body: Body) -> None:
        self._body = body
        self._reports_speed = context.state.has("base.velocity")
        self._still_for = STILL_FOR if self._reports_speed else STILL_BY_TURN_FOR
        self._still: tuple[float, float] | None = None  # since when, and facing where
        super().__init__(context, VelocityIntent(0.0, 0.0, 0.0))

    def judge(self, now: float) -> Outcome:
        yaw = self.evidence(self._body.yaw)
        speed = self.evidence(self._body.velocity) if self._reports_speed else Known((0.0, 0.0), now)
        for found in (yaw, speed):
            if isinstance(found, Unknown):
                return unknown(found)
        if isinstance(yaw, Known) and isinstance(speed, Known):
            self._look(yaw, walks=math.hypot(*speed.value[:2]) >= STILL)
            settled = self._still is not None and yaw.received - self._still[0] >= self._still_for
            if settled and not self.unanswered:
                return self._finish()
        slow = now - self.sent_at > STOP_WITHIN
        return failure(Reason.NO_PROGRESS, "it still moves") if slow else running()

    def _look(self, yaw: Known[float], walks: bool) -> None:
        if walks:
            self._still = None
        elif self._still is None or abs(turn_between(self._still[1], yaw.value)) >= LEAST_TURN:
            self._still = (yaw.received, yaw.value)

    def _finish(self) -> Outcome:
        assert self.receipt is not None
        self.context.commander.end(self.receipt)
        return SUCCESS
