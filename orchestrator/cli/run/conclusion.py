"""The last lines of a run: what the robot showed, what was left undone, and at the end what happened and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from orchestrator.cli.run.robot_line import robot_line
from orchestrator.yamlfile.characters import one_line

if TYPE_CHECKING:
    from orchestrator.engine.events import End, NodeInfo


def conclusion(end: End, nodes: list[NodeInfo], fields: dict[str, Any], seconds: float) -> Iterator[str]:
    """The line that counts is the last one."""
    if end.status != "success" and fields:
        yield f"the robot showed: {robot_line(fields)}"
    for skipped in end.skipped:
        yield f"not done: {one_line(skipped)}"
    yield one_line(_verdict(end, nodes, seconds))


def _verdict(end: End, nodes: list[NodeInfo], seconds: float) -> str:
    if end.status == "success":
        return f"success after {seconds:.1f} s"
    where = f" at {end.place}" if end.place else ""
    who = f": {nodes[end.node].name}" if end.node is not None else ""
    why = f": {end.reason}" if end.reason else ""
    return f"{end.status}{where}{who}{why}"
