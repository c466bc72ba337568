"""Which nodes of a mission were exercised, with which outcomes, and which never: read from the events of its runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from orchestrator.engine.events import Event, NodeInfo, NodeStatus, Structure, Tick
from orchestrator.yamlfile.characters import one_line


class Exercised(msgspec.Struct):
    """How often a node did what, over all runs."""

    kind: str
    name: str
    depth: int
    started: int = 0
    success: int = 0
    failure: int = 0
    skipped: int = 0
    interrupted: int = 0

    def add(self, other: Exercised) -> None:
        for what in ("started", "success", "failure", "skipped", "interrupted"):
            setattr(self, what, getattr(self, what) + getattr(other, what))


Place = tuple[str, str, str, int]
"""File of the mission; path of a node in its tree, different for each, and the file and line where it stands."""


class Coverage:
    """Of any number of runs of any trees. A node is known by its place in the files."""

    def __init__(self) -> None:
        self.nodes: dict[Place, Exercised] = {}

    def recorder(self, name: str = "") -> Callable[[Event], None]:
        """Takes the events of one run; `name` is the mission's when its file is not to last."""
        return _Recorder(self.nodes, name).take

    def merge(self, other: Coverage) -> None:
        for place, node in other.nodes.items():
            known = self.nodes.get(place)
            if known is None:
                self.nodes[place] = node
            else:
                known.add(node)

    def to_builtins(self) -> list[Any]:
        """For another process, or a file."""
        return [[list(place), msgspec.to_builtins(node)] for place, node in self.nodes.items()]

    @staticmethod
    def from_builtins(data: Iterable[Any]) -> Coverage:
        coverage = Coverage()
        for place, node in data:
            coverage.nodes[msgspec.convert(place, Place)] = msgspec.convert(node, Exercised)
        return coverage

    def render(self) -> str:
        """A table for every mission, in the order in which they were first run."""
        files = dict.fromkeys(place[0] for place in self.nodes)
        return "\n\n".join(self._table(file) for file in files)

    def _table(self, mission: str) -> str:
        rows = [(place, node) for place, node in self.nodes.items() if place[0] == mission]
        ran = sum(1 for _, node in rows if node.started)
        lines = [
            f"{_short(mission)}: {ran} of {len(rows)} nodes ran",
            "  started  success  failure  interrupted  skipped   line  node",
        ]
        for (_, _, file, line), node in rows:
            counts = "".join(
                f"{count or '-':>{width}}"
                for count, width in (
                    (node.started, 9),
                    (node.success, 9),
                    (node.failure, 9),
                    (node.interrupted, 13),
                    (node.skipped, 9),
                )
            )
            elsewhere = f"  ({Path(file).name})" if file != mission else ""
            lines.append(f"{counts}{line:>7}  {'  ' * node.depth}{one_line(node.name)}{_remark(node)}{elsewhere}")
        return "\n".join(lines)


class _Recorder:
    """Counts what the nodes of one run do."""

    def __init__(self, known: dict[Place, Exercised], name: str) -> None:
        self._known = known
        self._name = name
        self._nodes: list[Exercised] = []
        self._status: list[NodeStatus] = []

    def take(self, event: Event) -> None:
        match event:
            case Structure(file=file, nodes=nodes):
                self._begin(file, nodes)
            case Tick(tick=tick, changes=changes):
                for number, change in changes.items():
                    if tick > 0 or change.status in ("running", "idle"):  # what has ended in tick 0 was done before
                        self._count(self._nodes[number], self._status[number], change.status)
                    self._status[number] = change.status

    def _begin(self, mission: str, nodes: list[NodeInfo]) -> None:
        paths = _paths(nodes)
        depth: list[int] = []
        self._nodes = []
        self._status = ["idle"] * len(nodes)
        for node, path in zip(nodes, paths):
            depth.append(0 if node.parent is None else depth[node.parent] + 1)
            fresh = Exercised(node.kind, node.name, depth[-1])
            place = (self._lasting(mission, mission), path, self._lasting(node.file, mission), node.line)
            self._nodes.append(self._known.setdefault(place, fresh))

    def _lasting(self, file: str, mission: str) -> str:
        """The same in every run: the folder of a mission with a name of its own is another one in each."""
        if not self._name:
            return file
        return self._name if file == mission else file.removeprefix(f"{Path(mission).parent}/")

    def _count(self, node: Exercised, before: NodeStatus, now: NodeStatus) -> None:
        if now == before:  # only its message is new
            return
        if now not in ("idle", "skipped") and before != "running":
            node.started += 1
        if now == "idle" and before == "running":
            node.interrupted += 1
        if now not in ("idle", "running"):
            setattr(node, now, getattr(node, now) + 1)


def _paths(nodes: list[NodeInfo]) -> list[str]:
    """The names down to every node, a line each, with a number after those that an earlier node beside it has.

    It is the place among those beside it that tells two uses of a subtree apart, whatever is in them: a node that
    cannot run on one robot is left without children there, and the others are still the same ones.
    """
    paths: list[str] = []
    alike: dict[str, int] = {}
    for node in nodes:
        path = node.name if node.parent is None else f"{paths[node.parent]}\n{node.name}"
        alike[path] = alike.get(path, 0) + 1
        paths.append(path if alike[path] == 1 else f"{path}\t{alike[path]}")
    return paths


def _short(file: str) -> str:
    """As a person in this folder would write it."""
    return os.path.relpath(file) if Path(file).is_relative_to(Path.cwd()) else file


def _remark(node: Exercised) -> str:
    """What a reader should not overlook."""
    if not node.started:
        return "  <- never ran"
    return "" if node.success or node.failure or node.skipped else "  <- never came to its end"
