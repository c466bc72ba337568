"""A mission in the hands of a test: time travel, faults, answers, and what is to be seen."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.data import data_path
from orchestrator.mission.loading import CannotRun
from orchestrator.sim.faults import FaultError
from orchestrator.testing import StartMission

DELIVERY = data_path("trees/04_deliver_atom_w.yaml")
TWO_WAITS = """
tree: two_waits
robot: gr2
params:
  time: {type: duration, default: 3 s}
root:
  sequence:
    - Wait: {time: $time}
      name: first
    - Log: {text: half of it}
    - Wait: {time: $time}
      name: second
"""
A_QUESTION = """
tree: a_question
robot: gr2
root:
  - Ask: {question: Left or right?, choices: [left, right], fail_on: [right]}
"""


def test_time_passes_only_when_the_test_lets_it(mission: StartMission) -> None:
    run = mission(TWO_WAITS)
    assert (run.time, run.status("first"), run.outcome) == (0.0, "running", None)
    run.until("second")
    assert run.time == pytest.approx(3.0)
    assert (run.status("first"), run.log) == ("success", ["half of it"])
    run.wait(1.0)
    assert run.time == pytest.approx(4.0)
    assert not run.succeeded
    assert run.finish().status == "success"
    assert run.time == pytest.approx(6.0)
    assert run.succeeded


def test_the_robot_lives_on_after_the_mission(mission: StartMission) -> None:
    run = mission(TWO_WAITS, values={"time": "100 ms"})
    run.wait(20.0)
    assert run.succeeded
    assert run.time == pytest.approx(20.0)


def test_a_mission_that_ends_too_early_or_takes_too_long_fails_the_test_with_its_story(mission: StartMission) -> None:
    with pytest.raises(AssertionError, match=r"(?s)5 s have passed and not yet: .*says: half of it"):
        mission(TWO_WAITS).finish(within=5.0)
    with pytest.raises(
        AssertionError, match=r'(?s)the mission ended before "first" is failure.*second .line 11.: success'
    ):
        mission(TWO_WAITS).until("first", "failure")


def test_what_is_over_at_once_is_never_seen_running_and_the_test_is_told_so(mission: StartMission) -> None:
    with pytest.raises(AssertionError, match=r'before "Log" is running \(what ends in the tick .*: wait for "success"'):
        mission(TWO_WAITS).until("Log")
    run = mission(TWO_WAITS)
    run.until("Log", "success")
    assert run.time == pytest.approx(3.0)


def test_a_misspelt_node_is_named_with_its_neighbour(mission: StartMission) -> None:
    with pytest.raises(LookupError, match='no node is called "frist": did you mean "first"'):
        mission(TWO_WAITS).until("frist")


def test_a_misspelt_command_is_named_with_its_neighbour(mission: StartMission) -> None:
    with pytest.raises(LookupError, match='no command is called "MoveToTagg": did you mean "MoveToTag"'):
        mission(TWO_WAITS).commands("MoveToTagg")


def test_a_status_that_no_node_has_is_named(mission: StartMission) -> None:
    with pytest.raises(LookupError, match='no node is ever "failed": a status is idle, running, success, failure, sk'):
        mission(TWO_WAITS).until("first", "failed")  # type: ignore[arg-type]


@pytest.mark.usefixtures("ascii_locale")
def test_the_text_of_a_tree_may_have_any_letter(mission: StartMission) -> None:
    run = mission(TWO_WAITS.replace("half of it", "die Hälfte"))
    run.finish()
    assert run.log == ["die Hälfte"]


@pytest.mark.parametrize("minutes", [14, 20, 27])
def test_a_long_pause_is_not_taken_for_a_restart_of_the_robot(mission: StartMission, minutes: int) -> None:
    run = mission(DELIVERY)
    run.wait(6.0)
    run.pause()
    run.wait(minutes * 60.0)
    run.resume()
    assert run.finish().status == "success"


def test_faults_are_a_list(mission: StartMission) -> None:
    with pytest.raises(TypeError, match=r"write faults=\['amr_blocked@3s'\]"):
        mission(TWO_WAITS, faults="amr_blocked@3s")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"values": "n=1"}, r'values is a dictionary: write values={"NAME": "VALUE"}, not .n=1'),
        ({"substitute": "first"}, r'substitute is a dictionary: write substitute={"NODE": "succeed"}, not .first'),
        ({"answers": ["a"]}, r'answers is a dictionary: write answers={"NODE": "CHOICE"}, not \[.a.\]'),
    ],
)
def test_values_stand_ins_and_answers_are_dictionaries(mission: StartMission, wrong: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        mission(TWO_WAITS, **wrong)


def test_the_text_of_a_tree_has_a_line_break(mission: StartMission) -> None:
    with pytest.raises(FileNotFoundError, match=r"a}; if it is the text of a tree, put a line break in it"):
        mission("- Log: {text: a}")
    with pytest.raises(FileNotFoundError, match=r"nothing.yaml$"):
        mission("nothing.yaml")


ROUND = """
tree: round
robot: atom_w
params:
  tags: {type: list of tag}
  greet: {type: bool, default: true}
root:
  - Log: {text: "tag $tag, $greet"}
    for_each: {tag: $tags}
"""


def test_values_are_given_as_python_has_them(mission: StartMission) -> None:
    run = mission(ROUND, values={"tags": [12, 15], "greet": False})
    run.finish()
    assert run.log == ["tag 12, false", "tag 15, false"]


WORDS = """
tree: words
robot: gr2
params:
  words: {type: list of text}
root:
  - Log: {text: $word}
    for_each: {word: $words}
"""


@pytest.mark.parametrize("word", ["a, b", '"q"', "'q'", " lead", "a: b", "a #b", "[a", "a]b", "@", "Grüße", "\\"])
def test_a_text_in_a_list_is_that_text(mission: StartMission, word: str) -> None:
    run = mission(WORDS, values={"words": [word, "c"]})
    run.finish()
    assert run.log == [word, "c"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "parameters without a value: give values: tags=..."),
        ({"tags": 12}, r"values: tags:1:1: error: a list of tag is wanted here, not a (.|\n)*\[12\]"),
        ({"tags": [12, "high"]}, r"values: tags:1:7: error: atom_w knows no tag .high"),
        ({"tags": [""]}, r"values: tags:1:2: error: a tag is missing here"),
    ],
)
def test_mistakes_in_values_are_told_of_values(mission: StartMission, values: dict[str, object], said: str) -> None:
    with pytest.raises(CannotRun, match=said):
        mission(ROUND, values=values)


def test_what_was_sent_is_told_with_its_values(mission: StartMission) -> None:
    run = mission(DELIVERY, values={"pick": 15})
    run.until("close the hand on the box")
    assert run.sent[:3] == ["SetFsm", "SwitchUpperControl", "MoveToTag"]
    assert run.commands("MoveToTag") == [{"tag": 15, "heading": None}]
    assert {record["cause"] for record in run.published} >= {"SetFsm", "MoveToTag"}


def test_faults_begin_when_the_test_says_so(mission: StartMission) -> None:
    run = mission(DELIVERY)
    run.until("drive to the shelf")
    run.fault("soft@1s+500ms")
    began = run.time
    assert run.finish().status == "stopped"
    assert run.time == pytest.approx(began + 1.0, abs=0.2)
    run.wait(5.0)
    assert run.guard == "estopped"


def test_a_fault_on_a_condition(mission: StartMission) -> None:
    run = mission(DELIVERY, faults=["hard@rt/amr/state.navigation_status=RUNNING"])
    assert run.finish().status == "stopped"
    assert run.status("close the hand on the box") == "idle"


def test_a_fault_that_the_robot_cannot_have_is_refused(mission: StartMission) -> None:
    with pytest.raises(FaultError, match="did you mean soft"):
        mission(DELIVERY, faults=["sofft"])
    with pytest.raises(FaultError, match="longer than 0 s"):
        mission(DELIVERY).fault("soft+0s")


def test_a_fault_that_the_mission_would_never_notice_is_refused(mission: StartMission) -> None:
    with pytest.raises(FaultError, match="rpc/SetFsmId"):
        mission(DELIVERY, faults=["lost:rt/set/fsm/id"])
    with pytest.raises(FaultError, match="rpc/SetFsmId"):
        mission(DELIVERY).fault("lost:rt/set/fsm/id")


def test_the_world_can_be_changed_on_the_way(mission: StartMission) -> None:
    run = mission(DELIVERY)
    run.until("drive to the shelf")
    run.twin.hand("right").object = False
    run.finish()
    assert run.failed_node == "close the hand on the box"
    assert "nothing" in run.reason


def test_stand_ins(mission: StartMission) -> None:
    run = mission(DELIVERY, substitute={"drive to *": "succeed after 2 s", "HandOpen": "succeed"})
    run.finish()
    assert run.succeeded
    assert "MoveToTag" not in run.sent


def test_questions_are_answered_before_or_during_the_run(mission: StartMission) -> None:
    assert mission(A_QUESTION, answers={"Ask": "left"}).finish().status == "success"
    run = mission(A_QUESTION)
    run.wait(10.0)
    assert run.questions == {"Ask": ["left", "right"]}
    run.answer("Ask", "right")
    assert run.finish().status == "failure"
    assert run.questions == {}


def test_an_answer_is_one_to_the_question_that_has_it_as_a_choice(mission: StartMission) -> None:
    asks_twice = A_QUESTION.rstrip() + "\n    name: way\n    confirm: May I ask?\n"
    run = mission(asks_twice, answers={"way": "left"})
    run.wait(1.0)
    assert run.questions == {"way": ["yes", "no"]}
    run.answer("way", "yes")
    assert run.finish().status == "success"
    run = mission(asks_twice, answers={"way": "yes"})
    run.wait(1.0)
    assert run.questions == {"way": ["left", "right"]}
    run.answer("way", "right")
    assert run.finish().status == "failure"


TWO_QUESTIONS = """tree: two
robot: atom
root:
  parallel:
    - Ask: {question: "Left?", choices: [yes, no]}
    - sequence:
        - Ask: {question: "Right?", choices: [yes, no], fail_on: [no]}
"""


def test_of_two_questions_of_one_name_the_one_that_is_meant_is_answered(mission: StartMission) -> None:
    run = mission(TWO_QUESTIONS)
    run.wait(1.0)
    choices = ["yes", "no"]
    assert run.questions == {"two/parallel/Ask": choices, "two/parallel/sequence/Ask": choices}
    with pytest.raises(AssertionError, match="name one of these: two/parallel/Ask, two/parallel/sequence/Ask"):
        run.answer("Ask", "yes")
    run.answer("*/sequence/Ask", "no")
    assert list(run.questions) == ["Ask"]
    assert run.finish().status == "failure"


def test_a_name_with_brackets_is_no_pattern(mission: StartMission) -> None:
    run = mission(A_QUESTION.rstrip() + "\n    name: pick [a]\n")
    run.wait(1.0)
    run.answer("pick [a]", "left")
    assert run.finish().status == "success"


def test_a_path_is_the_same_for_a_stand_in_and_for_waiting(mission: StartMission) -> None:
    run = mission(DELIVERY, substitute={"deliver_atom_w/*/HandOpen": "succeed"})
    run.until("deliver_atom_w/*/HandOpen", "success")
    assert run.status("deliver_atom_w/*/HandOpen") == "success"


def test_an_answer_that_nobody_asked_for_or_that_is_no_choice(mission: StartMission) -> None:
    with pytest.raises(AssertionError, match='"first" asks nothing; these do: none'):
        mission(TWO_WAITS).answer("first", "yes")
    with pytest.raises(CannotRun, match='"up" is no answer to "Ask"; the choices are left, right'):
        mission(A_QUESTION, answers={"Ask": "up"})
    with pytest.raises(CannotRun, match='"Nope" asks nothing; these do: Ask'):
        mission(A_QUESTION, answers={"Nope": "left"})


def test_the_question_that_a_stand_in_asks_takes_the_place_of_its_nodes_own(mission: StartMission) -> None:
    with pytest.raises(CannotRun, match='"left" is no answer to "Ask"; the choices are succeed, fail'):
        mission(A_QUESTION, substitute={"Ask": "ask me"}, answers={"Ask": "left"})


def test_an_operator_pauses_and_aborts(mission: StartMission) -> None:
    run = mission(TWO_WAITS)
    run.pause()
    run.wait(60.0)
    assert run.status("first") == "running"
    run.resume()
    run.until("second")
    assert run.time == pytest.approx(63.0, abs=0.2)
    run.abort()
    assert run.finish() == ("aborted", "aborted by the operator", None, "")


def test_mistakes_in_the_tree_are_those_of_check(mission: StartMission) -> None:
    with pytest.raises(CannotRun, match=r"mission.yaml:5:5: error"):
        mission("tree: x\nrobot: gr2\nroot:\n  - Wait: {time: 1 s}\n  - Wiat: {time: 1 s}\n")


def test_the_same_seed_gives_the_same_story(mission: StartMission) -> None:
    stories = set()
    for _ in range(2):
        run = mission(DELIVERY, seed=3)
        run.finish()
        stories.add(run.story())
    assert len(stories) == 1
