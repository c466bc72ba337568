"""Every example of docs/language.md is a right tree for a real robot, and its tables name every word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orchestrator.leaf import words
from orchestrator.robots.facts_of import FieldsOfAllRobots, robot_named
from orchestrator.robots.profiles import profile_names
from orchestrator.treefile import Surroundings, check_file
from orchestrator.treefile.file import HEAD
from tests.treefile.conftest import CATALOGUE

PAGE = (Path(__file__).parents[2] / "docs" / "language.md").read_text()
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
GO_TO = next(example for example in EXAMPLES if example.startswith("tree: go_to"))
# Nodes alone need a robot in the state they expect.
HEAD_OF_NODES = """tree: example
robot: atom_w
root:
- SetFsm: {state: ready}
"""


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.split("\n")[0] for example in EXAMPLES])
def test_an_example_has_no_findings(example: str, tmp_path: Path) -> None:
    text = example if example.startswith("tree:") else HEAD_OF_NODES + example
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "go_to.yaml").write_text(GO_TO)
    (tmp_path / "example.yaml").write_text(text)
    surroundings = Surroundings(CATALOGUE, FieldsOfAllRobots(), robot_named=robot_named, robot_names=profile_names())
    assert check_file(tmp_path / "example.yaml", surroundings).findings.render() == ""


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("word", [*HEAD, *words.KINDS, *words.MODIFIERS, *words.OF_KIND])
def test_every_word_stands_in_the_tour(word: str) -> None:
    assert re.search(rf"`{word}(?:`|:)", PAGE)
