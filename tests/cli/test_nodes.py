"""`orchestrator nodes`: the catalogue of leaves, kinds and modifiers."""

from __future__ import annotations

import json

from typer.testing import CliRunner, Result

from orchestrator.cli.app import app
from orchestrator.leaf import installed, words


def nodes(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["nodes", *arguments])


def test_lists_every_leaf_kind_and_modifier() -> None:
    result = nodes()
    assert result.exit_code == 0
    listed = {line.split()[0] for line in result.stdout.splitlines() if line.startswith("  ")}
    assert listed == {*installed().leaves, *words.KINDS, *words.OF_KIND, *words.MODIFIERS}


def test_everything_about_a_leaf() -> None:
    shown = nodes("HandGrasp").stdout
    for part in (
        "- HandGrasp: {hand: right, grip: 80 %}",
        "hand            hand (required)",
        "grip            percent, 1 % to 100 % (80 % if left out)",
        "needs           hands",
        "uses            left_hand or right_hand",
        "allowed in      atom: fsm ready or walk",
        "result          object, nothing, not_moved, not_known",
        "timeout         10 s",
    ):
        assert part in shown, part


def test_a_long_label_does_not_run_into_what_follows() -> None:
    assert "the robot reports body.x for distance" in nodes("Walk").stdout


def test_everything_about_a_modifier() -> None:
    shown = nodes("retry").stdout
    assert shown.startswith("retry: N or {times: N, wait: T}\n")
    assert "retry: {times: 2, wait: 500 ms}" in shown


def test_as_json() -> None:
    found = json.loads(nodes("--json").stdout)
    assert [leaf["name"] for leaf in found["leaves"]] == list(installed().leaves)
    assert [word["name"] for word in found["modifiers"]] == list(words.MODIFIERS)
    tag = json.loads(nodes("MoveToTag", "--json").stdout)["parameters"][0]
    assert (tag["name"], tag["type"], tag["required"]) == ("tag", "tag", True)
    assert json.loads(nodes("delay", "--json").stdout)["value"] == "T"


def test_an_unknown_name() -> None:
    result = nodes("MoveToTagg")
    assert result.exit_code == 2
    assert "did you mean MoveToTag?" in result.stderr
