"""Stand-ins for nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.engine import Substitutes, load_substitutes
from orchestrator.engine.substitution import parse_script
from orchestrator.yamlfile import Findings, Mistake
from tests.engine.missions import Mission

Fly = Callable[..., Mission]

TREE = """
- Act: {id: a}
  name: grasp the box
  retry: 2
- selector:
    - Act: {id: b}
    - Act: {id: c}
"""


def test_a_node_is_replaced_by_its_name_and_keeps_its_modifiers(fly: Fly) -> None:
    run = fly(TREE, substitutes=Substitutes({"grasp*": "fail twice then succeed after 2 s"}))
    assert run.run().status == "success"
    assert run.said == ["start b", "stop b"]
    assert run.clock.now() == pytest.approx(2.0, abs=0.01)


def test_a_node_is_replaced_by_its_path(fly: Fly) -> None:
    run = fly(TREE, substitutes=Substitutes({"t/*/selector/Act": "fail after 1 s"}))
    assert run.run()[:2] == ("failure", "the stand-in of Act fails")
    assert run.said == ["start a", "stop a"]


def test_so_many_times_are_counted_and_not_written_out(fly: Fly) -> None:
    run = fly(TREE, substitutes=Substitutes({"grasp*": "fail 99999999999 times then succeed"}))
    assert run.run().status == "failure"
    run = fly(TREE, substitutes=Substitutes({"grasp*": "fail 1 times then fail once then succeed after 1 s"}))
    assert run.run().status == "success"


@pytest.mark.parametrize("text", [f"fail {'9' * 5000} times", "fail \u0663 times"])
def test_no_number_that_a_person_would_not_write(text: str) -> None:
    with pytest.raises(Mistake, match="is not understood"):
        parse_script(text)


def test_ask_me(fly: Fly) -> None:
    run = fly(TREE, substitutes=Substitutes({"selector": "ask me"}), answers=lambda question: "fail")
    assert run.run().status == "failure"


def test_a_stand_in_leaves_a_result_that_the_node_could_have_left(fly: Fly) -> None:
    text = "- Ask: {question: Well?, choices: [left, right], fail_on: [none]}\n  save: x\n- Act: {id: $x}"
    run = fly(text, substitutes=Substitutes({"Ask": "succeed"}))
    assert run.run().status == "success"
    assert run.said == ["start left", "stop left"]


def test_a_file_of_stand_ins(tmp_path: Path) -> None:
    path = tmp_path / "rehearsal.yaml"
    path.write_text("MoveToTag: succeed after 2 s\nAct: fail 3 times then succeed\n")
    found = load_substitutes(path, Findings())
    assert found is not None
    assert found.find("Act", "t/Act") is not None
    assert found.unused == ["MoveToTag"]


def test_a_mistake_in_the_file_is_found_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "rehearsal.yaml"
    path.write_text("MoveToTag: sucseed\n")
    findings = Findings()
    assert load_substitutes(path, findings) is None
    assert "rehearsal.yaml:1:12" in findings.render()


@pytest.mark.parametrize(
    "text", ["", "win", "fail after", "fail after 2", "succeed then", "fail thrice", "fail 0 times"]
)
def test_what_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(Mistake):
        Substitutes({"a": text})
