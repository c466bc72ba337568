"""Leaves about the operator's pad."""

from typing import Literal

from orchestrator.leaf import Leaf

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


class WaitForButton(Leaf, needs="pad", looks=True, timeout=None):
    """Wait until a button of the pad is pressed; a press is never missed, however short.

    - WaitForButton: {button: a}
    """

    button: Button
