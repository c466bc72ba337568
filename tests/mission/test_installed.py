"""Packages compared with what the program needs."""

from __future__ import annotations

import pytest

from orchestrator.mission.installed import installed, package_lines

HERE = {"cyclonedds": "11.0.1", "py-trees": "2.6.0"}


@pytest.mark.parametrize(
    ("requirement", "line"),
    [
        ("cyclonedds==11.0.1", "ok: cyclonedds 11.0.1"),
        ("cyclonedds==0.10.5", "problem: cyclonedds is 11.0.1, but must be 0.10.5: pip install cyclonedds==0.10.5"),
        ("py_trees<3,>=2.6", "ok: py_trees 2.6.0"),
        ("numpy>=1.26", "problem: numpy is not installed: pip install 'numpy>=1.26'"),
        (
            'pin<5,>=4.1; extra == "kinematics"',
            "ok: pin is not installed; only kinematics needs it: pip install 'humanoid-orchestrator[kinematics]'",
        ),
    ],
)
def test_each_requirement(requirement: str, line: str) -> None:
    assert [str(found) for found in package_lines([requirement], HERE)] == [line]


def test_tools_of_developers_are_nobody_elses_concern() -> None:
    assert package_lines(['ruff>=0.6; extra == "dev"'], HERE) == []


def test_this_environment_is_fine() -> None:
    lines = [str(line) for line in installed()]
    assert lines[0].startswith("ok: Python 3.")
    assert "ok: cyclonedds 11.0.1" in lines
    assert not [line for line in lines if line.startswith("problem")]
