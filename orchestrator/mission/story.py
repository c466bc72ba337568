"""What happened in a run, told from the events of its history and the guard's records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Record = Mapping[str, Any]
REFUSED, NOT_SENT = "refused", "not sent"
_ENDS = frozenset({"success", "failure", "skipped"})
_WATCHED = frozenset({"mode", "emergency", "stop", "stopped", "unverified", "press_hardware_estop", "warning", "rearm"})
"""What of the guard's reports a person wants to read afterwards."""


@dataclass
class Spell:
    """One time a node ran."""

    began: float
    ended: float | None = None
    status: str = "running"
    message: str = ""


@dataclass
class Node:
    """One node of the tree and the times it ran."""

    number: int
    name: str
    line: int
    depth: int
    is_leaf: bool
    spells: list[Spell] = field(default_factory=list)

    def take(self, at: float, change: Record) -> None:
        status, message = change["status"], change.get("message", "")
        if status == "running":
            if not self.is_open:
                self.spells.append(Spell(at))
            self.spells[-1].message = message
        elif self.is_open:
            spell = self.spells[-1]
            spell.ended, spell.status = at, "interrupted" if status == "idle" else status
            spell.message = message or spell.message
        elif status != "idle":
            self.spells.append(Spell(at, at, status, message))

    @property
    def is_open(self) -> bool:
        return bool(self.spells) and self.spells[-1].ended is None


@dataclass
class Command:
    """Something that was asked of the robot."""

    at: float
    id: int
    text: str
    node: int | None
    outcome: str = "unknown"

    @property
    def was_sent(self) -> bool:
        """As far as anybody knows."""
        return self.outcome != NOT_SENT and not self.outcome.startswith(REFUSED)


@dataclass
class Line:
    """Something a person did, or should have read."""

    at: float
    text: str


@dataclass
class Story:
    """A run from its beginning to its end, or to where its history ends."""

    nodes: list[Node] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    people: list[Line] = field(default_factory=list)
    guard: list[Line] = field(default_factory=list)
    began: float | None = None
    last: float = 0.0
    aborting: bool = False

    @property
    def cut_off(self) -> list[Node]:
        """The leaves that were running when it ended."""
        return [node for node in self.nodes if node.is_leaf and node.is_open]

    @property
    def unknown(self) -> list[Command]:
        """Commands of which nobody knows what became."""
        return [command for command in self.commands if command.outcome == "unknown"]


def tell(events: Iterable[Record], audit: Iterable[Record] | None, zero: float | None = None) -> Story:
    """`audit` is None when the guard's records are not there; without `zero` times count from the first event."""
    story = Story(began=zero)
    questions: dict[int, str] = {}
    for event in events:
        at = event["at"]
        story.began = at if story.began is None else story.began
        story.last = max(story.last, at)
        match event["event"]:
            case "structure" if not story.nodes:
                story.nodes = _nodes(event["nodes"])
            case "tick":
                _take_tick(story, event)
            case "command":
                text = _text({"intent": event["intent"], **event["details"]})
                story.commands.append(Command(at, event.get("id", 0), text, event.get("node")))
            case "prompt":
                questions[event["number"]] = event["question"]
            case "answer":
                story.people.append(Line(at, f"{questions.get(event['number'], 'a question')} {event['answer']}"))
            case "control":
                story.people.append(Line(at, " - ".join(filter(None, (event["action"], event.get("reason"))))))
                story.aborting = story.aborting or event["action"] == "aborting"
            case "guard":
                _hear(story, at, event["report"], event["details"])
    if audit is not None:
        _compare(story, audit)
    return story


def _nodes(infos: list[Record]) -> list[Node]:
    parents = {info.get("parent") for info in infos}
    nodes: list[Node] = []
    for info in infos:
        parent = info.get("parent")
        depth = 0 if parent is None else nodes[parent].depth + 1
        nodes.append(Node(info["number"], info["name"], info["line"], depth, info["number"] not in parents))
    return nodes


def _take_tick(story: Story, event: Record) -> None:
    for number, change in event["changes"].items():
        if event["tick"] == 0 and change["status"] in _ENDS:
            continue  # before this tree went on: that was told then
        story.nodes[int(number)].take(event["at"], change)
        _settle(story, int(number), change)


def _settle(story: Story, number: int, change: Record) -> None:
    """A leaf that ended by itself knows what became of its commands."""
    if change["status"] in ("success", "failure"):
        for command in story.commands:
            if command.node == number and command.outcome == "unknown":
                command.outcome = "done" if change["status"] == "success" else "its step failed"


def _hear(story: Story, at: float, report: str, details: Record) -> None:
    if report == "refused" and details.get("id"):
        for command in story.commands:
            if command.id == details["id"]:
                command.outcome = f"{REFUSED}: {details['text']}"
    if report in _WATCHED or report == "refused":
        story.guard.append(Line(at, details["text"]))


def _compare(story: Story, audit: Iterable[Record]) -> None:
    """What the guard let out is the truth: a command without a record never left; a record without one is unknown."""
    records: dict[int, Record] = {}
    for record in audit:
        if record.get("role") == "stop":
            story.guard.append(Line(record["at"], f"{_text(record.get('command', {}))} sent: {record['cause']}"))
        elif record.get("role") == "withdrawn":
            records.pop(record["id"], None)
        elif record.get("id") and record.get("role") in ("command", "stream"):
            records.setdefault(record["id"], record)
    known = {command.id for command in story.commands}
    for command in story.unknown:
        if command.id not in records:
            command.outcome = NOT_SENT
    for number, record in records.items():
        if number not in known:
            story.commands.append(Command(record["at"], number, _text(record.get("command", {})), None))


def _text(command: Record) -> str:
    values = ", ".join(f"{name} {_short(value)}" for name, value in command.items() if name != "intent")
    return f"{command.get('intent', 'joints')} {values}".strip()


def _short(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
