"""The first mission of the README: what is printed there is what happens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from orchestrator.cli.app import app
from orchestrator.testing import StartMission

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
MENDED = {"redy": "ready", "2 m\n": "2 min\n", "grip: 80}": "grip: 80 %}"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "my_first_mission.yaml"


def block(language: str) -> str:
    """The first block of a kind after the heading."""
    found = re.search(
        rf"^```{language}\n(.*?)^```", README.partition("## A first mission")[2], re.MULTILINE | re.DOTALL
    )
    assert found is not None
    return found[1]


def test_check_says_what_the_readme_shows(here: Path) -> None:
    here.write_text(block("yaml"))
    told = re.search(r"^\$ \S+ check my_first_mission.yaml\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert told is not None
    result = CliRunner().invoke(app, ["check", "my_first_mission.yaml"])
    assert (result.exit_code, result.output) == (2, told[1])


def test_mended_it_runs_and_its_test_passes(here: Path, mission: StartMission) -> None:
    text = block("yaml")
    for wrong, right in MENDED.items():
        text = text.replace(wrong, right)
    here.write_text(text)
    assert CliRunner().invoke(app, ["run", "my_first_mission.yaml", "--virtual"]).exit_code == 0
    made: dict[str, Any] = {}
    exec(block("python"), made)
    made["test_an_empty_hand_is_no_success"](lambda tree: mission(here.parent / tree))


def test_every_page_is_listed() -> None:
    pages = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    assert pages <= set(re.findall(r"^\| \[(docs/\S+)\]", README, re.MULTILINE))
