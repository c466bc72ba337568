"""Turns a py_trees tree into one function that ticks it: same callbacks, same order, same result, no generators."""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import cast

from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.composites import Composite, Parallel
from py_trees.decorators import EternalGuard

from orchestrator.engine.generate import TickWriter
from orchestrator.engine.kinds import COMPOSITES
from orchestrator.engine.plan import Plan, make_plan

Visit = Callable[[Behaviour], object]
Changed = Callable[[list[Behaviour]], object]

_numbers = itertools.count(1)


def compile_tree(root: Behaviour, visit: Visit | None = None, changed: Changed | None = None) -> Callable[[], Status]:
    """A function that does what `root.tick_once()` does and returns the root's status.

    `visit(node)` is called for every node that was ticked, when py_trees would yield it.
    `changed(nodes)` is called at the end of a tick that left nodes with another status than the tick before it.
    An edit of the tree is noticed when the edited node is ticked next. How, and what is not noticed: docs/engine.md.
    """
    bound: dict[str, object] = {}
    filename = f"<behaviour tree {root.name!r} {next(_numbers)}>"

    def load() -> CodeType:
        plans = make_plan(root)
        source = TickWriter(plans, visits=visit is not None, reports_changes=changed is not None).source()
        lines = source.splitlines(keepends=True)
        linecache.cache[filename] = (len(source), None, lines, filename)
        nodes = [plan.node for plan in plans]
        bound.clear()
        bound.update(_RUNTIME)
        bound.update(_names(plans))
        bound.update(stale=False, renew=renew, edited=edited, visit=visit)
        bound.update(seen=[Status.INVALID] * len(nodes), report=report, nodes=nodes)
        exec(compile(source, filename, "exec"), bound)
        return cast(FunctionType, bound["tick"]).__code__

    def renew() -> Status:
        """Called by a tick that begins after an edit."""
        tick.__code__ = load()
        return cast(Status, tick())

    def edited(node: Behaviour) -> Status:
        """Tick an edited subtree as it is now; the whole tree is compiled anew before the next tick."""
        bound["stale"] = True
        return compile_tree(node, visit)()

    def report(now: list[Status]) -> None:
        seen = cast("list[Status]", bound["seen"])
        bound["seen"] = now
        nodes = cast("list[Behaviour]", bound["nodes"])
        assert changed is not None
        changed([node for node, old, new in zip(nodes, seen, now) if old is not new])

    load()
    tick = cast(FunctionType, bound["tick"])
    weakref.finalize(tick, linecache.cache.pop, filename, None)
    return cast(Callable[[], Status], tick)


def _names(plans: list[Plan]) -> dict[str, object]:
    names: dict[str, object] = {}
    for plan in plans:
        names[plan.name] = plan.node
        if plan.kind in COMPOSITES:
            children = [child.node for child in plan.children]
            names[f"{plan.name}_children"] = children
            names[f"{plan.name}_places"] = {child: place for place, child in reversed([*enumerate(children)])}
    return names


def _checked(node: Behaviour, status: Status) -> Status:
    if status in list(Status):
        return status
    node.logger.error(f"A behaviour returned an invalid status, setting to INVALID [{status}][{node.name}]")
    return Status.INVALID


def _verdict(node: EternalGuard, result: object) -> bool:
    if isinstance(result, Status):
        return result is not Status.FAILURE
    message = f"conditional check must return 'bool' or 'common.Status' [{type(result)}]"
    node.logger.error(f"The {message}")
    raise RuntimeError(message)


def _place(node: Composite) -> int:
    """Where a composite with memory goes on, when that is none of the children it was compiled with."""
    assert node.current_child is not None
    return node.children.index(node.current_child)


def _invalidate(node: Composite) -> None:
    """What a sequence that ends INVALID does to its children."""
    node.current_child = None
    for child in node.children:
        if child.status is not Status.INVALID:
            child.stop(Status.INVALID)


def _selected(node: Parallel) -> Status:
    chosen = node.policy.children  # type: ignore[attr-defined]
    if not all(child.status is Status.SUCCESS for child in chosen):
        return Status.RUNNING
    node.current_child = chosen[-1]
    return Status.SUCCESS


_RUNTIME = {
    "S": Status.SUCCESS,
    "F": Status.FAILURE,
    "R": Status.RUNNING,
    "I": Status.INVALID,
    "checked": _checked,
    "verdict": _verdict,
    "place": _place,
    "invalidate": _invalidate,
    "selected": _selected,
}
