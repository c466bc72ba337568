"""The tree as the compiler sees it: every node with its name in the generated code and what has to be called."""

from __future__ import annotations

from dataclasses import dataclass

from py_trees.behaviour import Behaviour

from orchestrator.engine.kinds import COMPOSITES, DECORATORS, Kind, children_of, has_own_stop, kind_of, overrides

INLINE_HALT = 12  # statements; a stop that takes more gets a function of its own, so that code size stays linear


@dataclass(slots=True)
class Plan:
    """One node."""

    node: Behaviour
    name: str
    kind: Kind
    initialises: bool
    terminates: bool
    own_stop: bool
    children: list[Plan]
    halts_inline: bool
    halt_size: int

    @property
    def is_edited(self) -> str:
        """The expression that is true once the node's children are no longer those it was compiled with."""
        if self.kind in DECORATORS:
            return f"{self.name}.decorated is not {self.children[0].name}"
        return f"{self.name}.children != {self.name}_children"


def make_plan(root: Behaviour) -> list[Plan]:
    """All nodes that the generated code ticks itself, and the foreign ones just below them; the root comes first."""
    plans: list[Plan] = []
    _add(root, plans)
    return plans


def _add(node: Behaviour, plans: list[Plan]) -> Plan:
    kind = kind_of(node)
    plan = Plan(
        node=node,
        name=f"n{len(plans)}",
        kind=kind,
        initialises=overrides(node, "initialise"),
        terminates=overrides(node, "terminate"),
        own_stop=has_own_stop(node, kind),
        children=[],
        halts_inline=True,
        halt_size=1,
    )
    plans.append(plan)
    for child in children_of(node, kind):
        plan.children.append(_add(child, plans))
    if kind in COMPOSITES | DECORATORS and not plan.own_stop:
        size = 4 + sum(child.halt_size for child in plan.children)
        plan.halts_inline = size <= INLINE_HALT
        plan.halt_size = size if plan.halts_inline else 1
    return plan
