"""The names of one file: parameters, loop variables and what has been saved, and where each may be read."""

from __future__ import annotations

import re
from typing import Any

from orchestrator.treefile.expression import Name
from orchestrator.treefile.limits import NAMES_OF_FILE, Effort
from orchestrator.yamlfile import Findings, Place, Scalar
from orchestrator.yamlfile.findings import RECORDED

_NAME = re.compile(r"[A-Za-z_]\w*")
SPECIAL = ("attempt", "outcome")

# Names that every path has saved; None where no path leads.
Saved = frozenset[str] | None
NOTHING: Saved = frozenset()


def on_either(one: Saved, other: Saved) -> Saved:
    """What is saved whichever of two paths was taken."""
    if one is None:
        return other
    if other is None or one is other:
        return one
    return one & other


class Scope:
    """Names by text. `saved` at any moment is what every path to the node being read has saved."""

    def __init__(self, prefix: str, file: str, findings: Findings, effort: Effort) -> None:
        self._prefix = prefix
        self._file = file
        self._findings = findings
        self._effort = effort
        self._fixed: dict[str, Name] = {}  # parameters, and what is known only inside a node
        self._params: set[str] = set()
        self._kept: dict[str, tuple[Name, Scalar]] = {}
        self._unknown: list[tuple[Place, str]] = []
        self._more = 0  # of the unknown
        self.log: list[tuple[str, Scalar]] = []  # everything saved so far, in order
        self.saved: Saved = NOTHING
        self.reading: Scalar | None = None  # the text whose names are being looked up

    def key(self, name: str) -> str:
        """Where the run keeps a name: unique for every use of a file."""
        return self._prefix + name

    def add_param(self, name: str, kind: str, choices: tuple[str, ...], of: str | None, const: Any) -> None:
        self._params.add(name)
        self._fixed[name] = Name(self.key(name), kind, choices, of, const)

    def enter(self, name: str, known: Name) -> Name | None:
        """Make a name known inside a node; returns what it hid, for `leave`."""
        hidden = self._fixed.get(name)
        self._fixed[name] = known
        return hidden

    def leave(self, name: str, hidden: Name | None) -> None:
        if hidden is None:
            del self._fixed[name]
        else:
            self._fixed[name] = hidden

    def save(self, at: Scalar, name: str, kind: str, choices: tuple[str, ...]) -> str | None:
        """A node keeps a value under a name; None when it may not."""
        if not self.good_name(at, name):
            return None
        if name in self._fixed:
            what = "a parameter" if name in self._params else "already in use here"
            self._findings.error(at, "name-taken", f'"{name}" is {what}: save it under another name')
            return None
        before = self._kept.get(name)
        if before is None:
            if len(self._kept) == NAMES_OF_FILE:
                self._effort.refuse(at, "too-many-names", f"more than {NAMES_OF_FILE} names are saved in a file")
            self._kept[name] = (Name(self.key(name), kind, choices), at)
        elif before[0].kind != kind and "any" not in (before[0].kind, kind):
            message = f'"{name}" is {_a(before[0].kind)} on line {before[1].line} and would be {_a(kind)} here'
            self._findings.error(at, "two-types", f"{message}: a name has one type")
            return None
        elif before[0].choices != choices:
            both = dict.fromkeys((*before[0].choices, *choices))
            self._kept[name] = (Name(self.key(name), kind, tuple(both)), before[1])
        self.log.append((name, at))
        return self.key(name)

    def good_name(self, at: Scalar, name: str) -> bool:
        if not _NAME.fullmatch(name) or len(name) > 64:
            self._findings.error(at, "bad-name", f'"{name[:64]}" is not a name: use letters, digits and _ only')
            return False
        if name in SPECIAL:
            self._findings.error(at, "bad-name", f"${name} is already known to the language: choose another name")
            return False
        return True

    def look_up(self, name: str) -> Name | None:
        found = self._fixed.get(name)
        if found is not None:
            return found
        kept = self._kept.get(name)
        if kept is not None and (self.saved is None or name in self.saved):
            return kept[0]
        return None

    def report_unknown(self, name: str, offset: int) -> None:
        """Not said before the whole file is known: it may be saved further down."""
        assert self.reading is not None
        if len(self._unknown) < RECORDED:
            self._unknown.append((exact_place(self.reading, offset, self._findings), name))
        else:
            self._more += 1

    def finish(self) -> None:
        """Report the names that were read and may not be."""
        if self._findings.is_incomplete(self._file):
            return
        self._findings.count(self._more)
        for place, name in self._unknown:
            kept = self._kept.get(name)
            if name in SPECIAL:
                where = "inside retry" if name == "attempt" else "inside finally"
                self._findings.error(place, "unknown-name", f"${name} is known only {where}")
            elif kept is not None:
                message = f"${name} is saved on line {kept[1].line}, but not on every path that leads here"
                self._findings.error(place, "not-saved", message)
            else:
                valid = [f"${known}" for known in (*self._fixed, *self._kept)]
                message = f'there is no parameter or saved value "${name}"'
                self._findings.unknown(place, "unknown-name", message, f"${name}", valid)


def exact_place(scalar: Scalar, offset: int, findings: Findings) -> Place:
    """The place of a character of a text, exact where the text stands on one line as it is."""
    place = scalar.place
    if findings.full:  # nobody will read it
        return place
    line = findings.source_line(place)
    start = place.column - 1 + scalar.quoted
    if line[start : start + len(scalar.text)] == scalar.text:
        return Place(place.file, place.line, start + offset + 1)
    return place


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind.replace('_', ' ')}"
