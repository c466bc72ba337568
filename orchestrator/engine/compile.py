"""Turns a py_trees tree into one function that ticks it: same callbacks, same order, same result, no generators."""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import cast

from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.composites import Composite, Parallel
from py_trees.decorators import EternalGuard

from orchestrator.engine.kinds import Kind
from orchestrator.engine.own import Own
from orchestrator.engine.plan import Plan, make_plan
from orchestrator.engine.tick import TickWriter
from orchestrator.engine.unit import Unit

Visit = Callable[[Behaviour], object]
Changed = Callable[[list[Behaviour]], object]

_STATUSES = list(Status)
SUCCESS, FAILURE, RUNNING = Status.SUCCESS, Status.FAILURE, Status.RUNNING
_numbers = itertools.count(1)


def compile_tree(root: Behaviour, visit: Visit | None = None, changed: Changed | None = None) -> Callable[[], Status]:
    """A function that does what `root.tick_once()` does and returns the root's status.

    `visit(node)` is called for every node that was ticked, when py_trees would yield it.
    `changed(nodes)` is called at the end of a tick that left nodes with another status than the tick before it.
    An edit of the tree is noticed when the edited node is ticked next. How, and what is not noticed: docs/engine.md.
    """
    filename = f"behaviour tree {root.name!r} {next(_numbers)}"  # linecache refuses to look up <names>
    edits: list[object] = []
    runtime: dict[str, object] = {**_RUNTIME, "visit": visit, "edits": edits}
    nodes: list[Behaviour] = []

    def load(tick: FunctionType | None = None) -> FunctionType:
        plans = make_plan(root)
        units = TickWriter(plans, visits=visit is not None, reports_changes=changed is not None).units()
        seen = dict(zip(nodes, tick.__globals__["seen"])) if tick else {}
        nodes[:] = [plan.node for plan in plans]
        runtime["seen"] = [seen.get(node, Status.INVALID) for node in nodes]
        units["tick"].function = tick
        return _load_units(units, plans, filename, runtime)

    def renew() -> Status:
        """Called by a tick that begins after an edit."""
        edits.clear()
        load(tick)
        return cast(Status, tick())

    def edited(node: Behaviour) -> Status:
        """Tick an edited subtree as it is now; the whole tree is compiled anew before the next tick."""
        edits.append(node)
        return compile_tree(node, visit)()

    def report(now: list[Status]) -> None:
        seen = tick.__globals__["seen"]
        tick.__globals__["seen"] = now
        assert changed is not None
        changed([node for node, old, new in zip(nodes, seen, now) if old is not new])

    runtime.update(renew=renew, edited=edited, report=report)
    tick = load()
    weakref.finalize(tick, linecache.cache.pop, filename, None)
    return cast(Callable[[], Status], tick)


def _load_units(units: dict[str, Unit], plans: list[Plan], filename: str, runtime: dict[str, object]) -> FunctionType:
    line = 1
    for unit in units.values():
        unit.load(filename, line, runtime)
        line += len(unit.lines)
    for unit in units.values():
        unit.link(lambda name: units[name].function)
    _give_ticks(plans, units)
    tick = cast(FunctionType, units["tick"].function)
    for unit in units.values():
        unit.function = None  # linecache must not keep the functions alive
    # a function instead of the text: it is made when somebody wants to see it
    linecache.cache[filename] = (lambda: "".join(unit.text() for unit in units.values()),)
    return tick


def _give_ticks(plans: list[Plan], units: dict[str, Unit]) -> None:
    """The functions by which nodes of ours tick their children."""
    for plan in plans:
        if plan.kind is Kind.OWN:
            assert isinstance(plan.node, Own)
            plan.node.ticks = [_tick_of(child, units.get(f"tick_{child.label}")) for child in plan.children]


def _tick_of(plan: Plan, unit: Unit | None) -> Callable[[], Status]:
    if unit is not None:
        return cast(Callable[[], Status], unit.function)
    node, initialises, terminates = plan.node, plan.initialises, plan.terminates and plan.kind is Kind.LEAF

    def tick() -> Status:
        if initialises and node.status is not RUNNING:
            node.initialise()
        status = node.update()
        if status is not RUNNING:
            status = _terminated(node, status) if terminates else _checked(node, status)
        node.status = status
        return status

    return tick


def _checked(node: Behaviour, status: Status) -> Status:
    if status is SUCCESS or status is FAILURE or status in _STATUSES:
        return status
    node.logger.error(f"A behaviour returned an invalid status, setting to INVALID [{status}][{node.name}]")
    return Status.INVALID


def _terminated(node: Behaviour, status: Status) -> Status:
    status = _checked(node, status)
    node.terminate(status)
    return status


def _halted(node: Behaviour) -> None:
    node.terminate(Status.INVALID)
    node.status = Status.INVALID


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


_RUNTIME: dict[str, object] = {
    "checked": _checked,
    "terminated": _terminated,
    "halted": _halted,
    "verdict": _verdict,
    "place": _place,
    "invalidate": _invalidate,
    "selected": _selected,
}
