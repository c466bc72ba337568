"""The JSON Schema for editors: right trees pass, and it knows what the robot knows."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from orchestrator.cli.app import app
from orchestrator.treefile.schema import schema
from orchestrator.yamlfile import Findings, Mapping, Node, Scalar, Sequence, read_text
from tests.treefile.conftest import CATALOGUE
from tests.treefile.stand_in import ATOM_W, GR2, ROBOTS
from tests.treefile.test_rules import RULES, Rule, complete

ANY = jsonschema.Draft7Validator(schema(CATALOGUE, None, ROBOTS))
ON_ATOM_W = jsonschema.Draft7Validator(schema(CATALOGUE, ATOM_W, ROBOTS))


def loaded(text: str) -> Any:
    """What an editor sees: plain values by the rules of YAML 1.2."""
    root = read_text(text, "t.yaml", Findings()).root
    assert root is not None
    return _plain(root)


def _plain(node: Node) -> Any:
    if isinstance(node, Mapping):
        return {key: _plain(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, Sequence):
        return [_plain(item) for item in node.items]
    assert isinstance(node, Scalar)
    if node.empty:
        return None
    try:
        return node.text if node.quoted else json.loads(node.text)  # the same numbers and booleans
    except ValueError:
        return node.text


def test_it_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(ANY.schema)
    jsonschema.Draft7Validator.check_schema(ON_ATOM_W.schema)


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_whatever_keeps_the_rules_passes(rule: Rule) -> None:
    errors = [error.message for error in ANY.iter_errors(loaded(complete(rule.keeps)))]
    assert errors == []


@pytest.mark.parametrize(
    "nodes",
    [
        "- MoveToTag: {tag: 1, sped: 1}",
        "- MoveToTag: {heading: 90 deg}",
        "- MoveToTagg: {tag: 1}",
        "- CheckErrors:\n  retri: 2",
        "- Wait: {time: 2}",
        "- CheckErrors:\n  then: [CheckErrors]",
        "- Walk: {time: 2 s, distance: 1 m}",
        "- Nonsense",
    ],
)
def test_common_mistakes_do_not(nodes: str) -> None:
    assert not ANY.is_valid({"tree": "t", "root": loaded(nodes)})


def test_with_a_robot_only_what_it_can_do_in_its_own_words() -> None:
    node = schema(CATALOGUE, GR2, ROBOTS)["definitions"]["node"]["anyOf"][0]["properties"]
    assert "MoveToTag" not in node
    assert node["SetFsm"]["properties"]["state"]["anyOf"][0]["enum"] == list(GR2.fsm_states)
    assert "on gr2 -0.5 m/s to 0.75 m/s" in node["Walk"]["properties"]["forward"]["description"]
    assert not ON_ATOM_W.is_valid({"tree": "t", "root": [{"MoveToTag": {"tag": "nowhere"}}]})
    assert ON_ATOM_W.is_valid({"tree": "t", "root": [{"MoveToTag": {"tag": "shelf"}}]})


def test_the_command_prints_it() -> None:
    result = CliRunner().invoke(app, ["schema", "--robot", "gr2"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["title"] == "Behaviour tree for gr2"
    assert CliRunner().invoke(app, ["schema", "--robot", "nobody"]).exit_code == 2
