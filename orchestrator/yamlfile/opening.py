"""Opens a file: what is no readable text is said instead of raised."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

from orchestrator.yamlfile.findings import Finding, Findings, Place, nearest

LARGEST_FILE = 256 * 1024


def text_of(path: Path, findings: Findings) -> str | None:
    """The text of a file, or None with the reason among the findings."""
    raw = _bytes_of(path, findings, LARGEST_FILE + 1)
    if raw is not None and len(raw) > LARGEST_FILE:
        message = f"the file is bigger than {LARGEST_FILE // 1024} kB: split it"
        findings.error(Place(str(path), 1, 1), "too-big", message)
        return None
    return None if raw is None else _decoded(str(path), raw, findings)


def readable(path: Path) -> Finding | None:
    """Why a file cannot be opened; None when it can."""
    findings = Findings()
    _bytes_of(path, findings, 1)
    return next(iter(findings.sorted()), None)


def _bytes_of(path: Path, findings: Findings, most: int) -> bytes | None:
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
            return stream.read(most)
    except (OSError, ValueError) as problem:
        findings.error(top, *_cannot_open(path, problem))
        return None


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
        stems = {entry.stem: entry.name for entry in sorted(path.parent.iterdir())[:1000]}
    except OSError:
        return None
    return stems.get(path.stem) or stems.get(nearest(path.stem, tuple(stems)) or "")


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
