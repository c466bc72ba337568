"""The canonical layout of a tree file: same nodes, same comments, one way to indent."""

from __future__ import annotations

import re
from collections import Counter
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.emitter import Emitter
from ruamel.yaml.error import YAMLError
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.tag import Tag

from orchestrator.yamlfile import Findings, Mapping, Node, Place, Scalar, Sequence, read_text

_ROUNDS = 4  # a comment may need more than one to find its place
_COMMENT = re.compile(r"(?:^|\s)#\s*(.*?)\s*$")
_BLOCK_TEXT = re.compile(r"(?:^|.*[:\s-]\s)[|>][-+\d]*(?:\s+#.*)?$")
_STR, _NULL = "tag:yaml.org,2002:str", "tag:yaml.org,2002:null"


class _TextOnly(VersionedResolver):
    """Every scalar is a text, as in our own reader: `1_000` or `0x10` must come out as they went in."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        tag = super().resolve(kind, value, implicit)
        if kind.__name__ != "ScalarNode":
            return tag
        return Tag(suffix=_NULL if value == "" and implicit[0] else _STR)


class _EmptyStaysEmpty(Emitter):
    """Nothing is written where nothing was, in braces, too: `{CheckErrors: , retry: 2}`."""

    def choose_scalar_style(self) -> Any:
        empty = self.event.value == "" and self.event.tag == _NULL
        return "" if empty else super().choose_scalar_style()

    def write_plain(self, text: Any, split: Any = True) -> None:
        if not text and self.flow_level:
            self.stream.write(" ")
        super().write_plain(text, split)


def formatted(text: str, file: str, findings: Findings) -> str | None:
    """The text in canonical layout; None where that cannot be done, for reasons that are among the findings."""
    before = read_text(text, file, findings)
    if findings.errors or before.root is None:
        return None
    made = _settled(text)
    if made is None:
        message = "this file is written in a way that cannot be laid out anew: nothing was changed"
        findings.error(Place(file, 1, 1), "cannot-format", message)
        return None
    if _comments(made) != _comments(text):
        message = "a comment stands where it would get lost: put it on a line of its own; nothing was changed"
        findings.error(Place(file, 1, 1), "comment-lost", message)
        return None
    return made


def _settled(text: str) -> str | None:
    """Laid out until nothing changes any more; None when the meaning would change, or it never settles."""
    meaning = _meaning(text)
    for _ in range(_ROUNDS):
        try:
            made = _laid_out(text)
        except YAMLError:
            return None
        made = _tidied(made)
        if _meaning(made) != meaning:
            return None
        if made == text:
            return made
        text = made
    return None


def _laid_out(text: str) -> str:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1_000_000
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.Resolver = _TextOnly
    yaml.Emitter = _EmptyStaysEmpty
    out = StringIO()
    yaml.dump(yaml.load(text), out)
    return out.getvalue()


def _tidied(text: str) -> str:
    """No line ends in spaces, no two blank lines in a row, a comment is indented like what it stands above.

    What looks like that inside a text of several lines is left alone.
    """
    lines = [line.rstrip() for line in text.strip("\n").split("\n")]
    in_text = _lines_of_block_texts(lines)
    made: list[str] = []
    indent = 0
    for line, inside in zip(reversed(lines), reversed(in_text)):
        if not inside and not line and made and not made[-1]:
            continue
        if not inside and line.lstrip().startswith("#"):
            line = " " * indent + line.lstrip()
        elif line:
            indent = len(line) - len(line.lstrip())
        made.append(line)
    return "\n".join(reversed(made)) + "\n"


def _lines_of_block_texts(lines: list[str]) -> list[bool]:
    """Which lines belong to a text that is written with | or > over several lines."""
    found = []
    above: int | None = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if above is not None and line and indent <= above:  # a dash counts as an indent
            above = None
        found.append(above is not None)
        if above is None and _BLOCK_TEXT.match(line):
            above = len(line) - len(line.lstrip(" -"))
    return found


def _meaning(text: str) -> Any:
    findings = Findings()
    root = read_text(text, "", findings).root
    return None if findings.errors or root is None else _plain(root)


def _plain(node: Node) -> Any:
    if isinstance(node, Mapping):
        return {key: (written.quoted, _plain(value)) for key, (written, value) in node.entries.items()}
    if isinstance(node, Sequence):
        return [_plain(item) for item in node.items]
    assert isinstance(node, Scalar)
    return node.quoted, node.text


def _comments(text: str) -> Counter[str]:
    """What looks like a comment, line by line; inside a quoted text it does so before and after."""
    return Counter(match[1] for line in text.splitlines() if (match := _COMMENT.search(line)))
