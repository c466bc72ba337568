"""Which questions a tree may ask and what can be answered: known before anything moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.engine.builder import BuiltTree
from orchestrator.engine.nodes.flow import Confirm
from orchestrator.engine.nodes.leaf import AGAIN, DONE, FAIL, LeafNode
from orchestrator.engine.run import node_id
from orchestrator.engine.substitution import StandIn

Answers = list[str] | None
"""None: only the run will know."""


def mistake_in(answers: dict[str, str], built: BuiltTree) -> str | None:
    """Why an answer given in advance could never be one."""
    possible: dict[str, Answers] = {}
    for name, known in _questions(built):
        before = possible.get(name, [])
        possible[name] = None if known is None or before is None else [*before, *known]
    for name, answer in answers.items():
        if name not in possible:
            return f'"{name}" asks nothing; these do: {", ".join(possible) or "none"}'
        choices = possible[name]
        if choices is not None and answer not in choices:
            return f'"{answer}" is no answer to "{name}"; the choices are {", ".join(dict.fromkeys(choices))}'
    return None


def _questions(built: BuiltTree) -> Iterator[tuple[str, Answers]]:
    """Of all nodes that may ask: what they are called, and every answer they take."""
    stand_ins = {node_id(node) for node in built.root.iterate() if isinstance(node, StandIn)}
    for source, info in zip(built.sources, built.structure):
        if source.modifiers.confirm is not None:
            yield info.name, [Confirm.YES, Confirm.NO]
        if source.leaf is not None and source.leaf.asks and info.number not in stand_ins:
            yield info.name, _words([source.values.get(name) or [] for name in source.leaf.result_params])
    for node in built.root.iterate():
        if isinstance(node, StandIn):
            yield node.name, StandIn.CHOICES
        elif isinstance(node, LeafNode) and node.was_cut_off:
            yield built.structure[node_id(node)].name, [AGAIN, DONE, FAIL]


def _words(lists: list[Any]) -> Answers:
    words = [word for listed in lists if isinstance(listed, list) for word in listed]
    written_out = all(isinstance(listed, list) for listed in lists) and all(isinstance(word, str) for word in words)
    return words if written_out else None
