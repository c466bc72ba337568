"""One generated function: its lines, and what its names stand for.

Names are given out in order of use, so that equal pieces of a tree give equal text, which Python compiles only once.
Nodes and statuses are arguments with default values, because a function reads nothing faster than its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType, TracebackType
from typing import NamedTuple

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.children import Children
from orchestrator.engine.plan import INLINE_HALT_IN_TICK, Plan

_STATUSES = {"S": Status.SUCCESS, "F": Status.FAILURE, "R": Status.RUNNING, "I": Status.INVALID}


class Text(NamedTuple):
    """A function as people see it."""

    lines: list[str]
    subjects: dict[int, tuple[str, str]]  # class and name of the node, by line

    def made(self) -> str:
        lines = self.lines.copy()
        for number, (kind, name) in self.subjects.items():
            lines[number] += f"  # {kind} {name!r}"
        return "\n".join([*lines, ""])


class Unit:
    """Written like a text:

    with out.block(f"if {out.node(plan)}.status is R:"):
        out(f"{out.function(other)}()")
    """

    def __init__(self, name: str, *arguments: str) -> None:
        self.name = name
        self.depth = 1
        self.halt_room = INLINE_HALT_IN_TICK
        self.lines = [f"def {name}({', '.join(arguments)}):"]
        self.text = Text(self.lines, {})
        self._arguments = arguments
        self._names: dict[str, str] = {}
        self._nodes: dict[str, Behaviour] = {}
        self._bound: dict[str, object] = {}
        self._held: dict[str, Plan] = {}
        self._called: dict[str, str] = {}

    def __call__(self, line: str) -> None:
        self.lines.append(" " * self.depth + line)

    def block(self, head: str) -> Unit:
        self(head)
        return self

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.depth -= 1

    def about(self, plan: Plan) -> None:
        """Let the next line say which node it is about, for whoever reads a traceback; Python never sees it."""
        self.text.subjects[len(self.lines)] = type(plan.node).__name__, plan.node.name

    def node(self, plan: Plan) -> str:
        """The name of a node in this function."""
        name = self._names.get(plan.label)
        if name is None:
            name = self._names[plan.label] = f"n{len(self._names)}"
            (self._bound if plan.seldom else self._nodes)[name] = plan.node
        return name

    def children(self, plan: Plan) -> str:
        """The name of the list of children that a node was planned with."""
        name = f"{self.node(plan)}_children"
        self._held[name] = plan
        return name

    def places(self, plan: Plan) -> str:
        """The name of a table from child to index."""
        name = f"{self.node(plan)}_places"
        if name not in self._bound:
            self._bound[name] = {child: place for place, child in reversed([*enumerate(plan.node.children)])}
        return name

    def bound(self, value: object) -> str:
        """A name for something that is known now."""
        name = f"b{len(self._bound)}"
        self._bound[name] = value
        return name

    def call(self, function: str) -> str:
        """The name here of another generated function."""
        return self._called.setdefault(function, f"f{len(self._called)}")

    def become(
        self, function: FunctionType, first_line: int, runtime: dict[str, object], named: Callable[[str], object]
    ) -> None:
        """Turn a function into this one; `named` gives the other generated functions by name."""
        defaults = {**_STATUSES, **self._nodes}
        head = f"def unit({', '.join([*self._arguments, *defaults])}):"
        code = _code("\n".join([head, *self.lines[1:]])).replace(
            co_filename=function.__code__.co_filename,
            co_firstlineno=first_line,
            co_name=self.name,
            co_qualname=self.name,
        )
        # a dictionary and a code object of its own: Python's inline caches belong to the code object
        names = function.__globals__
        names.clear()
        names.update(runtime)
        names.update(self._bound)
        names.update((name, _as_planned(plan)) for name, plan in self._held.items())
        names.update((name, named(other)) for other, name in self._called.items())
        function.__code__ = code
        function.__defaults__ = tuple(defaults.values())
        for name, plan in self._held.items():
            assert plan.watched is not None
            plan.watched.held_by(function, name)


def _as_planned(plan: Plan) -> Children | None:
    """The list of children, unless it was edited since: then nothing that a node's list could be."""
    return plan.watched if plan.watched is not None and plan.watched.version == plan.version else None


@lru_cache(maxsize=2048)
def _code(text: str) -> CodeType:
    module = compile(text, "<behaviour tree>", "exec")
    return next(constant for constant in module.co_consts if isinstance(constant, CodeType))
