"""From a checked tree to nodes that run: every kind and modifier of the language becomes a node of the tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.composites import Selector, Sequence

from orchestrator.clock import Clock
from orchestrator.engine.breakpoints import fits
from orchestrator.engine.conditions import DYNAMIC, Condition, bind, bind_time, in_range
from orchestrator.engine.events import NodeInfo, Structure
from orchestrator.engine.nodes.composites import Parallel, ReactiveSelector, ReactiveSequence
from orchestrator.engine.nodes.finally_ import Finally, TryAll
from orchestrator.engine.nodes.flow import Ask, Confirm, Log, Set, Wait
from orchestrator.engine.nodes.leaf import LeafNode
from orchestrator.engine.nodes.looks import Check, Dead, If, WaitFor
from orchestrator.engine.nodes.modifiers import (
    Attempts,
    Cooldown,
    Delay,
    ForEach,
    Guard,
    Limit,
    Repeat,
    Result,
    Save,
    Use,
    When,
)
from orchestrator.engine.prompts import Prompts
from orchestrator.engine.resources import parts_used
from orchestrator.engine.run import FieldSource, Run, node_id
from orchestrator.engine.substitution import StandIn, Substitutes
from orchestrator.leaf import Catalogue, Declaration, Leaf
from orchestrator.treefile import Expression, Tree, TreeNode
from orchestrator.treefile.model import NO_MODIFIERS

SUCCESS, FAILURE = Status.SUCCESS, Status.FAILURE


@dataclass(slots=True)
class BuiltTree:
    """A tree that can be run once. `shown[number]` is the node whose status stands for a node of the file."""

    tree: Tree
    root: Behaviour
    run: Run
    structure: list[NodeInfo]
    shown: list[Behaviour]
    sources: list[TreeNode]
    paths: list[str]
    """Of every node: the tree's name and the names down to it, with slashes."""
    pause: tuple[Condition, Condition] | None
    require: list[Guard]
    """Of the file itself."""
    require_of_used: list[Guard]

    def find(self, pattern: str | int) -> list[NodeInfo]:
        """The nodes that a name, a path, both with `*`, or a number means."""
        if isinstance(pattern, int):
            return self.structure[pattern : pattern + 1] if pattern >= 0 else []
        return [node for node, path in zip(self.structure, self.paths) if fits(pattern, node.name, path)]

    def where(self, node: Behaviour | None) -> tuple[NodeInfo | None, str]:
        """The node of the file to which a node of the tree belongs, and its place there."""
        if node is None:
            return None, ""
        number = node_id(node)
        return self.structure[number], str(self.sources[number].place)

    def described(self) -> Structure:
        robot = self.tree.robot.name if self.tree.robot else ""
        at = self.run.at()
        return Structure(at=at, tree=self.tree.name, file=self.tree.file, robot=robot, nodes=self.structure)


def build(
    tree: Tree,
    catalogue: Catalogue,
    robot: Any,
    fields: FieldSource,
    clock: Clock,
    prompts: Prompts | None = None,
    substitutes: Substitutes | None = None,
) -> BuiltTree:
    """Makes the nodes of a checked tree. The leaves are those of the catalogue, by their names."""
    assert tree.root is not None, "only a tree without errors can be built"
    run = Run(clock, robot, fields, prompts or Prompts())
    builder = _Builder(tree, catalogue, run, substitutes)
    root = builder.node(tree.root, None, "", SUCCESS)
    require = builder.guards(root, tree.require)
    root = require[0] if require else root
    builder.shown[0] = root
    root.number = 0  # type: ignore[attr-defined]
    pause = (Condition(tree.pause[0], run), Condition(tree.pause[1], run, clock)) if tree.pause else None
    facts = builder.structure, builder.shown, builder.sources, builder.paths
    return BuiltTree(tree, root, run, *facts, pause, require, builder.require_of_used)


class _Builder:
    def __init__(self, tree: Tree, catalogue: Catalogue, run: Run, substitutes: Substitutes | None) -> None:
        self._tree = tree
        self._catalogue = catalogue
        self._run = run
        self._substitutes = substitutes
        self.structure: list[NodeInfo] = []
        self.shown: list[Behaviour] = []
        self.sources: list[TreeNode] = []
        self.paths: list[str] = []
        self.require_of_used: list[Guard] = []

    def node(self, source: TreeNode, parent: int | None, role: str, skipped_as: Status) -> Behaviour:
        """A node with its modifiers around it."""
        number = self._register(source, parent, role)
        made = self._core(source, number) if self._substitutes is None else self._substituted(source, number)
        made.number = number  # type: ignore[attr-defined]
        if source.modifiers is not NO_MODIFIERS:
            made = self._modified(source, made, number, skipped_as)
            made.number = number  # type: ignore[attr-defined]
        self.shown[number] = made
        return made

    def _core(self, source: TreeNode, number: int) -> Behaviour:
        if source.dead:
            return Dead(source.title, self._run)
        return _KINDS[source.kind](self, source, number)

    def _substituted(self, source: TreeNode, number: int) -> Behaviour:
        assert self._substitutes is not None
        script = None if source.dead else self._substitutes.find(source.title, self.paths[number])
        if script is None:
            return self._core(source, number)
        return StandIn(source.title, self._run, script, source.only_looks, _results(source))

    def _register(self, source: TreeNode, parent: int | None, role: str) -> int:
        number = len(self.structure)
        place = source.place
        kind = source.leaf.name if source.leaf else source.kind
        note = source.modifiers.note or ""
        self.structure.append(NodeInfo(number, parent, kind, source.title, place.file, place.line, role, note))
        self.sources.append(source)
        self.paths.append(f"{self._tree.name if parent is None else self.paths[parent]}/{source.title}")
        self.shown.append(_NOT_YET)
        return number

    def _nodes(self, sources: list[TreeNode], parent: int, role: str = "", skip: Status = SUCCESS) -> list[Behaviour]:
        return [self.node(source, parent, role, skip) for source in sources]

    def guards(self, node: Behaviour, require: list[Expression]) -> list[Guard]:
        """What must hold while a node runs, the outermost first."""
        found: list[Guard] = []
        for expression in reversed(require):
            condition = Condition(expression, self._run)
            node = Guard("require", self._run, node, condition, ends_when=False, ends_as=FAILURE)
            found.insert(0, node)
        return found

    # Kinds

    def _sequence(self, source: TreeNode, number: int) -> Behaviour:
        children = self._nodes(source.children, number)
        if source.memory:
            return Sequence(source.title, memory=True, children=children)
        return ReactiveSequence(source.title, self._run, children)

    def _selector(self, source: TreeNode, number: int) -> Behaviour:
        children = self._nodes(source.children, number, skip=FAILURE)
        if source.memory:
            return Selector(source.title, memory=True, children=children)
        return ReactiveSelector(source.title, self._run, children)

    def _parallel(self, source: TreeNode, number: int) -> Behaviour:
        children = self._nodes(source.children, number)
        return Parallel(source.title, self._run, children, source.succeed, source.fail)

    def _if(self, source: TreeNode, number: int) -> Behaviour:
        assert source.condition is not None
        branches = [self._list("then", self._nodes(source.children, number, "then"))]
        if source.otherwise is not None:
            branches.append(self._list("else", self._nodes(source.otherwise, number, "else")))
        return If(source.title, self._run, Condition(source.condition, self._run), branches)

    def _list(self, name: str, nodes: list[Behaviour]) -> Behaviour:
        return nodes[0] if len(nodes) == 1 else Sequence(name, memory=True, children=nodes)

    def _use(self, source: TreeNode, number: int) -> Behaviour:
        child = self._nodes(source.children, number)[0]
        require = self.guards(child, source.require)
        self.require_of_used += require
        child = require[0] if require else child
        passed = {key: bind(value, self._run) for key, value in source.passed.items()}
        return Use(source.title, self._run, child, passed)

    def _check(self, source: TreeNode, number: int) -> Behaviour:
        assert source.condition is not None
        return Check(source.title, self._run, Condition(source.condition, self._run))

    def _wait_for(self, source: TreeNode, number: int) -> Behaviour:
        assert source.condition is not None
        return WaitFor(source.title, self._run, Condition(source.condition, self._run))

    def _leaf(self, source: TreeNode, number: int) -> Behaviour:
        assert source.leaf is not None
        flow = _FLOW.get(source.leaf.name)
        if flow is not None:
            return flow(source, self._run)
        declared = self._catalogue.get(source.leaf.name) or source.leaf
        make = self._leaf_maker(source, declared)
        timeout = source.modifiers.timeout
        limit = None if timeout is None else bind_time("timeout", timeout, self._run)
        is_saved = source.modifiers.save is not None
        return LeafNode(source.title, self._run, make, limit, declared.resumable, declared.looks, is_saved, source)

    def _leaf_maker(self, source: TreeNode, declared: Declaration) -> Callable[[], tuple[Leaf, Iterable[str]]]:
        run, robot, folder = self._run, self._run.robot, _folder(source.place.file)
        plays_files = any(param.type.moves is not None for param in declared.params.values())
        dynamic = {name: bind(value, run) for name, value in source.values.items() if not _is_constant(value)}
        constants = {name: value for name, value in source.values.items() if name not in dynamic}
        ranges = self._tree.robot.ranges if self._tree.robot else {}

        def value_of(name: str, value: Callable[[], Any]) -> Any:
            wanted = declared.params[name].type
            return in_range(name, value(), wanted, ranges.get(wanted.limit) if wanted.limit else None)

        if not dynamic and not plays_files:  # a file may be another one by the time it is played
            parts = parts_used(declared, constants, self._tree.robot, folder)
            return lambda: (declared.leaf(robot, constants, folder), parts)

        def make() -> tuple[Leaf, Iterable[str]]:
            values = {**constants, **{name: value_of(name, value) for name, value in dynamic.items()}}
            return declared.leaf(robot, values, folder), parts_used(declared, values, self._tree.robot, folder)

        return make

    # Modifiers

    def _modified(self, source: TreeNode, node: Behaviour, number: int, skipped_as: Status) -> Behaviour:
        """The order here, from the innermost outwards, is that of the language's table turned round."""
        given, run, core = source.modifiers, self._run, node
        if given.timeout is not None and not isinstance(core, LeafNode):
            waits_for = core.condition if isinstance(core, WaitFor) else None
            node = Limit("timeout", run, node, bind_time("timeout", given.timeout, run), waits_for)
        if given.retry is not None:
            wait = None if given.retry_wait is None else bind_time("wait of retry", given.retry_wait, run)
            node = Attempts("retry", run, node, given.retry, wait, given.attempt_key)
        if given.for_each is not None:
            node = ForEach("for_each", run, node, given.for_each[0], bind(given.for_each[1], run))
        if given.repeat is not None:
            node = self._repeated(node, given.repeat)
        if given.delay is not None:
            node = Delay("delay", run, node, bind_time("delay", given.delay, run))
        if given.confirm is not None:
            node = confirm = Confirm(source.title, run, node, bind(given.confirm, run))
            node.number = number  # type: ignore[attr-defined]
            if isinstance(core, LeafNode):
                core.agreement = confirm
        if given.cooldown is not None:
            node = Cooldown("cooldown", run, node, bind_time("cooldown", given.cooldown, run))
        if given.until is not None:
            condition = Condition(given.until, run)
            node = Guard("until", run, node, condition, ends_when=True, ends_as=SUCCESS)
        if given.while_ is not None:
            condition = Condition(given.while_, run)
            node = Guard("while", run, node, condition, ends_when=False, ends_as=FAILURE)
        if given.result is not None:
            node = Result("result", run, node, given.result)
        if given.save is not None and isinstance(core, LeafNode | Ask | StandIn):
            node = Save("save", run, node, given.save, core)
        if given.finally_:
            after = TryAll("finally", self._nodes(given.finally_, number, "finally"))
            node = Finally(source.title, run, node, after, given.outcome_key)
        conditions = [(Condition(e, run), wanted) for e, wanted in ((given.when, True), (given.unless, False)) if e]
        if conditions:
            node = When(source.title, run, node, conditions, skipped_as)
        return node

    def _repeated(self, node: Behaviour, repeat: int | str | Expression) -> Behaviour:
        if isinstance(repeat, Expression):
            return Repeat("repeat", self._run, node, until=Condition(repeat, self._run))
        return Repeat("repeat", self._run, node, inf if isinstance(repeat, str) else repeat)


_NOT_YET = Sequence("not built yet", memory=True)

_KINDS: dict[str, Callable[[_Builder, TreeNode, int], Behaviour]] = {
    "sequence": _Builder._sequence,
    "selector": _Builder._selector,
    "parallel": _Builder._parallel,
    "if": _Builder._if,
    "use": _Builder._use,
    "check": _Builder._check,
    "wait_for": _Builder._wait_for,
    "leaf": _Builder._leaf,
}

_FLOW: dict[str, Callable[[TreeNode, Run], Behaviour]] = {
    "Wait": lambda source, run: Wait(source.title, run, bind_time("time", source.values["time"], run)),
    "Log": lambda source, run: Log(source.title, run, bind(source.values["text"], run)),
    "Set": lambda source, run: Set(source.title, run, source.sets),
    "Ask": lambda source, run: Ask(
        source.title, run, *(bind(source.values[name], run) for name in ("question", "choices", "fail_on"))
    ),
}
"""Leaves of the catalogue that the engine carries out itself, because they need the run and no robot."""


@lru_cache(maxsize=256)
def _folder(file: str) -> Path:
    return Path(file).parent


def _results(source: TreeNode) -> list[str]:
    """What a leaf may leave as its result."""
    if source.leaf is None:
        return []
    listed = [source.values.get(param) or [] for param in source.leaf.result_params]
    return [*source.leaf.result, *(word for words in listed for word in words if isinstance(word, str))]


def _is_constant(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_constant(item) for item in value)
    if isinstance(value, dict):
        return all(_is_constant(item) for item in value.values())
    return not isinstance(value, DYNAMIC)
