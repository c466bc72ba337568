"""Nodes that tick their children themselves, when they see fit."""

from __future__ import annotations

from collections.abc import Callable

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.breakpoints import Breakpoints
from orchestrator.engine.children import Children

RUNNING, INVALID = Status.RUNNING, Status.INVALID


class Own(Behaviour):
    """Calls `self.ticks[i]()` for its i-th child in `update`; compiled code puts the functions there.

    A decorator of py_trees ticks its child before it is asked, a composite decides by its kind. Nodes that look before
    they leap, wait, or let others end first decide in their own `update`. It gives SUCCESS, FAILURE or RUNNING,
    and nobody checks that: these are nodes of ours.
    """

    def __init__(self, name: str, children: list[Behaviour]) -> None:
        super().__init__(name)
        self.children = children
        for child in children:
            child.parent = self
        self.ticks: list[Callable[[], Status]] = [_by_py_trees(child) for child in children]
        self.held_up = False
        """At a breakpoint: it runs, but has not looked yet."""

    @property
    def children(self) -> list[Behaviour]:
        return self._children

    @children.setter
    def children(self, children: list[Behaviour]) -> None:
        """Compiled code does not look at the list of a node of ours, so another one is told of here."""
        before = getattr(self, "_children", None)
        self._children = children
        if isinstance(before, Children):
            before.let_go(self)

    @property
    def starting(self) -> bool:
        """Whether it has still to look, decide or reckon what it does once."""
        return self.held_up or self.status is not RUNNING

    def hold_up(self, breakpoints: Breakpoints) -> bool:
        """Whether a breakpoint keeps it from starting in this tick; to be asked before anything else, while it is."""
        self.held_up = breakpoints.hold(self)
        return self.held_up

    def stop(self, new_status: Status) -> None:
        """py_trees calls this at the end and, with INVALID, when the node is interrupted."""
        if new_status is INVALID:
            self.halt()
        self.status = new_status

    def halt(self) -> None:
        """Stop whatever is below, because this node was interrupted."""
        self.held_up = False
        for child in self.children:
            if child.status is not INVALID:
                child.stop(INVALID)


def _by_py_trees(child: Behaviour) -> Callable[[], Status]:
    def tick() -> Status:
        child.tick_once()
        return child.status

    return tick
