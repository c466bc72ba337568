"""The engine does what a plain reading of the language says: random files, compared with the reference interpreter."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import pytest

from orchestrator.engine.events import Event, Note, Prompt
from orchestrator.engine.prompts import Question
from orchestrator.engine.run import PERIOD
from orchestrator.engine.runner import ROUNDING, SHORTEST
from orchestrator.treefile import Surroundings, Tree, check_file
from tests.engine.missions import CATALOGUE, FIELDS, Mission, mission_of
from tests.engine.random_files import RandomFile
from tests.engine.reference import Reference
from tests.treefile.stand_in import ATOM_W

LONGEST = 60.0
GROUPS, PER_GROUP = 10, 120
LATER = [(step + 0.2) * 0.7 for step in range(80)]
"""When a person has answered whatever is open."""
Log = list[tuple[float, str]]


def by_engine(tree: Tree, file: RandomFile) -> tuple[str, Log]:
    start: dict[str, Any] = {name.replace(".", "__"): value for name, value in file.start.items()}
    run = mission_of(tree, answer, **start)
    run.fields.watched.update(FIELDS)
    run.runner._on_event = partial(note, run)
    for time, name, value in file.changes:
        run.at(time, partial(run.fields.__setitem__, name, value))
    for time in LATER:
        run.at(time, partial(answer_all, run))
    run.at(LONGEST, lambda: run.runner.stop("too long"))
    return run.run().status, run.log


def note(run: Mission, event: Event) -> None:
    """Remarks and questions among what leaves do."""
    if isinstance(event, Note) and run.built.structure[event.node].kind == "Log":
        run.robot.note(f"log {event.text}")
    if isinstance(event, Prompt):
        run.robot.note(f"ask {event.question}")


def answer(question: Question) -> str | None:
    return known(question.text)


def answer_all(run: Mission) -> None:
    for question in run.prompts.open:
        run.prompts.answer(question.number, agree(question.text))
    run.fields["pad.x"] = run.fields.read("pad.x")  # a turn, as in the reference


def known(text: str) -> str | None:
    return None if "later" in text else agree(text)


def agree(text: str) -> str:
    return "no" if "not" in text else "yes"


def by_reference(tree: Tree, file: RandomFile) -> tuple[str, Log]:
    log: Log = []
    fields: dict[str, Any] = dict(file.start)
    world = 0.0
    reference = Reference(tree, fields.get, lambda text: log.append((round(world, 6), text)), known)
    moments = sorted([*((time, name, value) for time, name, value in file.changes), *((at, "", None) for at in LATER)])
    moments += [(LONGEST, "", None), (inf, "", None)]
    while (end := reference.tick(world)) is None:
        heartbeat, earliest = world + PERIOD, world + SHORTEST
        due = reference.due + (reference.lost if reference.paused_at is None else 0.0)
        until = max(due if due < heartbeat + ROUNDING else heartbeat, earliest)
        if moments[0][0] <= until:
            until = max(moments[0][0], earliest)
        while moments[0][0] <= until:
            time, name, value = moments.pop(0)
            if time == LONGEST:
                return "stopped", log
            if name:
                fields[name] = value
            else:
                for question in reference.open:
                    question.answer = agree(question.text)
        world = until
    return "failure" if end == "failure" else "success", log


def checked(path: Path, file: RandomFile) -> Tree | None:
    path.write_text(file.text)
    for name, text in file.parts.items():
        path.with_name(name).write_text(text)
    result = check_file(path, Surroundings(CATALOGUE, FIELDS, robot=ATOM_W))
    return result.tree if result.ok else None


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_files_run_as_the_reference_says(
    group: int, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    compared = entries = 0
    for seed in range(group * PER_GROUP, (group + 1) * PER_GROUP):
        file = RandomFile(seed, everything=True)
        tree = checked(tmp_path / "main.yaml", file)
        if tree is not None:
            ours, expected = by_engine(tree, file), by_reference(tree, file)
            compared, entries = compared + 1, entries + len(ours[1])
            assert ours == expected, f"seed {seed}\n{file.text}\n{file.parts}"
    record_property("files compared", compared)
    print(f"{compared} files, {entries} starts, stops, pauses, remarks and questions, each to the microsecond")
    assert compared > PER_GROUP / 2
