"""The audit file: whatever a crash or a full disk leaves behind, what was kept is read back, and only that."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from orchestrator.journal.audit import AuditError, AuditFile, in_use, read

RECORDS: list[dict[str, Any]] = [
    {"at": 1.5, "command": "SetFsm", "id": 1},
    {"at": 2.0, "command": "Velocity", "vx": 0.1},
    {"note": "ü\n "},
]


def written(path: Path) -> bytes:
    with AuditFile(path) as audit:
        for record in RECORDS:
            audit.append(record)
    return path.read_bytes()


def test_records_come_back_in_order(tmp_path: Path) -> None:
    written(tmp_path / "audit")
    reading = read(tmp_path / "audit")
    assert list(reading.records) == RECORDS
    assert not reading.torn


def test_a_file_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert read(tmp_path / "audit").records == ()


def test_cut_off_at_any_byte_it_keeps_every_whole_record_and_goes_on(tmp_path: Path) -> None:
    whole = written(tmp_path / "audit")
    ends = [index + 1 for index, byte in enumerate(whole) if byte == ord("\n")]
    for length in range(len(whole)):
        path = tmp_path / "cut"
        path.write_bytes(whole[:length])
        kept = sum(end <= length for end in ends)
        assert read(path).torn == (length not in (0, *ends))
        with AuditFile(path) as audit:
            audit.append({"after": length})
        assert list(read(path).records) == [*RECORDS[:kept], {"after": length}]


def test_a_changed_byte_anywhere_is_noticed(tmp_path: Path) -> None:
    whole = written(tmp_path / "audit")
    path = tmp_path / "changed"
    for index in range(len(whole)):
        path.write_bytes(whole[:index] + bytes([whole[index] ^ 1]) + whole[index + 1 :])
        try:
            reading = read(path)
        except AuditError:
            continue
        assert reading.torn
        assert list(reading.records) == RECORDS[: len(reading.records)]
        assert len(reading.records) == len(RECORDS) - 1, "only the last line may pass for torn"


@pytest.mark.parametrize("gone", [0, 1])
def test_a_record_taken_out_is_noticed(tmp_path: Path, gone: int) -> None:
    lines = written(tmp_path / "audit").splitlines(keepends=True)
    (tmp_path / "audit").write_bytes(b"".join(line for index, line in enumerate(lines) if index != gone))
    with pytest.raises(AuditError, match=f"line {gone + 1} "):
        read(tmp_path / "audit")


def test_a_file_that_was_changed_is_not_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "audit"
    path.write_bytes(written(path).replace(b"SetFsm", b"SetFsn"))
    with pytest.raises(AuditError):
        AuditFile(path)


def test_a_number_that_is_not_finite_is_not_kept(tmp_path: Path) -> None:
    with AuditFile(tmp_path / "audit") as audit, pytest.raises(ValueError):
        audit.append({"vx": float("nan")})


def test_records_are_synchronised_when_somebody_asks_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    with AuditFile(tmp_path / "audit") as audit:
        audit.append(RECORDS[0])
        assert synced == []
        audit.sync()
        assert len(synced) == 1


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    written(tmp_path / "audit")
    assert (tmp_path / "audit").stat().st_mode & 0o077 == 0


class FullDisk(RuleBasedStateMachine):
    """Appends succeed, fail whole or fail half-way; the file always holds exactly those that succeeded."""

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "audit"
        self.audit = AuditFile(self.path)
        self.kept: list[dict[str, Any]] = []

    @rule(value=st.integers())
    def append(self, value: int) -> None:
        self.audit.append({"value": value})
        self.kept.append({"value": value})

    @rule(value=st.integers(), written=st.integers(0, 20))
    def disk_full(self, value: int, written: int) -> None:
        real = os.write

        def partly(file: int, data: bytes) -> int:
            if written == 0:
                raise OSError(errno.ENOSPC, "no space left")
            return real(file, data[:written])

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "write", partly)
            with pytest.raises(OSError):
                self.audit.append({"value": value})

    @rule(torn=st.binary(max_size=40))
    def crash(self, torn: bytes) -> None:
        self.audit.close()
        with self.path.open("ab") as file:
            file.write(torn.replace(b"\n", b""))
        self.audit = AuditFile(self.path)

    @invariant()
    def holds_what_was_kept(self) -> None:
        assert list(read(self.path).records) == self.kept

    def teardown(self) -> None:
        self.audit.close()
        self.folder.cleanup()


TestFullDisk = FullDisk.TestCase


@given(st.lists(st.dictionaries(st.text(), st.integers() | st.text() | st.none()), max_size=5))
def test_any_records_come_back(tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]) -> None:
    path = tmp_path_factory.mktemp("audit") / "audit"
    with AuditFile(path) as audit:
        for record in records:
            audit.append(record)
    assert list(read(path).records) == records


def test_two_guards_never_write_one_file(tmp_path: Path) -> None:
    with AuditFile(tmp_path / "audit"):
        assert in_use(tmp_path / "audit")
        with pytest.raises(AuditError, match="another guard keeps its records there"):
            AuditFile(tmp_path / "audit")
    assert not in_use(tmp_path / "audit")
