"""Every rule of the language: a file that keeps it and one that breaks it, with the exact place of the finding.

The rules are in `rules/*.txt`. `¶` stands before the character at which a finding must be; it is taken out before the
file is checked. Nodes without a head are put below `root:` of an otherwise empty file, motions beside
it.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.treefile.beside import MOTIONS
from tests.treefile.conftest import CheckText, whole


@dataclass(frozen=True)
class Rule:
    name: str
    code: str
    robot: str | None
    keeps: str
    breaks: str


_RULE = re.compile(
    r"# rule: (?P<name>.*)\n# code: (?P<code>.*)\n(?:# robot: (?P<robot>.*)\n)?"
    r"# keeps\n(?P<keeps>(?s:.*?))# breaks\n(?P<breaks>(?s:.*?))(?=\n# rule: |\Z)"
)


def rules() -> list[Rule]:
    files = sorted((Path(__file__).parent / "rules").glob("*.txt"))
    return [Rule(**match.groupdict()) for file in files for match in _RULE.finditer(file.read_text())]


RULES = rules()
every_rule = pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])


def marked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The file without marks, and the places the marks stood at."""
    places = []
    for number, line in enumerate(text.split("\n"), 1):
        while "¶" in line:
            places.append((number, line.index("¶") + 1))
            line = line.replace("¶", "", 1)
    return text.replace("¶", ""), places


def complete(text: str) -> str:
    """With a head, unless it has one, or is about having none."""
    return text if re.match("¶?[a-z]+:", text) or text.startswith("¶- ") else whole(text)


@every_rule
def test_a_file_that_keeps_the_rule_has_no_findings(check: CheckText, rule: Rule) -> None:
    result = check(complete(rule.keeps), rule.robot, **MOTIONS)
    assert result.findings.render() == ""
    assert result.ok


@every_rule
def test_a_file_that_breaks_the_rule_is_told_where(check: CheckText, rule: Rule) -> None:
    text, places = marked(complete(rule.breaks))
    findings = check(text, rule.robot, **MOTIONS).findings
    assert [(f.place.line, f.place.column) for f in findings.sorted()] == places, findings.render()
    assert rule.code in [f.code for f in findings.sorted()]


def test_every_rule_of_the_files_is_read_and_has_a_name_of_its_own() -> None:
    written = sum(file.read_text().count("# rule: ") for file in (Path(__file__).parent / "rules").glob("*.txt"))
    assert len(RULES) == written >= 70
    assert len({rule.name for rule in RULES}) == len(RULES)
