"""Turns a py_trees tree into one function that ticks it: same callbacks, same order, same result, no generators."""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, cast

from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.composites import Composite, Parallel
from py_trees.decorators import EternalGuard

from orchestrator.engine.kinds import Kind
from orchestrator.engine.own import Own
from orchestrator.engine.plain import checked, plain_tick, terminated
from orchestrator.engine.plan import Plan, make_plan
from orchestrator.engine.tick import TickWriter
from orchestrator.engine.unit import Text

Visit = Callable[[Behaviour], object]
Changed = Callable[[list[Behaviour]], object]

_numbers = itertools.count(1)


def compile_tree(
    root: Behaviour, visit: Visit | None = None, changed: Changed | None = None, on_edit: Visit | None = None
) -> Callable[[], Status]:
    """A function that does what `root.tick_once()` does and returns the root's status.

    `visit(node)` is called for every node that was ticked, when py_trees would yield it.
    `changed(nodes)` is called at the end of a tick that left nodes with another status than the tick before it.
    `on_edit(node)` is called before a node with other children than it was compiled with is ticked or compiled anew.
    An edit of the tree is noticed when the edited node is ticked next. How, and what is not noticed: docs/engine.md.
    """
    filename = f"behaviour tree {root.name!r} {next(_numbers)}"  # linecache refuses to look up <names>
    edits: list[object] = []
    runtime: dict[str, object] = {**_RUNTIME, "visit": visit, "edits": edits, "seen": None}
    told: dict[int, tuple[Behaviour, Status]] = {}  # by identity: not every node can be a key

    def load(tick: FunctionType | None = None) -> FunctionType:
        plans = make_plan(root)
        writer = TickWriter(plans, visits=visit is not None, reports_changes=changed is not None)
        before = told.copy()
        told.clear()
        told.update((id(plan.node), before.get(id(plan.node), (plan.node, Status.INVALID))) for plan in plans)
        return _Functions(writer, filename, runtime, tick).load(plans)

    def renew() -> Status:
        """Called by a tick that begins after an edit."""
        if on_edit is not None:
            for node in [
                node for node, _ in told.values() if any(edit is node or edit is node.children for edit in edits)
            ]:
                on_edit(node)
        edits.clear()
        load(tick)
        return cast(Status, tick())

    def edited(node: Behaviour) -> Status:
        """Tick an edited subtree as it is now; the whole tree is compiled anew before the next tick."""
        if on_edit is not None:
            on_edit(node)
        edits.append(node)
        return compile_tree(node, visit)()

    def report(now: list[object]) -> None:
        tick.__globals__["seen"] = now
        nodes = [node for node, status in told.values() if node.status is not status]
        told.update((id(node), (node, node.status)) for node in nodes)
        assert changed is not None
        if nodes:
            changed(nodes)

    runtime.update(renew=renew, edited=edited, report=report)
    tick = load()
    weakref.finalize(tick, linecache.cache.pop, filename, None)
    return cast(Callable[[], Status], tick)


class _Functions:
    """The generated functions of a tree. Each is written when it is called first: a large tree is used bit by bit."""

    def __init__(
        self, writer: TickWriter, filename: str, runtime: dict[str, object], tick: FunctionType | None
    ) -> None:
        self._writer = writer
        self._filename = filename
        self._runtime = runtime
        self._not_yet = _write_first.__code__.replace(co_filename=filename)
        self._functions = {} if tick is None else {"tick": tick}
        self._texts: list[Text] = []
        self._line = 1

    def load(self, plans: list[Plan]) -> FunctionType:
        tick = self._named("tick")
        for plan in plans:
            if plan.watched is not None:
                plan.watched.held_by(tick, "edited_elsewhere")  # noticed even before its own function is written
            if plan.kind is Kind.OWN:
                assert isinstance(plan.node, Own)
                plan.node.ticks = [self._tick_of(child) for child in plan.children]
        return self._write("tick")

    def _tick_of(self, plan: Plan) -> Callable[[], Status]:
        """By which a node of ours ticks its child."""
        name = self._writer.function_of(plan)
        return plain_tick(plan) if name is None else cast(Callable[[], Status], self._named(name))

    def _named(self, name: str) -> FunctionType:
        function = self._functions.get(name)
        if function is None:
            names: dict[str, Any] = {"write": partial(self._write, name)}
            function = self._functions[name] = FunctionType(self._not_yet, names, name)
        return function

    def _write(self, name: str) -> FunctionType:
        unit, function = self._writer.write(name), self._functions[name]
        unit.become(function, self._line, self._runtime, self._named)
        self._line += len(unit.lines)
        self._texts.append(unit.text)
        texts = self._texts  # linecache must not keep the functions alive
        # a function instead of the text: it is made when somebody wants to see it
        linecache.cache[self._filename] = (lambda: "".join(text.made() for text in texts),)
        return function


def _write_first(*arguments: object) -> object:
    """The code of every function that is not written yet, with `write` among its globals."""
    return write()(*arguments)  # type: ignore[name-defined]  # noqa: F821


def _halted(node: Behaviour) -> None:
    node.terminate(Status.INVALID)
    node.status = Status.INVALID


def _halt_each(nodes: tuple[tuple[Behaviour, bool], ...]) -> None:
    """Stop those that are not INVALID; some know themselves how."""
    for node, stops_itself in nodes:
        if node.status is not Status.INVALID:
            if stops_itself:
                node.stop(Status.INVALID)
            else:
                _halted(node)


def _verdict(node: EternalGuard, result: object) -> bool:
    if isinstance(result, Status):
        return result is not Status.FAILURE
    message = f"conditional check must return 'bool' or 'common.Status' [{type(result)}]"
    node.logger.error(f"The {message}")
    raise RuntimeError(message)


def _place(node: Composite) -> int:
    """Where a composite with memory goes on, when that is none of the children it was compiled with."""
    if node.current_child is None:
        raise AssertionError  # as py_trees does
    return node.children.index(node.current_child)


def _place_or_first(node: Composite) -> int:
    if node.current_child is None:
        node.current_child = node.children[0]
    return _place(node)


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
    "checked": checked,
    "terminated": terminated,
    "halted": _halted,
    "halt_each": _halt_each,
    "verdict": _verdict,
    "place": _place,
    "place_or_first": _place_or_first,
    "invalidate": _invalidate,
    "selected": _selected,
}
