"""The stop a run sends by itself when its guard has died: the same stops, from writers made on the spot.

A guard to which no run is connected refuses every command, so all it can let out is stops: that is what is used here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from typing import Any

from msgspec.structs import replace

from orchestrator.bus.contract import Bus
from orchestrator.guard import base_task, hands, streams
from orchestrator.guard.config import GuardConfig
from orchestrator.guard.driver import Guard
from orchestrator.guard.events import Stop
from orchestrator.guard.outputs import Report
from orchestrator.guard.policy import POLICIES
from orchestrator.guard.rpc import Rpc
from orchestrator.guard.state import Remote, Rest, State, Told
from orchestrator.robots.intents import AnyIntent, HandTarget, MoveHand, StandPose, StartRemote, Stream
from orchestrator.robots.profile import Profile

GIVE_UP = 30.0
"""Seconds after which a person must do it: the stop has been repeated all the time."""
LONGEST_WAIT = 0.02
WHO = "the run, for its guard is gone"


def last_stop(
    profile: Profile,
    config: GuardConfig,
    bus: Bus,
    asked: Collection[AnyIntent],
    say: Callable[[Report], None],
    rpc: Rpc | None = None,
    latched: frozenset[str] = frozenset(),
    holding: Collection[str] = (),
) -> bool:
    """Stop the robot until it is seen to stand still; False when that has not been seen.

    `asked` is what the run has let move. A robot that goes limp when nothing more is sent is parked, unless it is
    `latched`: after an e-stop it may have let go. Hands that the run has seen `holding` something keep their grip.
    """
    guard = Guard(profile, config, bus, _NoAudit(), rpc, latched)
    guard.on_report = say
    guard.look()
    guard.state = replace(guard.state, **_ours(asked, bus.clock.now()))
    guard.state = replace(guard.state, **_at_rest(guard.state, asked, holding))
    stop = Stop(WHO, "park" if guard.core.setting.robot.hold.duration is None else "hold")
    guard.handle(stop)  # nobody may hear it yet: the robot has to find our writers first
    heard, until = False, bus.clock.now() + GIVE_UP
    while bus.clock.now() < until:
        bus.wait(max(0.0, min(guard.next_due() - bus.clock.now(), LONGEST_WAIT)))
        if bus.clock.now() >= guard.next_due():
            guard.run_due()
        assert guard.state.stop is not None
        outcome = guard.state.stop.outcome
        if outcome == "stopped":
            base = guard.state.observed.base
            if base is not None and base.navigation == "paused" and any(POLICIES[type(it)].task for it in asked):
                say(Report("warning", base_task.PAUSED, value="left behind"))
            return True
        if outcome != "open" or (not heard and guard.listened_to):
            heard = True
            guard.handle(stop)
    return False


def _ours(asked: Iterable[AnyIntent], now: float) -> dict[str, Any]:
    """What a guard would remember of these intents."""
    moved: set[str] = set()
    posing: dict[str, StandPose | MoveHand] = {}
    remote = None
    for intent in asked:
        if isinstance(intent, Stream):
            moved.add(streams.resource(intent))
        elif isinstance(intent, StandPose | MoveHand):
            posing[streams.resource(intent)] = intent
        elif isinstance(intent, HandTarget):  # where its fingers were then is not known
            moved.add(hands.resource(intent.hand))
        elif isinstance(intent, StartRemote):
            remote = Remote(now)
    return {"moved": frozenset(moved | posing.keys()), "posing": posing, "remote": remote}


def _at_rest(state: State, asked: Iterable[AnyIntent], holding: Collection[str]) -> dict[str, Any]:
    """What a guard would remember of hands that have closed on something: all others count as moving."""
    held = {it.hand: it.opening for it in asked if isinstance(it, HandTarget) and it.hand in holding}
    seen = {hand: q for hand, q in state.observed.hands.items() if hand in held}
    return {
        "told": {hand: Told(-math.inf, (), held[hand]) for hand in seen},
        "resting": state.resting | {hand: Rest(q, -math.inf, -math.inf) for hand, q in seen.items()},
    }


class _NoAudit:
    """The audit file is the guard's; what happens here is in the run's own history."""

    def append(self, record: dict[str, Any]) -> None:
        pass

    def sync(self) -> None:
        pass
