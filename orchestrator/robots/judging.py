"""Judging commands: what every judge checks, and the two commonest kinds.

Success needs evidence newer than the command. A judge that has given its verdict keeps to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from orchestrator.clock import Clock
from orchestrator.robots.commander import Commander, Receipt
from orchestrator.robots.families import FAMILIES
from orchestrator.robots.intents import (
    AnyIntent,
    EnableMotors,
    MoveHand,
    SetFsm,
    SetUpperFsm,
    StandPose,
    Stream,
    SwitchUpperControl,
)
from orchestrator.robots.knowledge import Known, Read, Unknown
from orchestrator.robots.outcome import RUNNING, SUCCESS, Outcome, failure, running, unknown
from orchestrator.robots.profile import Profile
from orchestrator.robots.reasons import Reason
from orchestrator.robots.state import State

ACCEPT = 2.0
"""Seconds within which a command must have left and shown its first effect."""
READBACK = 3.0
"""Seconds within which a state that was set must be reported."""
SETTLED = 0.2
"""Seconds for which it must be reported without a break."""

_MOVES_OTHERWISE = (SetFsm, SetUpperFsm, SwitchUpperControl, StandPose, MoveHand, EnableMotors)


@dataclass
class Context:
    """What capabilities share."""

    profile: Profile
    state: State
    commander: Commander
    clock: Clock
    emergency: Callable[[], Known[bool] | Unknown]
    moved_otherwise: int = 0
    """How many commands were given that move joints, or let them go, without saying where each of them is to be."""


class Judge:
    """Watches one command until it has succeeded or failed."""

    def __init__(self, context: Context, intent: AnyIntent | None) -> None:
        self.context = context
        self.receipt: Receipt | None = None
        self.created = self.asked = context.clock.now()
        self.epoch = context.state.epoch
        self._verdict: Outcome | None = None
        if isinstance(intent, _MOVES_OTHERWISE):
            context.moved_otherwise += 1
        if intent is not None:
            self.receipt = context.commander.send(intent)

    def outcome(self) -> Outcome:
        """How far it is now."""
        if self._verdict is not None:
            return self._verdict
        found = self._common() or self.judge(self.context.clock.now())
        if found.over:
            self._verdict = found
        return found

    def cancel(self) -> None:
        """Stop asking for it. A stream ends with standstill or hold; what the robot does by itself is cancelled."""
        receipt = self.receipt
        if receipt is not None and receipt.state in ("pending", "sent") and self._goes_on(receipt.intent):
            self.context.commander.end(receipt)
        if self._verdict is None:
            self._verdict = failure(Reason.CANCELLED)

    def _goes_on(self, intent: AnyIntent) -> bool:
        """A stream goes on until it is ended, and so does the way to a pose that was not reached, even if it failed."""
        done = self._verdict is not None and self._verdict.status == "success"
        return isinstance(intent, Stream) or (isinstance(intent, MoveHand | StandPose) and not done)

    def judge(self, now: float) -> Outcome:
        """Look at the evidence; called until it says something final."""
        raise NotImplementedError

    @property
    def sent_at(self) -> float:
        """When the command left; infinite until then."""
        return self.receipt.sent_at if self.receipt is not None else float("inf")

    @property
    def unanswered(self) -> bool:
        """Whether the robot would have answered (JSON-RPC) if it had taken the command, and has not."""
        answers = self.context.profile.rpc is not None
        return answers and self.receipt is not None and not self.receipt.confirmed

    def evidence(self, read: Read) -> Known[Any] | Unknown | None:
        """What the robot says, if it said it after the command; None if it has not spoken since."""
        knowledge = read()
        if isinstance(knowledge, Known) and knowledge.received <= self.sent_at:
            return None
        return knowledge

    def _common(self) -> Outcome | None:
        """What ends or holds up every command."""
        context = self.context
        emergency = context.emergency()
        if isinstance(emergency, Known) and emergency.value:
            return failure(Reason.EMERGENCY)
        if context.state.epoch != self.epoch:
            return failure(Reason.REBOOT, context.state.restart)
        receipt = self.receipt
        if receipt is None:
            return None
        if receipt.state == "refused":
            return failure(Reason.REFUSED, receipt.reason)
        if receipt.state == "ended":
            return failure(Reason.ENDED, receipt.reason)
        if receipt.sent_at == float("inf"):
            late = context.clock.now() - self.asked > ACCEPT
            return failure(Reason.NOT_ACCEPTED, "it could not be sent") if late else RUNNING
        return None


def no_reaction(profile: Profile, what: str) -> Outcome:
    """Failure of a command that nothing followed from, with the likely cause where the robot does not report it."""
    mode = FAMILIES[profile.family].obeys_only
    hint = f"; this robot obeys only {mode}" if mode else ""
    return failure(Reason.NOT_ACCEPTED, what + hint)


class Decided(Judge):
    """A command whose outcome is clear before anything is sent."""

    def __init__(self, context: Context, verdict: Outcome) -> None:
        super().__init__(context, None)
        self._verdict = self._common() or verdict


class Sent(Judge):
    """A command of which the robot reports no effect: all that can be said is that it left."""

    def judge(self, now: float) -> Outcome:
        return SUCCESS


class Settling(Judge):
    """A state that was set and must be reported, without a break for a short time.

    Whether a command is sent again when it shows no effect is the guard's to decide.
    """

    def __init__(
        self,
        context: Context,
        intent: AnyIntent,
        read: Read,
        wanted: Callable[[Any], bool],
        within: float = READBACK,
        settled: float = SETTLED,
    ) -> None:
        self._read = read
        self._wanted = wanted
        self._within = within
        self._settled = settled
        self._before = read()
        self._since: float | None = None
        super().__init__(context, intent)

    def judge(self, now: float) -> Outcome:
        found = self.evidence(self._read)
        if isinstance(found, Unknown) and found.reason is not Reason.UNKNOWN_STATE:
            return unknown(found)
        if not isinstance(found, Known) or not self._wanted(found.value):
            return self._not_yet(found, now)
        if self._since is None:
            self._since = found.received
        return SUCCESS if found.received - self._since >= self._settled else running(0.9)

    def _not_yet(self, found: Known[Any] | Unknown | None, now: float) -> Outcome:
        self._since = None
        waited = now - self.sent_at
        unchanged = found is None or (
            isinstance(found, Known) and isinstance(self._before, Known) and found.value == self._before.value
        )
        return self._gave_up(found, unchanged) if waited > self._within else RUNNING

    def _gave_up(self, found: Known[Any] | Unknown | None, unchanged: bool) -> Outcome:
        if isinstance(found, Unknown):
            return unknown(found)
        if unchanged or found is None:
            return self._no_effect(f"nothing changed within {self._within:g} s")
        return failure(Reason.FAILED, f"it reports {found.value}")

    def _no_effect(self, text: str) -> Outcome:
        """A robot that refused it did react: then its own words are the reason."""
        answer = self.receipt.answer if self.receipt is not None else ""
        if not answer:
            return failure(Reason.NOT_ACCEPTED, text)
        return Outcome("failure", Reason.NOT_ACCEPTED, f"{answer}; {text}")


class Waiting(Judge):
    """Sends nothing: succeeds when the robot reports what is wanted, waits as long as it does not or is silent."""

    def __init__(self, context: Context, read: Read, wanted: Callable[[Known[Any]], bool]) -> None:
        super().__init__(context, None)
        self._read = read
        self._wanted = wanted

    def judge(self, now: float) -> Outcome:
        found = self._read()
        if isinstance(found, Unknown):
            reported = found.reason is not Reason.NOT_REPORTED
            return Outcome("running", found.reason, found.text) if reported else unknown(found)
        return SUCCESS if self._wanted(found) else RUNNING


class Together(Judge):
    """Several commands at once: done when all are, failed with the first that fails; then the others are called off.

    Of none at all nothing was done.
    """

    def __init__(self, context: Context, parts: list[Judge]) -> None:
        super().__init__(context, None)
        self._parts = parts

    def judge(self, now: float) -> Outcome:
        if not self._parts:
            return failure(Reason.REFUSED, "there is nothing to do")
        outcomes = [part.outcome() for part in self._parts]
        for outcome in outcomes:
            if outcome.status == "failure":
                return outcome
        if all(outcome.over for outcome in outcomes):
            return SUCCESS
        return running(min(outcome.progress or 0.0 for outcome in outcomes))

    def cancel(self) -> None:
        for part in self._parts:
            part.cancel()
        super().cancel()
