"""Ten mistakes that other engines catch late, one at a time or without a line: all in one run, each in its place."""

from tests.treefile.conftest import CheckText
from tests.treefile.test_rules import marked

TREE = """tree: ten
root:
  - ¶MoveToTagg: {tag: 1}
  - MoveToTag: {tag: 1, ¶sped: 1 m/s}
  - ¶MoveToTag: {heading: 90 deg}
  - MoveToTag: {tag: 1, heading: ¶fast}
  - Set: {seen: base.tag}
  - Set: {¶seen: pad.a}
  - ClearErrors:
    ¶CheckErrors:
    retry: 2
  - use: ¶no_such_part.yaml
  - check: battery.level ¶=> 15 %
  - parallel: [CheckErrors, CheckEmergency]
    succeed: ¶most
  - check: ¶$nobody == 1
  - Log: {text: ¶go: now}
"""
CODES = [
    "unknown-node",
    "unknown-parameter",
    "missing-parameter",
    "not-a-number",
    "two-types",
    "two-kinds",
    "no-file",
    "wrong-operator",
    "bad-policy",
    "unknown-name",
]


def test_all_ten_are_found_at_once_with_line_and_column(check: CheckText) -> None:
    text, places = marked(TREE.replace("  - Log: {text: ¶go: now}\n", ""))
    findings = check(text, robot=None).findings.sorted()
    assert [(f.place.line, f.place.column) for f in findings] == places
    assert [f.code for f in findings] == CODES


def test_a_syntax_error_does_not_hide_the_others(check: CheckText) -> None:
    text, places = marked(TREE)
    findings = check(text, robot=None).findings.sorted()
    # What could not be read may hold the missing parameter or save the name: nothing is called missing.
    hidden = {"missing-parameter", "unknown-name"}
    expected = [place for place, code in zip(places, [*CODES, "needs-quotes"]) if code not in hidden]
    assert [(f.place.line, f.place.column) for f in findings] == expected
