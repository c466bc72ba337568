"""Checks small files written inside tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

import behaviours
from orchestrator.leaf import Catalogue, leaves_of
from orchestrator.treefile import Checked, Surroundings, check_file
from tests.treefile.stand_in import FIELDS, ROBOTS

CATALOGUE = Catalogue(leaves_of(behaviours))

CheckText = Callable[..., Checked]


@pytest.fixture
def check(tmp_path: Path) -> CheckText:
    """`check(text, robot=..., settings=..., part=...)` checks a file, with others beside it (`a__b`: a/b.yaml)."""

    def run(
        text: str,
        robot: str | None = "atom_w",
        settings: dict[str, str] | None = None,
        **files: str,
    ) -> Checked:
        folder = tmp_path / "trees"
        for name, content in {"main": text, **files}.items():
            path = folder / f"{name.replace('__', '/')}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        surroundings = Surroundings(
            CATALOGUE,
            FIELDS,
            robot=ROBOTS[robot] if robot else None,
            robot_named=ROBOTS.get,
            robot_names=ROBOTS,
            settings=settings or {},
        )
        return check_file(folder / "main.yaml", surroundings)

    return run


def whole(nodes: str) -> str:
    """Nodes with the head of a file."""
    return "tree: t\nroot:\n" + "".join(f"  {line}\n" for line in nodes.strip("\n").splitlines())
