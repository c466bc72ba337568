"""`orchestrator resume`: goes on with a run that crashed or was stopped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.run import options as o
from orchestrator.yamlfile.characters import one_line

if TYPE_CHECKING:
    from orchestrator.mission.resuming import Unfinished


def resume(
    run: Annotated[str, typer.Argument(metavar="ID", help="A run's id, or how it begins.")],
    answer: o.Answers = None,
    arm: o.Arm = False,
    as_json: o.Json = False,
) -> None:
    """Go on with a run that crashed or was stopped, on the robot it ran on and after a preflight.

    What has been done is not done again. A step that was cut off starts again only if that is harmless; otherwise a
    person is asked, or --answer "STEP=start again" (treat as done, fail) says so.

    Exit codes are those of orchestrator run; 2 also when it cannot go on.
    """
    unfinished = _unfinished(run)
    sim = unfinished.about["kind"] == "SIM"
    options = o.Options(
        tree=Path(unfinished.about["file"]), robot=unfinished.about["robot"], sim=sim, virtual=False, dry_run=False,
        values=unfinished.about["settings"], substitute=None, breaks=(), yes=False,
        answers=o.answers(answer), arm=arm, faults=(), seed=0, as_json=as_json,
    )  # fmt: skip
    if mistake := options.mistake():
        o.refuse(mistake)
    for line in _overview(unfinished):
        typer.echo(line, err=True)

    from orchestrator.cli.run.command import run_to_end

    raise typer.Exit(run_to_end(lambda: unfinished.loaded, options, unfinished))


def _unfinished(run: str) -> Unfinished:
    from orchestrator.journal.history import HistoryError
    from orchestrator.journal.runs import UnknownRun, find_run
    from orchestrator.mission.loading import CannotRun
    from orchestrator.mission.resuming import CannotResume, unfinished

    try:
        stored = find_run(run)
        with stored.history() as history:
            return unfinished(stored, history)
    except (CannotResume, CannotRun, HistoryError, UnknownRun) as problem:
        o.refuse(str(problem))


def _overview(unfinished: Unfinished) -> list[str]:
    """What a person should know before the robot is armed."""
    story, outcome = unfinished.story, unfinished.outcome
    lines = [f"{unfinished.run.id} {outcome['status']}: {one_line(outcome['reason'])}"]
    lines += [f"  was running: {one_line(node.name)} on line {node.line}" for node in story.cut_off]
    lines += [f"  outcome unknown, not sent again by itself: {command.text}" for command in story.unknown]
    if unfinished.about["kind"] == "SIM":
        lines.append("  the simulated robot ended with that run: this one starts anew, and nothing has happened to it")
    return lines
