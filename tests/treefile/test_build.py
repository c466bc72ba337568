"""What the engine gets: the example of the language, node by node."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from orchestrator.leaf import Catalogue, Leaf
from orchestrator.robots import motion_file
from orchestrator.treefile import Expression, Surroundings, Template, check_file
from orchestrator.yamlfile import load
from tests.treefile.beside import MOTIONS
from tests.treefile.conftest import CheckText, whole

DELIVER = """tree: deliver_box
description: Fetch a box at one tag and put it down at another.
robot: atom_w                         # checked against and run on, unless told otherwise
params:
  pick:  {type: tag, default: 12, help: Tag in front of the shelf}
  place: {type: tag, default: 15}
  grip:  {type: percent, default: 80 %}

require:                              # must hold during the whole run
  - battery.level > 15 %
pause: {when: pad.b, until: pad.a}    # the same as the operator's Pause and Resume

root:
  sequence:
    - ClearErrors:
      confirm: Nobody is near the robot?
    - SetFsm: {state: ready}
    - SwitchUpperControl: {enabled: true}
    - use: parts/go_to.yaml           # a subtree from another file, path relative to this one
      with: {tag: $pick}
    - HandGrasp: {hand: right, grip: $grip}
      name: close the hand on the box
      timeout: 4 s
      retry: {times: 2, wait: 500 ms}
    - selector:
        - MoveToTag: {tag: $place, heading: 90 deg, give_up_blocked: 60 s}
          timeout: 2 min
        - Ask: {question: "The way is blocked. Carried on by hand?", choices: [done], fail_on: [abort]}
    - parallel:
        - HandOpen: {hand: right}
        - Log: {text: Delivered to $place}
      succeed: all                    # all | any | a number
  finally:
    - SwitchUpperControl: {enabled: false}
"""
GO_TO = "tree: go_to\nparams: {tag: {type: tag}}\nroot:\n  - MoveToTag: {tag: $tag}\n    retry: 1\n"


def test_the_example_of_the_language_is_built_as_it_reads(check: CheckText) -> None:
    result = check(DELIVER, robot=None, parts__go_to=GO_TO)
    assert result.findings.render() == ""
    assert result.ok
    tree, root = result.tree, result.tree.root
    assert root is not None
    assert tree.robot is not None
    assert (tree.name, tree.robot.name, tree.nodes) == ("deliver_box", "atom_w", 15)
    assert [param.default for param in tree.params.values()] == [12, 15, 80.0]
    assert [condition.text for condition in tree.require] == ["battery.level > 15 %"]
    assert tree.pause is not None
    assert [condition.text for condition in tree.pause] == ["pad.b", "pad.a"]
    assert [child.kind for child in root.children] == [
        "leaf", "leaf", "leaf", "use", "leaf", "selector", "parallel",
    ]  # fmt: skip
    assert root.children[0].modifiers.confirm == "Nobody is near the robot?"
    grasp = root.children[4]
    assert grasp.title == "close the hand on the box"
    assert grasp.values == {"hand": "right", "grip": 80.0}
    modifiers = grasp.modifiers
    assert (modifiers.timeout, modifiers.retry, modifiers.retry_wait) == (4.0, 2, 0.5)
    move, ask = root.children[5].children
    assert move.values == {"tag": 15, "heading": 1.5707963267948966, "give_up_blocked": 60.0}
    assert ask.values["choices"] == ["done"]
    parallel = root.children[6]
    assert (parallel.succeed, parallel.fail) == ("all", None)
    assert parallel.children[1].values["text"] == "Delivered to 15"
    assert [node.values["enabled"] for node in root.modifiers.finally_] == [False]


def test_what_is_left_out_has_its_default(check: CheckText) -> None:
    result = check("tree: t\nroot:\n  - HandGrasp: {hand: left}\n    when: fsm.state == ready\n")
    assert result.tree.root is not None
    assert result.tree.root.children[0].values == {"hand": "left", "grip": 80.0}


def test_names_known_only_during_the_run_stay_expressions_and_templates(check: CheckText) -> None:
    text = (
        "tree: t\nroot:\n  - Log: {text: 'Round $attempt, $$5'}\n    retry: 2\n"
        "  - Wait: {time: $t}\n    for_each: {t: [1 s, 2 s]}\n"
    )
    result = check(text)
    assert result.findings.render() == ""
    assert result.tree.root is not None
    log, wait = result.tree.root.children
    assert log.values["text"] == Template(("Round ", (log.modifiers.attempt_key, "int"), ", ", "$", "5"))
    assert wait.modifiers.for_each is not None
    key, values = wait.modifiers.for_each
    assert values == [1.0, 2.0]
    time = wait.values["time"]
    assert isinstance(time, Expression)
    assert time.evaluate(lambda name: None, {key: 2.0}) == 2.0


def test_the_names_of_tags_in_a_loop_are_their_numbers_for_the_leaf(check: CheckText) -> None:
    nodes = "- SetFsm: {state: ready}\n- MoveToTag: {tag: $stop}\n  for_each: {stop: [shelf, table]}\n"
    result = check(whole(nodes))
    assert result.findings.render() == ""
    assert result.tree.root is not None
    move = result.tree.root.children[1]
    assert move.modifiers.for_each is not None
    key, values = move.modifiers.for_each
    tag = move.values["tag"]
    assert isinstance(tag, Expression)
    assert values == ["shelf", "table"]
    assert [tag.evaluate(lambda name: None, {key: value}) for value in values] == [12, 15]


def test_modifiers_of_every_kind_are_kept(check: CheckText) -> None:
    text = (
        "tree: t\nroot:\n"
        "  - HandGrasp: {hand: left}\n    note: why\n    timeout: 1 s\n    retry: 2\n    repeat: 3\n    delay: 2 s\n"
        "    cooldown: 3 s\n    while: battery.level > 5 %\n    until: pad.a for 1 s\n    result: inverted\n"
        "    save: grip\n    unless: pad.b\n    when: fsm.state == ready\n"
    )
    result = check(text)
    assert result.findings.render() == ""
    assert result.tree.root is not None
    m = result.tree.root.children[0].modifiers
    assert (m.note, m.timeout, m.retry, m.repeat, m.delay, m.cooldown, m.result, m.save) == (
        "why", 1.0, 2, 3, 2.0, 3.0, "inverted", "grip",
    )  # fmt: skip
    assert m.until is not None
    assert m.until.hold == 1.0
    assert m.when is not None and m.unless is not None and m.while_ is not None


def test_what_cannot_run_on_this_robot_is_marked(check: CheckText) -> None:
    text = "tree: t\nroot:\n  - StandPose: {height: 1 cm}\n    when: robot.has.stand_pose\n  - ClearErrors\n"
    root = check(text).tree.root
    assert root is not None
    assert [child.dead for child in root.children] == [True, False]


def test_a_leaf_without_behaviour_cannot_run(tmp_path: Path) -> None:
    sing = type("Sing", (Leaf,), {"__doc__": "Sing.\n\n- Sing", "__module__": "mine"})
    path = tmp_path / "t.yaml"
    path.write_text("tree: t\nroot: [Sing]\n")
    surroundings = Surroundings(Catalogue([sing.declaration]), {})  # type: ignore[attr-defined]
    (found,) = check_file(path, surroundings).findings.sorted()
    assert (found.severity, found.code, found.place.line) == ("error", "not-implemented", 2)


@pytest.mark.parametrize("method", ["__init__", "mistake", "takes"])
def test_a_leaf_that_raises_when_it_is_asked_is_named_with_its_line(tmp_path: Path, method: str) -> None:
    def broken(self: Leaf, *_: Any) -> Any:
        raise KeyError("speed")

    body = {"__doc__": "Sing.\n\n- Sing", "__module__": "mine", "step": lambda self: None, method: broken}
    sing: Any = type("Sing", (Leaf,), body)
    path = tmp_path / "t.yaml"
    path.write_text("tree: t\nroot:\n  - Sing: {}\n    timeout: 1 s\n")
    (found,) = check_file(path, Surroundings(Catalogue([sing.declaration]), {})).findings.sorted()
    assert (found.code, found.place.line) == ("broken-leaf", 3)
    assert found.message.startswith("Sing cannot be checked, its own code raised KeyError: 'speed' (test_build.py:")


def test_a_leaf_that_cannot_even_be_made_is_named_without_a_line(tmp_path: Path) -> None:
    body = {"__doc__": "Sing.\n\n- Sing", "__module__": "mine", "step": lambda self: None, "__init__": lambda: None}
    sing: Any = type("Sing", (Leaf,), body)
    path = tmp_path / "t.yaml"
    path.write_text("tree: t\nroot:\n  - Sing: {}\n    timeout: 1 s\n")
    (found,) = check_file(path, Surroundings(Catalogue([sing.declaration]), {})).findings.sorted()
    assert found.message.endswith("<lambda>() takes 0 positional arguments but 4 were given")


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("GraspHand", 'there is no node "GraspHand"; did you mean HandGrasp?'),
        ("Xylophone", 'there is no node "Xylophone"; `orchestrator nodes` lists the leaves'),
        ("SetFsm:{state: ready}", 'a space is missing after the colon of "SetFsm"'),
        ("SetFsm:ready", "a space is missing after the colon; did you mean SetFsm: ready?"),
    ],
)
def test_a_slip_is_told_with_what_was_meant(check: CheckText, node: str, message: str) -> None:
    assert [finding.sentence for finding in check(whole(f"- {node}"), None).findings.sorted()] == [message]


@pytest.mark.parametrize(
    ("node", "found"),
    [
        ("Walk: {forward: 0.2 m/s, distance: $way, turn: 10 deg/s}", []),
        ("Walk: {forward: $way / 10 s, distance: 2 m}", []),
        ("Walk: {turn: $way / 10 m * 1 rad/s, heading: 90 deg}", []),
        ("Walk: {forward: $way / 10 s, time: 10 s}", ["timeout-too-short"]),
        ("Wait: {time: $way / 1 m/s}", []),
        ("Wait: {time: far}", ["not-a-number"]),
        ("Wait: {}", ["missing-parameter"]),
        ("MoveJoints: {pose: home, time: 90 s}", ["out-of-range"]),
        ("PlayMotion: {}", ["missing-parameter"]),
    ],
)
def test_what_a_leaf_takes_is_asked_only_where_it_can_be_known(check: CheckText, node: str, found: list[str]) -> None:
    text = whole(f"- {node}\n  timeout: 1 s\n  for_each: {{way: [2 m, 3 m]}}")
    assert [finding.code for finding in check(text, None).findings.sorted()] == found


def test_a_motion_is_read_once_however_many_timeouts_it_has(check: CheckText, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(wraps=load)
    monkeypatch.setattr(motion_file, "load", read)
    played = "- PlayMotion: {file: wave.yaml}\n  timeout: 10 s\n" * 20
    assert check(whole(played), None, **MOTIONS).ok
    assert read.call_count <= 2  # once for its mistakes, once for its time
