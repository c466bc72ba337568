"""The engine does what a plain reading of the language says: random files, compared with the reference interpreter."""

from __future__ import annotations

from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import pytest

from orchestrator.engine.prompts import Question
from orchestrator.engine.runner import PERIOD, ROUNDING, SHORTEST
from orchestrator.treefile import Surroundings, Tree, check_file
from tests.engine.missions import CATALOGUE, FIELDS, mission_of
from tests.engine.random_files import RandomFile
from tests.engine.reference import Reference
from tests.treefile.stand_in import ATOM_W

LONGEST = 60.0
GROUPS, PER_GROUP = 8, 60
Log = list[tuple[float, str]]


def by_engine(tree: Tree, file: RandomFile) -> tuple[str, Log]:
    start: dict[str, Any] = {name.replace(".", "__"): value for name, value in file.start.items()}
    run = mission_of(tree, answer, **start)
    run.fields.watched.update(FIELDS)
    for time, name, value in file.changes:
        run.at(time, partial(run.fields.__setitem__, name, value))
    run.at(LONGEST, lambda: run.runner.stop("too long"))
    return run.run().status, run.log


def answer(question: Question) -> str:
    return agree(question.text)


def agree(text: str) -> str:
    return "no" if "not" in text else "yes"


def by_reference(tree: Tree, file: RandomFile) -> tuple[str, Log]:
    log: Log = []
    fields: dict[str, Any] = dict(file.start)
    reference = Reference(tree, fields.get, lambda text: log.append((round(reference.now, 6), text)), agree)
    changes = [*file.changes, (LONGEST, "", None), (inf, "", None)]
    while (end := reference.tick()) is None:
        now = reference.now
        heartbeat, earliest = now + PERIOD, now + SHORTEST
        until = max(reference.due if reference.due < heartbeat + ROUNDING else heartbeat, earliest)
        if changes[0][0] <= until:
            until = max(changes[0][0], earliest)
        while changes[0][0] <= until:
            time, name, value = changes.pop(0)
            if time == LONGEST:
                return "stopped", log
            fields[name] = value
        reference.now = until
    return "failure" if end == "failure" else "success", log


def checked(path: Path, file: RandomFile) -> Tree | None:
    path.write_text(file.text)
    result = check_file(path, Surroundings(CATALOGUE, FIELDS, robot=ATOM_W))
    return result.tree if result.ok else None


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_files_run_as_the_reference_says(group: int, tmp_path: Path) -> None:
    compared = 0
    for seed in range(group * PER_GROUP, (group + 1) * PER_GROUP):
        file = RandomFile(seed)
        tree = checked(tmp_path / "main.yaml", file)
        if tree is not None:
            compared += 1
            assert by_engine(tree, file) == by_reference(tree, file), f"seed {seed}\n{file.text}"
    assert compared > PER_GROUP / 2
