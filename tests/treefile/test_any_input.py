"""Whatever is in a file, the answer is a tree or findings inside the file."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.treefile import Surroundings, check_file
from tests.treefile.conftest import CATALOGUE
from tests.treefile.stand_in import FIELDS, ROBOTS
from tests.treefile.test_rules import RULES, complete

TEXTS = [complete(text).replace("¶", "") for rule in RULES for text in (rule.keeps, rule.breaks)]
LINES = sorted({line for text in TEXTS for line in text.split("\n")})


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A file of the rules with lines, characters and indentation changed."""
    lines = draw(st.sampled_from(TEXTS)).split("\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        what = draw(st.sampled_from(("insert", "indent", "cut", "character")))
        if what == "insert":
            lines.insert(at, draw(st.sampled_from(LINES)))
        elif what == "indent":
            lines[at] = " " * draw(st.integers(0, 8)) + lines[at].lstrip()
        elif what == "cut":
            lines[at] = lines[at][: draw(st.integers(0, 40))]
        else:
            column = draw(st.integers(0, len(lines[at])))
            character = draw(st.sampled_from("{}[]:,'\"#&*!|>%@`$ -é\t\u00a0"))
            lines[at] = lines[at][:column] + character + lines[at][column:]
    return "\n".join(lines)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=damaged(), robot=st.sampled_from([None, *ROBOTS.values()]))
def test_damaged_files_are_answered(tmp_path: Path, text: str, robot: object) -> None:
    path = tmp_path / "main.yaml"
    path.write_text(text)
    checked = check_file(path, Surroundings(CATALOGUE, FIELDS, robot=robot))  # type: ignore[arg-type]
    assert checked.ok or len(checked.findings)
    lines = text.split("\n")
    for finding in checked.findings.sorted():
        assert 1 <= finding.place.line <= len(lines)
        assert 1 <= finding.place.column <= len(lines[finding.place.line - 1]) + 1
        assert finding.message[0] != " " and len(finding.message) < 1000


@pytest.mark.parametrize("name", ["orchestrator.treefile", "orchestrator.leaf", "orchestrator.yamlfile"])
def test_no_heavy_library_is_loaded(name: str) -> None:
    script = f"import sys, {name}; print(sorted({{'numpy', 'py_trees', 'cyclonedds', 'pydantic'}} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert out.stdout.strip() == "[]"
