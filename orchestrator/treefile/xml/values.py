"""Values and conditions in both languages: `$name` and `{name}`, `and` and `&&`, `2 s` and 2000 milliseconds."""

from __future__ import annotations

import re
from collections.abc import Iterable

from orchestrator.yamlfile import DURATION, Mistake

_NAMED = re.compile(r"\$([A-Za-z_]\w*)")
_POINTER = re.compile(r"\{([A-Za-z_]\w*)\}")
# Names, numbers without a unit, words for logic, and the operators both languages have.
_OURS = re.compile(r"\s*(\$[A-Za-z_]\w*|\d+(?:\.\d+)?(?![\w.])|(?:and|or|not|true|false)\b|<=|>=|==|!=|[<>()+*/-])")
_THEIRS = re.compile(r"\s*([A-Za-z_]\w*|\d+(?:\.\d+)?(?![\w.])|&&|\|\||!=|!|<=|>=|==|[<>()+*/-])")
_TO_THEIRS = {"and": "&&", "or": "||", "not": "!"}
_TO_OURS = {theirs: ours for ours, theirs in _TO_THEIRS.items()}


def value_out(text: str) -> str | None:
    """A value as an attribute; None where it would be taken for something else."""
    if match := _NAMED.fullmatch(text):
        return f"{{{match[1]}}}"
    return None if _POINTER.fullmatch(text) else text


def value_in(text: str) -> str:
    match = _POINTER.fullmatch(text)
    return f"${match[1]}" if match else text


def condition_out(text: str) -> str | None:
    """A condition over names and numbers as a script; None where it speaks of fields, units or words."""
    tokens = _tokens(_OURS, text)
    if tokens is None:
        return None
    return _joined(_TO_THEIRS.get(token, token.removeprefix("$")) for token in tokens)


def condition_in(text: str) -> str | None:
    tokens = _tokens(_THEIRS, text)
    if tokens is None:
        return None
    return _joined(_TO_OURS.get(token) or _name_in(token) for token in tokens)


def _name_in(token: str) -> str:
    return f"${token}" if (token[0].isalpha() and token not in ("true", "false")) or token[0] == "_" else token


def _tokens(pattern: re.Pattern[str], text: str) -> list[str] | None:
    text = text.strip()
    found, at = [], 0
    while at < len(text):
        match = pattern.match(text, at)
        if match is None:
            return None
        found.append(match[1])
        at = match.end()
    return found or None


def _joined(tokens: Iterable[str]) -> str:
    return " ".join(tokens).replace("( ", "(").replace(" )", ")").replace("! ", "!")


def milliseconds(duration: str) -> str | None:
    """A duration as BehaviorTree.CPP writes it; None when it is not a constant of whole milliseconds."""
    try:
        value = DURATION.parse(duration) * 1000
    except Mistake:
        return None
    return str(round(value)) if abs(value - round(value)) < 1e-6 else None


def duration_of(text: str) -> str | None:
    """A duration as a person would write it; None when it is not a number of milliseconds."""
    if not text.isdigit() or int(text) == 0:
        return None
    value = int(text)
    for unit, factor in (("min", 60_000), ("s", 1000)):
        if value % factor == 0:
            return f"{value // factor} {unit}"
    return f"{value} ms"
