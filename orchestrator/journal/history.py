"""The history of one run: an SQLite file of facts, events and the guard's records of its commands.

A run has a file of its own: two runs never wait for each other, and what spoils one file spoils one run. The file is
in WAL mode, so that a reader never holds up the writer, with `synchronous=NORMAL`: a commit survives the death of the
process at once and does not wait for the disk, so that little is under way when a run is killed. A power failure spoils
nothing either, but takes what came after the last `sync`.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any

VERSION = 1
"""Of the tables below; another one is refused."""
PATIENCE = 1.0
"""Seconds to wait for somebody else who has locked the file."""
_PASSING = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_BEGINNING = (
    "PRAGMA journal_mode = WAL",
    "BEGIN",
    "CREATE TABLE fact (name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE event (number INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE TABLE audit (number INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    f"PRAGMA user_version = {VERSION}",
)
_SET = "REPLACE INTO fact VALUES (?, ?)"


class HistoryError(Exception):
    """A history cannot be read or written; one sentence that names the file."""

    def __init__(self, text: str, passing: bool = False) -> None:
        super().__init__(text)
        self.passing = passing
        """Whether it may work later: the disk is full, or somebody has locked the file."""


class History:
    """One run's file. Facts have names and are replaced; events and records are only ever added."""

    def __init__(self, path: Path) -> None:
        """Open a file that is there."""
        self.path = path
        if not path.is_file():
            raise HistoryError(f"{path}: there is no such history")
        self._file = _connect(path)
        try:
            self._file.execute("PRAGMA synchronous = NORMAL")
            version = self._file.execute("PRAGMA user_version").fetchone()[0]
            self._file.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except sqlite3.Error as error:
            self._file.close()
            raise HistoryError(f"{path}: {error}") from error
        if version != VERSION:
            self._file.close()
            raise HistoryError(f"{path}: {_other_version(version)}")

    @classmethod
    def create(cls, path: Path, facts: Mapping[str, Any]) -> History:
        """Begin a file that only its user may read."""
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with closing(_connect(path)) as file, file:  # the first facts or nothing
                for statement in _BEGINNING:
                    file.execute(statement)
                file.executemany(_SET, _rows(facts))
        except (OSError, sqlite3.Error) as error:
            raise HistoryError(f"{path}: the history cannot be begun: {error}") from error
        return cls(path)

    def write(self, events: Iterable[bytes] = (), facts: Mapping[str, Any] | None = None) -> None:
        """Add events and set facts, all of it or nothing. Raises HistoryError."""
        try:
            with self._file as file:
                file.execute("BEGIN IMMEDIATE")
                file.executemany("INSERT INTO event (data) VALUES (?)", ((event,) for event in events))
                file.executemany(_SET, _rows(facts or {}))
        except sqlite3.Error as error:
            raise self._wrong(error) from error

    def sync(self) -> None:
        """Have everything on the disk. Raises HistoryError."""
        try:
            self._file.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error as error:
            raise self._wrong(error) from error

    def claim(self, name: str, value: Any) -> bool:
        """Set a fact that only one may set; False when somebody has."""
        try:
            with self._file as file:
                return file.execute("INSERT OR IGNORE INTO fact VALUES (?, ?)", (name, _json(value))).rowcount == 1
        except sqlite3.Error as error:
            raise self._wrong(error) from error

    def fold(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Keep the guard's records of this run; those that are here already stay as they are."""
        try:
            with self._file as file:
                file.execute("BEGIN IMMEDIATE")
                rows = ((number, _json(record)) for number, record in enumerate(records))
                file.executemany("INSERT OR IGNORE INTO audit VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            raise self._wrong(error) from error

    def fact(self, name: str) -> Any:
        """What is known under this name, or None."""
        rows = self._read("SELECT data FROM fact WHERE name = ?", name)
        return rows[0] if rows else None

    @property
    def events(self) -> list[dict[str, Any]]:
        return self._read("SELECT data FROM event ORDER BY number")

    @property
    def first_event(self) -> dict[str, Any] | None:
        return next(iter(self._read("SELECT data FROM event ORDER BY number LIMIT 1")), None)

    @property
    def last_event(self) -> dict[str, Any] | None:
        return next(iter(self._read("SELECT data FROM event ORDER BY number DESC LIMIT 1")), None)

    @property
    def audit(self) -> list[dict[str, Any]]:
        return self._read("SELECT data FROM audit ORDER BY number")

    def _read(self, query: str, *values: str) -> list[Any]:
        try:
            return [json.loads(data) for (data,) in self._file.execute(query, values)]
        except (sqlite3.Error, ValueError) as error:
            raise self._wrong(error) from error

    def _wrong(self, error: Exception) -> HistoryError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without SQLite's remarks in the upper bits
        return HistoryError(f"{self.path}: {error}", passing=code in _PASSING)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> History:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)


def _other_version(version: int) -> str:
    if version > VERSION:
        return f"written by a newer orchestrator (version {version} of the history; this one reads {VERSION})"
    return "nothing was kept: the run was killed before it began" if version == 0 else f"version {version} is too old"


def _rows(facts: Mapping[str, Any]) -> list[tuple[str, bytes]]:
    return [(name, _json(value)) for name, value in facts.items()]


def _json(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()
