"""The modes of a guarded robot, and which of them outranks which."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    OFFLINE = "offline"
    """The robot is not there, or has not said enough about itself."""
    DISARMED = "disarmed"
    ARMED = "armed"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    """A stop is under way and its effect has not been seen yet."""
    INTERVENED = "intervened"
    """Somebody else commands the robot: we publish nothing but a person's explicit stop."""
    FAULT = "fault"
    ESTOPPED = "estopped"

    __hash__ = str.__hash__  # that of enumerations is slow, and modes are looked up at every step


SEVERITY: dict[Mode, int] = {
    Mode.PAUSED: 1,
    Mode.STOPPING: 2,
    Mode.INTERVENED: 3,
    Mode.FAULT: 4,
    Mode.ESTOPPED: 5,
}
"""The higher one wins; modes that are not listed rank 0."""

ACTIVE = frozenset({Mode.ARMED, Mode.RUNNING, Mode.PAUSED})
"""Modes in which the robot may move because of us."""

LATCHING = frozenset({Mode.INTERVENED, Mode.FAULT, Mode.ESTOPPED})
"""Modes that only a person ends."""


def severity(mode: Mode) -> int:
    return SEVERITY.get(mode, 0)
