"""Characters that have no business in a file a person reads: found before the parser sees them."""

from __future__ import annotations

import re

from orchestrator.yamlfile.findings import Findings, Place

_PLAIN = bytes({*range(32, 127), 10})
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_FORBIDDEN = re.compile(
    "\r(?!\n)|[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\uffff"
    f"{_SPACES}]"
)
_A_SPACE = re.compile(f"[{_SPACES}]")
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(file: str, text: str, findings: Findings) -> str:
    """The text with every forbidden character reported and replaced by a space, so that reading can go on."""
    if text.isascii() and not text.encode("ascii").translate(None, _PLAIN):
        return text
    if _FORBIDDEN.search(text) is None:
        return text
    _report(file, text, findings)
    return _FORBIDDEN.sub(" ", text)


def _report(file: str, text: str, findings: Findings) -> None:
    line, before = 1, -1  # the number of the line, and where the line break before it stands
    for match in _FORBIDDEN.finditer(text):
        at = match.start()
        if findings.full:
            findings.count(len(_FORBIDDEN.findall(text, at)))
            return
        if breaks := text.count("\n", before + 1, at):
            line += breaks
            before = text.rfind("\n", before + 1, at)
        code, message = describe(match[0])
        findings.error(Place(file, line, at - before), code, message)


def forbidden_in(text: str) -> str | None:
    """The first forbidden character of a text written with escapes such as \\u202e, or None."""
    match = _FORBIDDEN.search(text)
    return match[0] if match else None


def one_line(text: str) -> str:
    """A text as one line of a terminal, whatever is in it."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))


def describe(character: str) -> tuple[str, str]:
    """Code and sentence for a forbidden character."""
    if character == "\t":
        return "tab", "a tab: use spaces"
    if _A_SPACE.match(character):
        return "odd-space", f"a no-break or unusual space ({_number(character)}): replace it with an ordinary space"
    if _DIRECTION.match(character):
        return "text-direction", f"a character that changes the direction of the text ({_number(character)}): remove it"
    return "control-character", f"an invisible or control character ({_number(character)}): remove it"


def _number(character: str) -> str:
    return f"U+{ord(character):04X}"
