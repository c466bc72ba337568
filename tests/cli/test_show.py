"""`orchestrator show`: a tree in the terminal, as SVG and for Graphviz."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from orchestrator.cli.app import app

TREE = """tree: t
robot: atom_w
params: {place: {type: tag, default: 15}}
require: [battery.level > 15 %]
pause: {when: pad.b, until: pad.a}
root:
  sequence:
    - SetFsm: {state: ready}
      confirm: Is "everybody" <away> & safe?
    - use: part.yaml
    - HandPose: {hand: left, fingers: [0 %, 0 %, 0 %, 100 %, 50 %, 50 %]}
      name: point
      timeout: 4 s
      retry: {times: 2, wait: 500 ms}
    - if: battery.level < 30 %
      then: [CheckErrors]
      else:
        - Set: {level: battery.level}
    - Ask: {question: Where to?, choices: [here, there]}
      save: where
    - Log: {text: To $where}
      for_each: {n: [1, 2]}
      repeat: 3
      until: pad.a
    - parallel: [CheckErrors, CheckEmergency]
      succeed: any
  finally:
    - Log: {text: Ended with $outcome}
"""
DRAWN = """t  for atom_w  [require battery.level > 15 %; pause when pad.b until pad.a]
└─ → sequence
   ├─ SetFsm  state: ready  [confirm “Is "everybody" <away> & safe?”]
   ├─ ▸ use  part.yaml
   │  └─ → sequence
   │     └─ MoveToTag  tag: 12, heading: 90 deg  [timeout 120 s]
   ├─ point (HandPose)  hand: left, fingers: [0 %, 0 %, 0 %, 100 %, 50 %, 50 %]  [retry 2 (wait 0.5 s); timeout 4 s]
   ├─ ◇ if  battery.level < 30 %
   │  ├─ then
   │  │  └─ CheckErrors
   │  └─ else
   │     └─ Set  level: battery.level
   ├─ Ask  question: Where to?, choices: [here, there]  [save where]
   ├─ Log  text: To $where  [until pad.a; repeat 3; for_each n in [1, 2]]
   ├─ ⇉ parallel  succeed any
   │  ├─ CheckErrors
   │  └─ CheckEmergency
   └─ finally
      └─ Log  text: Ended with $outcome
"""
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "part.yaml").write_text(
        "tree: part\nroot:\n  - MoveToTag: {tag: shelf, heading: 90 deg}\n    timeout: 2 min\n"
    )
    (tmp_path / "t.yaml").write_text(TREE)
    monkeypatch.chdir(tmp_path)
    return "t.yaml"


def show(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["show", *arguments])


def test_in_the_terminal(tree: str) -> None:
    result = show(tree)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == DRAWN


def test_a_condition_over_several_lines_is_drawn_in_one(tmp_path: Path) -> None:
    waits = "  - Wait: {time: 1 s}\n    when: |\n      battery.level > 10 %\n      or battery.level > 20 %\n"
    checks = "  - check: |\n      battery.level\n      > 5 %\n"
    (tmp_path / "lines.yaml").write_text(f"tree: lines\nrobot: atom_w\nroot:\n{waits}{checks}")
    assert show(str(tmp_path / "lines.yaml")).stdout.splitlines()[2:] == [
        "   ├─ Wait  time: 1 s  [when battery.level > 10 % or battery.level > 20 %]",
        "   └─ check  battery.level > 5 %",
    ]


def test_svg_stands_alone_and_says_the_same(tree: str) -> None:
    root = ElementTree.fromstring(show(tree, "--format", "svg").stdout)
    said = " ".join(text.text or "" for text in root.iter(f"{SVG}text"))
    for part in (
        "SetFsm",
        'confirm “Is "everybody" <away> & safe?”',
        "tag: 12, heading: 90 deg",
        "retry 2 (wait 0.5 s)",
    ):
        assert part in said
    links = [value for element in root.iter() for name, value in element.attrib.items() if "href" in name]
    assert links == []


def test_no_box_of_the_svg_covers_another(tree: str) -> None:
    root = ElementTree.fromstring(show(tree, "--format", "svg").stdout)
    boxes = [
        tuple(float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        for rect in root.iter(f"{SVG}rect")
        if "x" in rect.attrib
    ]
    assert len(boxes) == DRAWN.count("\n")
    for number, (x, y, width, height) in enumerate(boxes):
        for left, top, wide, high in boxes[number + 1 :]:
            assert x + width <= left or left + wide <= x or y + height <= top or top + high <= y


def test_dot(tree: str) -> None:
    drawn = show(tree, "--format", "dot").stdout
    assert drawn.startswith("digraph tree {\n")
    assert 'label="SetFsm\\nstate: ready\\nconfirm “Is \\"everybody\\" <away> & safe?”"' in drawn
    assert drawn.count("->") == DRAWN.count("\n") - 1


def test_into_a_file(tree: str, tmp_path: Path) -> None:
    result = show(tree, "--format", "svg", "-o", "t.svg")
    assert (result.exit_code, result.stdout) == (0, "")
    assert (tmp_path / "t.svg").read_text().endswith("</svg>\n")
    assert show(tree, "-o", "no/such/folder.txt").exit_code == 2


def test_a_tree_with_mistakes_is_drawn_as_far_as_it_goes(tree: str) -> None:
    Path(tree).write_text(TREE.replace("SetFsm", "SetFsn"))
    result = show(tree)
    assert "t.yaml has mistakes (1)" in result.stderr
    assert "point (HandPose)" in result.stdout


def test_nothing_to_draw() -> None:
    result = show("no_such_file.yaml")
    assert result.exit_code == 2
    assert "there is no such file" in result.stderr
