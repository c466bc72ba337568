"""Generated code that stops nodes with INVALID, in the order in which py_trees' `stop` does it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from orchestrator.engine.kinds import COMPOSITES, DECORATORS, Kind
from orchestrator.engine.plan import INLINE_HALT, Plan
from orchestrator.engine.unit import Unit

UnitWriters = dict[str, Callable[[], Unit]]


def is_edited(plan: Plan, out: Unit) -> str:
    """An expression that is true once the node's children are no longer those it was compiled with."""
    if plan.kind in DECORATORS:
        return f"{out.node(plan)}.decorated is not {out.node(plan.children[0])}"
    return f"{out.node(plan)}.children is not {out.children(plan)}"


class HaltWriter:
    """Writes stops in place where they are short, otherwise as calls of functions that are written later."""

    def __init__(self, units: UnitWriters) -> None:
        self._units = units

    def halt(self, plan: Plan, out: Unit) -> None:
        """`stop(INVALID)`, whatever the node's status is."""
        if _stops_itself(plan):
            out(f"{out.node(plan)}.stop(I)")
        elif plan.halt_is_unit or plan.halt_size > out.halt_room:
            self._call(out, f"halt_{plan.label}", "", lambda body: self._halt_in_place(plan, body))
        else:
            self._halt_in_place(plan, out)

    def halt_children(self, plan: Plan, out: Unit, first: int = 0) -> None:
        """Stop every child from the given one on that is not INVALID."""
        # children that follow another one are stopped in many places, so only very little is written out there
        room = out.halt_room // 4 if first else out.halt_room
        groups = _groups(plan.children[first:])
        if len(groups) <= room and self._statements(groups, out) <= room:
            self._halt_groups(groups, out)
        else:
            self._call(out, f"halt_below_{plan.label}", str(first), lambda body: self._halt_from(plan, body))

    def _statements(self, groups: list[list[Plan]], out: Unit) -> int:
        return sum(child.halt_size if child.halt_size <= out.halt_room else 1 for child, *_ in groups)

    def halt_running_children(self, plan: Plan, out: Unit) -> None:
        self._call(out, f"halt_running_below_{plan.label}", "", lambda body: self._halt_running(plan, body))

    def halt_preceding_children(self, plan: Plan, out: Unit, before: str) -> None:
        """Stop the children in front of the one with the given index."""
        self._call(out, f"halt_before_{plan.label}", before, lambda body: self._halt_until(plan, body))

    def halt_decorated(self, plan: Plan, out: Unit) -> None:
        """What `Decorator.stop(s)` does to its child; on INVALID it stops even a child that is INVALID already."""
        (child,) = plan.children
        if _stops_itself(child):
            out(f"if s is I: {out.node(child)}.stop(I)")
            out(f"if {out.node(child)}.status is R: {out.node(child)}.stop(I)")
        else:
            with out.block(f"if s is I or {out.node(child)}.status is R:"):
                self.halt(child, out)

    def _call(self, out: Unit, name: str, argument: str, write: Callable[[Unit], None]) -> None:
        def unit() -> Unit:
            body = Unit(name, *(["k"] if argument else []))
            body.halt_room = INLINE_HALT
            write(body)
            return body

        self._units.setdefault(name, unit)
        out(f"{out.call(name)}({argument})")

    def _halt_if_active(self, plan: Plan, out: Unit, condition: str = "") -> None:
        if plan.kind is Kind.RUN:
            with out.block(f"if {condition}:") if condition else nullcontext():
                self._call(out, f"halt_{plan.label}", "", lambda body: self._halt_run(plan, body))
        elif plan.is_bare:
            out(f"if {condition}: {out.node(plan)}.status = I" if condition else f"{out.node(plan)}.status = I")
        else:
            with out.block(f"if {condition}{' and ' if condition else ''}{out.node(plan)}.status is not I:"):
                self.halt(plan, out)

    def _halt_groups(self, groups: list[list[Plan]], out: Unit) -> None:
        for group in groups:
            if len(group) > 1:
                out(f"halt_each({out.bound(tuple((child.node, _stops_itself(child)) for child in group))})")
            else:
                self._halt_if_active(group[0], out)

    def _halt_run(self, plan: Plan, out: Unit) -> None:
        self._halt_groups(_groups(plan.children), out)

    def _halt_in_place(self, plan: Plan, out: Unit) -> None:
        if plan.kind is Kind.LEAF:
            out(f"halted({out.node(plan)})" if plan.terminates else f"{out.node(plan)}.status = I")
            return
        out(f"if {is_edited(plan, out)}: {out.node(plan)}.stop(I)")
        with out.block("else:"):
            if plan.kind in COMPOSITES:
                self._halt_composite(plan, out)
            else:
                self._halt_decorator(plan, out)
            out(f"{out.node(plan)}.status = I")

    def _halt_composite(self, plan: Plan, out: Unit) -> None:
        if plan.kind is Kind.PARALLEL and plan.children:
            self.halt_running_children(plan, out)
        out(f"{out.node(plan)}.current_child = None")
        self.halt_children(plan, out)
        self._terminate(plan, out)

    def _halt_decorator(self, plan: Plan, out: Unit) -> None:
        (child,) = plan.children
        self._terminate(plan, out)
        self.halt(child, out)
        if _stops_itself(child):
            out(f"if {out.node(child)}.status is R: {out.node(child)}.stop(I)")

    def _terminate(self, plan: Plan, out: Unit) -> None:
        if plan.terminates:
            out(f"{out.node(plan)}.terminate(I)")

    def _halt_from(self, plan: Plan, out: Unit) -> None:
        for index, child in enumerate(plan.children):
            self._halt_if_active(child, out, f"k <= {index}")

    def _halt_until(self, plan: Plan, out: Unit) -> None:
        for index, child in enumerate(plan.children[:-1]):
            self._halt_if_active(child, out)
            out(f"if k == {index + 1}: return")

    def _halt_running(self, plan: Plan, out: Unit) -> None:
        for child in plan.children:
            with out.block(f"if {out.node(child)}.status is R:"):
                self.halt(child, out)


def _groups(children: list[Plan]) -> list[list[Plan]]:
    """Children one after the other that take a call each to stop: a loop over them is less code than so many calls."""
    groups: list[list[Plan]] = []
    for child in children:
        if groups and _is_a_call(child) and _is_a_call(groups[-1][0]):
            groups[-1].append(child)
        else:
            groups.append([child])
    return groups


def _is_a_call(plan: Plan) -> bool:
    return _stops_itself(plan) or (plan.kind is Kind.LEAF and plan.terminates)


def _stops_itself(plan: Plan) -> bool:
    return plan.kind is Kind.FOREIGN or plan.own_stop
