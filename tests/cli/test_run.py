from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator.cli.app import app
from orchestrator.data import data_path

DELIVERY = str(data_path("trees/04_deliver_atom_w.yaml"))


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["run", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_a_mission_in_virtual_time_tells_what_happens_line_by_line() -> None:
    code, said, _ = run(DELIVERY, "--virtual")
    assert code == 0
    assert said.startswith("VIRTUAL  atom_w  deliver_atom_w\n")
    assert "drive to the shelf: success" in said
    assert "Log: says  Delivered to" in said
    assert "\nsuccess\n" in said


def test_json_is_one_event_a_line() -> None:
    code, said, _ = run(DELIVERY, "--virtual", "--json")
    assert code == 0
    kinds = [json.loads(line)["event"] for line in said.splitlines()]
    assert {"structure", "tick", "command", "guard", "end"} <= set(kinds)


def test_a_failing_tree_says_which_node_and_why(tmp_path: Path) -> None:
    tree = tmp_path / "fails.yaml"
    tree.write_text("tree: fails\nrobot: atom_w\nroot:\n  - check: battery.level > 99 %\n")
    code, said, _ = run(str(tree), "--virtual")
    assert code == 1
    assert "failure at" in said
    assert "fails.yaml:4" in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((DELIVERY, "--sim", "--virtual"), "exclude each other"),
        ((DELIVERY, "--yes"), "--yes is for simulation only"),
        ((DELIVERY, "--virtual", "--set", "pick"), "--set takes NAME=VALUE"),
        ((DELIVERY, "--virtual", "--set", "pick=999999"), "pick"),
        (("missing.yaml", "--virtual"), "missing.yaml"),
        ((DELIVERY,), "armed by a person at the terminal"),
    ],
)
def test_bad_input_ends_with_2_and_a_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    code, _, complaint = run(*arguments)
    assert code == 2
    assert sentence in complaint
