"""Hands that rest: a stop leaves them what they were told last, for a hand that presses on an object holds it.

Told to be where its fingers are, it would stop pressing, and let go.
"""

from __future__ import annotations

import math

from msgspec.structs import replace

from orchestrator.guard.state import Angles, Rest, State
from orchestrator.guard.turn import Turn

STILL = 0.01
"""Of a finger's whole way: measured positions of one that rests differ by no more."""
STILL_FOR = 0.4
"""Seconds for which the fingers must not have moved."""
STARTS = 0.5
"""Seconds a hand may take to begin with what it is told."""


def observed(turn: Turn, hands: dict[str, Angles]) -> None:
    """Where the fingers are now."""
    before, now = turn.state.resting, turn.now
    turn.change(resting=before | {hand: _after(before.get(hand), q, now) for hand, q in hands.items()})


def _after(rest: Rest | None, q: Angles, now: float) -> Rest:
    if rest is None or len(rest.q) != len(q) or any(abs(a - b) > STILL for a, b in zip(rest.q, q)):
        return Rest(q, now, now)
    return replace(rest, seen=now)


def rests(state: State, hand: str) -> bool:
    """Whether it has been seen to rest since it was last told to move."""
    rest = state.resting.get(hand)
    told = state.asked.get(resource(hand), -math.inf)
    return rest is not None and rest.seen >= max(rest.since + STILL_FOR, told + STARTS)


def moves(state: State) -> bool:
    """Whether a hand that we have told to move has not been seen to rest."""
    return any(resource(hand) in state.moved and not rests(state, hand) for hand in state.observed.hands)


def resource(hand: str) -> str:
    """What a hand is called among what we move."""
    return f"hand {hand}"
