"""Generated code for a selector's tick."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.engine.plan import Plan
from orchestrator.engine.tick_sequence import resume, unless_resumed_later
from orchestrator.engine.unit import Unit

if TYPE_CHECKING:
    from orchestrator.engine.tick import TickWriter


def write_selector(writer: TickWriter, plan: Plan, out: Unit) -> None:
    with writer.unless_edited(plan, out):
        _start(writer, plan, out)
        if not plan.children:
            out(f"{out.node(plan)}.current_child = None")
            out("s = F")
        else:
            with out.block("while 1:"):
                for index in range(len(plan.children)):
                    _child(writer, plan, index, out)
                out("s = F")
                out("break")
        _finish(writer, plan, out)


def _start(writer: TickWriter, plan: Plan, out: Unit) -> None:
    node = out.node(plan)
    with out.block(f"if {node}.status is not R:"):
        out(f"{node}.current_child = {out.node(plan.children[0]) if plan.children else None}")
        if plan.initialises:
            out(f"{node}.initialise()")
    if plan.children:
        out(f"{node}_was = {node}.current_child")
        if plan.node.memory:  # type: ignore[attr-defined]
            resume(plan, out, "place")
            if len(plan.children) > 1:
                with out.block(f"if {node}_at:"):
                    writer.halts.halt_preceding_children(plan, out, f"{node}_at")


def _child(writer: TickWriter, plan: Plan, index: int, out: Unit) -> None:
    child = plan.children[index]
    with unless_resumed_later(plan, index, out):
        if writer.updates_unchecked(child, out):
            with out.block("if s is not F:"):
                out(f"if s is not S and s is not R: {out.node(child)}.status = s = checked({out.node(child)}, s)")
                with out.block("if s is not I:"):
                    _choose(writer, plan, index, out)
            return
        writer.tick_until(child, out, "in (R, S)", "F")
        with out.block("if s is not F and s is not I:"):
            _choose(writer, plan, index, out)
        if child.is_held:
            writer.close(out)


def _choose(writer: TickWriter, plan: Plan, index: int, out: Unit) -> None:
    child = out.node(plan.children[index])
    out(f"{out.node(plan)}.current_child = {child}")
    if index + 1 < len(plan.children):
        with out.block(f"if {out.node(plan)}_was is not {child}:"):
            writer.halts.halt_children(plan, out, index + 1)
    out("break")


def _finish(writer: TickWriter, plan: Plan, out: Unit) -> None:
    """Stop with the status `s`, or go on running; a selector that failed points at its last child."""
    node = out.node(plan)
    last = out.node(plan.children[-1]) if plan.children else None
    if plan.own_stop:
        out(f"if s is R: {node}.status = R")
        out(f"elif s is S: {node}.stop(S)")
        out(f"else: {node}.stop(F); {node}.current_child = {last}")
        out(f"s = {node}.status")
    else:
        if plan.terminates:
            out(f"if s is not R: {node}.terminate(s)")
        out(f"{node}.status = s")
        out(f"if s is F: {node}.current_child = {last}")
    writer.visit(plan, out)
