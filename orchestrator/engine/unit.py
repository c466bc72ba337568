"""One generated function: its lines, and what its names stand for.

Names are given out in order of use, so that equal pieces of a tree give equal text, which Python compiles only once.
Nodes and statuses are arguments with default values, because a function reads nothing faster than its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType, TracebackType
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.children import Children
from orchestrator.engine.plan import INLINE_HALT_IN_TICK, Plan

_STATUSES = {"S": Status.SUCCESS, "F": Status.FAILURE, "R": Status.RUNNING, "I": Status.INVALID}


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
        self._arguments = arguments
        self._comments: dict[int, Plan] = {}
        self._names: dict[str, str] = {}
        self._nodes: dict[str, Behaviour] = {}
        self._bound: dict[str, object] = {}
        self._held: dict[str, Children] = {}
        self._called: dict[str, str] = {}
        self.function: FunctionType | None = None

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
        self._comments[len(self.lines)] = plan

    def node(self, plan: Plan) -> str:
        """The name of a node in this function."""
        name = self._names.get(plan.label)
        if name is None:
            name = self._names[plan.label] = f"n{len(self._names)}"
            self._nodes[name] = plan.node
        return name

    def children(self, plan: Plan, children: Children) -> str:
        name = f"{self.node(plan)}_children"
        self._held[name] = children
        return name

    def places(self, plan: Plan) -> str:
        """The name of a table from child to index."""
        name = f"{self.node(plan)}_places"
        if name not in self._bound:
            self._bound[name] = {child: place for place, child in reversed([*enumerate(plan.node.children)])}
        return name

    def call(self, function: str) -> str:
        """The name here of another generated function."""
        return self._called.setdefault(function, f"f{len(self._called)}")

    def load(self, filename: str, first_line: int, runtime: dict[str, object]) -> None:
        """Make the function; one that is there already becomes the new one."""
        defaults = {**_STATUSES, **self._nodes}
        head = f"def unit({', '.join([*self._arguments, *defaults])}):"
        code = _code("\n".join([head, *self.lines[1:]])).replace(
            co_filename=filename, co_firstlineno=first_line, co_name=self.name, co_qualname=self.name
        )
        # a dictionary and a code object of its own: Python's inline caches belong to the code object
        names: dict[str, Any] = {**runtime, **self._bound, **self._held}
        if self.function is None:
            self.function = FunctionType(code, names, self.name)
        else:
            self.function.__code__ = code
            self.function.__globals__.clear()
            self.function.__globals__.update(names)
        self.function.__defaults__ = tuple(defaults.values())
        for name, children in self._held.items():
            children.held_by(self.function, name)

    def link(self, function_named: Callable[[str], object]) -> None:
        assert self.function is not None
        for function, name in self._called.items():
            self.function.__globals__[name] = function_named(function)

    def text(self) -> str:
        lines = self.lines.copy()
        for number, plan in self._comments.items():
            lines[number] += f"  # {type(plan.node).__name__} {plan.node.name!r}"
        return "\n".join([*lines, ""])


@lru_cache(maxsize=2048)
def _code(text: str) -> CodeType:
    module = compile(text, "<behaviour tree>", "exec")
    return next(constant for constant in module.co_consts if isinstance(constant, CodeType))
