"""What a run looks like at an instant, gathered from its events."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.cli.run.lines import GUARD_SAYS
from orchestrator.engine import events
from orchestrator.engine.events import Change, Event, NodeInfo, NodeStatus


@dataclass
class NodeView:
    """One node of the tree."""

    info: NodeInfo
    depth: int
    status: NodeStatus = "idle"
    message: str = ""
    progress: float | None = None
    since: float = 0.0
    """When it took on its status, by the time of the run."""
    breaks: bool = False
    """Whether the run pauses before it."""
    cut: bool = False
    """Whether it was running when the run was stopped or aborted."""

    def change(self, change: Change, at: float) -> None:
        if change.status != self.status:
            self.since = at
        self.status, self.message, self.progress = change.status, change.message, change.progress


@dataclass
class Picture:
    """Everything a screen shows of one run."""

    kind: str
    robot: str
    tree: str
    nodes: list[NodeView] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    mode: str = ""
    said: list[str] = field(default_factory=list)
    """What the guard and the nodes said, the newest last."""
    preflight: list[tuple[bool, str]] = field(default_factory=list)
    """Lines of the last preflight, until the robot runs."""
    questions: dict[int, events.Prompt] = field(default_factory=dict)
    paused: str | None = None
    began: float | None = None
    end: events.End | None = None
    _aborting: bool = False
    _halted: dict[int, NodeView] = field(default_factory=dict)
    """Nodes as they were before the last tick, if that did nothing but halt them."""
    _paused_at: float | None = None
    _lost: float = 0.0

    def take(self, event: Event) -> None:
        match event:
            case events.Structure(at=at, nodes=nodes):
                self._begin(nodes, at)
            case events.Tick(at=at, changes=changes):
                self._tick(at, changes)
            case events.Note(node=node, text=text):
                self.said.append(f"{self.nodes[node].info.name}: {text}")
            case events.Prompt():
                self.questions[event.number] = event
            case events.Answer(number=number) | events.Withdrawn(number=number):
                self.questions.pop(number, None)
            case events.Control():
                self._control(event)
            case events.GuardReport():
                self._guard(event)
            case events.RobotShown(fields=fields):
                self.fields = fields
            case events.End():
                self._stop(event)

    @property
    def question(self) -> events.Prompt | None:
        """The one to be answered first."""
        return next(iter(self.questions.values()), None)

    @property
    def running(self) -> bool:
        """Whether the tree runs: not before it is armed, and not after a stop."""
        return self.end is None and any(node.status == "running" for node in self.nodes)

    def run_time(self, at: float) -> float:
        """Time stands still for all nodes while the run is paused."""
        return (at if self._paused_at is None else self._paused_at) - self._lost

    def _begin(self, nodes: list[NodeInfo], at: float) -> None:
        self.nodes, self.end, self._aborting = [], None, False
        self.began = self.run_time(at) if self.began is None else self.began
        for info in nodes:
            self.nodes.append(NodeView(info, 0 if info.parent is None else self.nodes[info.parent].depth + 1))

    def _tick(self, at: float, changes: dict[int, Change]) -> None:
        self._halted = {}
        if all(change.status == "idle" for change in changes.values()):
            self._halted = {number: replace(self.nodes[number]) for number in changes}
        for number, change in changes.items():
            if self._aborting and change.status == "idle":
                self._cut(number, self.nodes[number])
            else:
                self.nodes[number].change(change, self.run_time(at))

    def _resume(self, at: float) -> None:
        if self._paused_at is not None:
            self._lost += at - self._paused_at
        self.paused = self._paused_at = None

    def _stop(self, end: events.End) -> None:
        """A run that was stopped while it was paused is over, and not paused any more."""
        self.end = end
        self._resume(end.at)
        if end.status == "stopped":
            for number, node in self._halted.items():
                self._cut(number, node)

    def _cut(self, number: int, node: NodeView) -> None:
        """A run that was stopped or aborted has halted all nodes; people want to see how far it was."""
        self.nodes[number] = replace(node, cut=node.cut or node.status == "running")

    def _control(self, event: events.Control) -> None:
        match event.action:
            case "paused":
                self.paused, self._paused_at = event.reason, event.at
            case "resumed":
                self._resume(event.at)
            case "aborting":
                self._aborting = True
                self.said.append(f"aborting: {event.reason}")
            case "breakpoint" | "no_breakpoint" if event.node is not None:
                self.nodes[event.node].breaks = event.action == "breakpoint"

    def _guard(self, event: events.GuardReport) -> None:
        if event.report == "preflight":
            self.preflight = [(line["ok"], line["text"]) for line in event.details["lines"]]
            return
        if event.report == "mode":
            self.mode = event.details["value"]
            if self.mode == "running":
                self.preflight = []
        if event.report in GUARD_SAYS:
            self.said.append(f"guard: {event.details['text']}")
