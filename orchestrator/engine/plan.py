"""The tree as the compiler sees it: what has to be called on each node, and which parts become functions."""

from __future__ import annotations

from dataclasses import dataclass, field

from py_trees.behaviour import Behaviour

from orchestrator.engine.children import Children, watched_children
from orchestrator.engine.kinds import COMPOSITES, DECORATORS, Kind, children_of, has_own_stop, kind_of, overrides

# A stop of more statements than this gets a function of its own, so that the code does not grow with depth. In the
# middle of a tick there is less room, because there it is seldom needed.
INLINE_HALT = 32
INLINE_HALT_IN_TICK = 12
# Nodes written out in one function. Python reads the first 256 arguments of a function faster than the others, and
# equal functions are compiled once; against that stands one call per function.
UNIT_NODES = 24
# Nodes whose status one function gathers after a tick.
STATE_NODES = 200
# CPython nests at most 20 loops, and every composite is one.
UNIT_LEVELS = 12
# Every node that is an argument costs something in every call, every other one where it is used. Steps of a sequence
# with memory, if it has more of them than this, are used in few ticks.
SELDOM = 5


@dataclass(slots=True)
class Plan:
    """One node, or a run of children of a long sequence."""

    node: Behaviour
    kind: Kind
    label: str  # unique
    initialises: bool = False
    terminates: bool = False
    own_stop: bool = False
    children: list[Plan] = field(default_factory=list)
    implied: bool = False  # its status follows from its parent's status and current child
    seldom: bool = False  # in most ticks it is passed over
    is_step: bool = False  # nothing but callbacks, and takes turns with others: a call costs less than its code
    watched: Children | None = None  # its list of children, if it has one
    version: int = 0  # of that list
    holds: bool = False  # its tick may leave a generator open, see docs/engine.md
    holds_below: bool = False  # the same for something below it
    is_unit: bool = False  # its tick is a function of its own
    size: int = 1  # nodes that stand in the place where it is ticked
    levels: int = 0
    halt_size: int = 1  # statements that stand in the place where it is stopped
    halt_is_unit: bool = False

    @property
    def is_bare(self) -> bool:
        """A leaf with nothing to call but `update`."""
        return self.kind is Kind.LEAF and not (self.initialises or self.terminates or self.own_stop)

    @property
    def ticks_alone(self) -> bool:
        """Its tick is only its own callbacks, so that a node of ours needs no code written to tick it."""
        return self.kind is Kind.OWN or (self.kind is Kind.LEAF and not self.own_stop)

    @property
    def is_held(self) -> bool:
        """Below a sequence or selector its tick may stay open until the parent goes on."""
        return self.kind is Kind.FOREIGN or self.holds


def make_plan(root: Behaviour) -> list[Plan]:
    """All nodes, the root first; what is below a foreign node is nobody's child, because the node ticks it itself."""
    plans: list[Plan] = []
    _add(root, plans)
    for plan in reversed(plans):  # children before their parents
        if plan.kind is Kind.LEAF:
            plan.levels = 1
            continue
        _divide(plan)
        _divide_halt(plan)
        plan.holds_below = any(child.holds or child.holds_below for child in plan.children)
        plan.holds = plan.kind in (Kind.SEQUENCE, Kind.SELECTOR) and any(child.is_held for child in plan.children)
        if plan.kind in (Kind.SEQUENCE, Kind.SELECTOR) and plan.node.memory:  # type: ignore[attr-defined]
            _find_steps(plan)
        if plan.kind is Kind.SEQUENCE and len(plan.children) > 2 * UNIT_NODES:
            plan.children = _runs(plan)
    return plans


def _add(node: Behaviour, plans: list[Plan]) -> Plan:
    kind = kind_of(node)
    plan = Plan(
        node=node,
        kind=kind,
        label=str(len(plans)),
        initialises=overrides(node, "initialise"),
        terminates=overrides(node, "terminate"),
        own_stop=has_own_stop(node, kind),
    )
    plans.append(plan)
    if kind in COMPOSITES or kind is Kind.OWN:
        plan.watched = watched_children(node)
        plan.version = plan.watched.version
    for child in children_of(node, kind):
        plan.children.append(_add(child, plans))
    if kind is Kind.FOREIGN:
        for child in node.children:
            _add(child, plans)
    return plan


def _find_steps(plan: Plan) -> None:
    """Leaves before the current child of a sequence with memory have succeeded, those after it have not begun."""
    in_sequence = plan.kind is Kind.SEQUENCE and not plan.own_stop
    is_long = in_sequence and len(plan.children) > 2 * UNIT_NODES
    for child in plan.children:
        is_leaf = child.kind is Kind.LEAF and not child.own_stop
        child.is_step = (is_leaf and not child.is_bare) or (is_long and child.kind is Kind.OWN)
        child.implied = is_leaf and in_sequence
        child.seldom = child.implied and not is_long and len(plan.children) > SELDOM
        if is_long and (child.kind in COMPOSITES or child.kind in DECORATORS):
            _separate(child)


def _divide(plan: Plan) -> None:
    """Make a function of what has become too large or too deep to be written in place."""
    if plan.kind is Kind.OWN:
        return  # its children are functions already
    if sum(child.size for child in plan.children) > UNIT_NODES:
        for child in plan.children:
            if child.size > UNIT_NODES // 4:
                _separate(child)
    plan.size = 1 + sum(child.size for child in plan.children)
    plan.levels = 1 + max((child.levels for child in plan.children), default=0)
    if plan.size > UNIT_NODES or plan.levels >= UNIT_LEVELS:
        _separate(plan)


def _separate(plan: Plan) -> None:
    plan.is_unit, plan.size, plan.levels = True, 1, 0


def _divide_halt(plan: Plan) -> None:
    if (plan.kind in COMPOSITES or plan.kind in DECORATORS) and not plan.own_stop:
        plan.halt_size = 4 + sum(child.halt_size for child in plan.children)
        if plan.halt_size > INLINE_HALT:
            plan.halt_size, plan.halt_is_unit = 1, True


def _runs(plan: Plan) -> list[Plan]:
    """The children in groups, each with functions of its own; most of them are equal."""
    runs = []
    for first in range(0, len(plan.children), UNIT_NODES):
        children = plan.children[first : first + UNIT_NODES]
        run = Plan(plan.node, Kind.RUN, f"{plan.label}_{first}", children=children)
        run.holds = any(child.is_held for child in children)
        run.holds_below = any(child.holds_below for child in children)
        runs.append(run)
    return runs
