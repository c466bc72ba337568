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


def test_yes_agrees_to_what_a_node_is_about_to_do_and_answers_nothing_else() -> None:
    prompts = make_prompts(yes=True, answers={}, person=lambda question: None)
    assert prompts.ask(1, "Move", "Nobody near?", ["yes", "no"], confirms=True).answer == "yes"
    assert prompts.ask(1, "Ask", "Is the box there?", ["yes", "no"]).answer is None
