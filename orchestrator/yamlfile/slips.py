"""The slips people make in YAML, recognised from the parser's complaint and the line, each with its remedy."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Explanation = tuple[int, int, str, str, str | None]  # line, column (from 0), code, message, suggestion


@dataclass(frozen=True, slots=True)
class Complaint:
    """What the parser said, and the lines of the file; lines and columns count from 0."""

    problem: str
    context: str
    line: int
    column: int
    context_line: int
    context_column: int
    lines: list[str]

    def text(self, line: int) -> str:
        return self.lines[line] if 0 <= line < len(self.lines) else ""

    def line_above(self) -> int:
        line = self.line - 1
        while line >= 0 and not re.match(r"\s*[^\s#]", self.lines[line]):
            line -= 1
        return line


_KEY = re.compile(r"(\s*(?:- +)*)([A-Za-z_][\w ]*): +(?=\S)")
_NO_SPACE = re.compile(r"(\s*(?:- +)*)([A-Za-z_]\w*):([^\s:].*)")
_BARE = re.compile(r"(\s*(?:- +)*)([^\s:#\[{\"'][^:#]*?)\s*(?:#.*)?")
_END_IN_BRACKETS = re.compile(r"[,\]}]")
_LONG_DASHES = ("\N{EN DASH}", "\N{EM DASH}")
_NAME_IN_BRACES = re.compile(r"\$\{ *([A-Za-z_]\w{0,60}) *\}")
_BRACKETS = re.compile(r""""[^"]*"|'[^']*'|(?:^|\s)#.*|[\[\]{}]""")
_KEY_END = re.compile(r":(?= |$)")
_HASH = re.compile(r"([^\s,\[{][^,\[\]{}\"']*?) #")


def explain(complaint: Complaint) -> Explanation:
    """Where and what the mistake most likely is."""
    for words, slip in _SLIPS:
        if words in complaint.problem or words in complaint.context:
            found = slip(complaint)
            if found is not None:
                return found
    return (complaint.line, complaint.column, "syntax", f"this is not valid YAML: {complaint.problem}", None)


def _open_quote(c: Complaint) -> Explanation | None:
    if "end of stream" not in c.problem and "document indicator" not in c.problem:
        return None
    return (c.context_line, c.context_column, "open-quote", "the quote that begins here is never closed", None)


def _escape(c: Complaint) -> Explanation:
    message = "a backslash means something special between double quotes: use single quotes, or write it twice"
    return (c.line, c.column, "backslash", message, None)


def _colon(c: Complaint) -> Explanation:
    text = c.text(c.line)
    key = _KEY.match(text)
    if key and key.end() <= c.column:
        if re.match(r"\w+: +[{\[]", text[key.end() :]):
            message = "two keys on one line: begin the second on a new line, indented, or put the whole text in quotes"
            return (c.line, key.end(), "two-on-a-line", message, None)
        return _quote_it(c.line, key.end(), text, 'the text contains ": "')
    above = c.line_above()
    missing_space = _NO_SPACE.fullmatch(c.text(above))
    if missing_space:
        return space_after_colon(above, missing_space)
    bare = _BARE.fullmatch(c.text(above))
    if bare and ":" not in c.text(above):
        word = bare[2].strip()
        message = f"a colon is missing: what is indented below belongs to {word!r} only if it ends with one"
        return (above, bare.start(2), "missing-colon", message, f"{word}:")
    message = "this line is indented deeper than the one above, which already has a value"
    return (c.line, len(text) - len(text.lstrip()), "indentation", message, None)


def space_after_colon(line: int, match: re.Match[str]) -> Explanation:
    message = "a space is missing after the colon"
    return (line, match.start(2), "missing-space", message, f"{match[2]}: {match[3].strip()}")


def _quote_it(line: int, column: int, text: str, why: str) -> Explanation:
    value = re.sub(r" +#.*", "", text[column:]).strip()
    written = '"' + value.replace('"', '\\"') + '"'
    return (line, column, "needs-quotes", f"{why}: put the whole text in quotes", written)


def _dash_after_key(c: Complaint) -> Explanation:
    message = "a list begins on a new line, with a dash before each item"
    return (c.line, c.column, "list-on-key-line", message, None)


def _in_brackets(c: Complaint) -> Explanation:
    text = c.text(c.context_line)
    hash_sign = _HASH.search(text, c.context_column + 1)
    if hash_sign and c.line >= c.context_line:
        value_start = hash_sign.start(1) + (len(hash_sign[1]) - len(hash_sign[1].split(": ")[-1]))
        why = 'everything after " #" is a comment'
        return (c.context_line, value_start, "needs-quotes", f"{why}: put the whole text in quotes", None)
    here = c.text(c.line)[c.column : c.column + 1]
    named = _NAME_IN_BRACES.match(c.text(c.line), max(0, c.column - 1))
    if named:
        message = f"a name has no braces: write ${named[1]}"
        return (c.line, c.column - 1, "name-in-braces", message, f"${named[1]}")
    if here in ("[", "{", ":") and c.line == c.context_line:
        why = f'the text contains "{here}", which has a meaning inside braces and brackets'
        start = max(text.rfind(mark, 0, c.column) for mark in (": ", ", ", "{", "[")) + 1
        start += len(text[start:]) - len(text[start:].lstrip())
        words = text[start : c.column].split()
        comma = f', or is a comma missing before "{words[-1]}"?' if here == ":" and len(words) > 1 else ""
        return (c.line, min(start, c.column), "needs-quotes", f"{why}: put the whole text in quotes{comma}", None)
    if here and c.line == c.context_line:
        message = "a comma, or quotes around the whole text, is missing here"
        return (c.line, c.column, "missing-comma", message, None)
    bracket = text[c.context_column : c.context_column + 1]
    message = f"the {bracket} that opens here is not closed"
    return (c.context_line, c.context_column, "open-bracket", message, None)


def _no_value(c: Complaint) -> Explanation | None:
    """Inside brackets something stands where a value should: mostly the first line after one that was never closed."""
    if c.text(c.line)[c.column : c.column + 1] in (",", "]", "}"):
        return (c.line, c.column, "missing-value", "a value is missing here", None)
    opened: list[tuple[int, int]] = []
    for line in range(min(c.line, len(c.lines))):
        for mark in _BRACKETS.finditer(c.text(line)):
            if mark[0] in "[{":
                opened.append((line, mark.start()))
            elif mark[0] in "]}" and opened:
                opened.pop()
    if not opened:
        return None
    line, column = opened[-1]
    return (line, column, "open-bracket", f"the {c.text(line)[column]} that opens here is not closed", None)


def _alias(c: Complaint) -> Explanation:
    """A pattern often begins with *, which YAML takes for an alias."""
    text = c.text(c.context_line)
    key = _KEY_END.search(text, c.context_column)
    return _quote_first(c.context_line, c.context_column, text[: key.start()] if key else text)


def _first_character(c: Complaint) -> Explanation:
    return _quote_first(c.line, c.column, c.text(c.line))


def _quote_first(line: int, column: int, text: str) -> Explanation:
    in_brackets = "{" in text[:column] or "[" in text[:column]
    end = _END_IN_BRACKETS.search(text, column) if in_brackets else None
    why = f'a text cannot begin with "{text[column : column + 1]}"'
    return _quote_it(line, column, text[: end.start()] if end else text, why)


def _expected_key(c: Complaint) -> Explanation:
    text = c.text(c.line)
    indent = len(text) - len(text.lstrip())
    if indent < c.column:
        message = "nothing may follow here: put the whole text in quotes, the outer ones unlike the inner ones"
        return (c.line, c.column, "needs-quotes", message, None)
    if text[c.column : c.column + 1] in "]}":
        return (c.line, c.column, "closing-bracket", "this closes a bracket that was never opened", None)
    what = "this dash" if text.lstrip().startswith("-") else "this line"
    message = f"{what} does not line up with anything above it: indent it like the lines it belongs to"
    return (c.line, c.column, "indentation", message, None)


def _expected_dash(c: Complaint) -> Explanation:
    belongs = "; what belongs to all of them stands beside the word above the list"
    is_key = re.fullmatch(r"\s*[a-z_]+:.*", c.text(c.line))
    return _no_dash(c, c.line, c.column, belongs if is_key else "")


def _no_dash(c: Complaint, line: int, column: int, remark: str) -> Explanation:
    written = c.text(line)[column : column + 1]
    if written in _LONG_DASHES:
        return (line, column, "long-dash", f"this is a long dash ({written}): write -", "-")
    return (line, column, "missing-dash", f"a dash is missing: every item of this list begins with one{remark}", None)


def _expected_colon(c: Complaint) -> Explanation:
    line = c.context_line if "simple key" in c.context else c.line
    missing_space = _NO_SPACE.fullmatch(c.text(line))
    if missing_space:
        return space_after_colon(line, missing_space)
    text = c.text(line)
    indent = len(text) - len(text.lstrip())
    if c.text(line - 1)[:indent].isspace() and c.text(line - 1)[indent : indent + 2] == "- ":
        return _no_dash(c, line, indent, "")
    return (line, indent, "missing-colon", "a colon is missing after this key, or a dash before it", None)


_SLIPS: tuple[tuple[str, Callable[[Complaint], Explanation | None]], ...] = (
    ("quoted scalar", _open_quote),
    ("escape", _escape),
    ("mapping values are not allowed", _colon),
    ("block sequence entries are not allowed", _dash_after_key),
    ("flow mapping", _in_brackets),
    ("flow sequence", _in_brackets),
    ("did not find expected node content", _no_value),
    ("cannot start any token", _first_character),
    ("while scanning an alias", _alias),
    ("while scanning an anchor", _alias),
    ("did not find expected key", _expected_key),
    ("did not find expected '-'", _expected_dash),
    ("could not find expected ':'", _expected_colon),
)
