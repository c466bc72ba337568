"""How long nodes take at least, as far as that can be known before the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orchestrator.treefile.model import NO_MODIFIERS, Expression, Template, TreeNode


def least_time(node: TreeNode) -> float:
    """Seconds a node takes at least: whatever may skip it, fail or end it early counts as if it did."""
    modifiers = node.modifiers
    if node.dead or modifiers.cooldown is not None:
        return 0.0
    if any(
        condition is not None for condition in (modifiers.when, modifiers.unless, modifiers.while_, modifiers.until)
    ):
        return 0.0
    time = _inside(node)
    if modifiers.timeout is not None:
        time = min(time, _known(modifiers.timeout))
    if modifiers.for_each is not None or isinstance(modifiers.repeat, int):
        time *= _rounds(node)
    after = sum(least_time(each) for each in modifiers.finally_)
    return _known(modifiers.delay) + time + after


def own_time(node: TreeNode) -> float:
    """Seconds a leaf takes by itself when all goes well; 0 where its parameters do not say so before the run."""
    declared = node.leaf
    if declared is None or len(node.values) < len(declared.params):
        return 0.0
    try:
        return _known(declared.leaf(None, node.values, Path(node.place.file).parent).takes())
    except Exception:  # it calculates with what becomes known only in the run; anything else `check` has told
        return 0.0


def _rounds(node: TreeNode) -> int:
    """How often it runs in any case; once where the first failure may be the end."""
    modifiers = node.modifiers
    values = modifiers.for_each[1] if modifiers.for_each is not None else [None]
    if not isinstance(values, list):
        return 0
    if modifiers.timeout is not None or not _core_succeeds(node):
        return min(1, len(values))
    return len(values) * (modifiers.repeat if isinstance(modifiers.repeat, int) else 1)


def _inside(node: TreeNode) -> float:
    if node.leaf is not None:
        return 0.0 if node.leaf.fails else own_time(node)
    if node.kind == "sequence" or (node.kind == "use" and not node.require):
        return _in_turn(node.children)
    if node.kind == "selector" and node.children:
        return least_time(node.children[0])
    if node.kind == "parallel" and node.children:
        times = [least_time(child) for child in node.children]
        return max(times) if node.succeed == "all" and all(map(_succeeds, node.children)) else min(times)
    return 0.0


def _in_turn(children: list[TreeNode]) -> float:
    time = 0.0
    for child in children:
        time += least_time(child)
        if not _succeeds(child):
            break
    return time


def _succeeds(node: TreeNode) -> bool:
    """Whether a node succeeds in any case."""
    modifiers = node.modifiers
    if modifiers is NO_MODIFIERS:
        return _core_succeeds(node)
    plain = not any((modifiers.when, modifiers.unless, modifiers.while_, modifiers.until, modifiers.timeout))
    return plain and modifiers.cooldown is None and modifiers.result is None and _core_succeeds(node)


def _core_succeeds(node: TreeNode) -> bool:
    if node.leaf is not None:
        known = not any(isinstance(value, Expression | Template) for value in node.values.values())
        return not node.leaf.fails and known
    return node.kind in ("sequence", "parallel") and all(map(_succeeds, node.children))


def _known(time: Any) -> float:
    return float(time) if isinstance(time, float | int) else 0.0
