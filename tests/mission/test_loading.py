"""What is said about a tree before it runs."""

from pathlib import Path

import pytest

from orchestrator.leaf import Catalogue, installed
from orchestrator.mission import loading


def test_a_run_says_which_leaves_of_other_packages_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = "CheckEmergency is declared twice: in behaviours.emergency and in mine, which is not used"
    monkeypatch.setattr(loading, "installed", lambda: Catalogue(installed(), [problem]))
    tree = tmp_path / "t.yaml"
    tree.write_text("tree: t\nrobot: atom_w\nroot: [CheckEmergency]\n")
    assert loading.load_mission(tree).warnings == f"warning: {problem}"
