"""How capabilities send intents: through somebody who checks them, turns them into messages and answers for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from orchestrator.robots.intents import AnyIntent


@dataclass
class Receipt:
    """What became of an intent. Evidence counts only if it is newer than `sent_at`."""

    intent: AnyIntent
    state: Literal["pending", "sent", "refused", "ended"] = "pending"
    """ended: a stream that is no longer renewed, or whatever the guard has stopped."""
    reason: str = ""
    sent_at: float = float("inf")
    """When its first message left, by the bus' clock; infinite until then."""
    not_followed: bool = False
    """Whether it was ended because the joints did not follow."""
    confirmed: bool = False
    """Whether the robot has shown or answered that it took it."""
    answer: str = ""
    """What the robot answered, if that was not yes, or that it did not answer. It may have done it all the same."""


class Commander(Protocol):
    """Takes intents and lets them out, or refuses them with a reason."""

    def send(self, intent: AnyIntent) -> Receipt:
        """Ask for an intent; its receipt changes as the answer comes. A stream is renewed by every heartbeat."""

    def end(self, receipt: Receipt) -> None:
        """Stop renewing a stream: it ends with zero velocity or hold, at once. A pose ends where the robot is."""
