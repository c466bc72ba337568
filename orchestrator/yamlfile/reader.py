"""Reads one file strictly: YAML 1.2 core without tags, anchors and other surprises, every problem with its place."""

from __future__ import annotations

import errno
import io
import re
import stat
from pathlib import Path
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from orchestrator.yamlfile.characters import clean, describe, forbidden_in
from orchestrator.yamlfile.findings import RECORDED, Findings, Place, Severity, nearest
from orchestrator.yamlfile.nodes import Document, Mapping, Mark, Node, Scalar, Sequence
from orchestrator.yamlfile.slips import Complaint, explain

try:
    from yaml._yaml import CParser as _Parser
except ImportError:  # PyYAML built without libyaml: slower, same events
    from yaml import Loader as _Parser  # type: ignore[assignment]

LARGEST_FILE = 256 * 1024
DEEPEST = 64
_REREAD = 2 * LARGEST_FILE  # bytes read again after syntax errors, so that hostile input is answered in time

_NOT_A_WORD = re.compile(r"[-+]?\.?\d.*|[-+]?\.(?:inf|nan)|true|false|null|~", re.IGNORECASE | re.DOTALL)
_BAD_NUMBER = re.compile(r"([-+]?)0+(\d[\d.]*(?:[eE][-+]?\d+)?)|[-+]?\.(?:inf|nan)", re.IGNORECASE)
_COMMENT_STUCK = re.compile(r"[^#]*[^#\s] +(#)[^\s#!]")
_TOP_KEY = re.compile(r"(?:[A-Za-z_][\w ]*|\"[^\"]*\"|'[^']*') *:(?:\s|$)")
_DASH = re.compile(r" *- |\s*-$")


def read_file(path: Path, findings: Findings) -> Document:
    """The file as a tree of text; what could not be read is among the findings."""
    file = str(path)
    raw = _bytes_of(path, findings)
    text = None if raw is None else _decoded(file, raw, findings)
    if text is None:
        return Document(file, None, [], complete=False)
    return read_text(text, file, findings)


def _bytes_of(path: Path, findings: Findings) -> bytes | None:
    top = Place(str(path), 1, 1)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            findings.error(top, "directory", "this is a directory: name a file in it")
            return None
        if not stat.S_ISREG(mode):
            findings.error(top, "not-a-file", "this is not an ordinary file")
            return None
        with path.open("rb") as stream:
            raw = stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as problem:
        findings.error(top, *_cannot_open(path, problem))
        return None
    if len(raw) > LARGEST_FILE:
        findings.error(top, "too-big", f"the file is bigger than {LARGEST_FILE // 1024} kB: split it")
        return None
    return raw


def _cannot_open(path: Path, problem: OSError | ValueError) -> tuple[str, str, str | None]:
    number = problem.errno if isinstance(problem, OSError) else None
    if number == errno.ELOOP:
        return "link-loop", "the symbolic links here lead round in a circle", None
    if number in (errno.ENOENT, errno.ENOTDIR):
        return "no-file", "there is no such file", _sibling(path)
    if number == errno.EACCES:
        return "no-permission", "you are not allowed to read this file", None
    return "unreadable", f"the file cannot be read: {getattr(problem, 'strerror', None) or problem}", None


def _sibling(path: Path) -> str | None:
    try:
        names = tuple(sorted(entry.name for entry in path.parent.iterdir())[:1000])
    except OSError:
        return None
    return nearest(path.name, names)


def _decoded(file: str, raw: bytes, findings: Findings) -> str | None:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        findings.error(Place(file, 1, 1), "not-utf-8", "the file is written in UTF-16: save it as UTF-8")
        return None
    try:
        return raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as problem:
        before = raw[: problem.start].decode("utf-8", "replace")
        place = Place(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
        findings.error(place, "not-utf-8", f"the byte {raw[problem.start]:#04x} is not UTF-8: save the file as UTF-8")
        return None


def read_text(text: str, file: str, findings: Findings) -> Document:
    """Text that stands for the file `file`."""
    if len(text) > LARGEST_FILE:
        findings.error(Place(file, 1, 1), "too-big", f"the file is bigger than {LARGEST_FILE // 1024} kB: split it")
        return Document(file, None, [], complete=False)
    lines = text.split("\n")
    findings.add_source(file, lines)
    text = clean(file, text, findings)
    return _Reading(file, text, lines, findings).document()


class _Refused(Exception):
    """Something the parser accepts and we do not, after which reading goes on at the next item."""

    def __init__(self, mark: Mark, code: str, message: str) -> None:
        super().__init__(message)
        self.mark = mark
        self.code = code
        self.message = message


class _TooDeep(Exception):
    pass


class _Reading:
    """One file on its way from text to nodes."""

    def __init__(self, file: str, text: str, lines: list[str], findings: Findings) -> None:
        self._file = file
        self._text = text
        self._lines = lines
        self._findings = findings
        self._good_keys: set[str] = set()
        # Line number to column of a "#" that touches the word after it: a comment, or text that lost its quotes?
        self._stuck: dict[int, int] = {}
        # Slips that only count if the text around them turns out to be readable.
        self._slips: list[tuple[Place, Severity, str, str, str | None]] = []
        if " #" in text:
            for number, line in enumerate(lines):
                if match := _COMMENT_STUCK.match(line):
                    self._stuck[number] = match.start(1)

    def document(self) -> Document:
        """Reads; after a syntax error leaves out the item it is in and reads again."""
        complete, budget = True, _REREAD
        while True:
            try:
                root = self._nodes()
                break
            except _TooDeep:
                return Document(self._file, None, self._lines, complete=False)
            except _Refused as refused:
                self._error(refused.mark, refused.code, refused.message)
                line = refused.mark.line
            except yaml.MarkedYAMLError as problem:
                line = self._report_syntax(problem)
            except (yaml.YAMLError, RecursionError) as problem:
                self._findings.error(Place(self._file, 1, 1), "syntax", f"this is not valid YAML: {problem}")
                return Document(self._file, None, self._lines, complete=False)
            complete = False
            self._findings.incomplete(self._file)
            budget -= len(self._text) + 1
            if budget < 0 or not self._leave_out(line):
                return Document(self._file, None, self._lines, complete=False)
        for place, severity, code, message, suggestion in self._slips:
            report = self._findings.warning if severity == "warning" else self._findings.error
            report(place, code, message, suggestion)
        if root is None and complete:
            self._findings.error(Place(self._file, 1, 1), "empty-file", "the file is empty")
        return Document(self._file, root, self._lines, complete)

    def _report_syntax(self, problem: yaml.MarkedYAMLError) -> int:
        at: Any = problem.problem_mark or problem.context_mark
        context: Any = problem.context_mark or at
        complaint = Complaint(
            problem.problem or "", problem.context or "", at.line, at.column, context.line, context.column, self._lines
        )
        line, column, code, message, suggestion = explain(complaint)
        line = max(0, min(line, len(self._lines) - 1))
        column = min(column, len(self._lines[line]))
        self._findings.error(Place(self._file, line + 1, column + 1), code, message, suggestion)
        return line

    def _leave_out(self, line: int) -> bool:
        """Blank the item of the outermost list, or of its top-level key; False when nothing is left to blank."""
        lines = self._text.split("\n")
        line = min(line, len(lines) - 1)
        first, last = _item_around(lines, line)
        key = _TOP_KEY.match(lines[first])
        kept = (key[0] if line == first else lines[first]) if key else ""
        shorter = [*lines[:first], kept, *[""] * (last - first), *lines[last + 1 :]]
        if shorter == lines:
            shorter = [*lines[:line], *[""] * (len(lines) - line)]
        self._text = "\n".join(shorter)
        return shorter != lines

    def _error(self, mark: Mark, code: str, message: str, suggestion: str | None = None) -> None:
        place = Place(self._file, mark.line + 1, mark.column + 1)
        self._findings.error(place, code, message, suggestion)

    def _nodes(self) -> Node | None:
        """The events of the parser as nodes, in one pass."""
        self._slips.clear()
        stream = io.StringIO(self._text)
        stream.name = self._file  # the parser writes it into every mark
        next_event: Any = _Parser(stream).get_event
        stuck = self._stuck
        open_nodes: list[tuple[Any, Scalar | None]] = []
        collection: Any = None  # where the next node goes: a list's items or a mapping's entries
        in_mapping = in_braces = False
        braces: list[bool] = []
        key: Scalar | None = None
        root: Node | None = None
        node: Node
        while True:
            event = next_event()
            kind = type(event)
            if kind is ScalarEvent:
                style = event.style
                node = Scalar(event.value, bool(style), event.start_mark)
                if event.tag or event.anchor:
                    self._refuse_properties(event)
                if style:
                    if style == '"' and not event.value.isprintable():
                        self._check_escapes(node)
                elif stuck and event.end_mark.line in stuck:
                    self._check_comment(event)
                if in_mapping and key is None:
                    key = node
                    if node.text not in self._good_keys:
                        self._check_key(node)
                    if node.text in collection:
                        self._report_twice(node, collection[node.text][0])
                    continue
                if not style and event.value[:1] in "0.+-" and event.value:
                    self._check_number(node)
                if in_braces and not event.value and not style:
                    self._check_no_value(key, event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if event.tag or event.anchor:
                    self._refuse_properties(event)
                if in_mapping and key is None:
                    raise _Refused(event.start_mark, "key-not-text", "a key must be a word or a text in quotes")
                if len(open_nodes) >= DEEPEST:
                    self._error(event.start_mark, "too-deep", f"nested deeper than {DEEPEST} levels")
                    raise _TooDeep
                open_nodes.append((collection, key))
                braces.append(in_braces)
                is_mapping = kind is MappingStartEvent
                inner: Any = {} if is_mapping else []
                node = Mapping(inner, event.start_mark) if is_mapping else Sequence(inner, event.start_mark)
                if collection is None:
                    root = node
                elif in_mapping:
                    collection.setdefault(key.text, (key, node))  # type: ignore[union-attr]
                else:
                    collection.append(node)
                collection, key, in_mapping = inner, None, is_mapping
                in_braces = is_mapping and event.flow_style
                continue
            elif kind is AliasEvent:
                self._error(event.start_mark, "alias", "anchors and aliases (& and *) are not allowed: write it out")
                node = Scalar("", True, event.start_mark)
                if in_mapping and key is None:
                    raise _Refused(event.start_mark, "alias", "anchors and aliases (& and *) are not allowed")
            elif kind is StreamEndEvent:
                return root
            elif kind is DocumentStartEvent:
                if event.version or event.tags:
                    self._error(event.start_mark, "directive", "directives (lines with %) are not allowed: remove it")
                if root is not None:
                    self._error(
                        event.start_mark, "several-documents", "a second document begins here: use a file of its own"
                    )
                    return root
                continue
            elif kind is StreamStartEvent or not open_nodes:
                continue
            else:  # the end of a list or mapping
                collection, key = open_nodes.pop()
                in_braces = braces.pop()
                in_mapping = type(collection) is dict
                key = None
                continue
            if collection is None:
                root = node
            elif in_mapping:
                collection.setdefault(key.text, (key, node))  # type: ignore[union-attr]
                key = None
            else:
                collection.append(node)

    def _refuse_properties(self, event: Any) -> None:
        if event.anchor:
            self._error(event.start_mark, "anchor", "anchors and aliases (& and *) are not allowed: write it out")
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
            self._slips.append((place, "warning", "comment-in-text", message, f'"{text}"'))

    def _check_key(self, key: Scalar) -> None:
        if key.quoted:
            return
        if key.text == "<<":
            raise _Refused(key.mark, "merge-key", "merge keys (<<) are not allowed: write the entries out")
        if not key.text or _NOT_A_WORD.fullmatch(key.text):
            what = f"{key.text} is not a word" if key.text else "the key is missing"
            self._error(key.mark, "key-not-text", f"{what}: a key must be a word or a text in quotes")
            return
        self._good_keys.add(key.text)

    def _report_twice(self, key: Scalar, first: Scalar) -> None:
        message = (
            f'"{key.text}" stands here a second time; the first is on line {first.line}. Is a dash missing before it?'
        )
        self._error(key.mark, "duplicate-key", message)

    def _check_number(self, node: Scalar) -> None:
        match = _BAD_NUMBER.fullmatch(node.text)
        if match is None:
            return
        if match[2] is None:
            self._error(node.mark, "not-finite", f"{node.text} is not allowed: a number must be finite")
            return
        plain = match[1] + (match[2].lstrip("0") if re.match(r"0*[1-9]", match[2]) else "0")
        message = f'a number must not begin with 0: write {plain}, or "{node.text}" in quotes if it is a text'
        self._error(node.mark, "leading-zero", message, plain)

    def _check_no_value(self, key: Scalar | None, event: Any) -> None:
        """Inside braces a word without a value is a slip: a comma in a text, or no space after the colon."""
        before = event.start_mark.index - 1
        while before > 0 and self._text[before].isspace():
            before -= 1
        if key is None or self._text[before] == ":" or len(self._slips) >= RECORDED:
            return
        if re.match(r"\w+:.", key.text):
            name, value = key.text.split(":", 1)
            message = "a space is missing after the colon"
            self._slips.append((key.place, "error", "missing-space", message, f"{name}: {value}"))
            return
        message = f'"{key.text}" has no value here: if the comma before it belongs to a text, put that text in quotes'
        self._slips.append((key.place, "error", "comma-in-text", message, None))


def _item_around(lines: list[str], line: int) -> tuple[int, int]:
    """First and last line of the item of the outermost list that the line is in, or of its top-level key."""
    top = [i for i, text in enumerate(lines) if _TOP_KEY.match(text)]
    first = max((i for i in top if i <= line), default=0)
    last = min((i for i in top if i > line), default=len(lines)) - 1
    dashes = [i for i in range(first, last + 1) if _DASH.match(lines[i])]
    if not dashes:
        return first, last
    outermost = min(lines[i].index("-") for i in dashes)
    starts = [i for i in dashes if lines[i].index("-") == outermost]
    begin = max((i for i in starts if i <= line), default=first)
    end = min((i for i in starts if i > line), default=last + 1) - 1
    return begin, end
