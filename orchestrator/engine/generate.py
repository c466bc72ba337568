"""Generated code that ticks a tree: for every kind of node what py_trees' `tick` does, children in place.

In the generated code S, F, R and I are the four statuses; `s` is the status of the node ticked last.
docs/engine.md explains the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from py_trees.common import ParallelPolicy
from py_trees.composites import Parallel

from orchestrator.engine.halt import HaltWriter
from orchestrator.engine.kinds import Kind
from orchestrator.engine.plan import Plan
from orchestrator.engine.source import Source

MAX_DEPTH = 30  # levels of indentation before a subtree gets a function of its own: CPython nests 20 loops at most


class TickWriter:
    """Writes the functions of one tree."""

    def __init__(self, plans: list[Plan], visits: bool, reports_changes: bool) -> None:
        self._plans = plans
        self._visits = visits
        self._reports_changes = reports_changes
        self._functions: dict[str, Callable[[], Source]] = {}
        self._halts = HaltWriter(self._functions)
        self._writers: dict[Kind, Callable[[Plan, Source], list[str]]] = {
            Kind.LEAF: self._leaf,
            Kind.SEQUENCE: self._sequence,
            Kind.SELECTOR: self._selector,
            Kind.PARALLEL: self._parallel,
            Kind.DECORATOR: self._decorator,
            Kind.ETERNAL_GUARD: self._eternal_guard,
            Kind.ONE_SHOT: self._one_shot,
            Kind.FOREIGN: self._foreign,
        }

    def source(self) -> str:
        self._functions["tick"] = self._root
        lines: list[str] = []
        written: set[str] = set()
        while pending := [name for name in self._functions if name not in written]:
            for name in pending:
                lines += self._functions[name]().lines
                lines.append("")
            written.update(pending)
        return "\n".join(lines)

    def _root(self) -> Source:
        out = Source("def tick():")
        out("if stale: return renew()")
        self._tick_to_the_end(self._plans[0], out)
        if self._reports_changes:
            out(f"now = [{', '.join(f'{plan.name}.status' for plan in self._plans)}]")
            out("if now != seen: report(now)")
        out("return s")
        return out

    def _tick(self, plan: Plan, out: Source) -> list[str]:
        """Write a node's tick. Returns the variables with generators that py_trees would not have closed by then."""
        out(f"# {type(plan.node).__name__} {plan.node.name!r}")
        if plan.children and out.depth > MAX_DEPTH:
            name = f"tick_{plan.name}"
            self._functions[name] = lambda: self._subtree(name, plan)
            out(f"s = {name}()")
            return []
        return self._writers[plan.kind](plan, out)

    def _tick_to_the_end(self, plan: Plan, out: Source) -> None:
        self._close(self._tick(plan, out), out)

    def _close(self, generators: list[str], out: Source) -> None:
        for generator in generators:
            out(f"{generator} = None")

    def _subtree(self, name: str, plan: Plan) -> Source:
        out = Source(f"def {name}():")
        self._writers[plan.kind](plan, out)
        out("return s")
        return out

    def _visit(self, plan: Plan, out: Source) -> None:
        if self._visits:
            out(f"visit({plan.name})")
            out(f"s = {plan.name}.status")

    # -- leaves and decorators -------------------------------------------------------------------

    def _leaf(self, plan: Plan, out: Source) -> list[str]:
        self._initialise(plan, out)
        self._update(plan, out)
        return []

    def _decorator(self, plan: Plan, out: Source) -> list[str]:
        with self._unless_edited(plan, out):
            self._initialise(plan, out)
            self._tick_to_the_end(plan.children[0], out)
            self._update(plan, out)
        return []

    def _one_shot(self, plan: Plan, out: Source) -> list[str]:
        with self._unless_edited(plan, out):
            out(f"final = {plan.name}.final_status")
            self._initialise(plan, out)
            with out.block("if not final:"):
                self._tick_to_the_end(plan.children[0], out)
            self._update(plan, out)
        return []

    def _eternal_guard(self, plan: Plan, out: Source) -> list[str]:
        with self._unless_edited(plan, out):
            out(f"holds = {plan.name}.condition()")
            out(f"if holds is not True and holds is not False: holds = verdict({plan.name}, holds)")
            with out.block("if holds:"):
                self._initialise(plan, out)
                self._tick_to_the_end(plan.children[0], out)
                self._update(plan, out)
            with out.block("else:"):
                out("s = F")
                self._stop(plan, out)
                out(f"s = {plan.name}.status" if plan.own_stop else f"{plan.name}.status = F")
                self._visit(plan, out)
        return []

    def _initialise(self, plan: Plan, out: Source) -> None:
        if plan.initialises:
            out(f"if {plan.name}.status is not R: {plan.name}.initialise()")

    def _update(self, plan: Plan, out: Source) -> None:
        """The part of a tick that `Behaviour` and `Decorator` share."""
        out(f"s = {plan.name}.update()")
        if plan.own_stop or plan.terminates or plan.children:
            with out.block("if s is not R:"):
                out(f"if s is not S and s is not F: s = checked({plan.name}, s)")
                self._stop(plan, out)
        else:
            out(f"if s is not S and s is not R and s is not F: s = checked({plan.name}, s)")
        out(f"{plan.name}.status = s")
        self._visit(plan, out)

    def _stop(self, plan: Plan, out: Source) -> None:
        """`stop(s)` without the status, for anything but a composite."""
        if plan.own_stop:
            out(f"{plan.name}.stop(s)")
            return
        if plan.terminates:
            out(f"{plan.name}.terminate(s)")
        if plan.children:
            self._halts.halt_decorated(plan, out)

    def _unless_edited(self, plan: Plan, out: Source) -> Source:
        out(f"if {plan.is_edited}: s = edited({plan.name})")
        return out.block("else:")

    # -- composites ------------------------------------------------------------------------------

    def _sequence(self, plan: Plan, out: Source) -> list[str]:
        unclosed: list[str] = []
        with self._unless_edited(plan, out):
            self._start_sequence(plan, out)
            if not plan.children:
                out("s = S")
            else:
                with out.block("while 1:"):
                    for index in range(len(plan.children)):
                        unclosed += self._sequence_child(plan, index, out)
                    out("break")
                if not plan.own_stop:
                    out(f"if s is I: invalidate({plan.name})")
            self._finish(plan, out)
        return unclosed

    def _start_sequence(self, plan: Plan, out: Source) -> None:
        name = plan.name
        first = plan.children[0].name if plan.children else None
        remembers = plan.children and plan.node.memory  # type: ignore[attr-defined]
        if remembers:
            with out.block(f"if {name}.status is R and {name}.current_child is not None:"):
                self._resume(plan, out)
            with out.block("else:"):
                out(f"{name}.current_child = {first}")
                out(f"{name}_at = 0")
        else:
            out(f"{name}.current_child = {first}")
        if plan.children or plan.initialises:
            with out.block(f"if {name}.status is not R:"):
                self._halts.halt_children(plan, out)
                if plan.initialises:
                    out(f"{name}.initialise()")

    def _resume(self, plan: Plan, out: Source) -> None:
        out(f"{plan.name}_at = {plan.name}_places.get({plan.name}.current_child)")
        out(f"if {plan.name}_at is None: {plan.name}_at = place({plan.name})")

    def _sequence_child(self, plan: Plan, index: int, out: Source) -> list[str]:
        child, followers = plan.children[index], plan.children[index + 1 :]
        with self._unless_resumed_later(plan, index, out):
            unclosed = self._tick_below(child, "is not S", "S", out)
            if followers or unclosed:
                with out.block("if s is not S:"):
                    if not plan.node.memory:  # type: ignore[attr-defined]
                        self._halts.halt_children(plan, out, index + 1)
                    out("break")
                self._close(unclosed, out)
            if followers:
                out(f"{plan.name}.current_child = {followers[0].name}")
        return unclosed

    def _selector(self, plan: Plan, out: Source) -> list[str]:
        unclosed: list[str] = []
        with self._unless_edited(plan, out):
            self._start_selector(plan, out)
            if not plan.children:
                out(f"{plan.name}.current_child = None")
                out("s = F")
            else:
                with out.block("while 1:"):
                    for index in range(len(plan.children)):
                        unclosed += self._selector_child(plan, index, out)
                    out("s = F")
                    out("break")
            self._finish(plan, out)
        return unclosed

    def _start_selector(self, plan: Plan, out: Source) -> None:
        name = plan.name
        with out.block(f"if {name}.status is not R:"):
            out(f"{name}.current_child = {plan.children[0].name if plan.children else None}")
            if plan.initialises:
                out(f"{name}.initialise()")
        if plan.children:
            out(f"{name}_was = {name}.current_child")
            if plan.node.memory:  # type: ignore[attr-defined]
                self._resume(plan, out)
                if len(plan.children) > 1:
                    with out.block(f"if {name}_at:"):
                        self._halts.halt_preceding_children(plan, out, f"{name}_at")

    def _selector_child(self, plan: Plan, index: int, out: Source) -> list[str]:
        child, followers = plan.children[index], plan.children[index + 1 :]
        with self._unless_resumed_later(plan, index, out):
            unclosed = self._tick_below(child, "in (R, S)", "F", out)
            with out.block("if s is not F and s is not I:"):
                out(f"{plan.name}.current_child = {child.name}")
                if followers:
                    with out.block(f"if {plan.name}_was is not {child.name}:"):
                        self._halts.halt_children(plan, out, index + 1)
                out("break")
            self._close(unclosed, out)
        return unclosed

    def _unless_resumed_later(self, plan: Plan, index: int, out: Source) -> AbstractContextManager[None]:
        """Skip the children before the one that a composite with memory resumes at."""
        if plan.node.memory and index < len(plan.children) - 1:  # type: ignore[attr-defined]
            return out.block(f"if {plan.name}_at <= {index}:")
        return nullcontext()

    def _finish(self, plan: Plan, out: Source) -> None:
        """Sequences and selectors: take the status `s`; a selector that failed points at its last child."""
        name = plan.name
        fails_at_last = plan.kind is Kind.SELECTOR and plan.children
        if plan.own_stop:
            if fails_at_last:
                out("failed = s is F")
            out(f"if s is R: {name}.status = R")
            out(f"else: {name}.stop(s)")
            out(f"s = {name}.status")
        else:
            if plan.terminates:
                out(f"if s is not R: {name}.terminate(s)")
            out(f"{name}.status = s")
        if fails_at_last:
            out(f"if {'failed' if plan.own_stop else 's is F'}: {name}.current_child = {plan.children[-1].name}")
        self._visit(plan, out)

    def _parallel(self, plan: Plan, out: Source) -> list[str]:
        name = plan.name
        with self._unless_edited(plan, out):
            if self._validates(plan):
                out(f"{name}.validate_policy_configuration()")
            with out.block(f"if {name}.status is not R:"):
                self._halts.halt_children(plan, out)
                out(f"{name}.current_child = None")
                if plan.initialises:
                    out(f"{name}.initialise()")
            if plan.children:
                self._tick_all(plan, out)
                self._judge(plan, out)
            else:
                out(f"{name}.current_child = None")
                out("s = S")
            self._finish_parallel(plan, out)
        return []

    def _validates(self, plan: Plan) -> bool:
        node = plan.node
        assert isinstance(node, Parallel)
        standard = (
            getattr(node.validate_policy_configuration, "__func__", None) is Parallel.validate_policy_configuration
        )
        return not standard or isinstance(node.policy, ParallelPolicy.SuccessOnSelected)

    def _tick_all(self, plan: Plan, out: Source) -> None:
        synchronised = plan.node.policy.synchronise  # type: ignore[attr-defined]
        for child in plan.children:
            with out.block(f"if {child.name}.status is not S:") if synchronised else nullcontext():
                self._tick_to_the_end(child, out)

    def _judge(self, plan: Plan, out: Source) -> None:
        """Set `s` and the current child from what the children report now."""
        name, policy = plan.name, plan.node.policy  # type: ignore[attr-defined]
        children = [child.name for child in plan.children]
        out(f"{name}.current_child = {children[-1]}")
        with out.block("while 1:"):
            for child in children:
                out(f"if {child}.status is F: {name}.current_child = {child}; s = F; break")
            if isinstance(policy, ParallelPolicy.SuccessOnOne):
                for child in reversed(children):
                    out(f"if {child}.status is S: {name}.current_child = {child}; s = S; break")
                out("s = R")
            elif isinstance(policy, ParallelPolicy.SuccessOnAll):
                for child in children:
                    out(f"if {child}.status is not S: s = R; break")
                out("s = S")
            else:
                out(f"s = selected({name})")
            out("break")

    def _finish_parallel(self, plan: Plan, out: Source) -> None:
        if plan.own_stop:
            out(f"if s is not R: {plan.name}.stop(s)")
        elif plan.children or plan.terminates:
            with out.block("if s is not R:"):
                if plan.children:
                    self._halts.halt_running_children(plan, out)
                if plan.terminates:
                    out(f"{plan.name}.terminate(s)")
        # an empty parallel leaves the status to its stop
        out(f"{plan.name}.status = s" if plan.children or not plan.own_stop else f"s = {plan.name}.status")
        self._visit(plan, out)

    # -- nodes with a tick of their own ----------------------------------------------------------

    def _foreign(self, plan: Plan, out: Source) -> list[str]:
        with out.block(f"for x in {plan.name}.tick():"):
            out("visit(x)" if self._visits else "pass")
        out(f"s = {plan.name}.status")
        return []

    def _tick_below(self, child: Plan, ends: str, goes_on: str, out: Source) -> list[str]:
        """Tick a child of a sequence or selector: a foreign one only until it shows a status that ends the round."""
        if child.kind is not Kind.FOREIGN:
            return self._tick(child, out)
        nodes = f"{child.name}_nodes"
        out(f"# {type(child.node).__name__} {child.node.name!r}, by its own tick")
        out(f"{nodes} = {child.name}.tick()")
        with out.block(f"for x in {nodes}:"):
            if self._visits:
                out("visit(x)")
            out(f"if x is {child.name} and x.status {ends}: s = x.status; break")
        out(f"else: s = {goes_on}")
        return [nodes]
