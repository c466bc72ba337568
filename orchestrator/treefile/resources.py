"""Resources: which parts of the robot the branches of a parallel use, and where two use the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.leaf import RESOURCES, By, Declaration
from orchestrator.robots.facts import RobotFacts
from orchestrator.treefile.model import NO_MODIFIERS, Expression, Template, TreeNode
from orchestrator.yamlfile import Findings


class Use(NamedTuple):
    """Who uses a resource; not surely when a name decides during the run."""

    node: TreeNode
    sure: bool


class Resources:
    """What the nodes of one tree use; every node is looked at once."""

    def __init__(self, robot: RobotFacts | None, findings: Findings) -> None:
        self._robot = robot
        self._findings = findings
        self._used: dict[int, dict[str, Use]] = {}

    def check(self, node: TreeNode) -> None:
        taken: dict[str, Use] = {}
        reported: set[int] = set()
        for child in node.children:
            for resource, use in self.uses(child).items():
                first = taken.setdefault(resource, use)
                if first is use or id(use.node) in reported:
                    continue
                reported.add(id(use.node))
                sure = first.sure and use.sure
                both = "both use" if sure else "may both use"
                message = (
                    f"{use.node.title} and {first.node.title} ({line_of(first.node, use.node)}) {both} {resource} "
                    f"at the same time, in the parallel on line {node.place.line}"
                )
                report = self._findings.error if sure else self._findings.warning
                report(use.node, "collision", message)

    def uses(self, node: TreeNode) -> dict[str, Use]:
        """The resources that anything below a node uses, with the first leaf that does."""
        found = self._used.get(id(node))
        if found is None:
            found = {} if node.leaf is None else self._leaf_uses(node, node.leaf)
            for child in below(node):
                for resource, use in self.uses(child).items():
                    found.setdefault(resource, use)
            self._used[id(node)] = found
        return found

    def _leaf_uses(self, node: TreeNode, declared: Declaration) -> dict[str, Use]:
        found: dict[str, Use] = {}
        for use in declared.uses:
            if isinstance(use, str):
                found[use] = Use(node, True)
                continue
            value = node.values.get(use.param)
            sure = not isinstance(value, Expression | Template)
            moves = declared.params[use.param].type.moves
            resources = self._resources(use, value) if moves is None else self._moved(node, value, moves)
            for resource in resources:
                found.setdefault(resource, Use(node, sure))
        return found

    def _resources(self, use: By, value: Any) -> Iterable[str]:
        if value is None:
            return ()
        if use.table is not None:
            return use.table.values() if isinstance(value, Expression) else [use.table.get(value, "")]
        robot = self._robot
        if robot is None:
            return ()
        if isinstance(value, Expression):
            return RESOURCES
        return robot.resources_of(value)

    def _moved(self, node: TreeNode, value: Any, moves: Callable[[Path], Iterable[str]]) -> Iterable[str]:
        """What files move: all of them are known before the run."""
        if value is None or self._robot is None:
            return ()
        folder = Path(node.place.file).parent
        files = value.possible if isinstance(value, Expression | Template) else (value,)
        return self._robot.resources_of([joint for file in files for joint in moves(folder / file)])


def line_of(other: TreeNode, node: TreeNode) -> str:
    """The line of another node, with its file if that is another one."""
    place = other.place
    return f"line {place.line}" if place.file == node.place.file else f"line {place.line} of {place.file}"


def below(node: TreeNode) -> tuple[TreeNode, ...]:
    """The nodes directly below one, those of `else` and `finally` included, that can run on this robot."""
    if node.modifiers is NO_MODIFIERS and not node.otherwise:
        return tuple(child for child in node.children if not child.dead)
    every = (*node.children, *(node.otherwise or ()), *node.modifiers.finally_)
    return tuple(child for child in every if not child.dead)
