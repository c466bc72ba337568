"""What the parts of a simulated robot have in common: they are brought forward in time, in steps of any length."""

from __future__ import annotations

from typing import Protocol

NEVER = float("inf")


class Model(Protocol):
    """A part of a robot. Between two commands its state follows in closed form, so virtual time can jump."""

    def advance(self, now: float) -> None:
        """Bring it to this time."""

    def next_change(self) -> float:
        """When something about it changes by itself that others must hear of at once; NEVER if nothing will."""
