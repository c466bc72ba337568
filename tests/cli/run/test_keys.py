from __future__ import annotations

import threading

import pytest

from orchestrator.cli.run.keys import choice_keys, hints, press
from orchestrator.cli.run.live import LiveView
from orchestrator.cli.run.picture import Picture
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
        (["2", "3", "none"], ["2", "3", "n"]),
        (["1x", "2", "1"], ["3", "2", "1"]),
        ([str(shelf) for shelf in range(1, 13)], [*"123456789", "b", "c", "d"]),
    ],
)
def test_every_choice_has_a_key_of_its_own(choices: list[str], keys: list[str]) -> None:
    assert list(choice_keys(choices)) == keys


@pytest.mark.parametrize(("key", "did"), [("1", []), ("2", ["7: 2"]), ("3", ["7: 3"]), ("n", ["7: none"]), ("4", [])])
def test_a_choice_that_is_a_number_is_chosen_by_it_and_by_no_other(key: str, did: list[str]) -> None:
    run = Run()
    press(key, question("2", "3", "none"), run, running=True)
    assert run.did == did


def test_more_choices_than_keys() -> None:
    many = [f"shelf {number}" for number in range(60)]
    keys = choice_keys(many, running=True)
    assert len(keys) == 9 + 26 - len("psqa")
    assert all(len(key) == 1 for key in keys)


@pytest.mark.parametrize("key", ["p", "s", "a"])
def test_before_a_tree_runs_there_is_nothing_to_pause_step_or_abort(key: str) -> None:
    run = Run()
    press(key, None, run, running=False)
    assert run.did == []


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
    assert [key for key, _ in hints(arm, paused=False, running=False)] == ["m", "2", "q"]


def test_a_key_that_is_held_acknowledges_and_does_nothing_after_that() -> None:
    run = Run()
    for choices in (["acknowledge", "abort"], ["arm", "abort"], ["restart the step", "abort"]):
        press("a", question(*choices), run, running=False)
    assert run.did == ["7: acknowledge"]


def test_what_goes_on_or_holds_a_run_is_no_hint_while_nothing_runs() -> None:
    again = question("acknowledge", "abort")
    assert [key for key, _ in hints(again, paused=False, running=False)] == ["a", "2", "q"]
    assert [key for key, _ in hints(None, paused=False, running=False)] == ["q"]
    assert [key for key, _ in hints(None, paused=True, running=False)] == ["p", "s", "q"]  # at the first breakpoint


def test_hints_name_the_keys_that_do_something() -> None:
    shown = hints(question("yes", "no"), paused=False, running=True)
    assert shown[:3] == [("y", "yes"), ("n", "no"), ("p", "pause")]


def test_a_question_of_a_tree_that_is_paused_is_answered_after_the_pause() -> None:
    run = Run(paused=True)
    for key in ("y", "1", "n"):
        press(key, question("yes", "no"), run, running=True)
    assert run.did == []
    assert hints(question("yes", "no"), paused=True, running=True)[0] == ("p", "resume")


def test_a_person_can_arm_again_after_an_e_stop_in_a_pause() -> None:
    run = Run(paused=True)
    press("m", question("arm", "abort"), run, running=False)
    assert run.did == ["7: arm"]
    assert hints(question("arm", "abort"), paused=True, running=False)[0] == ("m", "arm")


class Typing:
    """A terminal at which somebody types ahead, and answers the very instant the question is shown."""

    size = drawn_size = (80, 24)
    ahead = "1"

    def __init__(self) -> None:
        self._typed, self._looks = self.ahead, 0

    def __enter__(self) -> Typing:
        return self

    def __exit__(self, *error: object) -> None: ...

    def keys(self, timeout: float) -> str:
        self._looks += 1
        if self._looks > 3:
            raise OSError("the terminal has gone")
        return self.pending()

    def pending(self) -> str:
        typed, self._typed = self._typed, ""
        return typed

    def draw(self, lines: list[str]) -> None:
        self._typed += "m" if self._looks == 1 else ""


@pytest.mark.parametrize(
    ("ahead", "did"), [("1", ["7: arm"]), ("m", ["7: arm"]), ("p", ["7: arm"]), ("1q", ["stop", "7: arm"])]
)
def test_a_quick_answer_is_taken_and_what_was_typed_before_is_none(
    ahead: str, did: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever wants the robot stopped need not have seen the question."""
    monkeypatch.setattr("orchestrator.cli.run.live.Screen", Typing)
    monkeypatch.setattr(Typing, "ahead", ahead)
    run, gone = Run(), threading.Event()
    view = LiveView(Picture("REAL", "adam_u", "short"))
    view(question("arm", "abort"))
    view.start(run, gone.set)
    assert gone.wait(10.0)
    assert run.did == did
