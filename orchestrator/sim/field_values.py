"""What a field of a message can hold, of what a person has written."""

from __future__ import annotations

import struct
from typing import Any

from orchestrator.wire.shape import Enumeration, Many, Number, Shape
from orchestrator.yamlfile.findings import listed, nearest


def code_of(shape: Shape) -> str | None:
    """The `struct` code of a number, flag or enumeration, or of each in a collection of numbers; None for the rest."""
    match shape:
        case Number(code, _) | Many(Number(code, _), _, _):
            return code
        case Enumeration():
            return "I"
    return None


def held(shape: Shape, value: Any) -> Any:
    """The value as the wire holds it; a ValueError says what it could be."""
    code = code_of(shape)
    if code is None:
        raise ValueError("is no number, flag or enumeration")
    if isinstance(shape, Enumeration) and isinstance(value, str):
        return _member(shape, value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    flag = isinstance(value, int | float) and value in (0, 1)
    whole = number and value % 1 == 0
    if flag if code == "?" else number if code in "fd" else whole:
        try:
            packed = struct.pack(f"<{code}", value if code in "fd" else int(value))
            return struct.unpack(f"<{code}", packed)[0]
        except (struct.error, OverflowError):
            pass
    raise ValueError(f"is {_range(code)}, not {value!r}")


def _member(shape: Enumeration, name: str) -> int:
    names = tuple(shape.members.__members__)
    if name in names:
        number: int = shape.members[name].value
        return number
    meant = nearest(name, names)
    raise ValueError(f"is never {name!r}; " + (f"did you mean {meant}?" if meant else f"it is one of {listed(names)}"))


def _range(code: str) -> str:
    if code == "?":
        return "true or false"
    bits = struct.calcsize(code) * 8
    if code in "fd":
        return f"a number of {bits} bits"
    low = -(1 << bits - 1) if code.islower() else 0
    return f"a whole number from {low} to {low + (1 << bits) - 1}"
