"""Generated code that stops nodes with INVALID, in the order in which py_trees' `stop` does it."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.engine.kinds import COMPOSITES, DECORATORS, Kind
from orchestrator.engine.plan import INLINE_HALT, Plan
from orchestrator.engine.source import Source


class HaltWriter:
    """Writes stops in place where they are short, otherwise as calls of functions that it writes later."""

    def __init__(self, functions: dict[str, Callable[[], Source]]) -> None:
        self._functions = functions  # every function that is called, by name, with the way to write it

    def halt(self, plan: Plan, out: Source) -> None:
        """`stop(INVALID)`, whatever the node's status is."""
        if plan.kind is Kind.FOREIGN or plan.own_stop:
            out(f"{plan.name}.stop(I)")
        elif not plan.halts_inline:
            self._call(out, f"halt_{plan.name}", "", lambda body: self._halt_in_place(plan, body))
        else:
            self._halt_in_place(plan, out)

    def halt_children(self, plan: Plan, out: Source, first: int = 0) -> None:
        """Stop every child from the given one on that is not INVALID."""
        children = plan.children[first:]
        if sum(child.halt_size for child in children) <= INLINE_HALT:
            for child in children:
                self._halt_if_active(child, out)
        else:
            self._call(out, f"halt_below_{plan.name}", str(first), lambda body: self._halt_from(plan, body))

    def halt_running_children(self, plan: Plan, out: Source) -> None:
        self._call(out, f"halt_running_below_{plan.name}", "", lambda body: self._halt_running(plan, body))

    def halt_preceding_children(self, plan: Plan, out: Source, before: str) -> None:
        """Stop the children in front of the one with the given index."""
        self._call(out, f"halt_above_{plan.name}", before, lambda body: self._halt_until(plan, body))

    def halt_decorated(self, plan: Plan, out: Source, condition: str | None = None) -> None:
        """What `Decorator.stop` does to its child; on INVALID it stops it even if the child is INVALID already."""
        (child,) = plan.children
        invalid = "s is I" if condition is None else condition
        if child.kind is Kind.FOREIGN or child.own_stop:
            out(f"if {invalid}: {child.name}.stop(I)")
            out(f"if {child.name}.status is R: {child.name}.stop(I)")
        else:
            with out.block(f"if {invalid} or {child.name}.status is R:"):
                self.halt(child, out)

    def _call(self, out: Source, name: str, argument: str, write: Callable[[Source], None]) -> None:
        def function() -> Source:
            body = Source(f"def {name}({'k' if argument else ''}):")
            write(body)
            return body

        self._functions.setdefault(name, function)
        out(f"{name}({argument})")

    def _halt_if_active(self, plan: Plan, out: Source, condition: str = "") -> None:
        if plan.kind is Kind.LEAF and not (plan.terminates or plan.own_stop):
            out(f"if {condition}: {plan.name}.status = I" if condition else f"{plan.name}.status = I")
        else:
            with out.block(f"if {condition}{' and ' if condition else ''}{plan.name}.status is not I:"):
                self.halt(plan, out)

    def _halt_in_place(self, plan: Plan, out: Source) -> None:
        if plan.kind in COMPOSITES:
            out(f"if {plan.is_edited}: {plan.name}.stop(I)")
            with out.block("else:"):
                self._halt_composite(plan, out)
        elif plan.kind in DECORATORS:
            out(f"if {plan.is_edited}: {plan.name}.stop(I)")
            with out.block("else:"):
                self._terminate(plan, out)
                self.halt(plan.children[0], out)
                self._halt_again_if_still_running(plan.children[0], out)
                out(f"{plan.name}.status = I")
        else:
            self._terminate(plan, out)
            out(f"{plan.name}.status = I")

    def _halt_composite(self, plan: Plan, out: Source) -> None:
        if plan.kind is Kind.PARALLEL and plan.children:
            self.halt_running_children(plan, out)
        out(f"{plan.name}.current_child = None")
        self.halt_children(plan, out)
        self._terminate(plan, out)
        out(f"{plan.name}.status = I")

    def _terminate(self, plan: Plan, out: Source) -> None:
        if plan.terminates:
            out(f"{plan.name}.terminate(I)")

    def _halt_again_if_still_running(self, child: Plan, out: Source) -> None:
        if child.kind is Kind.FOREIGN or child.own_stop:
            out(f"if {child.name}.status is R: {child.name}.stop(I)")

    def _halt_from(self, plan: Plan, out: Source) -> None:
        for index, child in enumerate(plan.children):
            self._halt_if_active(child, out, f"k <= {index}" if index else "not k")

    def _halt_until(self, plan: Plan, out: Source) -> None:
        for index, child in enumerate(plan.children[:-1]):
            self._halt_if_active(child, out)
            out(f"if k == {index + 1}: return")

    def _halt_running(self, plan: Plan, out: Source) -> None:
        for child in plan.children:
            with out.block(f"if {child.name}.status is R:"):
                self.halt(child, out)
