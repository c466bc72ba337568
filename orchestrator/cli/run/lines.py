"""What happens as plain lines, for pipes and files, and as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from orchestrator.cli.colour import colour
from orchestrator.cli.run.conclusion import conclusion
from orchestrator.yamlfile.characters import one_line

if TYPE_CHECKING:
    from orchestrator.engine.events import End, Event, NodeInfo

GUARD_SAYS = frozenset(
    {"mode", "refused", "emergency", "stop", "stopped", "unverified", "press_hardware_estop", "rearm", "warning"}
)
"""Reports of the guard that people see; `--json` has all of them."""
_COLOURS = {"running": "cyan", "success": "green", "failure": "red", "skipped": "yellow"}


def is_unicode(encoding: str) -> bool:
    return encoding.lower().startswith("utf")


class JsonLines:
    """One event a line, as it comes; its time in seconds since `zero`, which is known by the first event."""

    def __init__(self, zero: Callable[[], float] = lambda: 0.0) -> None:
        self._zero = zero

    def __call__(self, event: Event) -> None:
        from msgspec.structs import replace

        from orchestrator.engine.events import to_json

        line = to_json(replace(event, at=event.at - self._zero())).decode()
        if not (line.isascii() or is_unicode(sys.stdout.encoding)):
            line = json.dumps(json.loads(line), separators=(",", ":"))  # in ASCII alone, which is JSON everywhere
        print(line, flush=True)

    def remark(self, text: str) -> None:
        typer.echo(text, err=True)

    def close(self) -> None:
        pass


class Lines:
    """A line for everything that happens; `close` adds the last ones."""

    def __init__(self, kind: str, robot: str, tree: str, zero: Callable[[], float] = lambda: 0.0) -> None:
        self._nodes: list[NodeInfo] = []
        self._depth: list[int] = []
        self._shown: dict[int, str] = {}
        self._fields: dict[str, Any] = {}
        self._zero = zero
        self._last: End | None = None
        self._kind = kind
        self._all_lines = kind in ("REAL", "DRY RUN")
        typer.secho(f"{kind}  {robot}  {tree}", bold=True, color=colour())

    def __call__(self, event: Event) -> None:
        from orchestrator.engine import events

        match event:
            case events.Structure(nodes=nodes):
                self._begin(nodes)
            case events.Tick(at=at, changes=changes):
                for number, change in changes.items():
                    self._change(at, number, change)
            case events.Note(at=at, node=node, text=text):
                self._line(at, node, "says", text)
            case events.Prompt(at=at, node=node, question=question, choices=choices):
                self._line(at, node, "asks", f"{question} [{'/'.join(choices)}]")
            case events.Control(at=at, action=action, reason=reason) if not action.endswith("breakpoint"):
                typer.secho(
                    f"{self._time(at)}  {action}{reason and f': {one_line(reason)}'}", fg="yellow", color=colour()
                )
            case events.GuardReport():
                self._guard(event)
            case events.RobotShown(fields=fields):
                self._fields = fields
            case events.End():
                self._last = event  # the guard may still have something to say

    def _begin(self, nodes: list[NodeInfo]) -> None:
        self._nodes, self._depth, self._shown = nodes, [], {}
        for node in nodes:
            self._depth.append(0 if node.parent is None else self._depth[node.parent] + 1)

    def _change(self, at: float, number: int, change: Any) -> None:
        """What nodes say while they run is for live views."""
        if self._shown.get(number) != change.status and change.status != "idle":
            self._line(at, number, change.status, change.message)
        self._shown[number] = change.status

    def _guard(self, event: Any) -> None:
        if event.report == "preflight":
            for line in event.details["lines"]:
                if self._all_lines or not line["ok"]:
                    typer.echo(f"{self._time(event.at)}  {'ok ' if line['ok'] else 'NOT'} {one_line(line['text'])}")
            self._all_lines = self._kind == "REAL"  # in a dry run the first is the robot's, the next one its twin's
        elif event.report in GUARD_SAYS:
            typer.secho(
                f"{self._time(event.at)}  guard: {one_line(event.details['text'])}", fg="magenta", color=colour()
            )

    def _line(self, at: float, number: int, word: str, message: str) -> None:
        depth, name = (self._depth[number], f"{one_line(self._nodes[number].name)}: ") if self._nodes else (0, "")
        text = f"{self._time(at)}  {'  ' * depth}{name}"
        text += typer.style(word, fg=_COLOURS.get(word)) + (f"  {one_line(message)}" if message else "")
        typer.echo(text, color=colour())

    def _time(self, at: float) -> str:
        return f"{at - self._zero():8.2f}"

    def remark(self, text: str) -> None:
        typer.echo(text, err=True)

    def close(self) -> None:
        end = self._last
        if end is None:
            return
        *before, last = conclusion(end, self._nodes, self._fields, end.at - self._zero())
        for line in before:
            typer.echo(line)
        typer.secho(last, bold=True, fg="green" if end.status == "success" else "red", color=colour())
