"""Random trees of every kind of node, and a trace of all that can be observed while one is ticked.

A seed always gives the same tree and the same leaf scripts, so that two runs of it can be compared.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import py_trees
from py_trees.behaviour import Behaviour
from py_trees.common import OneShotPolicy, ParallelPolicy, Status
from py_trees.composites import Composite, Parallel, Selector, Sequence
from py_trees.decorators import Decorator

S, F, R, INVALID = Status.SUCCESS, Status.FAILURE, Status.RUNNING, Status.INVALID

Entry = tuple[Any, ...]
Ticker = Callable[[Behaviour, Callable[[Behaviour], object] | None], Callable[[], object]]


class Mishap(Exception):
    """Raised by leaves on purpose."""


class Scripted(Behaviour):
    """A leaf without callbacks but `update`, which plays a script."""

    def __init__(self, name: str, log: list[Entry], script: list[object]) -> None:
        super().__init__(name)
        self.log = log
        self.script = script
        self.step = 0

    def note(self, *entry: object) -> None:
        parent = self.parent
        pointed_at = getattr(getattr(parent, "current_child", None), "name", None)
        self.log.append((self.name, self.status, parent and parent.status, pointed_at, *entry))

    def update(self) -> Status:
        self.note("update")
        outcome = self.script[self.step % len(self.script)]
        self.step += 1
        self.feedback_message = f"step {self.step}"
        if outcome == "raise":
            raise Mishap(f"{self.name} at step {self.step}")
        return outcome  # type: ignore[return-value]


class Hooked(Scripted):
    """A leaf with all callbacks."""

    def initialise(self) -> None:
        self.note("initialise")
        if self.script[0] == "raise" and self.step == 3:
            raise Mishap(f"{self.name} does not start")

    def terminate(self, new_status: Status) -> None:
        self.note("terminate", new_status)
        if self.script[-1] == "raise" and self.step == 5:
            raise Mishap(f"{self.name} does not end")


class OwnStop(Hooked):
    def stop(self, new_status: Status) -> None:
        self.note("stop", new_status)
        super().stop(new_status)


class StubbornStop(Hooked):
    """Stays as it is when stopped, the first time."""

    refused = False

    def stop(self, new_status: Status) -> None:
        self.note("stop", new_status)
        if self.refused:
            super().stop(new_status)
        self.refused = True


class OwnTick(Hooked):
    def tick(self) -> Iterator[Behaviour]:
        self.note("tick")
        try:
            yield from super().tick()
        finally:
            self.note("tick is over")


class ShowsItselfTwice(OwnTick):
    def tick(self) -> Iterator[Behaviour]:
        yield self
        yield from super().tick()


class NeverShowsItself(OwnTick):
    def tick(self) -> Iterator[Behaviour]:
        for _ in super().tick():
            pass
        yield from ()


class PickyAttributes(Hooked):
    """Notes every change of its status."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "status" and hasattr(self, "log"):
            self.note("becomes", value)
        super().__setattr__(name, value)


class Notes:
    """Callbacks of composites and decorators that write the log."""

    log: list[Entry]
    name: str
    status: Status

    def initialise(self) -> None:
        self.log.append((self.name, self.status, "initialise"))
        super().initialise()  # type: ignore[misc]

    def terminate(self, new_status: Status) -> None:
        pointed_at = getattr(getattr(self, "current_child", None), "name", None)
        self.log.append((self.name, self.status, pointed_at, "terminate", new_status))
        super().terminate(new_status)  # type: ignore[misc]


class NotesStop(Notes):
    def stop(self, new_status: Status) -> None:
        self.log.append((self.name, self.status, "stop", new_status))
        super().stop(new_status)  # type: ignore[misc]


class NotesTick(Notes):
    def tick(self) -> Iterator[Behaviour]:
        self.log.append((self.name, self.status, "tick"))
        yield from super().tick()  # type: ignore[misc]


LEAVES = (
    [Scripted] * 6
    + [Hooked] * 6
    + [OwnStop, StubbornStop, OwnTick, ShowsItselfTwice, NeverShowsItself, PickyAttributes]
)
FLAVOURS: list[type[Notes] | None] = [None, None, None, None, Notes, Notes, NotesStop, NotesTick]
OUTCOMES: list[object] = [S] * 9 + [F] * 6 + [R] * 8 + [INVALID, None, "raise"]


class RandomTree:
    """One tree, made from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.log: list[Entry] = []
        self.nodes: list[Behaviour] = []
        self.room = self.random.randint(1, 10) if seed % 500 else 150
        self.root = self._node(depth=0)

    def _node(self, depth: int) -> Behaviour:
        self.room -= 1
        choice = self.random.random()
        if depth and (self.room <= 0 or choice < 0.35):
            node = self._leaf()
        elif choice < 0.75:
            node = self._composite(depth)
        else:
            node = self._decorator(depth)
        self.nodes.append(node)
        return node

    def _name(self) -> str:
        return f"{len(self.nodes)}.{self.room}"

    def _leaf(self) -> Behaviour:
        cls = self.random.choice(LEAVES)
        script = self.random.choices(OUTCOMES, k=self.random.randint(1, 6))
        leaf = cls(self._name(), self.log, script)
        if cls is Scripted and self.random.random() < 0.1:
            self._replace_callbacks(leaf)
        return leaf

    def _replace_callbacks(self, leaf: Scripted) -> None:
        leaf.initialise = lambda: leaf.note("replaced initialise")  # type: ignore[method-assign]
        leaf.terminate = lambda new_status: leaf.note("replaced terminate", new_status)  # type: ignore[method-assign]

    def _flavoured(self, cls: type[Behaviour], **arguments: Any) -> Any:
        flavour = self.random.choice(FLAVOURS)
        if flavour is None:
            return cls(name=self._name(), **arguments)
        cls = _flavoured_class(flavour, cls)
        node = cls(name=self._name(), **arguments)
        node.log = self.log  # type: ignore[attr-defined]
        return node

    def _composite(self, depth: int) -> Behaviour:
        cls: Any = self.random.choice([Sequence, Selector, Parallel])
        count = self.random.choice([0, 1, 2, 2, 2, 3, 3, 4, 6] if self.room < 60 or depth else [60])
        children = [self._node(depth + 1) for _ in range(count)]
        if cls is Parallel:
            return self._flavoured(Parallel, policy=self._policy(children), children=children)  # type: ignore[no-any-return]
        return self._flavoured(cls, memory=self.random.random() < 0.5, children=children)  # type: ignore[no-any-return]

    def _policy(self, children: list[Behaviour]) -> ParallelPolicy.Base:
        synchronise = self.random.random() < 0.5
        kind = self.random.randrange(7)
        if kind < 3:
            return ParallelPolicy.SuccessOnAll(synchronise=synchronise)
        if kind < 5 or not children:
            return ParallelPolicy.SuccessOnOne()
        selected = self.random.sample(children, self.random.randint(0 if kind == 6 else 1, len(children)))
        return ParallelPolicy.SuccessOnSelected(children=selected, synchronise=synchronise)

    def _decorator(self, depth: int) -> Behaviour:
        cls, arguments = self.random.choice(DECORATORS)
        return self._flavoured(cls, child=self._node(depth + 1), **arguments(self))  # type: ignore[no-any-return]

    def edit(self) -> None:
        """Add, remove, replace or reorder something somewhere."""
        node = self.random.choice([node for node in self.nodes if node.children or isinstance(node, Composite)])
        self.room = 3
        if isinstance(node, Decorator):
            node.decorated = self._node(depth=1)
            node.decorated.parent = node
            return
        assert isinstance(node, Composite)
        way = self.random.randrange(6)
        if way == 0 or not node.children:
            node.insert_child(self._node(depth=1), self.random.randint(0, len(node.children)))
        elif way == 1:
            node.remove_child(self.random.choice(node.children))
        elif way == 2:
            node.replace_child(self.random.choice(node.children), self._node(depth=1))
        elif way == 3:
            node.remove_all_children()
        elif way == 4:
            node.children.reverse()
        else:
            node.children = [*node.children, self._node(depth=1)]

    def condition(self) -> Callable[[], object]:
        answers = self.random.choices([True, False, S, F, R, "perhaps"], weights=[8, 3, 3, 2, 1, 1], k=5)
        step = iter(answers * 1000)
        return lambda: next(step)


_flavoured_classes: dict[tuple[type, type], type[Behaviour]] = {}


def _flavoured_class(flavour: type, cls: type[Behaviour]) -> type[Behaviour]:
    if (flavour, cls) not in _flavoured_classes:
        _flavoured_classes[flavour, cls] = type(f"{flavour.__name__}{cls.__name__}", (flavour, cls), {})
    return _flavoured_classes[flavour, cls]


def _nothing(tree: RandomTree) -> dict[str, object]:
    return {}


DECORATORS: list[tuple[type[Decorator], Callable[[RandomTree], dict[str, Any]]]] = [
    (py_trees.decorators.Inverter, _nothing),
    (py_trees.decorators.RunningIsFailure, _nothing),
    (py_trees.decorators.RunningIsSuccess, _nothing),
    (py_trees.decorators.FailureIsSuccess, _nothing),
    (py_trees.decorators.FailureIsRunning, _nothing),
    (py_trees.decorators.SuccessIsFailure, _nothing),
    (py_trees.decorators.SuccessIsRunning, _nothing),
    (py_trees.decorators.PassThrough, _nothing),
    (py_trees.decorators.Count, _nothing),
    (py_trees.decorators.Repeat, lambda tree: {"num_success": tree.random.choice([-1, 1, 2, 3])}),
    (py_trees.decorators.Retry, lambda tree: {"num_failures": tree.random.choice([1, 2, 3])}),
    (py_trees.decorators.Timeout, lambda tree: {"duration": tree.random.choice([-1.0, 2.0, 5.0])}),
    (py_trees.decorators.Condition, lambda tree: {"status": tree.random.choice(list(Status))}),
    (py_trees.decorators.OneShot, lambda tree: {"policy": tree.random.choice(list(OneShotPolicy))}),
    (py_trees.decorators.EternalGuard, lambda tree: {"condition": tree.condition()}),
    (py_trees.decorators.StatusToBlackboard, lambda tree: {"variable_name": "kept"}),
    (py_trees.decorators.ForEach, lambda tree: {"source_key": "items", "target_key": "item"}),
]


def py_trees_ticker(root: Behaviour, visit: Callable[[Behaviour], object] | None) -> Callable[[], object]:
    """What everything is compared with."""

    def tick() -> Status:
        for node in root.tick():
            if visit is not None:
                visit(node)
        return root.status

    return tick


def trace(seed: int, ticker: Ticker, now: Callable[[int], None], edits: float = 0.0, ticks: int = 12) -> list[Entry]:
    """Everything that can be observed while the seed's tree is ticked: callbacks, visits, results, states.

    `edits` is how likely the tree is edited before a tick.
    """
    tree = RandomTree(seed)
    log, root = tree.log, tree.root
    py_trees.blackboard.Blackboard.set("/items", [1, 2])
    py_trees.blackboard.Blackboard.set("/kept", None)
    watch = tree.random.random() < 0.5
    tick = ticker(root, (lambda node: log.append(("visit", node.name, node.status))) if watch else None)
    for number in range(ticks):
        now(number)
        if tree.random.random() < 0.08:
            log.append(("external stop", _outcome(lambda: root.stop(INVALID))))
        if tree.random.random() < edits:
            log.append(("edit", _outcome(tree.edit)))
        log.append(("tick", number, _outcome(tick)))
        log.extend(_state(node) for node in tree.nodes)
    log.append(("kept", py_trees.blackboard.Blackboard.get("/kept")))
    return log


def _outcome(action: Callable[[], object]) -> object:
    try:
        return action()
    except Exception as error:
        return type(error), str(error)


def _state(node: Behaviour) -> Entry:
    current = getattr(node, "current_child", None) if isinstance(node, Composite) else None
    tip = node.tip()
    return (node.name, node.status, node.feedback_message, current and current.name, tip and tip.name)
