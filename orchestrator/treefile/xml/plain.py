"""A tree file as plain texts, lists and mappings, and back to YAML in the canonical layout."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from orchestrator.leaf.words import MODIFIERS
from orchestrator.yamlfile import Findings, Mapping, Node, Scalar, Sequence, read_text

Plain = Any  # a text, a list or a mapping of them

_SAFE = re.compile(r"[\w$.+(](?:[\w$ .%/+()<>=*?;'-]*[^\s?])?")
_PLACES = {word: place for place, word in enumerate(reversed(MODIFIERS))}  # after the kind, the innermost first
_BLOCKS = frozenset(("sequence", "selector", "parallel", "then", "else"))


def plain(node: Node) -> Plain:
    if isinstance(node, Mapping):
        return {key: plain(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    assert isinstance(node, Scalar)
    return node.text


def to_yaml(tree: dict[str, Plain], remarks: list[str]) -> str:
    """A whole file. `remarks` stand above it as comments."""
    lines = [f"# {' '.join(remark.split())}" for remark in remarks]
    for word, value in tree.items():
        if word == "root":
            lines += ["root:", *_node_lines(value, "  ", "  ")]
        elif word == "params":
            lines += ["params:", *(f"  {flow(name)}: {flow(param)}" for name, param in value.items())]
        else:
            lines.append(f"{word}: {flow(value)}")
    return "\n".join(lines) + "\n"


def _node_lines(node: Plain, first: str, indent: str) -> Iterator[str]:
    """The words of a node; `first` stands before the first of them, `indent` before the others."""
    if isinstance(node, str):
        yield first + flow(node)
        return
    for word, value in sorted(node.items(), key=lambda entry: _PLACES.get(entry[0], -1)):
        if word in _BLOCKS:
            yield f"{first}{word}:"
            for child in value:
                yield from _node_lines(child, f"{indent}  - ", f"{indent}    ")
        else:
            yield f"{first}{flow(word)}:" + (f" {flow(value)}" if value != "" else "")
        first = indent


def flow(value: Plain) -> str:
    """A value in one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(name)}: {flow(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return value if _SAFE.fullmatch(value) and _reads_back(value) else json.dumps(value, ensure_ascii=False)


def _reads_back(text: str) -> bool:
    """Whether the text, written without quotes, is the same to our reader."""
    findings = Findings()
    root = read_text(f"[{text}]", "", findings).root
    return not findings.errors and isinstance(root, Sequence) and plain(root) == [text]
