"""Why something is not known, is waiting or has failed: short stable codes, each with a sentence for people."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """A code that trees, journals and tests may rely on."""

    # Why a value is not known
    NO_SAMPLE = "no_sample"
    STALE = "stale"
    LATE = "late"
    FROZEN = "frozen"
    BAD_SAMPLE = "bad_sample"
    NOT_FINITE = "not_finite"
    OUT_OF_RANGE = "out_of_range"
    UNKNOWN_STATE = "unknown_state"
    NOT_REPORTED = "not_reported"

    # Why a command failed
    REFUSED = "refused"
    NOT_ACCEPTED = "not_accepted"
    NO_PROGRESS = "no_progress"
    TIMEOUT = "timeout"
    FAILED = "failed"
    EMERGENCY = "emergency"
    REBOOT = "reboot"
    CANCELLED = "cancelled"
    CANCELLED_BY_OTHER = "cancelled_by_other"
    CONTROL_LOST = "control_lost"
    ENDED = "ended"
    NOTHING_HELD = "nothing_held"
    UNSUPPORTED = "unsupported"
    BAD_FILE = "bad_file"

    # What it waits for, or failed waiting for
    BUSY = "busy"
    QUEUED = "queued"
    BLOCKED = "blocked"
    PAUSED = "paused"
    CONFIRMATION = "confirmation"

    @property
    def sentence(self) -> str:
        return SENTENCES[self]


SENTENCES: dict[Reason, str] = {
    Reason.NO_SAMPLE: "the robot has not reported it yet",
    Reason.STALE: "the robot has stopped reporting it",
    Reason.LATE: "the robot's reports arrive too late",
    Reason.FROZEN: "the robot keeps sending the same report: its heartbeat stands still",
    Reason.BAD_SAMPLE: "the robot's report is not what its type says",
    Reason.NOT_FINITE: "the robot reports something that is not a number",
    Reason.OUT_OF_RANGE: "the robot reports an impossible value",
    Reason.UNKNOWN_STATE: "the robot reports a state nobody knows",
    Reason.NOT_REPORTED: "this robot does not report it",
    Reason.REFUSED: "the command was refused",
    Reason.NOT_ACCEPTED: "the robot did not react to the command",
    Reason.NO_PROGRESS: "the robot took the command but gets no further",
    Reason.TIMEOUT: "it took too long",
    Reason.FAILED: "the robot reports that it failed",
    Reason.EMERGENCY: "an emergency stop is active",
    Reason.REBOOT: "the robot or its controller has restarted",
    Reason.CANCELLED: "it was cancelled",
    Reason.CANCELLED_BY_OTHER: "somebody else cancelled it",
    Reason.CONTROL_LOST: "control was taken away",
    Reason.ENDED: "the guard ended it",
    Reason.NOTHING_HELD: "the hand holds nothing",
    Reason.UNSUPPORTED: "this robot cannot do it",
    Reason.BAD_FILE: "the file cannot be used",
    Reason.BUSY: "the robot is still busy with something else",
    Reason.QUEUED: "the task waits behind another one",
    Reason.BLOCKED: "the way is blocked",
    Reason.PAUSED: "the task is paused",
    Reason.CONFIRMATION: "a person must confirm at the robot",
}
