"""Draws a tree in a terminal, with box-drawing characters."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.treefile.outline import Drawn

_SIGNS = {"sequence": "→ ", "selector": "? ", "parallel": "⇉ ", "if": "◇ ", "use": "▸ "}


def draw_text(root: Drawn) -> str:
    """A line per node."""
    return "\n".join([_line(root), *_below(root, "")]) + "\n"


def _below(drawn: Drawn, indent: str) -> Iterator[str]:
    for child in drawn.children:
        last = child is drawn.children[-1]
        yield f"{indent}{'└─' if last else '├─'} {_line(child)}"
        yield from _below(child, indent + ("   " if last else "│  "))


def _line(drawn: Drawn) -> str:
    modifiers = f"[{'; '.join(drawn.modifiers)}]" if drawn.modifiers else ""
    words = (_SIGNS.get(drawn.kind, "") + drawn.title, drawn.details, modifiers)
    return "  ".join(word for word in words if word)
