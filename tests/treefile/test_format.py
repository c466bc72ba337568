"""The canonical layout: comments stay, the meaning stays, and a second time changes nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.treefile.format import formatted
from orchestrator.yamlfile import Findings, read_text
from tests.treefile.test_rules import RULES, Rule, complete

UNTIDY = """

# A mission


tree:   t   # its name
params:
    pick:  {type:   tag, default: 12}
root:
- Wait: {time:   2 s}
# waits, then says so
- Log:
     text: 1_000


  # why so
  name: >-
     # not a comment


     two lines
- ? CheckErrors
- selector: [CheckErrors, {CheckEmergency: , retry: 2}]
  timeout: "10 s"
# the end
"""
TIDY = """# A mission

tree: t     # its name
params:
  pick: {type: tag, default: 12}
root:
  - Wait: {time: 2 s}
  # waits, then says so
  - Log:
      text: 1_000

    # why so
    name: >-
      # not a comment


      two lines
  - CheckErrors:
  - selector: [CheckErrors, {CheckEmergency: , retry: 2}]
    timeout: "10 s"
# the end
"""


def fmt(text: str) -> str:
    findings = Findings()
    made = formatted(text, "t.yaml", findings)
    assert made is not None, findings.render()
    return made


def meaning(text: str) -> str:
    """Everything but the layout: texts, keys and quotes."""
    return re.sub(r" at 0x\w+", "", repr(read_text(text, "t.yaml", Findings()).root))


def test_an_untidy_file() -> None:
    assert fmt(UNTIDY) == TIDY


def test_a_tidy_file_stays_as_it_is() -> None:
    assert fmt(TIDY) == TIDY


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_every_tree_of_the_rules(rule: Rule) -> None:
    text = complete(rule.keeps)
    made = fmt(text)
    assert meaning(made) == meaning(text)
    assert fmt(made) == made


WORDS = st.sampled_from(
    ["1_000", "0x10", "1e3", "yes", "no", "12:30", "2 s", "80 %", "$a", "a b", "'q'", '"q"', "what?", "-5", "+5", "~x"]
)
COMMENTS = st.sampled_from(["", "  # why", "\n# because\n", "\n      # so\n"])


@settings(deadline=None)
@given(st.lists(st.tuples(WORDS, COMMENTS, st.integers(0, 3)), min_size=1, max_size=6))
def test_any_layout_keeps_meaning_and_comments_and_settles(items: list[tuple[str, str, int]]) -> None:
    text = "tree: t\nroot:\n"
    for word, comment, deeper in items:
        text += f"  - Log:\n{' ' * (6 + deeper)}text: {word}{comment}\n"
    made = fmt(text)
    assert meaning(made) == meaning(text)
    assert sorted(re.findall("# .*", made)) == sorted(re.findall("# .*", text))
    assert fmt(made) == made


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("tree: t\nroot: [\n", "open-bracket"),
        ("tree: t\ntree: u\n", "duplicate-key"),
        ("tree: t\nroot: [CheckErrors,   # why\n  CheckEmergency]\n", "comment-lost"),
    ],
)
def test_what_cannot_be_laid_out_is_refused(text: str, code: str) -> None:
    findings = Findings()
    assert formatted(text, "t.yaml", findings) is None
    assert [finding.code for finding in findings.sorted()] == [code]


def test_a_layout_that_would_mean_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.treefile.format._laid_out", lambda text: text.replace("2 s", "3 s"))
    findings = Findings()
    assert formatted("tree: t\nroot:\n  - Wait: {time: 2 s}\n", "t.yaml", findings) is None
    assert [finding.code for finding in findings.sorted()] == ["cannot-format"]
