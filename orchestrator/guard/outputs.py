"""What the guard lets out: messages to the robot, and reports to people and to the run."""

from __future__ import annotations

from typing import Literal

import msgspec

from orchestrator.robots.intents import AnyIntent

Role = Literal["command", "stop", "stream", "repeat"]
"""command: an intent that passed the rules; stream: a frame of one; repeat: sent again for want of evidence."""


class Send(msgspec.Struct, frozen=True):
    """One intent, to be turned into messages by the robot's drive."""

    intent: AnyIntent
    role: Role
    id: int
    """The run's number of the intent; 0 when the guard acts by itself."""
    cause: str
    """Why: the name of the intent's class, or what the stop is for."""
    record: bool = True
    """Whether the audit gets a record: streams at start, change and end only."""
    sync: bool = False
    """Not idempotent: its record must be on the disk before it leaves."""


class Joints(msgspec.Struct, frozen=True):
    """One frame of joint angles for whole groups."""

    groups: tuple[tuple[str, tuple[float, ...]], ...]
    stiffness: float
    """Fraction of the nominal position gain: 1 holds, 0 is limp."""
    damping: float | None
    """Damping gain while limp; None keeps the nominal one."""
    role: Role
    id: int
    cause: str
    record: bool = True
    sync: bool = False


Output = Send | Joints

ReportKind = Literal[
    "mode", "lease", "refused", "sent", "ended", "evidence", "no_evidence", "emergency", "stop", "stopped",
    "unverified", "press_hardware_estop", "preflight", "rearm", "choice", "warning",
]  # fmt: skip


HUNG = "the run is hung"
"""Why a robot is stopped whose run is not heard any more, though it has not gone."""
SLOW_DISK = "a command took too long to reach the disk, and the run was not heard meanwhile"
"""The same, when it is not the run's fault."""
ANSWER = "rpc"
"""The value of a warning: the robot refused a call or did not answer it, and what it shows decides."""
NOT_FOLLOWED = "not followed"
"""The value of the end of a joint motion that the robot did not follow."""
LET_GO = "let go"
"""The value of a warning: the robot went limp, and whether by an e-stop or by somebody is not known yet."""


class Report(msgspec.Struct, frozen=True):
    """Something a person or the run should know."""

    kind: ReportKind
    text: str
    id: int = 0
    """The intent it is about, if any."""
    value: str = ""
    """The machine-readable part: mode, reason code, profile or choice."""
