"""The plug-in as a user's own project has it: the fixture, the story below a failed test, the coverage at the end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = """
def test_good(mission):
    run = mission("trees/wait.yaml")
    run.finish()
    assert run.succeeded

def test_bad(mission):
    run = mission("trees/wait.yaml")
    run.finish()
    assert run.sent == ["SetFsm"]

def test_missing(mission):
    mission("trees/nothing.yaml")
"""
TREE = """tree: wait
robot: gr2
root:
  selector:
    - Wait: {time: 2 s}
      name: a short rest
      timeout: 5 s
    - Log: {text: cannot be}
"""


IN_FIXTURES = """
import pytest

@pytest.fixture
def halfway(mission):
    mission("trees/wait.yaml").until("Log")

@pytest.fixture
def to_the_end(mission):
    run = mission("trees/wait.yaml")
    yield
    run.until("Log")

def test_begins_badly(halfway):
    pass

def test_ends_badly(to_the_end):
    pass
"""


NAMED_DIFFERENTLY = """
def test_from_the_root(mission):
    mission("trees/wait.yaml").finish()

def test_from_elsewhere(mission):
    mission("trees/../trees/wait.yaml").finish()
"""
AS_TEXTS = """
import pytest

TEXT = "tree: x\\nrobot: gr2\\nroot:\\n  - use: part.yaml\\n  - Wait: {time: 1 s}\\n"

@pytest.mark.parametrize("seed", [1, 2])
def test_one_text(mission, tmp_path, seed):
    (tmp_path / "part.yaml").write_text("tree: part\\nroot:\\n  - Wait: {time: 1 s}\\n")
    mission(TEXT, seed=seed).finish()

def test_two_texts(mission):
    mission("tree: y\\nrobot: gr2\\nroot:\\n  - Wait: {time: 1 s}\\n").finish()
    mission("tree: z\\nrobot: gr2\\nroot:\\n  - Log: {text: z}\\n").finish()
"""


def pytest_in(folder: Path, *options: str, tests: str = TESTS) -> str:
    (folder / "trees").mkdir()
    (folder / "trees" / "wait.yaml").write_text(TREE)
    (folder / "test_mine.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def test_a_users_project(tmp_path: Path) -> None:
    said = pytest_in(tmp_path)
    assert "2 failed, 1 passed" in said
    assert said.count("- mission wait -") == 1  # only below the test that failed
    assert "2.00  a short rest (line 5): success" in said
    assert f"FileNotFoundError: there is no {tmp_path}/trees/nothing.yaml" in said
    assert "coverage of missions" not in said


def test_the_story_is_told_of_what_fails_in_a_fixture(tmp_path: Path) -> None:
    said = pytest_in(tmp_path, tests=IN_FIXTURES)
    assert "1 passed, 2 errors" in said
    assert said.count("- mission wait -") == 2


def test_coverage_over_all_tests_and_workers(tmp_path: Path) -> None:
    said = pytest_in(tmp_path, "--mission-coverage", "-n", "2")
    assert "trees/wait.yaml: 2 of 3 nodes ran" in said
    assert "        2        2        -            -        -      5    a short rest" in said
    assert "Log  <- never ran" in said


def test_a_tree_has_one_table_however_its_path_is_written(tmp_path: Path) -> None:
    said = pytest_in(tmp_path, "--mission-coverage", tests=NAMED_DIFFERENTLY)
    assert [line for line in said.splitlines() if "nodes ran" in line] == ["trees/wait.yaml: 2 of 3 nodes ran"]


def test_every_text_of_a_tree_has_one_table(tmp_path: Path) -> None:
    said = pytest_in(tmp_path, "--mission-coverage", "-n", "2", tests=AS_TEXTS)
    titles = sorted(line.partition(", text ") for line in said.splitlines() if "nodes ran" in line)
    assert [title for title, _, _ in titles] == ["test_mine.py"] * 3
    assert sorted(rest.partition(": ")[2] for _, _, rest in titles) == ["2 of 2 nodes ran"] * 2 + ["5 of 5 nodes ran"]
    assert said.count("Wait  (part.yaml)") == 1
