"""Questions to the operator."""

from __future__ import annotations

import pytest

from orchestrator.engine import Prompts


def test_a_question_is_open_until_it_is_closed() -> None:
    prompts, woken = Prompts(), []
    prompts.on_answer = lambda: woken.append(True)
    question = prompts.ask(3, "Ask", "Go on?", ["yes", "no"])
    assert prompts.open == [question]
    prompts.answer(question.number, "yes")
    assert question.answer == "yes"
    assert woken == [True]
    prompts.close(question)
    assert prompts.open == []


def test_only_a_choice_is_an_answer() -> None:
    prompts = Prompts()
    question = prompts.ask(3, "Ask", "Go on?", ["yes", "no"])
    with pytest.raises(ValueError, match='"maybe" is not one of yes, no'):
        prompts.answer(question.number, "maybe")
    assert question.answer is None


def test_an_answer_may_be_known_beforehand() -> None:
    prompts = Prompts(lambda question: "no" if question.name == "Ask" else None)
    assert prompts.ask(3, "Ask", "Go on?", ["yes", "no"]).answer == "no"
    assert prompts.ask(4, "Other", "Go on?", ["yes", "no"]).answer is None


def test_the_first_answer_counts() -> None:
    prompts = Prompts()
    question = prompts.ask(3, "Ask", "Go on?", ["yes", "no"])
    prompts.answer(question.number, "no")
    assert prompts.open == []
    with pytest.raises(ValueError, match="question 1 is not open"):
        prompts.answer(question.number, "yes")
    assert question.answer == "no"
