"""Reads one file strictly: YAML 1.2 core without tags, anchors and other surprises, every problem with its place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from orchestrator.yamlfile.characters import clean
from orchestrator.yamlfile.events import NodeReader, Refused, TooDeep
from orchestrator.yamlfile.findings import Findings, Place
from orchestrator.yamlfile.nodes import Document
from orchestrator.yamlfile.opening import LARGEST_FILE, text_of
from orchestrator.yamlfile.slips import Complaint, explain

_REREAD = 2 * LARGEST_FILE  # characters read again after syntax errors, so that hostile input is answered in time

_TOP_KEY = re.compile(r"(?:[A-Za-z_][\w ]*|\"[^\"]*\"|'[^']*') *:(?:\s|$)")
_TAB_FIRST = re.compile(r" *\t")
_DASH = re.compile(r" *- |\s*-$")


def read_file(path: Path, findings: Findings) -> Document:
    """The file as a tree of text; what could not be read is among the findings."""
    text = text_of(path, findings)
    if text is None:
        return Document(str(path), None, [], complete=False)
    return read_text(text, str(path), findings)


def read_text(text: str, file: str, findings: Findings) -> Document:
    """Text that stands for the file `file`."""
    if len(text) > LARGEST_FILE:
        findings.error(Place(file, 1, 1), "too-big", f"the file is bigger than {LARGEST_FILE // 1024} kB: split it")
        return Document(file, None, [], complete=False)
    lines = text.split("\n")
    findings.add_source(file, lines)
    text = clean(file, text, findings)
    return _Reading(file, text, lines, findings).document()


class _Reading:
    """One file on its way from text to nodes."""

    def __init__(self, file: str, text: str, lines: list[str], findings: Findings) -> None:
        self._file = file
        self._text = text
        self._lines = lines
        self._findings = findings
        self._nodes = NodeReader(file, lines, findings)

    def document(self) -> Document:
        """Reads; after a syntax error leaves out the item it is in and reads again."""
        complete, budget = True, _REREAD
        while True:
            try:
                root = self._nodes.read(self._text)
                break
            except TooDeep:
                return Document(self._file, None, self._lines, complete=False)
            except Refused as refused:
                line = refused.mark.line
                place = Place(self._file, line + 1, refused.mark.column + 1)
                self._findings.error(place, refused.code, refused.message)
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
        for place, severity, code, message, suggestion in self._nodes.slips:
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
        if not _TAB_FIRST.match(self._lines[line]):  # what it would line up with is not known; the tab is reported
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
