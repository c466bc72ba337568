"""Generated code that ticks a tree: for every kind of node what py_trees' `tick` does, children in place.

In the generated code S, F, R and I are the four statuses; `s` is the status of the node ticked last.
docs/engine.md explains the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from py_trees.decorators import PassThrough

from orchestrator.engine.halt import HaltWriter, UnitWriters, is_edited
from orchestrator.engine.kinds import Kind, method_of
from orchestrator.engine.plain import plain_tick
from orchestrator.engine.plan import STATE_NODES, UNIT_NODES, Plan
from orchestrator.engine.tick_parallel import write_parallel
from orchestrator.engine.tick_selector import write_selector
from orchestrator.engine.tick_sequence import write_run, write_sequence
from orchestrator.engine.unit import Unit


class TickWriter:
    """Writes the functions of one tree."""

    def __init__(self, plans: list[Plan], visits: bool, reports_changes: bool) -> None:
        self._plans = plans
        self._visits = visits
        self._reports_changes = reports_changes
        self._units: UnitWriters = {"tick": self._root}
        self.halts = HaltWriter(self._units)
        self._writers: dict[Kind, Callable[[Plan, Unit], None]] = {
            Kind.LEAF: self._leaf,
            Kind.SEQUENCE: lambda plan, out: write_sequence(self, plan, out),
            Kind.RUN: lambda plan, out: write_run(self, plan, out),
            Kind.SELECTOR: lambda plan, out: write_selector(self, plan, out),
            Kind.PARALLEL: lambda plan, out: write_parallel(self, plan, out),
            Kind.DECORATOR: self._decorator,
            Kind.ETERNAL_GUARD: self._eternal_guard,
            Kind.ONE_SHOT: self._one_shot,
            Kind.OWN: self._own,
            Kind.FOREIGN: self._foreign,
        }

    def write(self, name: str) -> Unit:
        """The function of this name. It may call others, which can be written from now on."""
        return self._units[name]()

    def tick(self, plan: Plan, out: Unit) -> None:
        out.about(plan)
        if plan.is_unit:
            self.call(plan, out)
        elif plan.is_step and not self._visits:
            out(f"s = {out.bound(plain_tick(plan))}()")
        else:
            self._writers[plan.kind](plan, out)

    def tick_to_the_end(self, plan: Plan, out: Unit) -> None:
        self.tick(plan, out)
        if plan.holds:
            self.close(out)

    def tick_until(self, plan: Plan, out: Unit, ends: str, goes_on: str) -> None:
        """Tick a child of a sequence or selector: a foreign one only until it shows a status that ends the round."""
        if plan.kind is not Kind.FOREIGN:
            self.tick(plan, out)
            return
        out.about(plan)
        out(f"held.append({out.node(plan)}.tick())")
        with out.block("for x in held[-1]:"):
            if self._visits:
                out("visit(x)")
            out(f"if x is {out.node(plan)} and x.status {ends}: s = x.status; break")
        out(f"else: s = {goes_on}")

    def updates_unchecked(self, plan: Plan, out: Unit) -> bool:
        """Write only the update of a leaf that needs no more, if the caller will check a status it does not expect."""
        if self._visits or not plan.is_bare:
            return False
        out.about(plan)
        out(f"{out.node(plan)}.status = s = {out.node(plan)}.update()")
        return True

    def close(self, out: Unit) -> None:
        """py_trees drops a foreign node's unfinished tick when an ancestor goes on."""
        out("held.clear()")

    def unless_edited(self, plan: Plan, out: Unit) -> Unit:
        out(f"if {is_edited(plan, out)}: s = edited({out.node(plan)})")
        return out.block("else:")

    def visit(self, plan: Plan, out: Unit) -> None:
        if self._visits:
            out(f"visit({out.node(plan)})")
            out(f"s = {out.node(plan)}.status")

    def _root(self) -> Unit:
        out = Unit("tick")
        out("if edits: return renew()")
        root = self._plans[0]
        root.is_unit = False
        if root.holds or root.holds_below:
            out("held = []")
        self.tick_to_the_end(root, out)
        if self._reports_changes:
            self._report_changes(out)
        out("return s")
        return out

    def call(self, plan: Plan, out: Unit, **arguments: str) -> None:
        """Tick by a function of its own."""
        if plan.holds:
            arguments["held"] = "held"
        name = f"tick_{plan.label}"

        def unit() -> Unit:
            body = Unit(name, *arguments)
            if plan.holds_below and not plan.holds:
                body("held = []")
            body.about(plan)
            self._writers[plan.kind](plan, body)
            body("return s")
            return body

        self._units[name] = unit
        out(f"s = {out.call(name)}({', '.join(arguments.values())})")

    def _report_changes(self, out: Unit) -> None:
        """Make a list that changes whenever a status does; as short as it can be, since it is made in every tick."""
        statuses = [plan for plan in self._plans if not plan.implied]
        moving = [plan for plan in self._plans if plan.kind is Kind.SEQUENCE and plan.node.memory]  # type: ignore[attr-defined]
        parts = [*self._parts(statuses, "status", out), *self._parts(moving, "current_child", out)]
        out(f"now = [{', '.join(parts)}]")
        out("if now != seen: report(now)")

    def _parts(self, plans: list[Plan], attribute: str, out: Unit) -> Iterator[str]:
        """Each attribute; of many nodes in parts of equal text, which Python compiles once."""
        if len(self._plans) <= 2 * UNIT_NODES:
            yield from (f"{out.node(plan)}.{attribute}" for plan in plans)
            return
        for first in range(0, len(plans), STATE_NODES):
            name = f"state_{attribute}_{first}"
            self._units[name] = partial(self._part, name, plans[first : first + STATE_NODES], attribute)
            yield f"{out.call(name)}()"

    def _part(self, name: str, plans: list[Plan], attribute: str) -> Unit:
        out = Unit(name)
        out(f"return ({', '.join(f'{out.node(plan)}.{attribute}' for plan in plans)},)")
        return out

    def _leaf(self, plan: Plan, out: Unit) -> None:
        self._initialise(plan, out)
        self._update(plan, out)

    def _decorator(self, plan: Plan, out: Unit) -> None:
        with self.unless_edited(plan, out):
            self._initialise(plan, out)
            self.tick_to_the_end(plan.children[0], out)
            self._update(plan, out)

    def _one_shot(self, plan: Plan, out: Unit) -> None:
        with self.unless_edited(plan, out):
            out(f"final = {out.node(plan)}.final_status")
            self._initialise(plan, out)
            with out.block("if not final:"):
                self.tick_to_the_end(plan.children[0], out)
            self._update(plan, out)

    def _eternal_guard(self, plan: Plan, out: Unit) -> None:
        node = out.node(plan)
        with self.unless_edited(plan, out):
            out(f"holds = {node}.condition()")
            out(f"if holds is not True and holds is not False: holds = verdict({node}, holds)")
            with out.block("if holds:"):
                self._initialise(plan, out)
                self.tick_to_the_end(plan.children[0], out)
                self._update(plan, out)
            with out.block("else:"):
                out("s = F")
                self._stop(plan, out)
                out(f"s = {node}.status" if plan.own_stop else f"{node}.status = F")
                self.visit(plan, out)

    def _foreign(self, plan: Plan, out: Unit) -> None:
        with out.block(f"for x in {out.node(plan)}.tick():"):
            out("visit(x)" if self._visits else "pass")
        out(f"s = {out.node(plan)}.status")

    def _own(self, plan: Plan, out: Unit) -> None:
        node = out.node(plan)
        self._initialise(plan, out)
        out(f"{node}.status = s = {node}.update()")
        self.visit(plan, out)

    def function_of(self, plan: Plan) -> str | None:
        """The name of the function by which a node of ours ticks this child; None: its callbacks are enough."""
        if plan.ticks_alone and not self._visits:
            return None
        name = f"tick_{plan.label}"
        self._units[name] = partial(self._of_own, plan)
        return name

    def _of_own(self, plan: Plan) -> Unit:
        """The function by which a node of ours ticks its child."""
        out = Unit(f"tick_{plan.label}")
        if plan.holds or plan.holds_below:
            out("held = []")
        out.about(plan)
        self._writers[plan.kind](plan, out)
        if plan.holds:
            self.close(out)
        out("return s")
        return out

    def _initialise(self, plan: Plan, out: Unit) -> None:
        if plan.initialises:
            out(f"if {out.node(plan)}.status is not R: {out.node(plan)}.initialise()")

    def _update(self, plan: Plan, out: Unit) -> None:
        """The part of a tick that `Behaviour` and `Decorator` share."""
        node = out.node(plan)
        self._call_update(plan, out)
        if plan.terminates and not plan.own_stop and not plan.children:
            out(f"if s is not R: s = terminated({node}, s)")
        elif plan.own_stop or plan.children:
            with out.block("if s is not R:"):
                out(f"if s is not S and s is not F: s = checked({node}, s)")
                self._stop(plan, out)
        else:
            out(f"if s is not S and s is not R and s is not F: s = checked({node}, s)")
        out(f"{node}.status = s")
        self.visit(plan, out)

    def _call_update(self, plan: Plan, out: Unit) -> None:
        """Called with `s` being the child's status, which a PassThrough has nothing to add to."""
        if plan.kind is Kind.DECORATOR and method_of(plan.node, "update") is PassThrough.update:
            return
        out.about(plan)
        out(f"s = {out.node(plan)}.update()")

    def _stop(self, plan: Plan, out: Unit) -> None:
        """`stop(s)` of a leaf or decorator, but for the status."""
        if plan.own_stop:
            out(f"{out.node(plan)}.stop(s)")
            return
        if plan.terminates:
            out(f"{out.node(plan)}.terminate(s)")
        if plan.children:
            self.halts.halt_decorated(plan, out)
