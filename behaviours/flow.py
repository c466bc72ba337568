"""Leaves that need no robot: waiting, remarks, values, questions."""

from orchestrator.leaf import Duration, Leaf


class Wait(Leaf, fails=False, timeout=None):
    """Wait for a time.

    - Wait: {time: 2 s}
    """

    time: Duration


class Log(Leaf, instant=True, fails=False, timeout=1.0):
    """Write a line into the run's history and on the screen.

    - Log: {text: Delivered to $place}
    """

    text: str


class Set(Leaf, instant=True, timeout=1.0):
    """Keep the value of an expression under a name of your own.

    - Set: {start_level: battery.level}
    """


class Ask(Leaf, asks=True, result_params=("choices", "fail_on"), timeout=None):
    """Ask the operator and wait for the answer; an answer listed in `fail_on` fails the node.

    - Ask: {question: Is the box in the hand?, choices: [yes, no], fail_on: [no]}
    """

    question: str
    choices: list[str]
    fail_on: list[str] = []  # noqa: RUF012 (a parameter's default, never changed)
