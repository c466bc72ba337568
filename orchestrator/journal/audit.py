"""An append-only file of records: a checksum per line, each line chained to all before it.

A line is `crc chain json`. The chain is a hash over the line before and this record, so that nothing can be taken out
or changed unnoticed; the checksum tells a line that a crash cut off. Only the last line can be: it is dropped.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

START = b"0" * 32
"""What the first record is chained to."""
_quick_json = msgspec.json.Encoder().encode
_strict_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class AuditError(Exception):
    """The file is not what it was written as (the text names the line), or somebody else writes it."""


@dataclass(frozen=True)
class Reading:
    """What a file holds."""

    records: tuple[dict[str, Any], ...]
    chain: bytes
    """The hash the next record is chained to."""
    length: int
    """How many bytes are good."""
    torn: bool
    """Whether a last line was cut off."""


def read(path: Path, start: int = 0) -> Reading:
    """Every record from this byte on, in order; a torn last line is left out, anything else wrong raises AuditError."""
    data = path.read_bytes() if path.exists() else b""
    records: list[dict[str, Any]] = []
    chain, good, lines = START, 0, 0
    while good < len(data):
        end = data.find(b"\n", good)
        if end < 0:
            return Reading(tuple(records), chain, good, torn=True)
        parsed = _parse(data[good:end], chain)
        if parsed is None:
            raise AuditError(f"{path}: line {lines + 1} is not as it was written")
        record, chain = parsed
        if good >= start:
            records.append(record)
        good, lines = end + 1, lines + 1
    return Reading(tuple(records), chain, good, torn=False)


def in_use(path: Path) -> bool:
    """Whether somebody may still add records."""
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _parse(line: bytes, before: bytes) -> tuple[dict[str, Any], bytes] | None:
    """A record and its hash, or None when the line is not whole or not in its place."""
    try:
        crc, chain, body = line.split(b" ", 2)
        record = json.loads(body)
    except ValueError:
        return None
    whole = crc == _crc(chain, body) and chain == _chain(before, body) and isinstance(record, dict)
    return (record, chain) if whole else None


def _json(record: dict[str, Any]) -> bytes:
    """A number that is not finite, which the quick encoder writes as null, is a ValueError."""
    body = _quick_json(record)
    return _strict_json(record).encode() if b"null" in body else body


def _crc(chain: bytes, body: bytes) -> bytes:
    return b"%08x" % zlib.crc32(b"%b %b" % (chain, body))


def _chain(before: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=16, key=before).hexdigest().encode()


class AuditFile:
    """Appends records. Opening one that a crash cut off drops the torn line and goes on after it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = read(path)
        except BlockingIOError:
            os.close(self._file)
            raise AuditError(f"{path}: another guard keeps its records there") from None
        except AuditError:
            os.close(self._file)
            raise
        self._chain = found.chain
        self._length = found.length
        os.ftruncate(self._file, found.length)
        os.lseek(self._file, found.length, os.SEEK_SET)

    def append(self, record: dict[str, Any]) -> None:
        """Keep a record. Raises OSError when it cannot be kept."""
        body = _json(record)
        chain = _chain(self._chain, body)
        line = b"%b %b %b\n" % (_crc(chain, body), chain, body)
        try:
            if os.write(self._file, line) != len(line):
                raise OSError(f"{self.path}: only part of a record could be written")
        except OSError:
            self._take_back()
            raise
        self._chain = chain
        self._length += len(line)

    def sync(self) -> None:
        """Have everything that is kept on the disk. Raises OSError when that fails."""
        os.fdatasync(self._file)

    def _take_back(self) -> None:
        """Part of a line must not stay in front of the next one."""
        os.ftruncate(self._file, self._length)
        os.lseek(self._file, self._length, os.SEEK_SET)

    def close(self) -> None:
        os.close(self._file)

    def __enter__(self) -> AuditFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
