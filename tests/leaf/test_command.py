"""What all leaves that command have in common."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.leaf import Catalogue, Command, Judge, Status, leaves_of
from orchestrator.leaf import command as command_module
from orchestrator.robots.outcome import SUCCESS, Outcome, failure, running
from orchestrator.robots.reasons import Reason


class Script:
    """A judge that says what a test tells it to."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes = list(outcomes)
        self.cancelled = 0

    def outcome(self) -> Outcome:
        return self.outcomes.pop(0)

    def cancel(self) -> None:
        self.cancelled += 1


class Try(Command):
    """Do what the robot is.

    - Try
    """

    def command(self) -> Judge:
        if not isinstance(self.robot, Script):
            raise ValueError("no robot")
        return self.robot


def leaf(robot: Any) -> Try:
    return Try(robot, {})


def test_what_the_judge_says_is_shown() -> None:
    found = Outcome("success", progress=1.0, result="object")
    attempt = leaf(Script(running(0.5, Reason.BLOCKED), failure(Reason.FAILED, "a wheel", "nothing"), found))
    attempt.start()
    assert attempt.step() is Status.RUNNING
    assert (attempt.reason, attempt.progress) == ("blocked", 0.5)
    assert attempt.step() is Status.FAILURE
    assert (attempt.reason, attempt.result) == ("failed", "nothing")
    assert attempt.message == "the robot reports that it failed: a wheel"
    assert attempt.step() is Status.SUCCESS
    assert (attempt.reason, attempt.message, attempt.result) == ("", "", "object")


def test_stopping_calls_off_what_goes_on() -> None:
    script = Script(SUCCESS)
    attempt = leaf(script)
    attempt.start()
    attempt.stop()
    assert script.cancelled == 1


def test_after_a_pause_the_command_is_given_anew() -> None:
    script = Script(running(0.3), SUCCESS)
    attempt = leaf(script)
    attempt.start()
    attempt.step()
    attempt.pause()
    assert script.cancelled == 1
    attempt.resume()
    assert attempt.step() is Status.SUCCESS


def test_what_could_not_be_started_can_be_stopped() -> None:
    attempt = leaf(None)
    with pytest.raises(ValueError, match="no robot"):
        attempt.start()
    attempt.stop()


def test_a_command_that_gives_nothing_back_is_told_so() -> None:
    class Forgetful(Try, declared=False):
        def command(self) -> Judge:
            super().command()
            return None  # type: ignore[return-value]

    with pytest.raises(TypeError, match=r"command\(\) returned None instead of what a capability gave it"):
        Forgetful(Script(), {}).start()


def test_a_base_class_is_no_leaf() -> None:
    assert list(Catalogue(leaves_of(command_module))) == []
