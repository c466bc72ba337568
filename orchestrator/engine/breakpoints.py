"""Nodes at which a run pauses before they start."""

from __future__ import annotations

from fnmatch import fnmatchcase

from py_trees.behaviour import Behaviour
from py_trees.common import Status

RUNNING = Status.RUNNING


def fits(pattern: str, name: str, path: str) -> bool:
    """Whether a pattern means this node: its name or its path from the tree's name on, both with `*`."""
    called_so = pattern in (name, path)  # as it stands: brackets in a name are no pattern
    return called_so or fnmatchcase(name, pattern) or fnmatchcase(path, pattern)


class Breakpoints:
    """Asked by whatever is about to start or to look."""

    def __init__(self) -> None:
        self.nodes: set[Behaviour] = set()
        self.reached: Behaviour | None = None
        """In this tick."""

    def hold(self, node: Behaviour) -> bool:
        """Whether the node must not start in this tick: it or something around it is a breakpoint and starts with it.

        Where one was reached, nothing else starts in the same tick either.
        """
        if not self.nodes:
            return False
        around: Behaviour | None = node
        while around is not None and around.status is not RUNNING:
            if around in self.nodes:
                self.reached = around
                break
            around = around.parent
        return self.reached is not None

    def forget(self) -> None:
        self.nodes.clear()
        self.reached = None
