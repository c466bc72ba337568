"""Leaves that need no robot: waiting, remarks, values, questions."""

from difflib import get_close_matches
from typing import Annotated

from orchestrator.leaf import Between, Duration, Leaf, Status


class Wait(Leaf, fails=False, timeout=None):
    """Wait for a time.

    - Wait: {time: 2 s}
    """

    time: Duration

    def takes(self) -> float:
        return self.time

    def start(self) -> None:
        self._left = self.time
        self.resume()

    def step(self) -> Status:
        left = self._until - self.robot.clock.now()
        self.progress = 1 - max(left, 0.0) / self.time if self.time else 1.0
        return Status.RUNNING if left > 0 else Status.SUCCESS

    def pause(self) -> None:
        self._left = self._until - self.robot.clock.now()

    def resume(self) -> None:
        self._until = self.robot.clock.now() + self._left


class Log(Leaf, instant=True, fails=False, timeout=1.0):
    """Write a line into the run's history and on the screen.

    - Log: {text: Delivered to $place}
    """

    text: str

    def step(self) -> Status:
        self.message = self.text
        return Status.SUCCESS


class Set(Leaf, instant=True, timeout=1.0):
    """Keep the value of an expression under a name of your own.

    - Set: {start_level: battery.level}
    """

    def step(self) -> Status:
        return Status.SUCCESS  # the engine, which knows names and expressions, has kept the value


class Ask(Leaf, asks=True, result_params=("choices", "fail_on"), timeout=None):
    """Ask the operator and wait for the answer; an answer listed in `fail_on` fails the node.

    - Ask: {question: Is the box in the hand?, choices: [yes, no], fail_on: [no]}

    What stands in `fail_on` alone can be answered, too.
    """

    question: str
    choices: Annotated[list[str], Between(1)]
    fail_on: list[str] = []  # noqa: RUF012 (a parameter's default, never changed)

    def mistake(self) -> tuple[str, str] | None:
        if set(self.choices) <= set(self.fail_on):
            return "fail_on", "it fails whatever is answered"
        for answer in self.fail_on:
            if answer not in self.choices and (meant := get_close_matches(answer.lower(), self.choices, n=1)):
                return "fail_on", f'did you mean "{meant[0]}"? If "{answer}" is another answer, list it in choices, too'
        return None

    def start(self) -> None:
        self.result = None
        self.message = self.question

    def answer(self, choice: str) -> None:
        """What the operator said; the engine brings it."""
        self.result = choice

    def step(self) -> Status:
        if self.result is None:
            return Status.RUNNING
        if self.result in self.fail_on:
            return self.fail("answered", f"{self.question} {self.result}")
        return Status.SUCCESS
