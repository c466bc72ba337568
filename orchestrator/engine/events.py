"""What a run tells: one ordered stream of events, read by terminal, journal, recorder, tests and console.

The structure comes first, then what changes; it comes again when a person lets a stopped run go on. What the guard
does to leave the robot standing comes after the end. Times are seconds of the bus' clock, which starts anywhere and
goes on while the run is paused (`--json` counts from where the run began). Nodes are known by their numbers.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

VERSION = 1

NodeStatus = Literal["idle", "running", "success", "failure", "skipped"]
RunStatus = Literal["success", "failure", "aborted", "stopped"]


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    at: float


class NodeInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """One node of the file."""

    number: int
    parent: int | None
    kind: str
    name: str
    file: str
    line: int
    role: str = ""  # then, else, finally: which of its parent's lists it stands in
    note: str = ""


class Structure(_Event, frozen=True, kw_only=True, tag="structure"):
    """The tree; always the first event, and with it the version of all others."""

    version: int = VERSION
    tree: str
    file: str
    robot: str
    nodes: list[NodeInfo]


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """A node's new status, with its reason or remark if it has one; or what a node that goes on running says."""

    status: NodeStatus
    message: str = ""
    progress: float | None = None  # from 0 to 1, in steps of 0.01


class Tick(_Event, frozen=True, kw_only=True, tag="tick"):
    """The nodes with another status than before the tick, or something new to say; other ticks are not told.

    Tick 0 is told only of a tree that goes on: where it stands. What has ended by then has ended before, not again.
    """

    tick: int
    changes: dict[int, Change]


class Note(_Event, frozen=True, kw_only=True, tag="note"):
    """A remark: from the leaf Log, or about something that went wrong where nothing could fail any more."""

    node: int
    text: str


class Saved(_Event, frozen=True, kw_only=True, tag="saved"):
    values: dict[str, Any]


class Prompt(_Event, frozen=True, kw_only=True, tag="prompt"):
    """A question to the operator; it is open until an `Answer` or `Withdrawn` with the same number."""

    number: int
    node: int
    question: str
    choices: list[str]


class Answer(_Event, frozen=True, kw_only=True, tag="answer"):
    number: int
    answer: str


class Withdrawn(_Event, frozen=True, kw_only=True, tag="withdrawn"):
    """Nobody waits for the answer any more."""

    number: int


class Control(_Event, frozen=True, kw_only=True, tag="control"):
    """The run was paused, resumed or is being aborted; a breakpoint was set, or taken away."""

    action: Literal["paused", "resumed", "aborting", "breakpoint", "no_breakpoint"]
    reason: str = ""
    node: int | None = None  # the breakpoint, also the one at which the run was paused


class Command(_Event, frozen=True, kw_only=True, tag="command"):
    """An intent went to the guard."""

    id: int
    """Counted from 1: the number under which the guard reports and records it."""
    node: int | None
    """Who asked for it."""
    once: bool
    """It must not be done twice."""
    intent: str
    details: dict[str, Any]


class GuardReport(_Event, frozen=True, kw_only=True, tag="guard"):
    """Something the guard did or refused."""

    report: str
    details: dict[str, Any]


class RobotShown(_Event, frozen=True, kw_only=True, tag="robot"):
    """What the robot shows: when that has changed, if somebody looks, and when a run ends without success."""

    fields: dict[str, Any]
    """By the names of the field table, and `errors.problems`: what is wrong, in words; null when it is not known."""


class End(_Event, frozen=True, kw_only=True, tag="end"):
    """How the run ended. After it only the guard reports, until the robot stands; a run that goes on begins anew."""

    status: RunStatus
    reason: str
    node: int | None
    place: str
    skipped: list[str]
    ticks: int


Event = (
    Structure | Tick | Note | Saved | Prompt | Answer | Withdrawn | Control | Command | GuardReport | RobotShown | End
)  # one union: a reader decodes any line of the stream with it

_encode = msgspec.json.Encoder().encode


def to_json(event: Event) -> bytes:
    try:
        return _encode(event)
    except UnicodeEncodeError:
        return _encode(_all_readable(msgspec.to_builtins(event)))


def readable(text: str) -> str:
    """Without half characters, by which Python stands for the bytes of a file name that is no text."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def _all_readable(part: Any) -> Any:
    if isinstance(part, dict):
        return {_all_readable(key): _all_readable(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_all_readable(item) for item in part]
    return readable(part) if isinstance(part, str) else part


def from_json(line: bytes) -> Event:
    return _decoder.decode(line)


_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
