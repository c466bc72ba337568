"""A run that ended too early, and whether it can go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from orchestrator import __version__
from orchestrator.engine.checkpoint import Checkpoint, WrongCheckpoint, from_json
from orchestrator.journal.history import History, HistoryError
from orchestrator.journal.runs import CRASHED, RUNNING, StoredRun
from orchestrator.mission.loading import Loaded, load_mission
from orchestrator.mission.recording import plain
from orchestrator.mission.story import Story, tell

RESUMABLE = ("REAL", "SIM")
"""Kinds of runs in which something happened that goes on: in a dry run nothing did."""


class CannotResume(Exception):
    """A run cannot go on; one sentence that says why."""


@dataclass(frozen=True)
class Unfinished:
    """A run that can go on, if a person arms the robot."""

    run: StoredRun
    about: Mapping[str, Any]
    outcome: Mapping[str, Any]
    loaded: Loaded
    state: bytes
    checkpoint: Checkpoint
    story: Story
    robot: Mapping[str, Any]
    """What it showed when the state was kept."""


def unfinished(run: StoredRun, history: History) -> Unfinished:
    """Everything that is needed to go on with a run. Raises CannotResume, CannotRun or HistoryError."""
    about, outcome = history.fact("about"), run.outcome(history)
    _check_ended_early(run, about, outcome, history)
    story = story_of(run, history)
    if problem := (history.fact("audit") or {}).get("problem"):
        raise CannotResume(f"{run.id}: what was sent to the robot last cannot be known: {problem}")
    kept = history.fact("checkpoint")
    if story.aborting:
        raise CannotResume(f"{run.id} was being aborted: there is nothing to go on with")
    if kept is None:
        raise CannotResume(f"{run.id} had done nothing yet: run {about['file']} again")
    _check_accounted_for(run, story, kept["commands"])
    _check_same_tree(about)
    loaded = load_mission(Path(about["file"]), about["robot"], about["settings"])
    if difference := _other_value(about["profile"], plain(loaded.profile), "profile"):
        raise CannotResume(f"the robot's profile is not the one it ran with: {difference}")
    state = msgspec.json.encode(kept["state"])
    try:
        checkpoint = from_json(state)
    except WrongCheckpoint as error:
        raise CannotResume(str(error)) from error
    return Unfinished(run, about, outcome, loaded, state, checkpoint, story, history.fact("robot") or {})


def story_of(run: StoredRun, history: History) -> Story:
    """What happened in it, with what the guard has recorded until now."""
    if not run.alive:
        run.fold_audit(history)
    source = history.fact("audit")
    there = source is not None and "problem" not in source
    return tell(history.events, history.audit if there or history.audit else None, history.fact("zero"))


def _check_ended_early(run: StoredRun, about: Mapping[str, Any], outcome: Mapping[str, Any], history: History) -> None:
    status = outcome["status"]
    if status == RUNNING:
        raise CannotResume(f"{run.id} is still running")
    if status not in (CRASHED, "stopped"):
        raise CannotResume(f"{run.id} ended by itself: {status}")
    if continued := history.fact("continued"):
        raise CannotResume(f"{run.id} was continued as {continued}{_what_then(run, continued)}")
    if about["kind"] not in RESUMABLE:
        raise CannotResume(f"{run.id} was in virtual time: run it again")
    if about["stand_ins"]:
        raise CannotResume(f"{run.id} ran with stand-ins: run it again")


def _what_then(run: StoredRun, continued: str) -> str:
    """What a person can do about a run that was continued: nothing more if the one that went on came to its end."""
    following = StoredRun(run.folder.parent / continued)
    try:
        with following.history() as history:
            status = following.outcome(history)["status"]
    except HistoryError:
        return ": resume that"
    if status == RUNNING:
        return ", and that is still running"
    return ": resume that" if status in (CRASHED, "stopped") else f", and that ended by itself: {status}"


def _check_accounted_for(run: StoredRun, story: Story, commands: int) -> None:
    """What was sent after the state was kept would be sent again by whoever goes on from there."""
    later = [command for command in story.commands if command.id > commands and command.was_sent]
    if later:
        listed = "; ".join(f"{command.text}" for command in later)
        raise CannotResume(
            f"{run.id} ended in the middle of a step: {listed} left after the last state of the tree that was kept, "
            "and would be sent again. Bring the robot where you want it and run the tree from the beginning"
        )


def _check_same_tree(about: Mapping[str, Any]) -> None:
    """The same files and program as when it began."""
    if about["version"] != __version__:
        raise CannotResume(f"it was begun with orchestrator {about['version']}; this is {__version__}")
    for file, text in about["texts"].items():
        if difference := _other_text(Path(file), text):
            raise CannotResume(f"the tree is not the one that ran: {difference}")


def _other_text(file: Path, before: str) -> str:
    try:
        now = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return f"{file} cannot be read: {error}"
    lines = before.splitlines(), now.splitlines()
    for number, (old, new) in enumerate(zip(*lines), start=1):
        if old != new:
            return f'{file}:{number}: "{old.strip()}" became "{new.strip()}"'
    return "" if before == now else f"{file} had {len(lines[0])} lines and has {len(lines[1])}"


def _other_value(before: Any, now: Any, name: str) -> str:
    if isinstance(before, dict) and isinstance(now, dict):
        differences = (_other_value(before.get(key), now.get(key), f"{name}.{key}") for key in sorted({*before, *now}))
        return next(filter(None, differences), "")
    return "" if before == now else f"{name} was {before} and is {now}"
