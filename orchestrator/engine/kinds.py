"""What the compiler knows about a node: which of py_trees' ticks it has and which callbacks are its own."""

from __future__ import annotations

import enum
from types import MethodType

from py_trees.behaviour import Behaviour
from py_trees.common import ParallelPolicy
from py_trees.composites import Composite, Parallel, Selector, Sequence
from py_trees.decorators import Decorator, EternalGuard, OneShot

from orchestrator.engine.own import Own


class Kind(enum.Enum):
    """How a node is ticked."""

    LEAF = enum.auto()
    SEQUENCE = enum.auto()
    SELECTOR = enum.auto()
    PARALLEL = enum.auto()
    DECORATOR = enum.auto()
    ETERNAL_GUARD = enum.auto()
    ONE_SHOT = enum.auto()
    OWN = enum.auto()  # calls its children itself, each a function of its own
    RUN = enum.auto()  # not a node: some of the children of a long sequence
    FOREIGN = enum.auto()  # not written out: its own tick is run to the end


# tuples: to look something up among so few takes less time than to hash it
COMPOSITES = (Kind.SEQUENCE, Kind.SELECTOR, Kind.PARALLEL)
DECORATORS = (Kind.DECORATOR, Kind.ETERNAL_GUARD, Kind.ONE_SHOT)

_KIND_OF_TICK: dict[object, Kind] = {
    Behaviour.tick: Kind.LEAF,
    Sequence.tick: Kind.SEQUENCE,
    Selector.tick: Kind.SELECTOR,
    Parallel.tick: Kind.PARALLEL,
    Decorator.tick: Kind.DECORATOR,
    EternalGuard.tick: Kind.ETERNAL_GUARD,
    OneShot.tick: Kind.ONE_SHOT,
}
_STOP_OF_KIND = {
    Kind.LEAF: Behaviour.stop,
    Kind.SEQUENCE: Sequence.stop,
    Kind.SELECTOR: Selector.stop,
    Kind.PARALLEL: Parallel.stop,
    Kind.DECORATOR: Decorator.stop,
    Kind.ETERNAL_GUARD: Decorator.stop,
    Kind.ONE_SHOT: Decorator.stop,
}
_POLICIES = (ParallelPolicy.SuccessOnAll, ParallelPolicy.SuccessOnOne, ParallelPolicy.SuccessOnSelected)


def kind_of(node: Behaviour) -> Kind:
    kind = _KIND_OF_TICK.get(method_of(node, "tick"), Kind.FOREIGN)
    if kind is Kind.LEAF and isinstance(node, Own):
        return Kind.OWN
    if kind is Kind.FOREIGN or not _has_plain_attributes(node) or not _is_regular(node, kind):
        return Kind.FOREIGN
    return kind


def overrides(node: Behaviour, callback: str) -> bool:
    """Whether `initialise`, `terminate` or the like is the node's own, by its class or set on the instance."""
    return method_of(node, callback) is not getattr(Behaviour, callback)


def has_own_stop(node: Behaviour, kind: Kind) -> bool:
    return method_of(node, "stop") is not _STOP_OF_KIND.get(kind)


def children_of(node: Behaviour, kind: Kind) -> list[Behaviour]:
    """The children that the compiled code ticks itself."""
    if kind in COMPOSITES or kind is Kind.OWN:
        return node.children
    return [node.decorated] if kind in DECORATORS and isinstance(node, Decorator) else []


def method_of(node: Behaviour, method: str) -> object:
    """By way of the method: whoever looks into `__dict__` makes every later access to a node's attributes slower.

    None for anything but a method of this very node: what was set on it may be that of another.
    """
    bound = getattr(node, method)
    return bound.__func__ if type(bound) is MethodType and bound.__self__ is node else None


def _has_plain_attributes(node: Behaviour) -> bool:
    """Writing `status` once where py_trees writes it twice must make no difference."""
    cls = type(node)
    return cls.__setattr__ is object.__setattr__ and not hasattr(cls, "status")


def _is_known_by_identity(child: Behaviour) -> bool:
    """py_trees finds the current child by ==, the compiled code by identity, in a table."""
    cls = type(child)
    return cls.__eq__ is object.__eq__ and cls.__hash__ is object.__hash__


def _is_regular(node: Behaviour, kind: Kind) -> bool:
    if kind in COMPOSITES:
        policy_known = kind is not Kind.PARALLEL or isinstance(getattr(node, "policy", None), _POLICIES)
        has_a_list = isinstance(node, Composite) and not hasattr(type(node), "children")  # one that can be exchanged
        return has_a_list and policy_known and all(map(_is_known_by_identity, node.children))
    if kind is Kind.ETERNAL_GUARD:
        return super(EternalGuard, node).tick.__func__ is Decorator.tick  # type: ignore[misc]
    return kind not in DECORATORS or isinstance(node, Decorator)
