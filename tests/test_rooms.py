"""A room imports only from rooms above it: the order of docs/architecture.md holds."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import orchestrator

ROOT = Path(orchestrator.__file__).parent
ROOMS = [
    "orchestrator.data",
    "orchestrator.clock",
    "orchestrator.yamlfile",
    "orchestrator.wire",
    "orchestrator.bus",
    "orchestrator.journal",
    "orchestrator.robots",
    "orchestrator.guard",
    "orchestrator.sim",
    "orchestrator.leaf",
    "behaviours",
    "orchestrator.treefile",
    "orchestrator.engine",
    "orchestrator.mission",
    "orchestrator.testing",
    "orchestrator.cli",
]
"""From the ground floor up."""

LIGHT = ["orchestrator.yamlfile", "orchestrator.leaf", "orchestrator.treefile", "behaviours"]
"""Rooms that `orchestrator check` needs: they start fast."""
HEAVY = {"numpy", "py_trees", "cyclonedds"}


def room_of(module: str) -> str | None:
    return next((room for room in ROOMS if module == room or module.startswith(f"{room}.")), None)


def modules() -> list[tuple[str, Path]]:
    files = [*ROOT.rglob("*.py"), *(ROOT.parent / "behaviours").rglob("*.py")]
    return [(".".join(f.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"), f) for f in files]


def imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize(("module", "file"), [pytest.param(m, f, id=m) for m, f in modules() if m != "orchestrator"])
def test_a_module_imports_only_from_its_room_and_those_above(module: str, file: Path) -> None:
    room = room_of(module)
    assert room is not None, f"{module} belongs to no room"
    for imported in imports(file):
        other = room_of(imported)
        if other is not None:
            assert ROOMS.index(other) <= ROOMS.index(room), f"{module} imports {imported}"
        if room in LIGHT:
            assert imported.partition(".")[0] not in HEAVY, f"{module} imports {imported}"


def test_only_the_bus_uses_cyclonedds_at_run_time() -> None:
    for module, file in modules():
        runtime = {name for name in imports(file) if name.startswith("cyclonedds") and "idl" not in name.split(".")}
        runtime -= {"cyclonedds"}
        if runtime:
            assert room_of(module) == "orchestrator.bus" or module == "orchestrator.wire.generate", module
