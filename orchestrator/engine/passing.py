"""A decorator's promise about its `update`, which lets compiled code leave the call out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.decorators import EternalGuard, PassThrough

Update = TypeVar("Update", bound=Callable[..., Status])

_passed_on: dict[object, frozenset[Status]] = {
    PassThrough.update: frozenset(Status),
    EternalGuard.update: frozenset(Status),
}


def passes_on(*statuses: Status) -> Callable[[Update], Update]:
    """Declare that `update` only returns the child's status, without doing anything, when it is one of these."""

    def declare(update: Update) -> Update:
        _passed_on[update] = frozenset(statuses)
        return update

    return declare


def passed_on(node: Behaviour) -> frozenset[Status]:
    """An `update` that a subclass or a test put in its place promises nothing."""
    return _passed_on.get(getattr(node.update, "__func__", None), frozenset())
