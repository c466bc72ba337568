"""Waiting, remarks and questions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.engine import NoAnswer, Question, Substitutes
from orchestrator.engine.events import Tick
from tests.engine.missions import Mission

Fly = Callable[..., Mission]


def test_confirm_waits_for_an_operator(fly: Fly) -> None:
    run = fly("- Act: {id: a}\n  confirm: Nobody near?")
    run.at(3.02, lambda: run.prompts.answer(1, "yes"))
    assert run.run().status == "success"
    assert run.log[0] == (3.02, "start a")


def test_who_does_not_agree_fails_the_node(fly: Fly) -> None:
    run = fly("- Act: {id: a}\n  confirm: Nobody near?", answers=lambda question: "no")
    assert run.run()[:2] == ("failure", "the operator did not agree")


def sworn(run: Mission) -> list[str]:
    run.run()
    return [text for text in run.said if not text.startswith("start")]


AGREED, NOT_AGREED = "a is agreed", "a is not agreed"


def test_a_leaf_knows_that_a_person_has_agreed_to_it(fly: Fly) -> None:
    assert sworn(fly("- Sworn: {id: a}\n  confirm: Sure?", answers=lambda question: "yes")) == [AGREED]
    assert sworn(fly("- Sworn: {id: a}")) == [NOT_AGREED]


@pytest.mark.parametrize(
    "rounds",
    ["repeat: 3", "for_each: {x: [1, 2, 3]}", "retry: 2", "retry: 2\n  timeout: 1 s", "delay: 1 s\n  repeat: 3"],
)
def test_an_agreement_is_good_for_the_first_start_only(fly: Fly, rounds: str) -> None:
    how = "fails: 9" if rounds == "retry: 2" else "time: 5 s" if "timeout" in rounds else "fails: 0"
    asked: list[str] = []

    def agree(question: Question) -> str:
        asked.append(question.text)
        return "yes"

    run = fly(f"- Sworn: {{id: a, {how}}}\n  confirm: Sure?\n  {rounds}", answers=agree)
    assert sworn(run) == [AGREED, NOT_AGREED, NOT_AGREED]
    assert asked == ["Sure?"]


def test_a_node_that_starts_anew_is_agreed_to_anew(fly: Fly) -> None:
    around = "- sequence:\n    - Sworn: {id: a}\n      confirm: Sure?\n      repeat: 2\n  repeat: 2"
    assert sworn(fly(around, answers=lambda question: "yes")) == [AGREED, NOT_AGREED] * 2


def test_who_was_interrupted_has_used_up_the_agreement(fly: Fly) -> None:
    text = "- sequence:\n    - Sworn: {id: a, time: 5 s}\n      confirm: Sure?\n  timeout: 1 s\n  retry: 1"
    assert sworn(fly(text, answers=lambda question: "yes")) == [AGREED, AGREED]


def test_an_agreement_to_a_node_above_is_none_to_the_leaf(fly: Fly) -> None:
    text = "- sequence:\n    - Sworn: {id: a}\n  confirm: Sure?"
    assert sworn(fly(text, answers=lambda question: "yes")) == [NOT_AGREED]


def test_a_question_that_nobody_can_answer_fails_at_once(fly: Fly) -> None:
    def nobody(question: Question) -> str:
        raise NoAnswer(f"nobody is there to answer {question.text!r}")

    run = fly("- Ask: {question: Well?, choices: [yes]}", answers=nobody)
    assert run.run().reason == "nobody is there to answer 'Well?'"


def test_a_question_is_withdrawn_when_its_node_is_interrupted(fly: Fly) -> None:
    run = fly("- Ask: {question: Well?, choices: [yes]}\n  timeout: 1 s")
    assert run.run().status == "failure"
    assert run.prompts.open == []
    with pytest.raises(ValueError, match="not open"):
        run.prompts.answer(1, "yes")


@pytest.mark.parametrize("node", ["Ask: {question: Well?, choices: [yes]}", "Act: {id: a}\n  confirm: Well?"])
def test_an_answer_known_beforehand_that_is_no_choice_fails_the_node(fly: Fly, node: str) -> None:
    run = fly(f"- {node}\n  finally: [Act: {{id: f}}]", answers=lambda question: "maybe")
    outcome = run.run()
    assert outcome.status == "failure"
    assert outcome.reason.startswith('the answer "maybe" is not one of yes')
    assert run.said == ["start f", "stop f"]


def test_an_answer_may_fail_the_node_and_is_its_result(fly: Fly) -> None:
    run = fly(
        """
        - selector:
            - Ask: {question: Well?, choices: [yes], fail_on: [no]}
              save: x
            - Log: {text: $x}
        """,
        answers=lambda question: "no",
    )
    assert run.run().status == "success"
    assert b'"text":"no"' in run.stream()


def test_a_wait_takes_its_time_and_a_remark_none(fly: Fly) -> None:
    run = fly("- Wait: {time: 1.5 s}\n- Log: {text: done}")
    assert run.run().status == "success"
    assert run.clock.now() == 1.5
    assert b'"text":"done"' in run.stream()


def test_values_are_set_all_or_none(fly: Fly) -> None:
    run = fly("- Set: {level: battery.level, there: pad.a}", battery__level=50.0)
    assert run.run().reason.startswith('"pad.a" is not known')
    assert run.built.run.values == {}


@pytest.mark.parametrize(
    "node",
    [
        "Ask: {question: Again?, choices: [yes], fail_on: [no]}",
        "Act: {id: a}",
        "Set: {level: battery.level}",
        "if: battery.level > 50 %\n      then: [Look: {ok: true}]",
    ],
)
def test_what_an_earlier_attempt_failed_of_is_not_told_with_a_success(node: str, fly: Fly) -> None:
    run = fly(
        f"- sequence:\n    - {node}\n  retry: {{times: 1, wait: 1 s}}",
        substitutes=Substitutes({"Act": "fail once then succeed"}),
        answers=lambda question: "no" if question.number == 1 else "yes",
    )
    run.at(0.52, lambda: run.set("battery.level", 80.0))
    assert run.run().status == "success"
    ticks = [event for event in run.events if isinstance(event, Tick)]
    told = [change.message for tick in ticks for change in tick.changes.values() if change.status == "success"]
    assert set(told) == {""}
