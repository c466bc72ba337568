from hypothesis import given
from hypothesis import strategies as st

from orchestrator.yamlfile import Findings, Place, nearest
from orchestrator.yamlfile.findings import RECORDED


def at(line: int, column: int = 1) -> Place:
    return Place("t.yaml", line, column)


def test_findings_come_in_the_order_of_their_places() -> None:
    findings = Findings()
    findings.error(at(9), "b", "second")
    findings.warning(at(2), "a", "first")
    assert [finding.message for finding in findings.sorted()] == ["first", "second"]


def test_the_first_error_at_a_place_hides_what_follows_from_it() -> None:
    findings = Findings()
    findings.warning(at(1), "w", "a warning")
    findings.error(at(1), "e", "the cause")
    findings.error(at(1), "f", "a consequence")
    findings.warning(at(1), "w", "another")
    assert [finding.message for finding in findings.sorted()] == ["the cause"]
    assert findings.errors == 1


def test_nothing_is_called_missing_in_a_file_that_could_not_be_read_completely() -> None:
    findings = Findings()
    findings.incomplete("t.yaml")
    findings.missing(at(1), "m", "something is missing")
    findings.missing(Place("other.yaml", 1, 1), "m", "missing here")
    assert [finding.place.file for finding in findings.sorted()] == ["other.yaml"]


def test_rendering_shows_the_line_with_a_caret_and_the_suggestion() -> None:
    findings = Findings()
    findings.add_source("t.yaml", ["root:", "  - SetFsn"])
    findings.unknown(at(2, 5), "unknown-node", 'there is no node "SetFsn"', "SetFsn", ["SetFsm", "Wait"])
    assert findings.render().splitlines() == [
        't.yaml:2:5: error: there is no node "SetFsn"; did you mean SetFsm?',
        "    - SetFsn",
        "      ^",
    ]


def test_the_caret_stands_below_its_character_also_after_wide_ones() -> None:
    findings = Findings()
    findings.add_source("t.yaml", ["name: 棚へ行く!", "name: e\u0301!"])
    findings.error(at(1, 11), "e", "wrong")
    findings.error(at(2, 9), "e", "wrong")
    _, _, wide, _, _, accent = findings.render().splitlines()
    assert wide == "  " + " " * (len("name: ") + 2 * 4) + "^"
    assert accent == "  " + " " * len("name: e") + "^"


def test_nothing_that_moves_the_cursor_is_shown() -> None:
    findings = Findings()
    findings.add_source("t\x1b[2J.yaml", ["a\rb"])
    findings.error(Place("t\x1b[2J.yaml", 1, 1), "e", "a\rb\x1b[31m is wrong", '"a\rb"')
    shown = findings.render()
    assert all(line.isprintable() for line in shown.split("\n"))
    assert len(shown.split("\n")) == 3


def test_of_a_very_long_line_only_the_part_around_the_place_is_shown() -> None:
    findings = Findings()
    findings.add_source("t.yaml", ["x" * 5000 + "!" + "x" * 5000])
    findings.error(at(1, 5001), "e", "wrong")
    _, line, caret = findings.render().splitlines()
    assert len(line) < 250
    assert line[caret.index("^")] == "!"


def test_errors_that_are_only_counted_are_errors() -> None:
    findings = Findings()
    findings.error(at(1), "e", "wrong")
    findings.count(99)
    assert (findings.errors, len(findings)) == (100, 100)
    assert findings.render().endswith("... and 99 more")


def test_a_finding_as_json_has_the_agreed_keys() -> None:
    findings = Findings()
    findings.error(at(3, 7), "code", "message", "suggestion")
    assert findings.sorted()[0].to_json() == {
        "file": "t.yaml",
        "line": 3,
        "column": 7,
        "severity": "error",
        "code": "code",
        "message": "message",
        "suggestion": "suggestion",
    }


def test_many_findings_are_counted_and_the_first_ones_shown() -> None:
    findings = Findings()
    for line in range(100_000):
        findings.error(at(line), "e", "wrong")
    shown = findings.render().splitlines()
    assert len(shown) == 51
    assert shown[-1] == "... and 99950 more"
    assert findings.errors == len(findings) == 100_000
    assert len(findings.sorted()) == RECORDED


def test_the_nearest_name_ignores_case_and_separators_first() -> None:
    assert nearest("moveToTag", ("MoveToTag", "MoveJoints")) == "MoveToTag"
    assert nearest("set_fsm", ("SetFsm",)) == "SetFsm"
    assert nearest("MvoeToTag", ("MoveToTag", "Wait")) == "MoveToTag"
    assert nearest("GraspHand", ("HandOpen", "HandGrasp")) == "HandGrasp"
    assert nearest("tag_move_to", ("MoveToTag", "Wait")) == "MoveToTag"
    assert nearest("xyz", ("MoveToTag", "Wait")) is None
    assert nearest("---", ("+++", "Wait")) is None


@given(st.text(max_size=200), st.lists(st.text(max_size=20), max_size=5))
def test_the_nearest_name_is_always_one_of_the_valid_ones(word: str, valid: list[str]) -> None:
    assert nearest(word, tuple(valid)) in {*valid, None}


def test_a_sentence_that_quotes_a_whole_file_is_cut_in_the_middle() -> None:
    findings = Findings()
    findings.error(at(1), "code", f'there is no node "{"x" * 100_000}": write another', "y" * 100_000)
    [finding] = findings.sorted()
    assert len(finding.sentence) < 600
    assert finding.message.startswith('there is no node "xxx')
    assert finding.message.endswith('xxx": write another')
