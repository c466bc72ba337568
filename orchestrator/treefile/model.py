"""A checked tree: what the file says, typed and resolved, ready for the engine, the drawing and the flow analysis."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from orchestrator.leaf import Declaration, ParamType
from orchestrator.robots.facts import RobotFacts
from orchestrator.treefile.evaluate import Compiled, Store, compiled
from orchestrator.treefile.expression import NOT_CONSTANT, Expr, read_by
from orchestrator.yamlfile import Node, Place
from orchestrator.yamlfile.units import DIMENSIONS, shown

_NAME = re.compile(r"\$\w+")


class Expression:
    """A value or condition that is looked at during the run. `hold`: it must have held that long, in seconds.

    `possible`: every value it may have, where a name stands for one of a few that are written in the file.
    """

    def __init__(self, text: str, made: Expr, hold: float | None, place: Place, possible: tuple[Any, ...] = ()) -> None:
        self.text = text
        self.made = made
        self.hold = hold
        self.place = place
        self.possible = possible

    @property
    def kind(self) -> str:
        return self.made.kind

    @property
    def const(self) -> Any:
        """Its value if it is known before the run, else NOT_CONSTANT."""
        return self.made.const

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """What it reads of the robot, with the kind of each."""
        return {part.value: part.kind for part in read_by(self.made) if part.op == "field"}

    @cached_property
    def reads(self) -> Mapping[str, Expr]:
        """All that it reads, as it is written: `battery.level`, `$attempt`."""
        return {self._written(part): part for part in read_by(self.made)}

    def _written(self, part: Expr) -> str:
        name = _NAME.match(self.text, part.offset)
        return name[0] if name else str(part.value)

    @property
    def only_reads(self) -> bool:
        """Whether it is a field or a name and nothing else, so that its value says what that is."""
        return self.made.op in ("field", "name") and self.hold is None

    @cached_property
    def evaluate(self) -> Compiled:
        """`evaluate(read, store)`: its value, or None when it is unknown."""
        return compiled(self.made)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


@dataclass(frozen=True, slots=True)
class Template:
    """A text with names in it: plain pieces, and (key, kind) of what is put in.

    `possible`: of the path of a file, every text it may become.
    """

    parts: tuple[str | tuple[str, str], ...]
    possible: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def text(self, store: Store) -> str:
        """The text with what the names stand for now; what is not known is shown as a question mark."""
        return "".join(part if isinstance(part, str) else _shown(store.get(part[0]), part[1]) for part in self.parts)


def _shown(value: Any, kind: str) -> str:
    return "?" if value is None else text_of(value, kind)


def text_of(value: Any, kind: str) -> str:
    """A value as it appears inside a text."""
    if kind in DIMENSIONS:
        return shown(value, kind)
    if kind == "bool":
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(text_of(item, "") for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


# A parameter's value: a plain constant in the unit we calculate in, or something to be evaluated when the node starts.
Value = Any


@dataclass(slots=True)
class Modifiers:
    """What stands beside a node's kind; the order of the fields is the nesting, from the outermost inwards."""

    when: Expression | None = None
    unless: Expression | None = None
    finally_: list[TreeNode] = field(default_factory=list)
    outcome_key: str = ""  # where `$outcome` is kept for the nodes of `finally`
    save: str | None = None  # the key under which the result is kept
    result: str | None = None  # success, failure, inverted
    while_: Expression | None = None
    until: Expression | None = None
    cooldown: Value = None
    confirm: Value = None
    delay: Value = None
    repeat: int | str | Expression | None = None  # rounds, "forever", or the condition of `until`
    for_each: tuple[str, Value] | None = None  # key and values
    retry: int | None = None
    retry_wait: Value = None
    attempt_key: str = ""  # where `$attempt` is kept
    timeout: Value = None
    name: Value = None
    note: str | None = None


NO_MODIFIERS = Modifiers()


class TreeNode:
    """One node. `children` are the nodes of a sequence, selector or parallel, of `then`, or the root of a used file."""

    __slots__ = (
        "children",
        "condition",
        "dead",
        "fail",
        "file",
        "fsm_before",
        "kind",
        "leaf",
        "memory",
        "modifiers",
        "otherwise",
        "passed",
        "require",
        "sets",
        "source",
        "succeed",
        "values",
    )

    def __init__(self, kind: str, source: Node) -> None:
        self.kind = kind  # sequence, selector, parallel, if, use, check, wait_for, leaf; mistake in a tree with errors
        self.source = source
        self.children: list[TreeNode] = []
        self.otherwise: list[TreeNode] | None = None  # else
        self.condition: Expression | None = None
        self.leaf: Declaration | None = None
        self.values: dict[str, Value] = {}
        self.sets: dict[str, Expression] = {}  # of the leaf Set: keys and expressions
        self.memory = True
        self.succeed: str | int = "all"
        self.fail: str | int | None = None
        self.modifiers = NO_MODIFIERS
        self.passed: dict[str, Value] = {}  # of use: keys of the used file's parameters that are known only at run time
        self.require: list[Expression] = []  # of use: what must hold while the used file runs
        self.file: str | None = None  # of use: the file
        self.fsm_before: tuple[str, ...] = ()  # of a leaf that sets states: those in which the robot may be before it
        self.dead = False  # cannot run on this robot, by a condition that is constant

    @property
    def place(self) -> Place:
        return self.source.place

    @property
    def title(self) -> str:
        """What it is called on screens."""
        name = self.modifiers.name
        if isinstance(name, str):
            return name
        return self.leaf.name if self.leaf else self.kind

    @property
    def only_looks(self) -> bool:
        """Whether it sends nothing."""
        return self.kind == "check" or (self.leaf is not None and self.leaf.looks)

    def __repr__(self) -> str:
        return f"<{self.title} {self.place}>"


@dataclass(frozen=True, slots=True)
class TreeParam:
    """A parameter of a tree."""

    name: str
    type: ParamType
    default: Any  # NOT_CONSTANT when it must be given
    help: str = ""


@dataclass(slots=True)
class Tree:
    """A checked file with everything it uses."""

    name: str
    file: str
    description: str
    params: Mapping[str, TreeParam]
    require: list[Expression]
    pause: tuple[Expression, Expression] | None
    root: TreeNode | None
    robot: RobotFacts | None
    nodes: int = 0
    unset: tuple[str, ...] = ()  # parameters without default that were not given: it cannot run before they are


__all__ = [
    "NOT_CONSTANT",
    "NO_MODIFIERS",
    "Expression",
    "Modifiers",
    "Template",
    "Tree",
    "TreeNode",
    "TreeParam",
    "Value",
]
