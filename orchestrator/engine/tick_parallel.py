"""Generated code for a parallel's tick."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from py_trees.common import ParallelPolicy
from py_trees.composites import Parallel

from orchestrator.engine.plan import Plan
from orchestrator.engine.unit import Unit

if TYPE_CHECKING:
    from orchestrator.engine.tick import TickWriter


def write_parallel(writer: TickWriter, plan: Plan, out: Unit) -> None:
    with writer.unless_edited(plan, out):
        _start(writer, plan, out)
        if plan.children:
            _tick_children(writer, plan, out)
            _judge(plan, out)
        else:
            out(f"{out.node(plan)}.current_child = None")
            out("s = S")
        _finish(writer, plan, out)


def _policy(plan: Plan) -> ParallelPolicy.Base:
    assert isinstance(plan.node, Parallel)
    return plan.node.policy


def _start(writer: TickWriter, plan: Plan, out: Unit) -> None:
    node = out.node(plan)
    if _may_be_misconfigured(plan):
        out(f"{node}.validate_policy_configuration()")
    with out.block(f"if {node}.status is not R:"):
        writer.halts.halt_children(plan, out)
        out(f"{node}.current_child = None")
        if plan.initialises:
            out(f"{node}.initialise()")


def _may_be_misconfigured(plan: Plan) -> bool:
    validate = plan.node.validate_policy_configuration  # type: ignore[attr-defined]
    is_own = getattr(validate, "__func__", None) is not Parallel.validate_policy_configuration
    return is_own or isinstance(_policy(plan), ParallelPolicy.SuccessOnSelected)


def _tick_children(writer: TickWriter, plan: Plan, out: Unit) -> None:
    synchronises = _policy(plan).synchronise
    for child in plan.children:
        with out.block(f"if {out.node(child)}.status is not S:") if synchronises else nullcontext():
            writer.tick_to_the_end(child, out)


def _judge(plan: Plan, out: Unit) -> None:
    """Set `s` and the current child from what the children report now."""
    node = out.node(plan)
    children = [out.node(child) for child in plan.children]
    out(f"{node}.current_child = {children[-1]}")
    with out.block("while 1:"):
        for child in children:
            out(f"if {child}.status is F: {node}.current_child = {child}; s = F; break")
        if isinstance(_policy(plan), ParallelPolicy.SuccessOnAll):
            for child in children:
                out(f"if {child}.status is not S: s = R; break")
            out("s = S")
        elif isinstance(_policy(plan), ParallelPolicy.SuccessOnOne):
            for child in reversed(children):
                out(f"if {child}.status is S: {node}.current_child = {child}; s = S; break")
            out("s = R")
        else:
            out(f"s = selected({node})")
        out("break")


def _finish(writer: TickWriter, plan: Plan, out: Unit) -> None:
    node = out.node(plan)
    if plan.own_stop:
        out(f"if s is not R: {node}.stop(s)")
    elif plan.children or plan.terminates:
        with out.block("if s is not R:"):
            if plan.children:
                writer.halts.halt_running_children(plan, out)
            if plan.terminates:
                out(f"{node}.terminate(s)")
    # an empty parallel leaves the status to its stop
    out(f"{node}.status = s" if plan.children or not plan.own_stop else f"s = {node}.status")
    writer.visit(plan, out)
