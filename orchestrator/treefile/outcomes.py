"""What is possible after a node: robot modes with who set them, and whether it can succeed, fail or be skipped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from orchestrator.leaf import MODES
from orchestrator.treefile.model import TreeNode
from orchestrator.yamlfile import Scalar

Causes = tuple[tuple[TreeNode, ...], ...]  # for each of MODES the nodes that may have set it


class State(NamedTuple):
    """Combinations of modes that are possible, and who brought them about."""

    modes: int
    causes: Causes


class Outcome(NamedTuple):
    """What is possible after success, after failure, in between, and when skipped. None: it never happens."""

    success: State | None
    failure: State | None
    during: State
    skipped: State | None = None


# Stands for whoever set a mode where a mistake hides it: nothing is said about what follows from the mistake.
MISTAKE = TreeNode("mistake", Scalar("", False, None))  # type: ignore[arg-type]
NOBODY: Causes = ((),) * len(MODES)
_MOST_CAUSES = 8
INDEX = {mode: index for index, mode in enumerate(MODES)}


def either(one: State | None, other: State | None) -> State | None:
    """What is possible when one of two ways was taken."""
    if one is None:
        return other
    if other is None or one is other:
        return one
    modes = one.modes | other.modes
    if one.causes is other.causes:
        return one if modes == one.modes else State(modes, one.causes)
    return State(modes, tuple(joined(a, b) for a, b in zip(one.causes, other.causes)))


def joined(some: tuple[TreeNode, ...], more: tuple[TreeNode, ...]) -> tuple[TreeNode, ...]:
    new = tuple(node for node in more if node not in some) if some is not more else ()
    return (some + new)[-_MOST_CAUSES:] if new else some


def both(one: State, other: State | None) -> State:
    return either(one, other) or one


def parallel_can_succeed(node: TreeNode, outcomes: Sequence[Outcome]) -> bool:
    """Whether the branches of a parallel can end so that its rule for success is met."""
    if all(outcome.skipped is not None for outcome in outcomes):
        return True
    if node.succeed == "all":
        return all(outcome.success is not None or outcome.skipped is not None for outcome in outcomes)
    return sum(outcome.success is not None for outcome in outcomes) >= _wanted(node.succeed, outcomes)


def parallel_can_fail(node: TreeNode, outcomes: Sequence[Outcome]) -> bool:
    """Whether they can end so that it fails: by its own rule, or because success is out of reach."""
    can_fail = sum(outcome.failure is not None for outcome in outcomes)
    if node.succeed == "all":
        return can_fail > 0
    if node.fail is not None and can_fail >= max(1, _wanted(node.fail, outcomes)):
        return True
    never_fail = sum(outcome.failure is None and outcome.skipped is None for outcome in outcomes)
    fewer = can_fail > 0 or any(outcome.skipped is not None for outcome in outcomes)
    return fewer and never_fail < _wanted(node.succeed, outcomes)


def _wanted(rule: str | int, outcomes: Sequence[Outcome]) -> int:
    return {"all": len(outcomes), "any": 1}[rule] if isinstance(rule, str) else rule
