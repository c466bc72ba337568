"""Leaves about the operator's pad."""

from typing import Literal

from orchestrator.leaf import Command, Judge

Button = Literal[
    "a",
    "b",
    "x",
    "y",
    "lb",
    "rb",
    "lt",
    "rt",
    "start",
    "select",
    "up",
    "down",
    "left",
    "right",
    "f1",
    "f2",
    "home",
    "lo",
    "ro",
]


class WaitForButton(Command, needs="pad", reads={"button": "pad.{}"}, looks=True, timeout=None):
    """Wait until a button of the pad is pressed; a press is never missed, however short.

    - WaitForButton: {button: a}
    """

    button: Button

    def command(self) -> Judge:
        return self.robot.pad.wait_for(self.button)
