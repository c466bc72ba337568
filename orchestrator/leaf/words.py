"""The words of the tree language: kinds of nodes and modifiers. No parameter of a leaf may be called like one."""

from __future__ import annotations

KINDS = ("sequence", "selector", "parallel", "if", "use", "check", "wait_for")

# From the outermost to the innermost.
MODIFIERS = (
    "when",
    "unless",
    "finally",
    "save",
    "result",
    "while",
    "until",
    "cooldown",
    "confirm",
    "delay",
    "repeat",
    "for_each",
    "retry",
    "timeout",
    "name",
    "note",
)

# Words that belong to one or two kinds.
OF_KIND = {
    "memory": ("sequence", "selector"),
    "succeed": ("parallel",),
    "fail": ("parallel",),
    "with": ("use",),
    "then": ("if",),
    "else": ("if",),
}

LATER = ("switch", "parts", "returns")

RESERVED = frozenset(
    (*KINDS, *MODIFIERS, *OF_KIND, *LATER, "y", "n", "yes", "no", "on", "off", "true", "false", "null", "for")
)
