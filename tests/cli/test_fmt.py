"""`orchestrator fmt`: files in place, or only looked at."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from orchestrator.cli.app import app
from tests.treefile.test_format import TIDY, UNTIDY


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "t.yaml"
    path.write_text(UNTIDY)
    return path


def fmt(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["fmt", *map(str, arguments)])


def test_a_file_is_changed_once(tree: Path) -> None:
    tree.chmod(0o640)
    result = fmt(tree)
    assert (result.exit_code, result.stdout) == (0, f"{tree} changed\n")
    assert tree.read_text() == TIDY
    assert tree.stat().st_mode & 0o777 == 0o640
    assert fmt(tree).stdout == ""
    assert list(tree.parent.iterdir()) == [tree]


def test_only_looking(tree: Path) -> None:
    result = fmt(tree, "--check")
    assert (result.exit_code, result.stdout) == (1, f"{tree} would change\n")
    assert tree.read_text() == UNTIDY
    fmt(tree)
    assert fmt(tree, "--check").exit_code == 0


def test_a_file_with_a_syntax_error_stays_and_the_others_are_done(tree: Path) -> None:
    broken = tree.with_name("broken.yaml")
    broken.write_text("tree: t\nroot: [\n")
    result = fmt(broken, tree, tree.with_name("no.yaml"))
    assert result.exit_code == 2
    assert f"{broken}:2:7: error: the [ that opens here is not closed" in result.stderr
    assert "there is no such file" in result.stderr
    assert broken.read_text() == "tree: t\nroot: [\n"
    assert tree.read_text() == TIDY


def test_a_link_stays_a_link(tree: Path) -> None:
    link = tree.with_name("link.yaml")
    link.symlink_to(tree)
    fmt(link)
    assert link.is_symlink()
    assert tree.read_text() == TIDY


def test_windows_line_ends(tree: Path) -> None:
    tree.write_bytes(TIDY.replace("\n", "\r\n").encode())
    fmt(tree)
    assert tree.read_bytes() == TIDY.encode()
