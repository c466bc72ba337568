"""Colours are left out where nobody wants them, or a terminal has none."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator.cli.app import app
from orchestrator.journal.runs import all_runs

TREE = "tree: rests\nrobot: atom_w\nroot:\n  - Wait: {time: 1 s}\n"


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_run_and_runs_have_colours_only_where_they_are_wanted(
    variables: dict[str, str], coloured: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "rests.yaml").write_text(TREE)
    ran = CliRunner().invoke(app, ["run", str(tmp_path / "rests.yaml"), "--virtual", "--record"], color=True)
    (kept,) = all_runs()
    told = CliRunner().invoke(app, ["runs", kept.id], color=True)
    assert (ran.exit_code, told.exit_code) == (0, 0)
    assert ["\x1b" in ran.stdout, "\x1b" in told.stdout] == [coloured, coloured]
