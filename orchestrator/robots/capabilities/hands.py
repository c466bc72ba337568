"""Hands: how far they are open, and whether they hold something."""

from __future__ import annotations

import math
from statistics import fmean, pstdev

from orchestrator.robots.feed import MOST_LIMIT
from orchestrator.robots.intents import HandTarget
from orchestrator.robots.judging import ACCEPT, Context, Judge
from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.outcome import Outcome, failure, running, unknown
from orchestrator.robots.profile import Range
from orchestrator.robots.reasons import Reason

REACHED = 0.05
"""Of a finger's whole way: nearer counts as there."""
MOVED = 0.05
STILL = 0.01
STILL_FOR = 0.4
"""Fingers that move less than this within this time (s) have come to rest."""
STARTS = 0.5
"""A hand that has not begun to move by then rests where it was."""
WITHIN = 5.0
POSSIBLE = Range(-0.5, 1.5)
"""Further than this no finger gets: the hand is another one than the profile says, or its report is wrong."""
PRESSING, ABOVE_NOISE = 0.01, 1.5
"""A motor that pushes against something shows at least that much effort while the fingers rest, always the same way: so
many times what it varies by. One that is off shows noise."""


class Hands:
    """Positions from 0 (closed) to 1 (open), one per finger in the profile's order."""

    def __init__(self, context: Context) -> None:
        assert context.profile.hands is not None
        self._context = context
        self.shape = context.profile.hands
        self.topic = context.state.signals[f"hand.{self.shape.order[0]}"].topic
        self._told: dict[str, list[_Fingers]] = {hand: [] for hand in self.shape.order}
        """What each hand was told last, and what has been asked for since."""
        self._earlier_run = False
        # A finger without any way to go counts as open.
        ways = [(closed, open_) if open_ != closed else (closed - 1, closed) for open_, closed in self._ends()]
        bounds = [_possible(*way) for way in ways]
        fingers = [f"(v{i} - {closed!r}) * {1 / (open_ - closed)!r}" for i, (closed, open_) in enumerate(ways)]
        mean = f"{100 / len(fingers)!r} * ({' + '.join(fingers)})"
        self._openings, self.mean_opening, self._no = (
            {hand: context.state.part(f"hand.{hand}", result, bounds) for hand in self.shape.order}
            for result in (f"({', '.join(fingers)},)", mean, "False")
        )
        """By hand: each finger from 0 to 1; all together in percent; a plain no, as far as it can be believed."""

    def opening(self, hand: str) -> Known[tuple[float, ...]] | Unknown:
        return self._openings[hand]()

    def effort(self, hand: str) -> Known[tuple[float, ...]] | Unknown | None:
        """What the finger motors exert; None where the robot does not report it."""
        name = f"hand_effort.{hand}"
        return self._context.state.read(name) if self._context.state.has(name) else None

    def open(self, hand: str) -> Judge:
        return self.pose(hand, (1.0,) * len(self.shape.fingers))

    def pose(self, hand: str, opening: tuple[float, ...]) -> Judge:
        before = self._last(hand)
        posing = _Posing(self, self._context, HandTarget(hand, opening))
        posing.began_full = before is not None and before.may_hold
        self._told[hand].append(posing)
        return posing

    def grasp(self, hand: str, grip: float, start: tuple[float, ...] | None = None) -> Grasp:
        """Close by `grip` (0 to 1) and see what the fingers meet: object, nothing or not_moved.

        One that goes on after a pause has moved if the fingers have since its `start`. So has one that follows another
        which found an object or has not come to its end: what that one closed on is held already. Without effort to
        tell, only if it was found to hold something.
        """
        before = self._last(hand)
        if start is None and isinstance(before, Grasp) and before.may_hold:
            start = before.start if before.found_object or self.effort(hand) is not None else None
        grasp = Grasp(self, self._context, HandTarget(hand, (1 - grip,) * len(self.shape.fingers)), start)
        grasp.found_object = isinstance(before, Grasp) and before.found_object
        self._told[hand].append(grasp)
        return grasp

    def holding(self, hand: str) -> Known[bool] | Unknown:
        """Whether the fingers still press on what they closed on."""
        last = self._last(hand)
        if last is None and self._earlier_run:
            return Unknown(Reason.NO_SAMPLE, f"what the {hand} hand holds since the run before is not known")
        if last is None or not last.may_hold:
            return self._no[hand]()
        if last.was_stopped:
            return Unknown(Reason.ENDED, f"the {hand} hand was stopped on its way: what it holds is not known")
        if not isinstance(last, Grasp) or not last.found_object:
            return Unknown(last.unsure, f"what the {hand} hand closed on was not found out")
        opening = self.opening(hand)
        return opening if isinstance(opening, Unknown) else Known(last.stopped_short(opening.value), opening.received)

    def continue_earlier_run(self) -> None:
        """Hands that are told nothing in this run may hold something since the one that it goes on with."""
        self._earlier_run = True

    def _last(self, hand: str) -> _Fingers | None:
        """What it was told last: what was refused, or has not left yet, takes back nothing."""
        told = self._told[hand]
        left = [each for each in told if each.has_left]
        self._told[hand] = left[-1:] + [each for each in told if each.waits]
        return left[-1] if left else None

    def full(self) -> tuple[str, ...]:
        """The hands that are known to hold something."""
        found = ((hand, self.holding(hand)) for hand in self.shape.order)
        return tuple(hand for hand, holds in found if isinstance(holds, Known) and holds.value)

    def travels(self) -> list[int]:
        """The fingers that move between open and closed."""
        return [i for i, (open_, closed) in enumerate(self._ends()) if open_ != closed]

    def _ends(self) -> list[tuple[float, float]]:
        return list(zip(self.shape.open, self.shape.closed))


def _possible(closed: float, opened: float) -> Range:
    """Where a finger may be reported: POSSIBLE on the wire's own scale."""
    ends = [closed + place * (opened - closed) for place in (POSSIBLE.low, POSSIBLE.high)]
    return Range(min(ends), max(ends))


class _Fingers(Judge):
    """Follows the fingers until they rest."""

    def __init__(
        self, hands: Hands, context: Context, intent: HandTarget, start: tuple[float, ...] | None = None
    ) -> None:
        self.hands = hands
        self.intent = intent
        self.fingers = hands.travels()
        self.start = start
        """Where they were when it began; None: not seen yet."""
        self._rest: tuple[tuple[float, ...], float] | None = None
        super().__init__(context, intent)

    @property
    def may_hold(self) -> bool:
        """Whether there may be something in the hand."""
        raise NotImplementedError

    @property
    def unsure(self) -> Reason:
        """Why it has not found out: it is still at it, was called off, or the robot fell silent."""
        return (self._verdict.reason if self._verdict is not None else None) or Reason.BUSY

    @property
    def waits(self) -> bool:
        """Whether it may still leave."""
        return self.receipt is not None and self.receipt.state == "pending"

    @property
    def has_left(self) -> bool:
        return self.receipt is not None and self.receipt.state in ("sent", "ended")

    @property
    def was_stopped(self) -> bool:
        return self.receipt is not None and self.receipt.state == "ended"

    def judge(self, now: float) -> Outcome:
        found = self.evidence(lambda: self.hands.opening(self.intent.hand))
        if isinstance(found, Unknown):
            return unknown(found)
        silent = now - (self.sent_at if found is None else found.received)
        if silent > MOST_LIMIT:
            return failure(Reason.STALE, f"nothing has come on {self.hands.topic} for {silent:.2f} s")
        if found is None:
            return running()
        opening = found.value
        if self.start is None:
            self.start = opening
        if not self._rests(opening, found.received) or found.received < self.sent_at + STARTS:
            late = now - self.sent_at > WITHIN
            return failure(Reason.TIMEOUT, "the fingers do not come to rest") if late else running(self._done(opening))
        if self.short(opening) and not self.moved(opening) and now - self.sent_at <= ACCEPT:
            return running(0.0)  # not begun yet
        return self.rested(opening)

    def rested(self, opening: tuple[float, ...]) -> Outcome:
        raise NotImplementedError

    def stopped_short(self, opening: tuple[float, ...]) -> bool:
        """Whether a finger stands clear of where it was told to go."""
        return bool(self.short(opening))

    def short(self, opening: tuple[float, ...]) -> list[int]:
        return [i for i in self.fingers if abs(opening[i] - self.intent.opening[i]) > REACHED]

    def moved(self, opening: tuple[float, ...]) -> bool:
        assert self.start is not None
        return any(abs(opening[i] - self.start[i]) > MOVED for i in self.fingers)

    def _rests(self, opening: tuple[float, ...], now: float) -> bool:
        if self._rest is None or any(abs(opening[i] - self._rest[0][i]) > STILL for i in self.fingers):
            self._rest = (opening, now)
        return now - self._rest[1] >= STILL_FOR

    def _done(self, opening: tuple[float, ...]) -> float | None:
        assert self.start is not None
        way = max((abs(self.intent.opening[i] - self.start[i]) for i in self.fingers), default=0.0)
        left = max((abs(self.intent.opening[i] - opening[i]) for i in self.fingers), default=0.0)
        return min(max(1 - left / way, 0.0), 1.0) if way > REACHED else None


class _Posing(_Fingers):
    """Succeeds when the fingers rest where they were told to go."""

    began_full = False

    @property
    def may_hold(self) -> bool:
        """One that goes there lets go of what was in it."""
        return self.began_full and self.was_stopped

    def rested(self, opening: tuple[float, ...]) -> Outcome:
        short = self.short(opening)
        if not short:
            return Outcome("success", progress=1.0)
        names = ", ".join(self.hands.shape.fingers[i] for i in short)
        if not self.moved(opening):
            return failure(Reason.NOT_ACCEPTED, f"{names} did not arrive")
        return failure(Reason.NO_PROGRESS, f"{names} did not arrive: is something in the hand?")


class Grasp(_Fingers):
    """Succeeds when the fingers moved, stopped short and press."""

    found_object = False
    """By this one; until it has found out, by the one it follows."""
    concluded = False
    """Whether it has found out what it closed on."""

    def __init__(
        self, hands: Hands, context: Context, intent: HandTarget, start: tuple[float, ...] | None = None
    ) -> None:
        super().__init__(hands, context, intent, start)
        self._efforts: list[tuple[float, ...]] = []
        """Since the fingers rest."""
        self._stirred = -math.inf
        """When the efforts last changed."""

    @property
    def may_hold(self) -> bool:
        return self.found_object or not self.concluded

    def rested(self, opening: tuple[float, ...]) -> Outcome:
        outcome = self._met(opening)
        if outcome.over:
            self.found_object, self.concluded = outcome.result == "object", outcome.result is not None
        return outcome

    def _met(self, opening: tuple[float, ...]) -> Outcome:
        short = self.short(opening)
        if not short:
            return failure(Reason.NOTHING_HELD, self._met_nothing(), result="nothing")
        if not self.moved(opening):
            return failure(Reason.NOT_ACCEPTED, "the fingers did not move", result="not_moved")
        if not self._pressing(short):
            return failure(Reason.NO_PROGRESS, "the fingers stopped without effort", result="not_moved")
        if not self._measured_at_rest():
            late = self.context.clock.now() - self.sent_at > WITHIN
            return failure(Reason.FROZEN, "the efforts of the fingers repeat exactly") if late else running(0.95)
        return Outcome("success", progress=1.0, result="object")

    def _met_nothing(self) -> str:
        grip = 1 - max((self.intent.opening[i] for i in self.fingers), default=0.0)
        if grip >= 1 - REACHED:
            return "it closed on nothing"
        return f"it met nothing up to a grip of {100 * grip:.0f} %: what is there may be smaller"

    def _pressing(self, short: list[int]) -> bool:
        if self.hands.effort(self.intent.hand) is None:
            return True  # nothing but the positions to judge by
        return any(_pushes([effort[i] for effort in self._efforts]) for i in short)

    def _rests(self, opening: tuple[float, ...], now: float) -> bool:
        rests = super()._rests(opening, now)
        effort = self.hands.effort(self.intent.hand)
        if self._rest is None or self._rest[1] == now:
            self._efforts.clear()
        if isinstance(effort, Known) and effort.received > self.sent_at:
            if not self._efforts or effort.value != self._efforts[-1]:
                self._stirred = effort.received
            self._efforts.append(effort.value)
        return rests

    def _measured_at_rest(self) -> bool:
        """Whether the efforts go on changing after the fingers have come to rest, as measured ones do.

        A report that was frozen on the way looks just like fingers that have stopped on something.
        """
        if self._rest is None or self.hands.effort(self.intent.hand) is None:
            return True  # nothing but the positions to judge by, and those may stand still
        return self._stirred >= self._rest[1] + STILL_FOR


def _pushes(efforts: list[float]) -> bool:
    return len(efforts) > 1 and abs(fmean(efforts)) > max(PRESSING, ABOVE_NOISE * pstdev(efforts))
