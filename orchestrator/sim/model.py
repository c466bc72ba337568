"""What the parts of a simulated robot have in common: they are brought forward in time, in steps of any length."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

NEVER = float("inf")
ROUNDING = 1e-6
"""s: a change that is this near has come; without it, rounding could keep one just ahead for ever."""


class Model(Protocol):
    """A part of a robot. Between two commands its state follows in closed form, so virtual time can jump."""

    def advance(self, now: float) -> None:
        """Bring it to this time."""

    def next_change(self) -> float:
        """When something about it changes by itself that others must hear of at once; NEVER if nothing will."""


class Touchable:
    """A model that people change directly; its robot hears of it before and after."""

    def __init__(self) -> None:
        self.before: Callable[[], None] = _nothing
        self.after: Callable[[], None] = _nothing


def _nothing() -> None:
    pass


P = ParamSpec("P")
T = TypeVar("T", bound=Touchable)


def by_hand(method: Callable[Concatenate[T, P], None]) -> Callable[Concatenate[T, P], None]:
    """Marks what a person or the world does to a model."""

    @functools.wraps(method)
    def act(model: T, /, *args: P.args, **kwargs: P.kwargs) -> None:
        model.before()
        method(model, *args, **kwargs)
        model.after()

    return act
