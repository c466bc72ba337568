"""The state of a run, kept so that another process can go on with it.

Written between two ticks: the status of every node, where composites stand, what is left of every time, and the values.
A restored run goes on with the next leaf. The leaf that was running is started again if it can be resumed and has asked
for nothing that must not be done twice; otherwise a person decides. Engine and language use no random numbers, so there
is no random state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from math import isinf
from typing import Annotated, Any

import msgspec
from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.composites import Composite, Selector, Sequence

from orchestrator.engine.builder import BuiltTree
from orchestrator.engine.events import NodeInfo
from orchestrator.engine.nodes.composites import ReactiveSelector
from orchestrator.engine.nodes.finally_ import Finally, TryAll
from orchestrator.engine.nodes.flow import Confirm, Wait
from orchestrator.engine.nodes.interrupt import Interrupter
from orchestrator.engine.nodes.leaf import LeafNode
from orchestrator.engine.nodes.looks import If, WaitFor
from orchestrator.engine.nodes.modifiers import Attempts, Cooldown, Delay, ForEach, Guard, Limit, Repeat, Use, When
from orchestrator.engine.run import node_id
from orchestrator.engine.substitution import StandIn
from orchestrator.treefile import TreeNode

VERSION = 4

INVALID, RUNNING = Status.INVALID, Status.RUNNING
Count = Annotated[int, msgspec.Meta(ge=0)]
_Value = str | bool | int | float

_KEPT: dict[type[Behaviour], dict[str, Any]] = {
    If: {"branch": Annotated[int, msgspec.Meta(ge=0, le=1)], "held_up": bool},
    When: {"skipped": bool, "held_up": bool},
    Guard: {"held_up": bool},
    Cooldown: {"held_up": bool},
    Delay: {"held_up": bool},
    Use: {"held_up": bool},
    ReactiveSelector: {"running": Count | None},
    Repeat: {"done": Count},
    ForEach: {"done": Count, "values": list[_Value], "held_up": bool},
    Attempts: {"attempt": Annotated[int, msgspec.Meta(ge=1)]},
    Confirm: {"agreed": bool, "used_up": bool},
    TryAll: {"at": Count},
    Finally: {"open": bool, "held_up": bool},
    StandIn: {"attempt": Count},
    Wait: {"length": Annotated[float, msgspec.Meta(ge=0)]},
    LeafNode: {"result": str | None, "unrepeatable": bool},
}
_POSSIBLE: dict[type[Behaviour], Callable[[Any], bool]] = {
    ReactiveSelector: lambda node: node.running is None or node.running < len(node.children),
    ForEach: lambda node: node.done <= len(node.values),
    TryAll: lambda node: node.at <= len(node.children),
    Sequence: lambda node: node.status is not RUNNING or node.current_child is not None,
    Selector: lambda node: node.status is not RUNNING or node.current_child is not None,
    Wait: lambda node: node.length > 0 or node.until is None or node.status is not RUNNING,
}
"""Where what is kept is of the right type: whether the node can be in such a state."""
_TIMES: dict[type[Behaviour], tuple[str, ...]] = {
    Cooldown: ("until",),
    Delay: ("until",),
    Attempts: ("until",),
    Limit: ("started_at", "deadline"),
    Finally: ("deadline",),
    Wait: ("until",),
    StandIn: ("until",),
}
_STATUSES: dict[type[Behaviour], str] = {Finally: "outcome"}
_REMEMBERING = {Cooldown, Finally, StandIn}
"""Nodes that know something while they are idle; all others begin anew."""


class NodeState(msgspec.Struct, frozen=True, omit_defaults=True):
    """One node. Times are seconds from the moment of writing."""

    status: str
    kept: dict[str, Any] = {}
    times: dict[str, float] = {}
    ended: str | None = None  # how a node ended whose `finally` is running, or what an interrupting node will report
    held_since: float | None = None  # of a condition with `for`
    current: Count | None = None  # child of a sequence or selector
    begun: bool = False  # a leaf, not only held up at a breakpoint
    cleanups: list[Count] = []  # nodes whose `finally` this node waits for


_DONE = {status: NodeState(status.name) for status in Status}
_IDLE = _DONE[INVALID]
_ENDS = {status.name: status for status in Status if status is not RUNNING}


class Checkpoint(msgspec.Struct, frozen=True):
    """A run between two ticks."""

    version: int
    tree: str
    nodes: list[NodeState]
    values: dict[str, Any]
    shape: list[str]  # what the file says as a whole and in every node, to recognise the same tree


class WrongCheckpoint(Exception):
    """The checkpoint belongs to another tree or version; a sentence that says what differs."""


class Keeper:
    """Takes checkpoints of one tree; what does not change is worked out once."""

    def __init__(self, built: BuiltTree) -> None:
        self._built = built
        self._nodes = list(built.root.iterate())
        self._places: dict[object, int] = {node: place for place, node in enumerate(self._nodes)}
        self._shape = _shape(built)
        self._shape_json = msgspec.json.encode(self._shape)

    def take(self) -> Checkpoint:
        """To be called between two ticks."""
        return Checkpoint(VERSION, self._built.tree.name, self._states(), dict(self._built.run.values), self._shape)

    def take_json(self) -> bytes:
        """The same as bytes, in less time."""
        fixed = {"version": VERSION, "tree": self._built.tree.name}
        changing = {"nodes": self._states(), "values": self._built.run.values}
        return msgspec.json.encode({**fixed, **changing, "shape": msgspec.Raw(self._shape_json)})

    def _states(self) -> list[NodeState]:
        places, now = self._places, self._built.run.clock.now()
        return [
            _IDLE if node.status is INVALID and type(node) not in _REMEMBERING else _state(node, places, now)
            for node in self._nodes
        ]


def take(built: BuiltTree) -> Checkpoint:
    """To be called between two ticks, for example after a heartbeat."""
    return Keeper(built).take()


def to_json(checkpoint: Checkpoint) -> bytes:
    return msgspec.json.encode(checkpoint)


def from_json(data: bytes) -> Checkpoint:
    try:
        return msgspec.json.decode(data, type=Checkpoint)
    except msgspec.DecodeError as error:
        raise WrongCheckpoint(f"this is not a checkpoint: {error}") from error


def restore(built: BuiltTree, checkpoint: Checkpoint) -> None:
    """Put a freshly built tree into a checkpoint's state, before it is given to a runner. Raises WrongCheckpoint."""
    nodes = list(built.root.iterate())
    _check_same(built, checkpoint, _shape(built), len(nodes))
    built.run.values.update(checkpoint.values)
    now = built.run.clock.now()
    for node, state in zip(nodes, checkpoint.nodes):
        try:
            _restore_node(node, state, nodes, now)
        except (LookupError, TypeError, ValueError, msgspec.ValidationError) as error:
            said = f"{type(error).__name__}: {error}"
            raise WrongCheckpoint(f"what it says of {node.name} cannot be ({said}): {state}") from error


def _shape(built: BuiltTree) -> list[str]:
    """What the file says, and in which node, without the lines: a remark that was added makes no other tree."""
    stand_ins = {node_id(node) for node in built.root.iterate() if isinstance(node, StandIn)}
    tree = built.tree
    whole = _stated(require=tree.require, pause=tree.pause)
    nodes = [_said(info, source) for info, source in zip(built.structure, built.sources)]
    return [
        f"{tree.name}{whole}",
        *(f"{said} (stand-in)" if number in stand_ins else said for number, said in enumerate(nodes)),
    ]


def _said(info: NodeInfo, source: TreeNode) -> str:
    given = source.modifiers
    said = _stated(
        **{name: getattr(source, name) for name in ("condition", "values", "sets", "passed", "require")},
        memory=None if source.memory else "false",
        succeed=source.succeed if source.kind == "parallel" else None,
        fail=source.fail,
        dead=source.dead,
        **{field.name.rstrip("_"): getattr(given, field.name) for field in fields(given) if field.name not in _UNSAID},
    )
    place = f"{info.role or 'child'} of {info.parent}: " if info.parent is not None else ""
    return f"{place}{source.title}{said}"


_UNSAID = {"finally_", "outcome_key", "attempt_key", "name", "note"}
"""Of the modifiers: nodes of their own, names for values, what the title says, and remarks."""


def _stated(**parts: Any) -> str:
    return "".join(f" {name}={part}" for name, part in parts.items() if part not in (None, "", False, [], {}, ()))


def _check_same(built: BuiltTree, checkpoint: Checkpoint, shape: list[str], nodes: int) -> None:
    if checkpoint.version != VERSION:
        raise WrongCheckpoint(f"the checkpoint has version {checkpoint.version}; this program writes {VERSION}")
    if checkpoint.tree != built.tree.name:
        raise WrongCheckpoint(f'the checkpoint is of the tree "{checkpoint.tree}"; this one is "{built.tree.name}"')
    for before, now in zip(checkpoint.shape, shape):
        if before != now:
            raise WrongCheckpoint(f'the tree was edited: "{before}" stood where "{now}" stands now')
    if len(checkpoint.shape) != len(shape):
        had, has = len(checkpoint.shape) - 1, len(shape) - 1
        raise WrongCheckpoint(f"the tree was edited: it had {had} nodes and has {has} now")
    if len(checkpoint.nodes) != nodes:
        raise WrongCheckpoint(f"the checkpoint tells of {len(checkpoint.nodes)} nodes; this tree is built of {nodes}")


def _state(node: Behaviour, places: dict[object, int], now: float) -> NodeState:
    if type(node) is LeafNode and node.result is None and node.status is not RUNNING:
        return _DONE[node.status]
    ended = getattr(node, _STATUSES[type(node)]) if type(node) in _STATUSES else None
    cleanups: list[int] = []
    held_since = current = None
    if isinstance(node, Interrupter) and node.cleanups:
        ended = node.end
        cleanups = [places[cleanup] for cleanup in node.cleanups]
    if isinstance(node, Guard | WaitFor) and node.condition.since is not None:
        held_since = node.condition.since - now
    if isinstance(node, Composite) and node.current_child is not None:
        current = node.children.index(node.current_child)
    times = {name: getattr(node, name) for name in _TIMES.get(type(node), ())}
    return NodeState(
        status=node.status.name,
        kept={name: getattr(node, name) for name in _KEPT.get(type(node), {})},
        times={name: time - now for name, time in times.items() if time is not None and not isinf(time)},
        ended=ended.name if ended is not None else None,
        held_since=held_since,
        current=current,
        begun=isinstance(node, LeafNode) and node.has_begun,
        cleanups=cleanups,
    )


def _restore_node(node: Behaviour, state: NodeState, nodes: list[Behaviour], now: float) -> None:
    kind = type(node)
    node.status = Status[state.status]
    if state.kept or node.status is RUNNING:  # a node that was idle, or is done, may have nothing to keep
        for name, value in msgspec.structs.asdict(msgspec.convert(state.kept, _shape_of_kept(kind))).items():
            setattr(node, name, value)
    for name in _TIMES.get(kind, ()):
        if name in state.times:
            setattr(node, name, now + state.times[name])
    ended = _ENDS[state.ended] if state.ended is not None else None
    if kind in _STATUSES:
        setattr(node, _STATUSES[kind], ended)
    if isinstance(node, Interrupter):
        node.end = ended
        node.cleanups = [_finally_at(place, nodes) for place in state.cleanups]
    if isinstance(node, Guard | WaitFor) and state.held_since is not None:
        node.condition.since = now + state.held_since
    if isinstance(node, Composite) and state.current is not None:
        node.current_child = node.children[state.current]
    if isinstance(node, LeafNode):
        node.was_cut_off = state.begun
    if not _POSSIBLE.get(kind, lambda node: True)(node):
        raise ValueError("it is never in such a state")


@cache
def _shape_of_kept(kind: type[Behaviour]) -> type[msgspec.Struct]:
    return msgspec.defstruct(f"kept of {kind.__name__}", [*_KEPT.get(kind, {}).items()], forbid_unknown_fields=True)


def _finally_at(place: int, nodes: list[Behaviour]) -> Finally:
    node = nodes[place]
    if not isinstance(node, Finally):
        raise ValueError(f"{node.name} has nothing to be done afterwards")
    return node
