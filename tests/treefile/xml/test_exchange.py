"""Trees to XML of BehaviorTree.CPP v4 and back: what both know stays the same, everything else is named."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.treefile.format import formatted
from orchestrator.treefile.xml import export, trees_of
from orchestrator.treefile.xml.document import XmlError
from orchestrator.treefile.xml.plain import plain, to_yaml
from orchestrator.yamlfile import Findings, read_text
from tests.treefile.conftest import CATALOGUE, CheckText
from tests.treefile.test_rules import RULES, Rule, complete
from tests.treefile.xml.loader_rules import broken_rules

BOTH_KNOW = """tree: t
params:
  tag: {type: tag, default: 12, help: Where to}
  times: {type: int, default: 4}
root:
  sequence:
    - CheckErrors
    - SetFsm: {state: ready}
      name: "get \\"ready\\" & <go>"
    - MoveToTag: {tag: $tag, heading: 90 deg}
      timeout: 4 s
      retry: 2
      repeat: $times
      delay: 500 ms
      result: inverted
    - selector:
        - check: battery.level > 15 %
        - Log: {text: "Low, at $tag"}
      memory: false
    - parallel:
        - Wait: {time: 2 s}
        - wait_for: pad.a
        - CheckEmergency
      succeed: any
      fail: 2
      result: success
    - if: $times > 3
      then:
        - Set: {left: $times - 1}
        - check: not ($left == 0 or $times < 5)
      else:
        - Ask: {question: "Go on?", choices: [here, there]}
    - MoveJoints: {angles: {head_yaw: 10 deg, head_pitch: 5 deg}}
      unless: $times == 1
    - use: part.yaml
      with: {tag: $tag}
    - ClearErrors:
      repeat: forever
      when: $times > 1 and $times < 9
"""
PART = "tree: part\nparams:\n  tag: {type: tag}\nroot:\n  MoveToTag: {tag: $tag}\n"


def exported(folder: Path, **files: str) -> tuple[str, list[str]]:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    made = export(folder / f"{next(iter(files))}.yaml", CATALOGUE)
    assert broken_rules(made.xml) == []
    return made.xml, made.lost


def imported(body: str, head: str = "") -> tuple[str, list[str]]:
    xml = f'<root BTCPP_format="4">{head}<BehaviorTree ID="t">{body}</BehaviorTree></root>'
    found = trees_of(xml.encode(), CATALOGUE)
    return found.files["t"].partition("root:\n")[2], found.lost


def test_what_both_know_comes_back_the_same(tmp_path: Path) -> None:
    xml, lost = exported(tmp_path, t=BOTH_KNOW, part=PART)
    assert lost == []
    back = trees_of(xml.encode(), CATALOGUE)
    assert back.lost == []
    assert back.files == {"t": BOTH_KNOW, "part": PART}
    assert formatted(BOTH_KNOW, "t.yaml", Findings()) == BOTH_KNOW
    assert exported(tmp_path, **back.files)[0] == xml


def test_the_example_is_a_right_tree(check: CheckText) -> None:
    checked = check(BOTH_KNOW, part=PART)
    assert [finding.message for finding in checked.findings.sorted() if finding.severity == "error"] == []


def test_groot_is_told_about_every_node(tmp_path: Path) -> None:
    root = ElementTree.fromstring(exported(tmp_path, t=BOTH_KNOW, part=PART)[0])
    assert root.attrib == {"BTCPP_format": "4", "main_tree_to_execute": "t"}
    models = {model.attrib["ID"]: model for model in root.iterfind("TreeNodesModel/*")}
    assert models["CheckErrors"].tag == "Condition"
    assert models["MoveToTag"].tag == "Action"
    assert [port.attrib["name"] for port in models["MoveToTag"]] == ["tag", "heading", "give_up_blocked"]
    assert next(port.attrib for port in models["t"]) == {"name": "tag", "type": "tag", "default": "12"}
    known = {
        *models,
        "Sequence",
        "Fallback",
        "ReactiveFallback",
        "Parallel",
        "IfThenElse",
        "SubTree",
        "ScriptCondition",
    }
    known |= {"Script", "Timeout", "Delay", "Repeat", "RetryUntilSuccessful", "Inverter", "ForceSuccess"}
    for tree in root.iterfind("BehaviorTree"):
        assert {element.tag for element in tree.iter()} <= known | {"BehaviorTree"}


def test_names_that_the_other_side_keeps_for_itself_are_changed_and_named(tmp_path: Path) -> None:
    part = "tree: SetFsm\nparams:\n  name: {type: text}\n  _x: {type: int, default: 1}\nroot: [CheckErrors]\n"
    text = "tree: root\nroot:\n  - use: part.yaml\n    with: {name: a, _x: 2}\n"
    xml, lost = exported(tmp_path, t=text, part=part)
    assert '<SubTree ID="SetFsm_2"/>' in xml
    assert sorted(lost) == [
        "SetFsm_2: its name SetFsm",
        "SetFsm_2: the parameter _x, which cannot be a port",
        "SetFsm_2: the parameter name, which cannot be a port",
        "root_2: its name root",
        "use: _x: 2",
        "use: name: a",
    ]


@pytest.mark.parametrize(
    ("xml", "said"),
    [
        ('<root><BehaviorTree ID="t"><A/></BehaviorTree></root>', "BTCPP_format"),
        ('<root BTCPP_format="4"><BehaviorTree ID="Script"><Inverter/></BehaviorTree></root>', "may not be called"),
        ('<root BTCPP_format="4"><BehaviorTree ID="t"><Inverter/></BehaviorTree></root>', "0 children"),
        ('<root BTCPP_format="4"><BehaviorTree ID="t"><Delay msec="1"><A/></Delay></BehaviorTree></root>', "no port"),
        ('<root BTCPP_format="4"><BehaviorTree ID="t"><SubTree ID="u"/></BehaviorTree></root>', "no such tree"),
    ],
)
def test_what_a_loader_would_refuse_is_seen(xml: str, said: str) -> None:
    assert any(said in rule for rule in broken_rules(xml))


LOST = """tree: t
description: All that is ours alone
robot: atom_w
require: [battery.level > 15 %]
pause: {when: pad.b, until: pad.a}
root:
  sequence:
    - Ask: {question: "{tag}", choices: [a;b]}
      save: answer
      confirm: Sure?
      note: a remark
    - Wait: {time: 1 s}
      while: battery.level > 15 %
      until: pad.a
      cooldown: 2 s
      for_each: {n: [1, 2]}
      when: battery.level > 20 %
    - CheckErrors:
      retry: {times: 2, wait: 1 s}
      repeat: {until: pad.a}
  finally:
    - CheckErrors
"""


def test_what_only_we_know_is_named_in_a_list_and_in_comments(tmp_path: Path) -> None:
    xml, lost = exported(tmp_path, t=LOST)
    for what in (
        "description: All that is ours alone",
        "robot: atom_w",
        "require: [battery.level > 15 %]",
        "pause: {when: pad.b, until: pad.a}",
        "question: {tag}",
        "choices: [a;b]",
        *("save: answer", "confirm: Sure?", "note: a remark", "until: pad.a", "cooldown: 2 s"),
        *("while: battery.level > 15 %", "when: battery.level > 20 %", "for_each: {n: [1, 2]}"),
        "the wait of retry: {times: 2, wait: 1 s}",
        "repeat: {until: pad.a}",
        "finally: [CheckErrors]",
    ):
        assert any(what in each for each in lost), what
        assert f"{what} -->" in xml, what
    assert len(lost) == 17


@pytest.mark.parametrize(
    ("body", "yaml"),
    [
        ('<Action ID="SetFsm" state="ready"/>', "  SetFsm: {state: ready}\n"),
        ('<Sleep msec="1500"/>', "  Wait: {time: 1500 ms}\n"),
        ("<AlwaysFailure/>", "  check: false\n"),
        (
            '<Parallel success_count="1"><CheckErrors/><CheckErrors/></Parallel>',
            "  parallel:\n    - CheckErrors\n    - CheckErrors\n  succeed: any\n  fail: any\n",
        ),
        ('<Delay delay_msec="60000"><CheckErrors/></Delay>', "  CheckErrors:\n  delay: 1 min\n"),
        ('<Script code="a := 1; b = a + 2"/>', "  Set: {a: 1, b: $a + 2}\n"),
        ('<ScriptCondition code="a &gt; 1 &amp;&amp; !b"/>', "  check: $a > 1 and not $b\n"),
    ],
)
def test_other_ways_to_write_it_in_xml(body: str, yaml: str) -> None:
    found, lost = imported(body)
    assert lost == []
    assert found == yaml


def test_decorators_in_another_order_are_nested_not_turned_round() -> None:
    found, _ = imported(
        '<Timeout msec="9000"><RetryUntilSuccessful num_attempts="3"><CheckErrors/></RetryUntilSuccessful></Timeout>'
    )
    assert found == "  sequence:\n    - CheckErrors:\n      retry: 2\n  timeout: 9 s\n"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<KeepRunningUntilFailure><CheckErrors/></KeepRunningUntilFailure>", "<KeepRunningUntilFailure>: we have no"),
        ('<Sequence color="red"><CheckErrors/></Sequence>', "color='red' of <Sequence>"),
        ('<SayHello to="you"/>', "<SayHello> is not a leaf of ours"),
        ('<CheckErrors _onSuccess="a := 1"/>', "_onSuccess='a := 1' of <CheckErrors>"),
        ('<RetryUntilSuccessful num_attempts="-1"><CheckErrors/></RetryUntilSuccessful>', "attempts without end"),
        ('<Timeout msec="{t}"><CheckErrors/></Timeout>', "msec='{t}' of <Timeout>"),
        ("<SequenceWithMemory><CheckErrors/></SequenceWithMemory>", "an ordinary sequence now"),
        ("<ScriptCondition code=\"name == 'x'\"/>", "the condition name == 'x'"),
        ('<Script code="a += 1"/>', "the script a += 1"),
        ('<Parallel success_count="7"><CheckErrors/></Parallel>', "the thresholds"),
    ],
)
def test_what_only_they_know_is_named(body: str, said: str) -> None:
    found, lost = imported(body)
    assert any(said in each for each in lost), lost
    assert found


@pytest.mark.parametrize(
    "body",
    [
        "<KeepRunningUntilFailure><CheckErrors/></KeepRunningUntilFailure>",
        '<Switch2 variable="{v}" case_1="1" case_2="2"><Log text="a"/><Log text="b"/><Log text="c"/></Switch2>',
        '<WhileDoElse><CheckErrors/><Log text="a"/><Log text="b"/></WhileDoElse>',
        '<IfThenElse><CheckErrors/><Log text="a"/><Log text="b"/></IfThenElse>',
        '<Sequence _while="c"><CheckErrors/></Sequence>',
        "<Sequence _skipIf=\"name == 'x'\"><CheckErrors/></Sequence>",
        '<CheckErrors _failureIf="c"/>',
        '<SubTree ID="part" _autoremap="true"/>',
        '<Timeout msec="{t}"><CheckErrors/></Timeout>',
        '<Sleep msec="{t}"/>',
        '<RetryUntilSuccessful num_attempts="{n}"><CheckErrors/></RetryUntilSuccessful>',
        "<Inverter><ScriptCondition code=\"name == 'x'\"/></Inverter>",
        '<Script code="a := 1; a += 1"/>',
        '<Parallel success_count="7"><CheckErrors/></Parallel>',
    ],
)
def test_a_tree_that_would_mean_something_else_cannot_run(body: str, check: CheckText) -> None:
    found, lost = imported(body)
    assert lost
    result = check(f"tree: t\nroot:\n{found}", part="tree: part\nroot: [CheckErrors]\n")
    assert result.findings.errors and not result.findings.is_incomplete(result.tree.file), found


def test_what_editors_note_for_themselves_is_left_out(check: CheckText) -> None:
    found, lost = imported('<CheckErrors _uid="7" _description="look"/>')
    assert (found, len(lost)) == ("  CheckErrors\n", 2)


@pytest.mark.parametrize("text", ["007", ".nan", "null", "a: b", "a #b", " a ", "", "- a", "a\nb", "yes", "$$", "[a"])
def test_a_text_stays_what_it_is(text: str) -> None:
    found, _ = imported(f"<Log text={quoteattr(text, {chr(10): '&#10;'})}/>")
    document = read_text(found, "t.yaml", Findings())
    assert document.root is not None
    assert plain(document.root) == {"Log": {"text": text}}


def test_names_of_foreign_nodes_and_ports_cannot_break_the_file() -> None:
    model = '<TreeNodesModel><SubTree ID="t"><input_port name="a: b"/></SubTree></TreeNodesModel>'
    xml = f'<root BTCPP_format="4">{model}<BehaviorTree ID="t"><a.b-c x.y="1"/></BehaviorTree></root>'
    text = trees_of(xml.encode(), CATALOGUE).files["t"]
    findings = Findings()
    read_text(text, "t.yaml", findings)
    assert findings.errors == 0


def test_comments_and_losses_stand_above_the_tree() -> None:
    tree = '<!-- why --><Sequence x="1"><CheckErrors/></Sequence>'
    xml = f'<root BTCPP_format="4"><BehaviorTree ID="t">{tree}</BehaviorTree></root>'
    text = trees_of(xml.encode(), CATALOGUE).files["t"]
    assert text.startswith("# why\n# not carried over: line 1: x='1' of <Sequence>\ntree: t\n")


@pytest.mark.parametrize(
    ("xml", "said"),
    [
        ("<root", "line 1: this is not XML"),
        ("<root/>", "not a tree of BehaviorTree.CPP v4"),
        ('<root BTCPP_format="3"/>', "not a tree of BehaviorTree.CPP v4"),
        ('<root BTCPP_format="4"/>', "there is no BehaviorTree"),
        ('<root BTCPP_format="4"><BehaviorTree ID="t"/></root>', "exactly one node"),
        ('<root BTCPP_format="4">' + "<a>" * 500 + "</a>" * 500 + "</root>", "nested deeper than"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><root/>', "document type"),
        ('<root BTCPP_format="4"><BehaviorTree ID="t"><Inverter/></BehaviorTree></root>', "exactly one node below"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(xml: str, said: str) -> None:
    with pytest.raises(XmlError, match=said):
        trees_of(xml.encode(), CATALOGUE)


# Random trees of what both know

TEXTS = st.text(alphabet="abc $&<>\"'#:,{}[]-?!|%;.éß", min_size=1, max_size=12).filter(
    lambda text: text == text.strip() and not (text.startswith("{") and text.endswith("}"))
)
LEAVES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(["CheckErrors", "CheckEmergency", "ClearErrors"]),
    st.builds(lambda text: {"Log": {"text": text}}, TEXTS),
    st.sampled_from(
        [
            {"MoveToTag": {"tag": "$tag", "heading": "90 deg"}},
            {"check": "battery.level > 15 %"},
            {"check": "$a > 1 and not ($b or $c)"},
            {"wait_for": "pad.a for 2 s"},
            {"Set": {"a": "$b + 1"}},
            {"Set": {"a": "battery.level"}},
            {"HandPose": {"hand": "left", "fingers": ["0 %", "50 %"]}},
        ]
    ),
)
MODIFIERS = st.fixed_dictionaries(
    {},
    optional={
        "name": TEXTS,
        "timeout": st.sampled_from(["4 s", "2 min", "1500 ms"]),
        "retry": st.sampled_from(["1", "7"]),
        "repeat": st.sampled_from(["2", "forever", "$n"]),
        "delay": st.sampled_from(["500 ms", "3 s"]),
        "result": st.sampled_from(["inverted", "success", "failure"]),
        "unless": st.just("$a == 1"),
    },
)


def _modified(node: Any, modifiers: dict[str, str]) -> Any:
    return {**({node: ""} if isinstance(node, str) else node), **modifiers} if modifiers else node


def _composites(nodes: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(nodes, min_size=2, max_size=3)
    kinds = st.one_of(
        st.builds(lambda kind, children: {kind: children}, st.sampled_from(["sequence", "selector", "parallel"]), some),
        st.builds(lambda children: {"sequence": children, "memory": "false"}, some),
        st.builds(lambda children: {"parallel": children, "succeed": "any"}, some),
        st.builds(lambda then, other: {"if": "pad.a", "then": then, "else": other}, some, some),
    )
    return st.builds(_modified, kinds, MODIFIERS)


FLAT = st.builds(_modified, LEAVES, MODIFIERS)
NODES = st.one_of(FLAT, _composites(FLAT), _composites(st.one_of(FLAT, _composites(FLAT))))


@settings(deadline=None)
@given(NODES)
def test_any_tree_of_what_both_know_comes_back_the_same(root: Any) -> None:
    text = to_yaml({"tree": "t", "root": root}, [])
    with TemporaryDirectory() as folder:
        xml, lost = exported(Path(folder), t=text)
    assert lost == []
    back = trees_of(xml.encode(), CATALOGUE)
    assert back.lost == []
    assert back.files["t"] == text


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_every_right_tree_goes_over_and_its_xml_comes_back_the_same(rule: Rule, tmp_path: Path) -> None:
    xml, _ = exported(tmp_path, t=complete(rule.keeps))
    back = trees_of(xml.encode(), CATALOGUE)
    assert back.lost == []
    again, _ = exported(tmp_path, **back.files)
    without_comments = [line for line in xml.splitlines() if "<!--" not in line]
    assert again.splitlines() == without_comments
