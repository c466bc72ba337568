"""What is wrong with a file: places, findings, their order and how they are shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, Protocol
from unicodedata import combining, east_asian_width

Severity = Literal["error", "warning"]

RECORDED = 1000  # findings kept in full; the rest are only counted, so that hostile input costs neither time nor memory
SHOWN = 50
SUGGESTED = 100  # searches for the name that was meant: each looks at every name there is
CANDIDATES = 500
LONGEST = 500  # characters of a sentence: what is quoted in it may be as long as the file
_WORD = re.compile(r"[A-Z]+[a-z0-9]*|[a-z0-9]+")
WIDTH = 100  # characters shown of a long line, before and after the place


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something stands: line and column count from 1, columns in characters."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{printable(self.file)}:{self.line}:{self.column}"


class Placed(Protocol):
    """Anything that knows where it stands, such as a node of a file."""

    @property
    def place(self) -> Place: ...


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem: a sentence an operator can act on and, where there is one, what to write instead."""

    place: Place
    severity: Severity
    code: str
    message: str
    suggestion: str | None = None

    @property
    def sentence(self) -> str:
        if self.suggestion is None or re.search(rf"writ(e|ten) {re.escape(self.suggestion)}", self.message):
            return self.message
        return f"{self.message}; did you mean {self.suggestion}?"

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}: {self.sentence}"

    def to_json(self) -> dict[str, str | int | None]:
        place = self.place
        return {
            "file": place.file,
            "line": place.line,
            "column": place.column,
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "suggestion": self.suggestion,
        }


class Near(NamedTuple):
    """A suggestion to be looked for: the valid name that is nearest to the word."""

    word: str
    valid: tuple[str, ...]
    otherwise: str = ""
    """What the message ends with when none is near."""


Suggestion = str | Near | None


class Findings:
    """Collects what a check finds; the first error at a place hides whatever else is said about that place."""

    def __init__(self) -> None:
        self._found: dict[Place, Finding] = {}
        self._lines: dict[str, list[str]] = {}
        self._incomplete: set[str] = set()
        self._searches = 0
        self.left_out = 0
        self.errors = 0

    def add_source(self, file: str, lines: list[str]) -> None:
        """Keep a file's lines, to show them with a caret."""
        self._lines[file] = lines

    def source_line(self, place: Place) -> str:
        lines = self._lines.get(place.file, [])
        return lines[place.line - 1] if 0 < place.line <= len(lines) else ""

    def incomplete(self, file: str) -> None:
        """Part of the file could not be read: from now on nothing in it may be called missing."""
        self._incomplete.add(file)

    def is_incomplete(self, file: str) -> bool:
        return file in self._incomplete

    def error(self, at: Placed | Place, code: str, message: str, suggestion: Suggestion = None) -> None:
        self._add(at, "error", code, message, suggestion)

    def warning(self, at: Placed | Place, code: str, message: str, suggestion: Suggestion = None) -> None:
        self._add(at, "warning", code, message, suggestion)

    def unknown(
        self, at: Placed | Place, code: str, message: str, word: str, valid: Iterable[str], otherwise: str = ""
    ) -> None:
        """An error about a name that does not exist, with the nearest one that does; `otherwise` if none is near."""
        self._add(at, "error", code, message, Near(word, () if self.full else tuple(valid), otherwise))

    def missing(self, at: Placed | Place, code: str, message: str, suggestion: Suggestion = None) -> None:
        """An error about something that is not there; not said where an earlier error may be the reason."""
        place = at if isinstance(at, Place) else at.place
        if place.file not in self._incomplete:
            self._add(place, "error", code, message, suggestion)

    def count(self, errors: int) -> None:
        """Errors that are not recorded: there are too many already."""
        self.errors += errors
        self.left_out += errors

    def _add(self, at: Placed | Place, severity: Severity, code: str, message: str, suggestion: Suggestion) -> None:
        place = at if isinstance(at, Place) else at.place
        before = self._found.get(place)
        if before is not None and (before.severity == "error" or severity == "warning"):
            return
        if severity == "error":
            self.errors += 1
        if before is None and self.full:
            self.left_out += 1
            return
        if len(message) > LONGEST:
            message = f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
        found = self._looked_for(suggestion)
        if found is None and isinstance(suggestion, Near):
            message += suggestion.otherwise
        self._found[place] = Finding(place, severity, code, printable(message), found)

    def _looked_for(self, suggestion: Suggestion) -> str | None:
        if isinstance(suggestion, Near):
            self._searches += 1
            suggestion = nearest(suggestion.word, suggestion.valid) if self._searches <= SUGGESTED else None
        return printable(suggestion) if suggestion is not None and len(suggestion) <= LONGEST else None

    def __len__(self) -> int:
        return len(self._found) + self.left_out

    @property
    def full(self) -> bool:
        """No more are recorded: whoever finds them one by one may stop."""
        return len(self._found) >= RECORDED

    def sorted(self) -> list[Finding]:
        return [self._found[place] for place in sorted(self._found)]

    def render(self, shown: int = SHOWN) -> str:
        """All of them for a terminal, with source lines and carets; the first ones and a count when there are many."""
        found = self.sorted()
        parts = [self._with_caret(finding) for finding in found[:shown]]
        if len(self) > shown:
            parts.append(f"... and {len(self) - min(shown, len(found))} more")
        return "\n".join(parts)

    def _with_caret(self, finding: Finding) -> str:
        return "\n".join((str(finding), *self.caret(finding.place)))

    def caret(self, place: Place) -> tuple[str, ...]:
        """The line a place stands on and a caret below it; nothing when the line is not known."""
        lines = self._lines.get(place.file, [])
        if not 0 < place.line <= len(lines):
            return ()
        start = max(0, place.column - WIDTH)
        part = lines[place.line - 1][start : start + 2 * WIDTH]
        source = printable(part)
        return f"  {source}", f"  {' ' * _columns(source[: place.column - 1 - start])}^"


def printable(text: str) -> str:
    """What a terminal may show as it is: a line without anything that moves the cursor."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def _columns(text: str) -> int:
    """How wide a terminal shows a text: many characters of East Asia and pictures take two columns, accents none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def nearest(word: str, valid: tuple[str, ...]) -> str | None:
    """The valid name that was most likely meant, or None if none is near."""
    return _nearest(word[:64], valid[:CANDIDATES])


@lru_cache(maxsize=4096)
def _nearest(word: str, valid: tuple[str, ...]) -> str | None:
    from difflib import get_close_matches  # only needed once something is wrong

    plain = {_plain(name): name for name in reversed(valid)}
    same = plain.get(_plain(word))
    if same is not None:
        return same if same != word else None
    turned = {_words(name): name for name in reversed(valid)}
    if (words := _words(word)) and words in turned:
        return turned[words]
    close = get_close_matches(_plain(word), plain, n=1, cutoff=0.6)
    return plain[close[0]] if close else None


def listed(words: Sequence[str], most: int = 20) -> str:
    """Words with commas between them; the first ones and a count when there are many."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


def _words(name: str) -> tuple[str, ...]:
    """The words of a name in no order: GraspHand and hand_grasp have the same."""
    return tuple(sorted(word.lower() for word in _WORD.findall(name)))
