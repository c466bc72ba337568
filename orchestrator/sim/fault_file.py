"""Faults from a file: the same as on the command line, as YAML, with every mistake at its place.

faults:
  - {fault: off, target: rt/amr/state, at: 3 s, for: 2 s}
  - {fault: hard, when: rt/amr/state.navigation_status=RUNNING}
  - {fault: delayed, target: rt/lower/state, with: {seconds: 400 ms}}
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.sim.fault_text import condition, value_of
from orchestrator.sim.faults import Fault, FaultError, checked, inject
from orchestrator.sim.twin import Twin
from orchestrator.yamlfile import (
    TEXT,
    Findings,
    Mapping,
    Node,
    Quantity,
    Sequence,
    Type,
    Unread,
    list_of,
    map_of,
    optional,
    read_file,
    record,
    required,
)


@dataclass(frozen=True)
class _Row:
    fault: str
    target: str
    at: float
    when: str | None
    lasts: float | None
    parameters: dict[str, str]


_TIME = Quantity("duration", lower=0)
_FILE: Type[dict[str, Any]] = record(
    dict,
    {
        "description": optional(TEXT),
        "faults": required(
            list_of(
                record(
                    lambda **of: _Row(of["fault"], of["target"], of["at"], of["when"], of["for"], of["with"]),
                    {
                        "fault": required(TEXT),
                        "target": optional(TEXT, ""),
                        "at": optional(_TIME, 0.0),
                        "when": optional(TEXT),
                        "for": optional(_TIME),
                        "with": optional(map_of(TEXT), {}),
                    },
                    check=lambda row: ["a fault begins at a time or when something holds, not both"] * _both(row),
                    name="fault",
                ),
                at_least=1,
            )
        ),
    },
    name="file of faults",
)


class FaultFileError(Exception):
    """A file with mistakes: all of them, each with its place."""


def inject_file(twin: Twin, path: Path) -> None:
    """Put every fault of a file into a simulated robot, or none if there is any mistake in it."""
    findings = Findings()
    faults = _read(twin, path, findings)
    if findings.errors:
        raise FaultFileError(findings.render())
    for fault in faults:
        inject(twin, fault)


def _read(twin: Twin, path: Path, findings: Findings) -> list[Fault]:
    root = read_file(path, findings).root
    values = _FILE.read(root, findings) if root is not None else None
    if values is None or isinstance(values, Unread):
        return []
    assert isinstance(root, Mapping)
    rows = root.get("faults")
    assert isinstance(rows, Sequence)
    faults = []
    for row, node in zip(values["faults"], rows.items):
        try:
            faults.append(_fault(twin, row))
        except FaultError as problem:
            findings.error(_place(node, problem.about), "bad-fault", str(problem))
    return faults


def _fault(twin: Twin, row: _Row) -> Fault:
    parameters = {key: value_of(text) for key, text in row.parameters.items()}
    when = condition(row.when, twin) if row.when is not None else None
    return checked(Fault(row.fault, row.target, parameters, row.at, when, row.lasts), twin)


def _both(row: _Row) -> bool:
    return row.when is not None and row.at > 0


def _place(node: Node, about: str) -> Node:
    """Where in a row the mistake is: at one of its keys, at one of its parameters, or the row itself."""
    if not isinstance(node, Mapping):
        return node
    parameters = node.get("with")
    for mapping in (node, parameters):
        if isinstance(mapping, Mapping) and (found := mapping.get(about)) is not None:
            return found
    return node
