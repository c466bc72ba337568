"""Draws a tree in Graphviz' language."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from orchestrator.treefile.outline import Drawn

_SHAPES = {
    **dict.fromkeys(("sequence", "selector", "parallel"), "box"),
    **dict.fromkeys(("check", "wait_for", "if"), "diamond"),
    **dict.fromkeys(("then", "else", "finally"), "plaintext"),
    "use": "folder",
    "tree": "plaintext",
}


def draw_dot(root: Drawn) -> str:
    lines = ['  node [fontname="sans-serif", fontsize=11];', "  rankdir=LR;", *_lines(root, count(), None)]
    return "\n".join(["digraph tree {", *lines, "}"]) + "\n"


def _lines(drawn: Drawn, numbers: Iterator[int], above: int | None) -> Iterator[str]:
    number = next(numbers)
    label = "\\n".join(_escaped(text) for text in (drawn.title, drawn.details, *drawn.modifiers) if text)
    yield f'  n{number} [label="{label}", shape={_SHAPES.get(drawn.kind, "ellipse")}];'
    if above is not None:
        yield f"  n{above} -> n{number};"
    for child in drawn.children:
        yield from _lines(child, numbers, number)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
