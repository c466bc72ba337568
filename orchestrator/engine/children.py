"""A node's list of children that tells compiled ticks when it is edited."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any
from weakref import ref

from py_trees.behaviour import Behaviour


class Children(list[Behaviour]):
    """Takes the place of a composite's list; py_trees edits it as before.

    Compiled code holds the list under a name and compares `node.children` with it by identity, the cheapest check
    there is. An edit takes the list away from that name, so that the check fails the next time, and adds to the edits
    that the next tick looks at first.
    """

    def __init__(self, children: list[Behaviour]) -> None:
        super().__init__(children)
        self._holders: list[tuple[ref[FunctionType], str]] = []
        self.version = 0
        """How often it was edited: code written later knows whether it is still the list that was planned with."""

    def held_by(self, function: FunctionType, name: str) -> None:
        self._holders.append((ref(function), name))

    def let_go(self, by: Behaviour | None = None) -> None:
        """Called before an edit, or by a node that gets another list."""
        self.version += 1
        self._holders = [holder for holder in self._holders if holder[0]() is not None]
        for held_by, name in self._holders:
            if (function := held_by()) is not None:
                function.__globals__[name] = None
                function.__globals__["edits"].append(by or self)


def _noticed(edit: Callable[..., Any]) -> Callable[..., Any]:
    def noticed(self: Children, *arguments: Any, **options: Any) -> Any:
        self.let_go()
        return edit(self, *arguments, **options)

    return noticed


for _edit in (
    *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"),
    *("__setitem__", "__delitem__", "__iadd__", "__imul__"),
):
    setattr(Children, _edit, _noticed(getattr(list, _edit)))


def watched_children(node: Behaviour) -> Children:
    if not isinstance(node.children, Children):
        node.children = Children(node.children)
    return node.children
