"""An e-stop outlives the guard that saw it."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.guard.latch_file import LatchFile

SOFT = frozenset({"soft"})


def test_what_is_latched_is_there_for_the_next_guard_until_the_robot_is_armed(tmp_path: Path) -> None:
    audit = tmp_path / "gr2-1234.log"
    file = LatchFile(audit)
    assert file.read() == frozenset()
    file.keep(SOFT)
    file.keep(SOFT | {"tilt"})
    assert LatchFile(audit).read() == {"soft", "tilt"}
    file.keep(frozenset())
    assert LatchFile(audit).read() == frozenset()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("left", [b"", b"\n", b"\xff\xfe"])
def test_a_file_that_says_nothing_is_a_latch_all_the_same(tmp_path: Path, left: bytes) -> None:
    file = LatchFile(tmp_path / "audit.log")
    file.path.write_bytes(left)
    assert file.read()


def test_what_cannot_be_written_is_tried_again_and_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "later"
    file = LatchFile(folder / "audit.log")
    file.keep(SOFT)
    file.keep(SOFT)
    assert capsys.readouterr().err.count("the e-stop cannot be remembered") == 1
    folder.mkdir()
    file.keep(SOFT)
    assert LatchFile(folder / "audit.log").read() == SOFT
