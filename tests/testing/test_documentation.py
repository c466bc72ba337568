"""The examples of docs/testing.md are tests that pass, in a project of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"

TREE = """tree: deliver
robot: atom_w
params:
  pick: {type: tag}
root:
  - SetFsm: {state: ready}
  - MoveToTag: {tag: $pick}
"""


def test_the_examples_pass(tmp_path: Path) -> None:
    examples = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(examples) == 5
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "deliver.yaml").write_text(TREE)
    (tmp_path / "test_examples.py").write_text("\n\n".join(examples))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "5 passed" in done.stdout, done.stdout
