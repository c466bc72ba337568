"""docs/leaves.md is what the declarations say."""

from pathlib import Path

import behaviours
from orchestrator.leaf import Catalogue, leaves_of
from orchestrator.treefile.reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "leaves.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == reference(Catalogue(leaves_of(behaviours))), "run `make docs`"


def test_every_leaf_has_its_place() -> None:
    page = PAGE.read_text()
    for leaf in leaves_of(behaviours):
        assert f"#### {leaf.name}\n\n{leaf.summary}\n" in page
        assert leaf.example in page
