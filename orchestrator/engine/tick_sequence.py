"""Generated code for a sequence's tick."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from orchestrator.engine.kinds import Kind
from orchestrator.engine.plan import Plan
from orchestrator.engine.unit import Unit

if TYPE_CHECKING:
    from orchestrator.engine.tick import TickWriter


def write_sequence(writer: TickWriter, plan: Plan, out: Unit) -> None:
    with writer.unless_edited(plan, out):
        _start(writer, plan, out)
        if not plan.children:
            out("s = S")
        else:
            _children(writer, plan, out)
            if not plan.own_stop:
                out(f"if s is I: invalidate({out.node(plan)})")
        _finish(writer, plan, out)


def write_run(writer: TickWriter, run: Plan, out: Unit) -> None:
    """Some of the children of a long sequence, from the one with index `at` among them if the sequence has memory."""
    if run.node.memory:  # type: ignore[attr-defined]
        out(f"{out.node(run)}_at = at")
    _children(writer, run, out)


def _children(writer: TickWriter, plan: Plan, out: Unit) -> None:
    with out.block("while 1:"):
        for index, child in enumerate(plan.children):
            (_run if child.kind is Kind.RUN else _child)(writer, plan, index, out)
        out("break")


def _start(writer: TickWriter, plan: Plan, out: Unit) -> None:
    node = out.node(plan)
    begin = f"{node}.current_child = {out.node(_first(plan.children[0])) if plan.children else None}"
    if plan.children and plan.node.memory:  # type: ignore[attr-defined]
        with out.block(f"if {node}.status is R:"):
            resume(plan, out, "place_or_first")
        with out.block("else:"):
            out(begin)
            out(f"{node}_at = 0")
            _begin_anew(writer, plan, out)
        return
    out(begin)
    if plan.children or plan.initialises:
        with out.block(f"if {node}.status is not R:"):
            _begin_anew(writer, plan, out)


def _begin_anew(writer: TickWriter, plan: Plan, out: Unit) -> None:
    writer.halts.halt_children(plan, out)
    if plan.initialises:
        out(f"{out.node(plan)}.initialise()")


def _child(writer: TickWriter, plan: Plan, index: int, out: Unit) -> None:
    child = plan.children[index]
    is_last = index + 1 == len(plan.children)
    with unless_resumed_later(plan, index, out):
        unchecked = writer.updates_unchecked(child, out)
        if not unchecked:
            writer.tick_until(child, out, "is not S", "S")
        if not is_last or unchecked or child.is_held:
            with out.block("if s is not S:"):
                if unchecked:
                    out(f"if s is not R and s is not F: {out.node(child)}.status = s = checked({out.node(child)}, s)")
                if not is_last and not plan.node.memory:  # type: ignore[attr-defined]
                    writer.halts.halt_children(plan, out, index + 1)
                if not is_last or child.is_held:
                    out("break")
            if child.is_held:
                writer.close(out)
        if not is_last:
            out(f"{out.node(plan)}.current_child = {out.node(plan.children[index + 1])}")


def _run(writer: TickWriter, plan: Plan, index: int, out: Unit) -> None:
    run = plan.children[index]
    is_last = index + 1 == len(plan.children)
    start = sum(len(earlier.children) for earlier in plan.children[:index])
    memory = plan.node.memory  # type: ignore[attr-defined]
    at = f"{out.node(plan)}_at"
    with out.block(f"if {at} < {start + len(run.children)}:") if memory else nullcontext():
        writer.call(run, out, **({"at": f"{at} - {start}"} if memory else {}))
        if not is_last:
            with out.block("if s is not S:"):
                if not memory:
                    writer.halts.halt_children(plan, out, index + 1)
                out("break")
            out(f"{out.node(plan)}.current_child = {out.node(_first(plan.children[index + 1]))}")


def _first(plan: Plan) -> Plan:
    return plan.children[0] if plan.kind is Kind.RUN else plan


def resume(plan: Plan, out: Unit, otherwise: str) -> None:
    """Find out where a composite with memory goes on; `otherwise` is called if it is at none of its children."""
    node = out.node(plan)
    out(f"try: {node}_at = {out.places(plan)}[{node}.current_child]")
    out(f"except KeyError: {node}_at = {otherwise}({node})")


def unless_resumed_later(plan: Plan, index: int, out: Unit) -> AbstractContextManager[None]:
    """Skip the children before the one that a composite with memory goes on with."""
    if plan.node.memory and index + 1 < len(plan.children):  # type: ignore[attr-defined]
        return out.block(f"if {out.node(plan)}_at <= {index}:")
    return nullcontext()


def _finish(writer: TickWriter, plan: Plan, out: Unit) -> None:
    """Stop with the status `s`, or go on running."""
    node = out.node(plan)
    if plan.own_stop:
        out(f"if s is R: {node}.status = R")
        out(f"else: {node}.stop(s)")
        out(f"s = {node}.status")
    else:
        if plan.terminates:
            out(f"if s is not R: {node}.terminate(s)")
        out(f"{node}.status = s")
    writer.visit(plan, out)
