"""A message that is encoded once and whose numbers are then changed in place: what a state topic is made from."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from cyclonedds.idl import IdlStruct

from orchestrator.wire.codec import codec
from orchestrator.wire.encapsulation import BODY
from orchestrator.wire.shape import Char, Enumeration, Many, Number, Shape, Struct, Text, struct_of
from orchestrator.wire.walk import Walker, parse_path

Numbers = np.ndarray[Any, np.dtype[Any]]


class Template:
    """The bytes of one message and views of the numbers in them.

    Strings and the lengths of sequences stay as they are in the message it was made from.
    """

    def __init__(self, message: IdlStruct) -> None:
        self._shape = struct_of(type(message))
        self._bytes = bytearray(codec(type(message)).encode(message))

    def numbers(self, path: str) -> Numbers:
        """A view to write numbers through: one (`fsm_id`), a collection, or a column (`motor_state[*].q`)."""
        steps, _ = parse_path(self._shape, path)
        walker = Walker(self._shape, bytes(self._bytes))
        spots = walker.locate(self._shape, steps)
        first = spots[0]
        code = walker.encoding.order + _code(first.shape)
        if first.count is not None:
            return np.frombuffer(self._bytes, code, first.count, first.offset)
        stride = spots[1].offset - first.offset if len(spots) > 1 else 0
        if any(spot.offset != first.offset + n * stride for n, spot in enumerate(spots)):
            raise ValueError(f"{self._shape.name}.{path}: these numbers stand at uneven distances")
        return np.ndarray((len(spots),), code, self._bytes, first.offset, (stride,))

    def table(self, path: str, width: int) -> Numbers:
        """A column such as `motor_state[*].q` together with the `width` - 1 numbers that follow each of its rows."""
        column = self.numbers(path)
        size = column.dtype.itemsize
        shape, strides = (len(column), width), (column.strides[0], size)
        return np.lib.stride_tricks.as_strided(column, shape, strides, writeable=True)

    def stretch(self, path: str, count: int) -> Numbers:
        """The numbers from the one at this path on that stand side by side, whatever fields they belong to."""
        first = self.numbers(path)
        return np.lib.stride_tricks.as_strided(first, (count,), (first.dtype.itemsize,), writeable=True)

    def doubles(self, *paths: str) -> tuple[Numbers, Numbers]:
        """The message as 64-bit numbers, and where in it those of these fields are: `view[where] = values`."""
        view = np.frombuffer(self._bytes, "d", (len(self._bytes) - BODY) // 8, BODY)
        return view, np.concatenate([self._double_index(path) for path in paths])

    def packer(self, path: str, codes: str) -> Callable[..., None]:
        """Writes several values at once, from this field on; `codes` as in `struct`, gaps included."""
        steps, _ = parse_path(self._shape, path)
        walker = Walker(self._shape, bytes(self._bytes))
        offset = walker.locate(self._shape, steps)[0].offset
        return partial(struct.Struct(walker.encoding.order + codes).pack_into, self._bytes, offset)

    def _double_index(self, path: str) -> Numbers:
        """They stand at multiples of eight bytes."""
        steps, _ = parse_path(self._shape, path)
        spot = Walker(self._shape, bytes(self._bytes)).locate(self._shape, steps)[0]
        return (spot.offset - BODY) // 8 + np.arange(1 if spot.count is None else spot.count)

    def data(self) -> bytes:
        return bytes(self._bytes)


def blank(cls: type[IdlStruct]) -> Any:
    """A message with zero, false or nothing in every field."""
    return _blank(struct_of(cls))


def has_field(cls: type[IdlStruct], name: str) -> bool:
    """Whether this firmware's version of a type has a field."""
    return name in dict(struct_of(cls).fields)


def _blank(shape: Shape) -> Any:
    match shape:
        case Number("?", _):
            return False
        case Number(code, _):
            return 0.0 if code in "fd" else 0
        case Enumeration(members):
            return next(iter(members))
        case Text():
            return ""
        case Many(Char(), _, _):
            return ""
        case Many(element, length, _):
            return [_blank(element) for _ in range(length or 0)]
        case Struct(cls, _, fields, _):
            return cls(**{name: _blank(part) for name, part in fields})
    raise ValueError(f"nothing is known about {shape}")


def _code(shape: Shape) -> str:
    match shape:
        case Number(code, _):
            return code
        case Enumeration():
            return "I"
        case Many(Number(code, _), _, _):
            return code
    raise ValueError(f"{shape} holds no numbers")
