"""Answers to what a mission asks."""

from __future__ import annotations

import pytest
import typer

from orchestrator.cli.run.prompts import ask_at_once, make_prompts
from orchestrator.engine.prompts import NoAnswer, Question


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Ask", 'nobody is there to answer: Well? (in advance --answer "Ask=CHOICE" does: yes, no)'),
        ("", "nobody is there to answer: Well?"),  # of the run itself, which has no node to name
    ],
)
def test_where_nobody_is_there_what_would_answer_is_named(name: str, wanted: str) -> None:
    prompts = make_prompts(yes=False, answers={}, person=None)
    with pytest.raises(NoAnswer) as refusal:
        prompts.ask(1, name, "Well?", ["yes", "no"])
    assert str(refusal.value) == wanted


def test_ctrl_c_at_a_question_in_virtual_time_is_no_failure_of_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(text: str) -> str:
        raise typer.Abort

    monkeypatch.setattr(typer, "prompt", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ask_at_once(Question(1, 1, "Ask", "Well?", ["yes", "no"]))


def test_q_leaves_at_a_question_in_virtual_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def leaves(text: str) -> str:
        said.append(text)
        return "q"

    monkeypatch.setattr(typer, "prompt", leaves)
    with pytest.raises(KeyboardInterrupt):
        ask_at_once(Question(1, 1, "Ask", "Well?", ["yes", "no"]))
    assert said == ["Ask: Well? (y = yes, n = no, q = leave; then Enter)"]


@pytest.mark.parametrize(
    ("said", "chosen"), [("a", "ab"), ("2", "a"), ("AB", "ab"), ("ab", "ab"), ("3", "q"), ("q", None)]
)
def test_in_virtual_time_what_is_typed_means_what_is_shown_beside_it(
    said: str, chosen: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []

    def typed(text: str) -> str:
        shown.append(text)
        return said if len(shown) == 1 else "ab"

    monkeypatch.setattr(typer, "prompt", typed)
    question = Question(1, 1, "Ask", "Which?", ["ab", "a", "q", "p"])
    if chosen is None:
        with pytest.raises(KeyboardInterrupt):
            ask_at_once(question)
    else:
        assert ask_at_once(question) == chosen
    assert shown[0] == "Ask: Which? (a = ab, 2 = a, 3 = q, 4 = p, q = leave; then Enter)"


def test_yes_agrees_to_what_a_node_is_about_to_do_and_answers_nothing_else() -> None:
    prompts = make_prompts(yes=True, answers={}, person=lambda question: None)
    assert prompts.ask(1, "Move", "Nobody near?", ["yes", "no"], confirms=True).answer == "yes"
    assert prompts.ask(1, "Ask", "Is the box there?", ["yes", "no"]).answer is None


def test_an_answer_in_advance_is_for_the_questions_of_its_node_that_have_it_as_a_choice() -> None:
    asked: list[str] = []

    def person(question: Question) -> None:
        asked.append(question.text)

    prompts = make_prompts(yes=False, answers={"way": "left"}, person=person)
    assert prompts.ask(1, "way", "May I ask?", ["yes", "no"], confirms=True).answer is None
    assert prompts.ask(1, "way", "Which way?", ["left", "right"]).answer == "left"
    assert asked == ["May I ask?"]


def test_yes_agrees_to_the_confirm_of_a_node_that_was_answered_in_advance() -> None:
    prompts = make_prompts(yes=True, answers={"way": "left"}, person=None)
    assert prompts.ask(1, "way", "May I ask?", ["yes", "no"], confirms=True).answer == "yes"
    assert prompts.ask(1, "way", "Which way?", ["left", "right"]).answer == "left"


def test_where_nobody_is_there_an_answer_that_is_none_of_the_choices_is_named_with_them() -> None:
    prompts = make_prompts(yes=False, answers={"way": "left"}, person=None)
    with pytest.raises(NoAnswer, match='--answer "way=left": the choices are yes, no'):
        prompts.ask(1, "way", "May I ask?", ["yes", "no"], confirms=True)
