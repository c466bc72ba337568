import errno
from pathlib import Path

import pytest

from orchestrator.leaf import Catalogue
from orchestrator.treefile import Expression, Surroundings, TreeNode, check_file
from tests.treefile.conftest import CheckText
from tests.treefile.test_rules import marked

GO_TO = "tree: go_to\nparams: {tag: {type: tag}}\nroot:\n  - MoveToTag: {tag: $tag}\n"
HEAD = "tree: t\nroot:\n  - SetFsm: {state: ready}\n"


def first(node: TreeNode | None) -> TreeNode:
    assert node is not None
    return node.children[0]


def test_a_used_file_gets_what_is_passed(check: CheckText) -> None:
    result = check(HEAD + "  - use: parts/go_to.yaml\n    with: {tag: 12}\n", parts__go_to=GO_TO)
    assert result.findings.render() == ""
    assert result.tree.root is not None
    use = result.tree.root.children[1]
    assert first(first(use)).values["tag"] == 12
    assert use.passed == {}


def test_what_is_known_only_during_the_run_is_passed_by_key(check: CheckText) -> None:
    text = HEAD + "  - Set: {where: base.tag}\n  - use: go_to.yaml\n    with: {tag: $where}\n"
    result = check(text, go_to=GO_TO)
    assert result.findings.render() == ""
    assert result.tree.root is not None
    use = result.tree.root.children[2]
    [(key, value)] = use.passed.items()
    assert isinstance(value, Expression)
    read = first(first(use)).values["tag"]
    assert read.evaluate(lambda name: None, {key: 3}) == 3


def test_two_uses_of_a_file_do_not_share_names(check: CheckText) -> None:
    part = "tree: p\nparams: {tag: {type: tag}}\nroot:\n  - Set: {seen: base.tag}\n"
    result = check("tree: t\nroot:\n  - use: p.yaml\n    with: {tag: 1}\n  - use: p.yaml\n    with: {tag: 3}\n", p=part)
    assert result.findings.render() == ""
    assert result.tree.root is not None
    keys = [key for use in result.tree.root.children for key in first(first(use)).sets]
    assert len(set(keys)) == 2


def test_a_used_file_sees_nothing_of_its_user(check: CheckText) -> None:
    part = "tree: p\nroot:\n  - check: $mine == 1\n"
    result = check("tree: t\nroot:\n  - Set: {mine: 1}\n  - use: p.yaml\n", p=part)
    [finding] = result.findings.sorted()
    assert (Path(finding.place.file).name, finding.place.line, finding.place.column) == ("p.yaml", 3, 12)
    assert finding.code == "unknown-name"


def test_the_requirements_of_a_used_file_hold_while_it_runs(check: CheckText) -> None:
    part = "tree: p\nrequire: [battery.level > 20 %]\nroot: [CheckErrors]\n"
    result = check("tree: t\nroot:\n  - use: p.yaml\n", p=part)
    assert result.findings.render() == ""
    assert [condition.text for condition in first(result.tree.root).require] == ["battery.level > 20 %"]


def test_modes_are_followed_into_a_used_file(check: CheckText) -> None:
    result = check(
        "tree: t\nroot:\n  - SetFsm: {state: damping}\n  - use: go_to.yaml\n    with: {tag: 12}\n", go_to=GO_TO
    )
    [finding] = result.findings.sorted()
    assert finding.code == "never-allowed"
    assert finding.place.line == 4
    assert "set on line 3 of" in finding.message


USES = [
    ("  - use: ¶nowhere.yaml\n", "no-file"),
    ("  - use: ¶/etc/passwd\n", "outside"),
    ("  - use: ¶../../secret.yaml\n", "outside"),
    ("  - use: ¶sub/../../out.yaml\n", "outside"),
    ("  - use: ¶parts\n", "directory"),
    ("  - use: ¶main.yaml\n", "subtree-cycle"),
    ("  - use: ¶[a]\n", "missing-value"),
    ("  - use: ¶parts/go_to.yaml\n", "missing-parameter"),
    ("  - use: parts/go_to.yaml\n    with: {¶tga: 1}\n", "unknown-parameter"),
    ("  - use: parts/go_to.yaml\n    with: {tag: 12, ¶speed: 1 m/s}\n", "unknown-parameter"),
    ("  - use: parts/go_to.yaml\n    with: {tag: ¶shelf 3}\n", "not-a-tag"),
    ("  - use: parts/go_to.yaml\n    with: ¶[12]\n", "wrong-kind"),
]


@pytest.mark.parametrize(("nodes", "code"), USES)
def test_a_use_that_cannot_work_is_told_where(check: CheckText, nodes: str, code: str) -> None:
    text, places = marked(HEAD + nodes)
    findings = check(text, parts__go_to=GO_TO).findings.sorted()
    assert [(f.place.line, f.place.column) for f in findings if Path(f.place.file).name == "main.yaml"] == places
    assert code in [f.code for f in findings]


def test_a_cycle_over_several_files_names_them(check: CheckText) -> None:
    other = "tree: b\nroot:\n  - use: main.yaml\n"
    result = check("tree: a\nroot:\n  - use: b.yaml\n", b=other)
    [finding] = result.findings.sorted()
    assert finding.message == "a tree may not contain itself: main.yaml uses b.yaml uses main.yaml"


def test_a_link_out_of_the_folder_is_outside(check: CheckText, tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "secret.yaml").write_text(GO_TO)
    (tmp_path / "trees" / "inside.yaml").symlink_to(tmp_path / "secret.yaml")
    (tmp_path / "trees" / "loop.yaml").symlink_to(tmp_path / "trees" / "loop.yaml")
    result = check("tree: t\nroot:\n  - use: inside.yaml\n  - use: loop.yaml\n")
    assert [f.code for f in result.findings.sorted()] == ["outside", "link-loop"]


def test_a_mistake_in_a_used_file_is_found_there_once(check: CheckText) -> None:
    part = "tree: p\nroot:\n  - ClaerErrors\n"
    result = check("tree: t\nroot:\n  - use: p.yaml\n  - use: p.yaml\n", p=part)
    [finding] = result.findings.sorted()
    assert (Path(finding.place.file).name, finding.place.line) == ("p.yaml", 3)


def test_a_file_that_is_not_there_is_the_only_finding(check: CheckText, tmp_path: Path) -> None:
    result = check_file(tmp_path / "none.yaml", Surroundings(Catalogue([]), {}))
    assert [f.code for f in result.findings.sorted()] == ["no-file"]
    assert not result.ok


def test_a_file_that_is_not_there_is_named_as_it_was_written_with_the_one_that_is(check: CheckText) -> None:
    [finding] = check("tree: t\nroot:\n  - use: parts/goto.yml\n", parts__go_to="").findings.sorted()
    assert (finding.message, finding.suggestion) == ("parts/goto.yml: there is no such file", "parts/go_to.yaml")


def test_a_modifier_of_the_whole_file_is_sent_to_its_node(check: CheckText) -> None:
    [finding] = check("tree: t\nroot: [CheckErrors]\ntimeout: 5 min\n").findings.sorted()
    assert finding.message == 'a tree file has no "timeout": it belongs to a node'


def test_a_name_without_its_dollar_is_recognised(check: CheckText) -> None:
    text = "tree: t\nparams: {pause: {type: duration, default: 3 s}}\nroot:\n  - Wait: {time: pause}\n"
    assert [finding.suggestion for finding in check(text).findings.sorted()] == ["$pause"]


def test_a_misspelt_key_is_not_reported_as_missing_too(check: CheckText) -> None:
    text = "tree: t\nparams: {p: {typ: tag}}\nroot:\n  - CheckErrors:\n    retry: {time: 2}\n"
    assert [finding.suggestion for finding in check(text).findings.sorted()] == ["type", "times"]


def test_one_value_where_a_list_is_wanted_is_shown_as_a_list(check: CheckText) -> None:
    [finding] = check("tree: t\nroot:\n  - Ask: {question: Done?, choices: yes}\n").findings.sorted()
    assert finding.suggestion == "[yes]"


def test_names_in_quotes_are_texts_and_the_way_out_is_said(check: CheckText) -> None:
    loop = "tree: t\nroot:\n  - MoveToTag: {tag: $t}\n    for_each: {t: ['shelf']}\n    when: fsm.state == ready\n"
    [finding] = check(loop).findings.sorted()
    assert finding.message == "$t: a tag is wanted here; it is a text; write its values without quotes"


def test_a_dollar_with_braces_is_a_name_without_them(check: CheckText) -> None:
    text = "tree: t\nparams: {who: {type: text, default: Ann}}\nroot:\n  - Log:\n      text: Hello ${who}\n"
    [finding] = check(text).findings.sorted()
    assert finding.message == 'a name has no braces: write $who; a dollar sign is written "$$"'


def nodes(count: int) -> str:
    return "tree: t\nroot:\n" + "  - ClearErrors\n" * count


def test_a_file_has_at_most_2000_nodes(check: CheckText) -> None:
    assert check(nodes(1999)).ok
    [finding] = check(nodes(2000)).findings.sorted()
    assert (finding.code, finding.place.line) == ("too-many-nodes", 2002)


def test_a_tree_has_at_most_5000_nodes_with_all_it_uses(check: CheckText) -> None:
    text = "tree: t\nroot:\n" + "  - use: part.yaml\n"
    assert check(text * 1 + "  - use: part.yaml\n" * 3, part=nodes(1200)).ok
    [finding] = check(text + "  - use: part.yaml\n" * 4, part=nodes(1200)).findings.sorted()
    assert finding.code == "too-many-nodes"


def test_nodes_are_not_nested_without_end(check: CheckText) -> None:
    part = "tree: p{0}\nroot:\n" + "".join(f"{'  ' * i}- sequence:\n" for i in range(1, 20)) + "  " * 20
    files = {f"p{i}": part.format(i) + f"- use: p{i + 1}.yaml\n" for i in range(10)}
    files["p10"] = "tree: p\nroot: [ClearErrors]\n"
    assert [f.code for f in check("tree: t\nroot:\n  - use: p0.yaml\n", **files).findings.sorted()] == ["too-deep"]


def test_what_is_written_counts_as_often_as_it_is_used(check: CheckText) -> None:
    many = ", ".join(f"{number} %" for number in range(900))
    part = f"tree: p\nroot:\n  - SetFsm: {{state: ready}}\n  - Ask: {{question: Which?, choices: [{many}]}}\n"
    text = "tree: t\nroot:\n"
    assert check(text + "  - use: part.yaml\n" * 50, part=part).ok
    [finding] = check(text + "  - use: part.yaml\n" * 60, part=part).findings.sorted()
    assert finding.code == "too-much"


def test_expressions_count_as_often_as_their_file_is_used(check: CheckText) -> None:
    part = "tree: p\nroot:\n" + f"  - check: {' or '.join(['pad.a'] * 100)}\n" * 20
    text = "tree: t\nroot:\n"
    assert check(text + "  - use: part.yaml\n" * 8, part=part).ok
    [finding] = check(text + "  - use: part.yaml\n" * 9, part=part).findings.sorted()
    assert (finding.code, finding.place.file[-9:]) == ("too-much", "part.yaml")


def test_names_in_texts_count_as_expressions(check: CheckText) -> None:
    text = "tree: t\nparams: {a: {type: int, default: 1}}\nroot:\n"
    log = f"  - Log: {{text: {'$a' * 1000}}}\n"
    assert check(text + log * 7).ok
    assert [f.code for f in check(text + log * 8).findings.sorted()] == ["too-much"]


def test_a_default_may_be_the_expression_too_many(check: CheckText) -> None:
    text = "tree: t\nparams: {{a: {{type: list of int, default: [{}]}}}}\nroot: [ClearErrors]\n"
    long = [f"{number} + {'1 + ' * 199}1" for number in range(100, 287)]  # 803 characters each
    assert check(text.format(", ".join(long[:186]))).ok
    assert [f.code for f in check(text.format(", ".join(long))).findings.sorted()] == ["too-much"]


def test_a_file_saves_at_most_1000_names(check: CheckText) -> None:
    names = [f"n{number}: 1" for number in range(1001)]
    assert check(f"tree: t\nroot: [{{Set: {{{', '.join(names[:-1])}}}}}]\n").ok
    result = check(f"tree: t\nroot: [{{Set: {{{', '.join(names)}}}}}]\n")
    assert [f.code for f in result.findings.sorted()] == ["too-many-names"]


def test_a_value_of_a_list_that_does_not_fit_is_said_wherever_the_list_is_used(check: CheckText) -> None:
    text = "tree: t\nroot:\n  - sequence:\n{}    for_each: {{tag: [12, 13]}}\n"
    nodes = "      - MoveToTag: {tag: $tag}\n" * 3
    found = check(text.format(nodes)).findings.sorted()
    assert [f.place.line for f in found if f.code == "unknown-tag"] == [4, 5, 6]


TOO_LONG = [
    (f"use: ¶{'a/' * 600}b.yaml", "too-long"),
    (f"HandPose: {{hand: left, fingers: ¶[{', '.join(['1 %'] * 1001)}]}}", "too-many-values"),
    (f"{{CheckErrors: , for_each: {{n: ¶[{', '.join(['1'] * 1001)}]}}}}", "too-many-values"),
    (f"Wait: {{time: ¶{'9' * 400} s}}", "not-finite"),
    (f"check: ¶{'pad.a and ' * 100}pad.b", "too-long"),
    (f"Log: {{text: ¶{'a' * 4097}}}", "too-long"),
]


@pytest.mark.parametrize(("node", "code"), TOO_LONG)
def test_what_is_longer_than_anybody_would_write_is_refused(check: CheckText, node: str, code: str) -> None:
    text, places = marked(f"tree: t\nroot:\n  - SetFsm: {{state: ready}}\n  - {node}\n")
    [finding] = check(text).findings.sorted()
    assert [(finding.place.line, finding.place.column)] == places
    assert finding.code == code


PARAMS = "tree: t\nparams:\n  tag: {type: tag}\n  grip: {type: percent, default: 80 %}\nroot:\n"


def test_values_from_the_command_line_go_before_defaults(check: CheckText) -> None:
    text = PARAMS + "  - SetFsm: {state: ready}\n  - HandGrasp: {hand: left, grip: $grip}\n  - MoveToTag: {tag: $tag}\n"
    result = check(text, settings={"grip": "50 %", "tag": "shelf"})
    assert result.findings.render() == ""
    assert result.tree.root is not None
    assert result.tree.root.children[1].values["grip"] == 50.0
    assert result.tree.root.children[2].values["tag"] == 12


@pytest.mark.parametrize(
    ("leaf", "message"),
    [
        (
            "MoveToTag: {tag: kitchen}",
            'atom_w knows no tag "kitchen"; it knows 12 (shelf), 15 (table), 1 (dock), 3 (door)',
        ),
        ("MoveToTag: {tag: 99}", "atom_w knows no tag 99; it knows 12 (shelf), 15 (table), 1 (dock), 3 (door)"),
        ("MoveJoints: {angles: {lift_1: 5 deg}}", 'joint "lift_1" of atom_w is never commanded'),
    ],
)
def test_what_the_robot_does_not_know_is_told_with_what_it_knows(check: CheckText, leaf: str, message: str) -> None:
    found = check(f"tree: t\nrobot: atom_w\nroot:\n  - {leaf}\n").findings.sorted()
    assert message in [finding.message for finding in found]


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ("{tag: {type: tga}}", "unknown-type"),
        ("{side: {type: one of [a, b]}, tag: {type: tag}}", "needs-quotes"),
        ("[tag]", "wrong-kind"),
    ],
)
def test_a_mistake_under_params_does_not_make_what_is_given_unknown(check: CheckText, params: str, code: str) -> None:
    text = f"tree: t\nparams: {params}\nroot:\n  - CheckErrors:\n"
    assert [finding.code for finding in check(text, settings={"tag": "shelf"}).findings.sorted()] == [code]
    user = "tree: t\nroot:\n  - use: part.yaml\n    with: {tag: shelf}\n"
    assert [finding.code for finding in check(user, part=text).findings.sorted()] == [code]


TOUR = "tree: t\nparams: {tags: {type: list of tag}}\nroot:\n  - CheckErrors:\n    for_each: {tag: $tags}\n"


def test_a_list_from_the_command_line(check: CheckText) -> None:
    result = check(TOUR, settings={"tags": "[shelf, 15]"})
    assert result.findings.render() == ""


@pytest.mark.parametrize(
    ("written", "column", "code"),
    [("shelf, 15", 1, "wrong-kind"), ("[shelf, 15", 1, "open-bracket"), ("[shelf, shlf]", 9, "unknown-tag")],
)
def test_a_wrong_list_from_the_command_line(check: CheckText, written: str, column: int, code: str) -> None:
    [finding] = check(TOUR, settings={"tags": written}).findings.sorted()
    assert (str(finding.place), finding.code) == (f"--set tags:1:{column}", code)


@pytest.mark.parametrize(
    ("settings", "code"),
    [({"grip": "50"}, "unit-missing"), ({"grp": "50 %"}, "unknown-parameter"), ({"grip": "0 %"}, "out-of-range")],
)
def test_wrong_values_from_the_command_line_are_found(check: CheckText, settings: dict[str, str], code: str) -> None:
    text = PARAMS + "  - SetFsm: {state: ready}\n  - HandGrasp: {hand: left, grip: $grip}\n"
    assert [f.code for f in check(text, settings=settings).findings.sorted()] == [code]


def test_a_robot_given_goes_before_the_one_in_the_file(check: CheckText) -> None:
    text = "tree: t\nrobot: gr2\nroot: [SetFsm: {state: ready}]\n"
    assert check(text, robot="atom_w").ok
    assert [f.code for f in check(text, robot=None).findings.sorted()] == ["unknown-fsm_state"]


def test_a_pause_in_a_used_file_has_no_effect(check: CheckText) -> None:
    part = "tree: p\npause: {when: pad.b, until: pad.a}\nroot: [CheckErrors]\n"
    result = check("tree: t\nroot:\n  - use: p.yaml\n", p=part)
    [finding] = result.findings.sorted()
    assert (finding.severity, finding.code, finding.place.line) == ("warning", "pause-unused", 2)


def test_a_used_file_that_may_not_be_read_is_named_where_it_is_used(
    check: CheckText, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Path.open

    def refused(path: Path, *arguments: str, **keywords: str) -> object:
        if path.name == "p.yaml" and arguments == ("rb",):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, *arguments, **keywords)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refused)
    [finding] = check("tree: t\nroot:\n  - use: p.yaml\n", p="tree: p\nroot: [CheckErrors]\n").findings.sorted()
    assert (finding.code, finding.place.line, finding.place.column) == ("no-permission", 3, 10)


def test_without_a_robot_a_state_is_at_least_a_word(check: CheckText) -> None:
    [finding] = check('tree: t\nroot:\n  - SetFsm: {state: "pd stand!"}\n', robot=None).findings.sorted()
    assert (finding.code, finding.place.column) == ("not-a-word", 22)
