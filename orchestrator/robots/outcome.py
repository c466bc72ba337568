"""How far a command is: running, succeeded or failed, and why."""

from __future__ import annotations

from typing import Literal, NamedTuple

from orchestrator.robots.knowledge import Unknown
from orchestrator.robots.reasons import Reason


class Outcome(NamedTuple):
    """What a judge says about its command now."""

    status: Literal["running", "success", "failure"]
    reason: Reason | None = None
    """Why it failed, or what it waits for while it runs."""
    text: str = ""
    """A sentence for the operator."""
    progress: float | None = None
    """From 0 to 1, where it can be told."""
    result: str | None = None
    """What came out, such as object, nothing or not_moved of a grasp."""
    until: float = float("-inf")
    """Running: until when it would be judged the same unless the robot reports something new."""

    @property
    def over(self) -> bool:
        return self.status != "running"


RUNNING = Outcome("running")
SUCCESS = Outcome("success", progress=1.0)


def running(progress: float | None = None, waiting: Reason | None = None) -> Outcome:
    return Outcome("running", waiting, waiting.sentence if waiting is not None else "", progress)


def failure(reason: Reason, detail: str = "", result: str | None = None) -> Outcome:
    text = f"{reason.sentence}: {detail}" if detail else reason.sentence
    return Outcome("failure", reason, text, result=result)


def unknown(knowledge: Unknown) -> Outcome:
    """Failure because what must be judged is not known."""
    return failure(knowledge.reason, knowledge.text)
