"""Walking by velocity."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from orchestrator.robots.capabilities.body import Body, turn_between
from orchestrator.robots.capabilities.measuring import Measure, turned, way
from orchestrator.robots.feed import LATE
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
SETS_OUT = 0.5
"""Seconds that may pass before the robot moves."""
LEAST_TURN = 0.05
"""Radians that are more than noise."""
NO_PROGRESS = 5.0
"""Seconds without a part of the way done before walking counts as stuck."""
STIRRED = 0.05
"""Metres or radians, more than a standing body sways: who has not gone that far has not set out."""
SWAY = 0.1
"""Metres or radians that may be between two reports of a walking body, however little it gets on."""
PLAIN = 2 * STIRRED
"""Metres or radians: who was to go that far must be seen to have set out."""

NOTHING_SHOWS_IT = "it reports nothing that could show such a walk"


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
            return self._until(intent, math.hypot(vx, vy), distance, self._body.position, way())
        if heading is not None:
            return self._until(intent, abs(yaw), abs(heading), self._body.yaw, turned(math.copysign(1.0, heading)))
        return _Timed(self._context, intent, time, self._signs(intent, math.inf if time is None else time))

    def stop(self) -> Judge:
        """Stand, and wait until the robot says it stands, where it says so."""
        return _Stopping(self._context, self._body)

    def _signs(self, intent: VelocityIntent, time: float) -> list[_Sign]:
        """What must show that the robot does what it is asked for, wherever that is enough to be seen."""
        speed, turn = math.hypot(intent.vx, intent.vy), abs(intent.yaw)
        across = 2 * speed / turn if turn else math.inf  # of the circle: nobody gets further away on it
        signs: list[_Sign] = []
        if self._context.state.has("base.position") and min(speed * (time - SETS_OUT), across) >= PLAIN:
            signs.append(_Sign("moves", self._body.position, _way_between, speed))
        if self._context.state.has("base.quaternion") and turn * (time - SETS_OUT) >= PLAIN:
            signs.append(_Sign("turns", self._body.yaw, turn_between, turn))
        return signs

    def _until(
        self,
        intent: VelocityIntent,
        speed: float,
        goal: float,
        read: Read,
        measure: Measure,
    ) -> Judge:
        start = read()
        if isinstance(start, Unknown):
            return Decided(self._context, unknown(start))
        return _Measured(self._context, intent, speed, goal, read, measure)


def _way_between(before: Any, after: Any) -> float:
    """Over the ground: a body that sinks or rises does not walk."""
    return math.dist(before[:2], after[:2])


class _Sign:
    """Something the robot reports that is not the same any more once it does what it is asked for."""

    def __init__(self, does: str, read: Read, difference: Callable[[Any, Any], float], speed: float) -> None:
        self.does = does
        self.due = max(NO_PROGRESS, SETS_OUT + PLAIN / speed)
        """Seconds after which it must have been seen."""
        self.seen = False
        self._read = read
        self._difference = difference
        self._first = read()

    def look(self) -> None:
        found = self._read()
        if isinstance(self._first, Unknown):
            self._first = found
        elif isinstance(found, Known) and abs(self._difference(self._first.value, found.value)) >= STIRRED:
            self.seen = True


class _Timed(Judge):
    """Walks until time is up; fails when the robot reports something that would show it, and it does not."""

    def __init__(self, context: Context, intent: VelocityIntent, time: float | None, signs: list[_Sign]) -> None:
        self._time = time
        self._missing = signs
        self._success = SUCCESS if signs else SUCCESS._replace(text=NOTHING_SHOWS_IT)
        super().__init__(context, intent)

    def judge(self, now: float) -> Outcome:
        walked = now - self.sent_at
        over = self._time is not None and walked >= self._time
        for sign in self._missing:
            sign.look()
        self._missing = [sign for sign in self._missing if not sign.seen]
        for sign in self._missing:
            if over or walked > sign.due:
                return no_reaction(self.context.profile, f"it does not report that it {sign.does}")
        if over and self.unanswered:
            return failure(Reason.NOT_ACCEPTED, "the robot has not answered")
        if self._time is None:
            return running()
        return self._success if over else running(walked / self._time)


class _Measured(Judge):
    """Walks until the robot's own measurement says that the way is done."""

    def __init__(
        self,
        context: Context,
        intent: VelocityIntent,
        speed: float,
        goal: float,
        read: Read,
        measure: Measure,
    ) -> None:
        self._goal = goal
        self._speed = speed
        self._step = min(0.02 * goal, STIRRED, speed * NO_PROGRESS / 5)
        """What it must get on by, in less time than it takes to count as stuck."""
        self._read = read
        self._measure = measure
        self._best: tuple[float, float] | None = None
        self._last: tuple[float, float] | None = None
        self._set_out = False
        super().__init__(context, intent)

    def judge(self, now: float) -> Outcome:
        found = self.evidence(self._read)
        if isinstance(found, Unknown):
            return unknown(found)
        if found is None:
            return running()
        done = self._measure(found.value)
        if jump := self._jump(done, found.received):
            return failure(Reason.OUT_OF_RANGE, jump)
        if done >= self._goal * (1 - 1e-9):  # steps add up to the goal but for rounding
            return SUCCESS
        self._set_out = self._set_out or abs(done) > min(STIRRED, self._goal / 2)
        if self._best is None or done > self._best[0] + self._step:
            self._best = (done, now)
        if now - self._best[1] > NO_PROGRESS:
            return self._stuck(f"{done:.2f} of {self._goal:.2f}")
        return running(max(done, 0.0) / self._goal)

    def _jump(self, done: float, at: float) -> str:
        """What is said of a report that is further from the last one than the robot can have got meanwhile."""
        last_done, last_at = self._last or (done, at)
        self._last = (done, at)
        longest = at - last_at + LATE  # the last report may have come that late
        if abs(done - last_done) <= 2 * self._speed * longest + SWAY:
            return ""
        return f"at {last_done:.2f} of {self._goal:.2f}, and {at - last_at:.2f} s later at {done:.2f}"

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
