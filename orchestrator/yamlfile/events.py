"""From the parser's events to nodes, in one pass; what YAML allows and we do not is found on the way."""

from __future__ import annotations

import io
import re
from typing import Any

from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from orchestrator.yamlfile.characters import describe, forbidden_in
from orchestrator.yamlfile.findings import RECORDED, Findings, Place, Severity
from orchestrator.yamlfile.nodes import Mapping, Mark, Node, Scalar, Sequence

try:
    from yaml._yaml import CParser as _Parser
except ImportError:  # PyYAML built without libyaml: slower, same events
    from yaml import Loader as _Parser  # type: ignore[assignment]

DEEPEST = 64

_NOT_A_WORD = re.compile(r"[-+]?\.?\d.*|[-+]?\.(?:inf|nan)|true|false|null|~", re.IGNORECASE | re.DOTALL)
_BAD_NUMBER = re.compile(r"([-+]?)0+(\d[\d.]*(?:[eE][-+]?\d+)?)|[-+]?\.(?:inf|nan)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"([-+]?\d+),$")
_COMMENT_STUCK = re.compile(r"[^#]*[^#\s] +(#)[^\s#!]")
_NO_ALIASES = "anchors and aliases (& and *) are not allowed: write it out, or put a text that begins so in quotes"

Slip = tuple[Place, Severity, str, str, "str | None"]


class Refused(Exception):
    """Something the parser accepts and we do not, after which reading goes on at the next item."""

    def __init__(self, mark: Mark, code: str, message: str) -> None:
        super().__init__(message)
        self.mark = mark
        self.code = code
        self.message = message


class TooDeep(Exception):
    """Nested too deeply to go on: already reported."""


class NodeReader:
    """Reads the nodes of one file; again and again if parts of the text have to be left out."""

    def __init__(self, file: str, lines: list[str], findings: Findings) -> None:
        self._file = file
        self._lines = lines
        self._findings = findings
        self._text = ""
        self._good_keys: set[str] = set()
        # Line number to column of a "#" that touches the word after it: a comment, or text that lost its quotes?
        self._stuck: dict[int, int] = {}
        for number, line in enumerate(lines):
            if " #" in line and (match := _COMMENT_STUCK.match(line)):
                self._stuck[number] = match.start(1)
        self.slips: list[Slip] = []  # they count only if the text around them turns out to be readable

    def read(self, text: str) -> Node | None:
        """The root node of a text. One loop over all events, without calls for what is in order: it is run for each."""
        self._text = text
        self.slips.clear()
        stream = io.StringIO(text)
        stream.name = self._file  # the parser writes it into every mark
        next_event: Any = _Parser(stream).get_event
        stuck, good_keys = self._stuck, self._good_keys
        around: list[tuple[Any, bool, bool]] = []
        collection: Any = None  # where the next node goes: a list's items or a mapping's entries
        in_mapping = in_braces = False
        key: Scalar | None = None
        root: Node | None = None
        node: Node
        while True:
            event = next_event()
            kind = type(event)
            if kind is ScalarEvent:
                style, value = event.style, event.value
                node = Scalar(value, bool(style), event.start_mark)
                if event.tag or event.anchor:
                    self._refuse_properties(event)
                if style == '"' and not value.isprintable():
                    self._check_escapes(node)
                elif stuck and not style and event.end_mark.line in stuck:
                    self._check_comment(event)
                if in_mapping and key is None:
                    key = node
                    if value not in good_keys:
                        self._check_key(node)
                    if value in collection:
                        self._report_twice(node, collection[value][0])
                    continue
                if not style and (not value or value[0] in "0.+-"):
                    self._check_plain(node, key if in_braces else None)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if event.tag or event.anchor:
                    self._refuse_properties(event)
                if in_mapping and key is None:
                    raise Refused(event.start_mark, "key-not-text", "a key must be a word or a text in quotes")
                node = Mapping({}, event.start_mark) if kind is MappingStartEvent else Sequence([], event.start_mark)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                collection, in_mapping, in_braces = around.pop()
                continue
            elif kind is StreamEndEvent:
                return root
            elif kind is AliasEvent:
                if in_mapping and key is None:
                    raise Refused(event.start_mark, "alias", _NO_ALIASES)
                self._error(event.start_mark, "alias", _NO_ALIASES)
                node = Scalar("", True, event.start_mark)
            elif kind is DocumentStartEvent and not self._is_first_document(event, root):
                return root
            else:
                continue
            if collection is None:
                root = node
            elif in_mapping:
                collection.setdefault(key.text, (key, node))  # type: ignore[union-attr]
                key = None
            else:
                collection.append(node)
            if kind is MappingStartEvent or kind is SequenceStartEvent:
                if len(around) >= DEEPEST:
                    self._error(event.start_mark, "too-deep", f"nested deeper than {DEEPEST} levels")
                    raise TooDeep
                around.append((collection, in_mapping, in_braces))
                in_mapping = kind is MappingStartEvent
                in_braces = in_mapping and event.flow_style
                collection = node.entries if in_mapping else node.items  # type: ignore[union-attr]

    def _error(self, mark: Mark, code: str, message: str, suggestion: str | None = None) -> None:
        place = Place(self._file, mark.line + 1, mark.column + 1)
        self._findings.error(place, code, message, suggestion)

    def _is_first_document(self, event: Any, root: Node | None) -> bool:
        if event.version or event.tags:
            self._error(event.start_mark, "directive", "directives (lines with %) are not allowed: remove it")
        if root is None:
            return True
        message = "a second document begins here: put it into a file of its own"
        self._error(event.start_mark, "several-documents", message)
        return False

    def _refuse_properties(self, event: Any) -> None:
        if event.anchor:
            self._error(event.start_mark, "anchor", _NO_ALIASES)
        elif event.tag != "!" or not getattr(event, "style", None):
            word = event.tag.lstrip("!")
            suggestion = f"not {word}" if event.tag.startswith("!") and re.fullmatch(r"[$\w.]+", word) else None
            self._error(
                event.start_mark, "tag", '"!" is a YAML tag and not allowed; in an expression write not', suggestion
            )

    def _check_escapes(self, node: Scalar) -> None:
        bad = forbidden_in(node.text)
        if bad is not None and bad not in "\t":
            code, message = describe(bad)
            self._error(node.mark, code, message)

    def _check_comment(self, event: Any) -> None:
        end = event.end_mark
        column = self._stuck[end.line]
        line = self._lines[end.line]
        if event.value and end.column <= column and not line[end.column : column].strip():
            begin = event.start_mark
            text = line[begin.column :].rstrip() if begin.line == end.line else event.value
            place = Place(self._file, end.line + 1, column + 1)
            message = 'what follows " #" is a comment: put the text in quotes if this belongs to it, else write "# "'
            self.slips.append((place, "warning", "comment-in-text", message, f'"{text}"'))

    def _check_key(self, key: Scalar) -> None:
        if key.quoted:
            return
        if key.text == "<<":
            raise Refused(key.mark, "merge-key", "merge keys (<<) are not allowed: write the entries out")
        if not key.text or _NOT_A_WORD.fullmatch(key.text):
            before = _DECIMAL_COMMA.search(self._text, max(0, key.mark.index - 20), key.mark.index)
            if before is not None and key.text[:1].isdigit():
                message = f"the decimal sign is a point: write {before[1]}.{key.text[:20]}"
                raise Refused(key.mark, "decimal-comma", message)
            what = f"{key.text} is not a word" if key.text else "the key is missing"
            self._error(key.mark, "key-not-text", f"{what}: a key must be a word or a text in quotes")
            return
        self._good_keys.add(key.text)

    def _report_twice(self, key: Scalar, first: Scalar) -> None:
        message = (
            f'"{key.text}" stands here a second time; the first is on line {first.line}. Is a dash missing before it?'
        )
        self._error(key.mark, "duplicate-key", message)

    def _check_plain(self, node: Scalar, key_in_braces: Scalar | None) -> None:
        if not node.text:
            if key_in_braces is not None:
                self._check_no_value(key_in_braces, node)
            return
        match = _BAD_NUMBER.fullmatch(node.text)
        if match is None:
            return
        if match[2] is None:
            self._error(node.mark, "not-finite", f"{node.text} is not allowed: a number must be finite")
            return
        plain = match[1] + (match[2].lstrip("0") if re.match(r"0*[1-9]", match[2]) else "0")
        message = f'a number must not begin with 0: write {plain}, or "{node.text}" in quotes if it is a text'
        self._error(node.mark, "leading-zero", message, plain)

    def _check_no_value(self, key: Scalar, node: Scalar) -> None:
        """Inside braces a word without a value is a slip: a comma in a text, or no space after the colon."""
        before = node.mark.index - 1
        while before > 0 and self._text[before].isspace():
            before -= 1
        if self._text[before] == ":" or len(self.slips) >= RECORDED:
            return
        if re.match(r"\w+:.", key.text):
            name, value = key.text.split(":", 1)
            message = "a space is missing after the colon"
            self.slips.append((key.place, "error", "missing-space", message, f"{name}: {value}"))
            return
        message = f'"{key.text}" has no value here: if the comma before it belongs to a text, put that text in quotes'
        self.slips.append((key.place, "error", "comma-in-text", message, None))
