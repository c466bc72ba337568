"""`orchestrator runs`: the missions that were run on this machine, and what happened in one of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.colour import colour
from orchestrator.yamlfile.characters import one_line

if TYPE_CHECKING:
    from orchestrator.journal.history import History
    from orchestrator.journal.runs import StoredRun
    from orchestrator.mission.story import Node, Story

_COLOURS = {"success": "green", "running": "cyan", "crashed": "red", "stopped": "red", "failure": "red"}
_HEAD = ("ID", "WHEN", "TREE", "ROBOT", "ON", "OUTCOME", "TOOK")
_IN_VIRTUAL_TIME = ("VIRTUAL", "DRY RUN")
"""Kinds of runs whose seconds are not those of the wall."""


def runs(
    run: Annotated[str | None, typer.Argument(metavar="[ID]", help="A run's id, or how it begins.")] = None,
    forget: Annotated[bool, typer.Option("--forget", help="Delete everything that is known about this run.")] = False,
    tree: Annotated[bool, typer.Option("--tree", help="Print the files of the tree as they were then.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the runs, or tell what happened in one. Exit 2 if there is no such run or it cannot be read."""
    from orchestrator.journal.history import HistoryError
    from orchestrator.journal.runs import UnknownRun, find_run

    if run is None:
        if forget or tree:
            refuse("which run? orchestrator runs lists them")
        _list(as_json)
        return
    try:
        found = find_run(run)
        if forget:
            _forget(found)
            return
        with found.history() as history:
            _show(found, history, tree, as_json)
    except (HistoryError, UnknownRun) as problem:
        refuse(str(problem))


def refuse(text: str) -> None:
    typer.echo(f"error: {text}", err=True)
    raise typer.Exit(2)


def _forget(run: StoredRun) -> None:
    if run.alive:
        refuse(f"{run.id} is still running")
    try:
        run.forget()
    except OSError as problem:
        refuse(str(problem))
    typer.echo(f"{run.id} is forgotten")


# All of them


def _list(as_json: bool) -> None:
    from orchestrator.journal.history import HistoryError
    from orchestrator.journal.runs import all_runs

    rows: list[dict[str, Any]] = []
    unreadable: list[str] = []
    for run in all_runs():
        try:
            with run.history() as history:
                rows.append(_summary(run, history))
        except HistoryError as problem:
            unreadable.append(str(problem))
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
    elif rows:
        _print_table(rows)
    else:
        typer.echo("nothing has been run yet")
    for sentence in unreadable:
        typer.echo(f"cannot be read: {sentence}", err=True)


def _summary(run: StoredRun, history: History) -> dict[str, Any]:
    about, outcome = history.fact("about"), run.outcome(history)
    if outcome["status"] == "crashed":
        run.fold_audit(history)
    return {
        "id": run.id,
        "started": about["started"],
        "tree": about["tree"],
        "robot": about["profile"]["name"],
        "kind": about["kind"],
        "status": outcome["status"],
        "reason": outcome["reason"],
        "seconds": _seconds(about, outcome, history),
        "continues": about.get("continues"),
        "continued": history.fact("continued"),
    }


def _seconds(about: dict[str, Any], outcome: dict[str, Any], history: History) -> float | None:
    """From its beginning to its end, or to the last that is known."""
    if about["kind"] in _IN_VIRTUAL_TIME:
        last = history.last_event
        return last["at"] - (history.fact("zero") or 0.0) if last else None
    started = datetime.fromisoformat(about["started"])
    if "ended" in outcome:
        return (datetime.fromisoformat(outcome["ended"]) - started).total_seconds()
    if outcome["status"] == "running":
        return (datetime.now().astimezone() - started).total_seconds()
    first, last = history.first_event, history.last_event
    return last["at"] - first["at"] if first and last else None


def _print_table(rows: list[dict[str, Any]]) -> None:
    cells = [_cells(row) for row in rows]
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(*_HEAD, box=None, pad_edge=False, header_style="bold")
        for row, texts in zip(rows, cells):
            styled = [Text(text) for text in texts]
            styled[5].stylize(_COLOURS.get(row["status"], "yellow"))
            table.add_row(*styled)
        Console().print(table)
        return
    widths = [max(map(len, column)) for column in zip(_HEAD, *cells)]
    for line in (_HEAD, *cells):
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    more = f", continued as {row['continued']}" if row["continued"] else ""
    when, took = f"{datetime.fromisoformat(row['started']):%Y-%m-%d %H:%M:%S}", _took(row["seconds"])
    return row["id"], when, row["tree"], row["robot"], row["kind"], row["status"] + more, took


def _took(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


# One of them


def _show(run: StoredRun, history: History, tree: bool, as_json: bool) -> None:
    from dataclasses import asdict

    from orchestrator.mission.resuming import story_of

    about = history.fact("about")
    if tree:
        for file, text in about["texts"].items():
            typer.echo(f"# {file}\n{text}")
        return
    story, summary = story_of(run, history), _summary(run, history)
    if as_json:
        facts = {"about": about, "robot": _shown(history), "audit": history.audit, "events": history.events}
        typer.echo(json.dumps(summary | {"story": asdict(story)} | facts, indent=2))
        return
    for line in _lines(summary, about, story, history):
        typer.echo(line, color=colour())


def _lines(summary: dict[str, Any], about: dict[str, Any], story: Story, history: History) -> Iterator[str]:
    from orchestrator.mission.resuming import RESUMABLE

    reason = f": {one_line(summary['reason'])}" if summary["reason"] else ""
    outcome = typer.style(summary["status"], fg=_COLOURS.get(summary["status"], "yellow"), bold=True)
    yield f"{summary['id']}  {about['kind']}  {summary['robot']}  {summary['tree']}  {outcome}{reason}"
    yield f"  begun      {datetime.fromisoformat(about['started']):%Y-%m-%d %H:%M:%S} by {about['who']}"
    yield f"  took       {_took(summary['seconds'])}"
    yield f"  tree       {about['file']} ({about['hash']}; --tree prints it)"
    yield f"  robot      {about['robot']} ({about['profile_hash']})"
    yield from (f"  --set      {name}={one_line(value)}" for name, value in about["settings"].items())
    yield from (f"  {word:<11}{summary[word]}" for word in ("continues", "continued") if summary[word])
    yield from _section("steps", [_node_line(story, node) for node in story.nodes if node.spells])
    yield from _section("commands", [_command_line(story, number) for number in range(len(story.commands))])
    yield from _section("people", [f"{_time(story, line.at)}  {one_line(line.text)}" for line in story.people])
    yield from _section("guard", [f"{_time(story, line.at)}  {one_line(line.text)}" for line in story.guard])
    shown = _shown(history) or {}
    yield from _section("the robot showed last", [f"{name:<22}{value}" for name, value in shown.items()])
    if problem := (history.fact("audit") or {}).get("problem"):
        yield f"\nthe guard's records are missing: {problem}"
    if summary["status"] in ("crashed", "stopped") and not summary["continued"] and about["kind"] in RESUMABLE:
        yield f"\norchestrator resume {summary['id']} goes on with it, if that is possible"


def _shown(history: History) -> dict[str, Any] | None:
    """In the end; of a run that has none, after the last step that was kept."""
    shown: dict[str, Any] | None = history.fact("shown") or history.fact("robot")
    return shown


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield title
        yield from (f"  {line}" for line in lines)


def _node_line(story: Story, node: Node) -> str:
    last = node.spells[-1]
    times = f" ({len(node.spells)} times)" if len(node.spells) > 1 else ""
    status = "cut off" if last.ended is None else last.status
    took = "" if last.ended is None else f"  {last.ended - last.began:.2f} s"
    message = f"  {one_line(last.message)}" if last.message else ""
    styled = typer.style(status, fg=_COLOURS.get(status, "yellow"))
    name = f"{'  ' * node.depth}{one_line(node.name)}"
    return f"{_time(story, node.spells[0].began)}  {name}: {styled}{took}{times}{message}"


def _command_line(story: Story, number: int) -> str:
    command = story.commands[number]
    who = f"  ({one_line(story.nodes[command.node].name)})" if command.node is not None else ""
    outcome = "OUTCOME UNKNOWN" if command.outcome == "unknown" else one_line(command.outcome)
    return f"{_time(story, command.at)}  {command.text}{who}: {outcome}"


def _time(story: Story, at: float) -> str:
    return f"{at - (story.began or 0.0):8.2f}"
