"""Hands that rest: a stop leaves them what they were told last, for a hand that presses on an object holds it.

Told to be where its fingers are, it would stop pressing, and let go.
"""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from orchestrator.guard.modes import ACTIVE
from orchestrator.guard.rules import staleness
from orchestrator.guard.state import Angles, Rest, State, Told
from orchestrator.guard.turn import Turn

STILL = 0.01
"""Of a finger's whole way: measured positions of one that rests differ by no more."""
STILL_FOR = 0.4
"""Seconds for which the fingers must not have moved."""
STARTS = 0.5
"""Seconds a hand may take to begin with what it is told."""
REACHED = 0.05
"""Of a finger's whole way: nearer than this it is where it was told to be; one that has moved, moved further."""


@cache
def resource(hand: str) -> str:
    """What a hand is called among what we move."""
    return f"hand {hand}"


def tell(turn: Turn, hand: str, target: Angles) -> None:
    """It is told to go there, from where it is."""
    state = turn.state
    told = Told(turn.now, state.observed.hands.get(hand), target)
    turn.change(told=state.told | {hand: told}, moved=state.moved | {resource(hand)})


def observed(turn: Turn, hands: dict[str, Angles]) -> None:
    """Where the fingers are now."""
    before, now = turn.state.resting, turn.now
    after = {hand: _after(before.get(hand), q, now) for hand, q in hands.items()}
    turn.change(resting=before | after)
    stop = turn.state.stop
    if turn.state.mode not in ACTIVE and (stop is None or stop.outcome != "open"):
        # It moves by somebody else's doing, or has let go.
        forget(turn, *(hand for hand, rest in after.items() if rest.since == now))


def _after(rest: Rest | None, q: Angles, now: float) -> Rest:
    return Rest(q, now, now) if rest is None or _apart(rest.q, q, STILL) else replace(rest, seen=now)


def rests(state: State, hand: str) -> bool:
    """Whether it was seen to rest after it did what it was told last: it has moved, or is where it was told to be.

    One that has not moved may not have begun, or its report is frozen.
    """
    rest, told = state.resting.get(hand), state.told.get(hand)
    if rest is None or told is None or told.start is None:
        return False
    did = _apart(rest.q, told.start, REACHED) or not _apart(rest.q, told.target, REACHED)
    return did and rest.seen >= max(rest.since + STILL_FOR, told.at + STARTS)


def moves(state: State) -> bool:
    """Whether a hand that we have told to move has not been seen to rest."""
    return any(resource(hand) in state.moved and not rests(state, hand) for hand in state.observed.hands)


def left_alone(turn: Turn) -> set[str]:
    """Hands that a stop leaves what they were told: they rest, as far as is known now."""
    setting, state = turn.setting, turn.state
    role = "hands" if "hands" in setting.robot.roles else "joints"  # some tell of both in one message
    if staleness(state, role, turn.now, setting.config, setting.robot):
        return set()
    return {hand for hand in state.observed.hands if rests(state, hand)}


def kept(state: State, hand: str, measured: Angles) -> Angles:
    """What a hand is told while the other one is commanded in the same message: what it was told last.

    It may be on its way there, or press on something. One that a stop has held was told by the stop where it is.
    """
    told = state.told.get(hand)
    return measured if told is None or told.void else told.target


def forget(turn: Turn, *which: str) -> None:
    """What these hands were told is not what they do by now: it is not to be told them again."""
    told = turn.state.told
    turn.change(told=told | {hand: replace(told[hand], void=True) for hand in which if hand in told})


def forget_all(turn: Turn) -> None:
    forget(turn, *turn.state.told)


def of(moved: frozenset[str]) -> frozenset[str]:
    """The hands among what we have moved: what they were told outlives the run that told them."""
    return frozenset(what for what in moved if what.startswith(resource("")))


def _apart(one: Angles, other: Angles, by: float) -> bool:
    for a, b in zip(one, other):  # written out: in virtual time this is asked more often than anything else
        if not -by <= a - b <= by:
            return True
    return len(one) != len(other)
