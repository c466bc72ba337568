"""A sample message of any type, for showing and measuring the wire."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count as counting
from typing import Any

from cyclonedds.idl import IdlStruct

from orchestrator.wire.shape import Char, Enumeration, Many, Number, Shape, Struct, Text, struct_of


def example(cls: type[IdlStruct], count: int = 2) -> Any:
    """A message with a different, telling value in every field; sequences have `count` elements."""
    return _example(struct_of(cls), counting(1), count)


def _example(shape: Shape, numbers: Iterator[int], count: int) -> Any:
    match shape:
        case Number("?", _):
            return next(numbers) % 2 == 1
        case Number("f" | "d", _):
            return next(numbers) * 0.5
        case Number(_, 1):
            return next(numbers) % 250
        case Number():
            return next(numbers) % 30_000
        case Char():
            return chr(ord("a") + next(numbers) % 26)
        case Enumeration(members):
            return list(members)[next(numbers) % len(members)]
        case Text():
            return f"text{next(numbers)}"
        case Many(Char(), int() as length, _):
            return "".join(_example(Char(), numbers, count) for _ in range(length))
        case Many(element, length, _):
            return [_example(element, numbers, count) for _ in range(count if length is None else length)]
        case Struct(cls, _, fields, _):
            return cls(**{name: _example(part, numbers, count) for name, part in fields})
    raise AssertionError(shape)
