from __future__ import annotations

import pytest

from orchestrator.cli.run.keys import choice_keys, hints, press
from orchestrator.engine.events import Prompt


class Run:
    """Notes what keys do."""

    def __init__(self, paused: bool = False) -> None:
        self.paused = paused
        self.did: list[str] = []

    def pause(self) -> None:
        self.did.append("pause")

    def resume(self) -> None:
        self.did.append("resume")

    def step(self) -> None:
        self.did.append("step")

    def abort(self) -> None:
        self.did.append("abort")

    def stop(self) -> None:
        self.did.append("stop")

    def answer(self, number: int, choice: str) -> None:
        self.did.append(f"{number}: {choice}")


def question(*choices: str) -> Prompt:
    return Prompt(at=0.0, number=7, node=0, question="?", choices=list(choices))


@pytest.mark.parametrize(
    ("choices", "keys"),
    [
        (["yes", "no"], ["y", "n"]),
        (["arm", "abort"], ["m", "2"]),
        (["skip", "pause", "quit"], ["1", "2", "3"]),
        (["12", "Ärmel", ""], ["1", "ä", "3"]),
    ],
)
def test_every_choice_has_a_key_of_its_own(choices: list[str], keys: list[str]) -> None:
    assert list(choice_keys(choices)) == keys


@pytest.mark.parametrize(
    ("key", "did"),
    [
        ("y", ["7: yes"]),
        ("N", ["7: no"]),
        ("2", ["7: no"]),
        ("3", []),
        ("x", []),
        ("q", ["stop"]),
        ("p", ["pause"]),
        ("a", ["abort"]),
    ],
)
def test_keys_answer_the_open_question_first(key: str, did: list[str]) -> None:
    run = Run()
    press(key, question("yes", "no"), run, running=True)
    assert run.did == did


@pytest.mark.parametrize(
    ("key", "did"), [("p", ["resume"]), ("s", ["step"]), ("q", ["stop"]), ("a", ["abort"]), ("y", [])]
)
def test_keys_of_a_paused_run(key: str, did: list[str]) -> None:
    run = Run(paused=True)
    press(key, None, run, running=True)
    assert run.did == did


def test_abort_is_the_same_key_as_long_as_a_tree_runs_and_nothing_else_then() -> None:
    arm = question("arm", "abort")
    run = Run()
    press("a", arm, run, running=True)
    press("1", arm, run, running=True)
    press("m", arm, run, running=False)
    press("a", None, run, running=False)
    assert run.did == ["abort", "7: arm", "7: arm"]
    assert ("a", "abort: orderly way out") in hints(arm, paused=False, running=True)
    assert [key for key, _ in hints(arm, paused=False, running=False)] == ["m", "2", "p", "s", "q"]


def test_a_key_that_is_held_acknowledges_and_does_nothing_after_that() -> None:
    run = Run()
    for choices in (["acknowledge", "abort"], ["arm", "abort"], ["restart the step", "abort"]):
        press("a", question(*choices), run, running=False)
    assert run.did == ["7: acknowledge"]


def test_hints_name_the_keys_that_do_something() -> None:
    shown = hints(question("yes", "no"), paused=True, running=True)
    assert shown[:3] == [("y", "yes"), ("n", "no"), ("p", "resume")]
