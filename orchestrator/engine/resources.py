"""Who uses which part of the robot. Before a leaf gets a part, whoever has it is stopped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from orchestrator.leaf import By, Declaration
from orchestrator.robots.facts import RobotFacts


class Holder(Protocol):
    """A started leaf."""

    name: str

    def give_up(self, reason: str) -> None:
        """Stop at once and send what that takes."""


class Resources:
    """Parts of the robot with their holders."""

    def __init__(self) -> None:
        self.holders: dict[str, Holder] = {}

    def claim(self, parts: Iterable[str], holder: Holder) -> None:
        """Called before the holder starts: returns when those parts are nobody else's."""
        for part in parts:
            before = self.holders.get(part)
            if before is not None:
                before.give_up(f"{holder.name} took its {part.replace('_', ' ')}")
        for part in parts:
            self.holders[part] = holder

    def release(self, holder: Holder) -> None:
        for part in [part for part, held_by in self.holders.items() if held_by is holder]:
            del self.holders[part]


def parts_used(
    declared: Declaration, values: Mapping[str, Any], robot: RobotFacts | None, folder: Path | None = None
) -> list[str]:
    """The parts of the robot that a leaf with these values uses; paths among them are relative to the folder."""
    parts: dict[str, None] = {}
    for use in declared.uses:
        if isinstance(use, str):
            parts[use] = None
            continue
        value, moves = values.get(use.param), declared.params[use.param].type.moves
        named = value if value is None or moves is None else moves((folder or Path()) / value)
        parts.update(dict.fromkeys(_decided(use, named, robot)))
    return list(parts)


def _decided(use: By, value: Any, robot: RobotFacts | None) -> Iterable[str]:
    if value is None:
        return ()
    if use.table is not None:
        return (use.table[value],)
    if robot is None:
        return ()
    return robot.resources_of(value)
