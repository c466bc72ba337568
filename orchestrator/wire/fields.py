"""Reading one field straight from the bytes of a message.

Where a field stands depends only on the lengths in front of it. Those rarely change from sample to sample, so a reader
remembers where it found its field, checks with one unpack that the lengths are still the same, and reads.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from orchestrator.wire.errors import WireError
from orchestrator.wire.shape import Char, Enumeration, Many, Number, Struct, Text
from orchestrator.wire.walk import EVERY, Spot, Walker, parse_path

_KNOWN_LAYOUTS = 16


class FieldReader:
    """Reads the field at one path, such as `motor_state[3].q`, `group_state[2].joint_position` or `motor_state[*].q`.

    The whole message is checked when its layout is new; after that, everything that decides where the field stands is.
    Collections of numbers come as read-only numpy arrays, or with `plain` as tuples (and numpy is not imported).
    """

    def __init__(self, shape: Struct, path: str, plain: bool = False) -> None:
        self.shape = shape
        self.path = path
        self.plain = plain
        self._steps, end = parse_path(shape, path)
        if EVERY in self._steps and not isinstance(end, Number):
            raise WireError(shape.name, path, None, "[*] reads numbers only")
        self._layouts: dict[int, tuple[Callable[..., tuple[Any, ...]], tuple[Any, ...], Callable[[bytes], Any]]] = {}

    def __call__(self, data: bytes) -> Any:
        known = self._layouts.get(len(data))
        if known is not None:
            lengths, expected, read = known
            if lengths(data) == expected:
                return read(data)
        return self._learn(data)(data)

    def _learn(self, data: bytes) -> Callable[[bytes], Any]:
        walker = Walker(self.shape, data)
        spots = walker.locate(self.shape, self._steps)
        walker.finish()
        order = walker.encoding.order
        words = walker.layout[: walker.decisive]
        lengths = struct.Struct(_with_gaps(order, [(0, "H", 2)] + [(offset, "I", 4) for offset, _ in words]))
        read = self._reader(order, spots)
        if len(self._layouts) >= _KNOWN_LAYOUTS:
            self._layouts.clear()
        self._layouts[len(data)] = (lengths.unpack_from, lengths.unpack_from(data), read)
        return read

    def _reader(self, order: str, spots: list[Spot]) -> Callable[[bytes], Any]:
        if EVERY in self._steps:
            return self._column(order, spots)
        spot = spots[0]
        match spot.shape:
            case Number(code, _):
                unpack = struct.Struct(order + code).unpack_from
                offset = spot.offset
                return lambda data: unpack(data, offset)[0]
            case Enumeration():
                return self._enumeration(order, spot)
            case Text():
                return self._text(spot)
            case Char():
                return lambda data: chr(data[spot.offset])
            case Many(Char(), _, _):
                start, end = spot.offset, spot.offset + (spot.count or 0)
                return lambda data: data[start:end].decode("latin-1").rstrip("\0")
            case Many(Number(code, _), _, _):
                return self._numbers(order + code, spot)
            case _:
                return lambda data: self._careful(data, spot)

    def _enumeration(self, order: str, spot: Spot) -> Callable[[bytes], Any]:
        assert isinstance(spot.shape, Enumeration)
        members = {member.value: member for member in spot.shape.members}
        name = spot.shape.members.__name__
        unpack, offset = struct.Struct(order + "I").unpack_from, spot.offset

        def read(data: bytes) -> Any:
            (value,) = unpack(data, offset)
            try:
                return members[value]
            except KeyError:
                raise WireError(self.shape.name, self.path, offset, f"{value} is not a value of {name}") from None

        return read

    def _text(self, spot: Spot) -> Callable[[bytes], str]:
        start, end = spot.offset, spot.offset + (spot.count or 0)

        def read(data: bytes) -> str:
            if data[end] != 0:
                raise WireError(self.shape.name, self.path, start, "a string without terminator")
            try:
                return data[start:end].decode()
            except UnicodeDecodeError as error:
                raise WireError(self.shape.name, self.path, start + error.start, "not valid UTF-8") from None

        return read

    def _numbers(self, code: str, spot: Spot) -> Callable[[bytes], Any]:
        count, offset = spot.count or 0, spot.offset
        if self.plain or code[1] == "?":
            unpack = struct.Struct(f"{code[0]}{count}{code[1]}").unpack_from
            return lambda data: unpack(data, offset)
        import numpy as np

        dtype = np.dtype(code)
        frombuffer = np.frombuffer
        if not count:
            return lambda data: np.empty(0, dtype)
        return lambda data: frombuffer(data, dtype, count, offset)

    def _column(self, order: str, spots: list[Spot]) -> Callable[[bytes], Any]:
        fields = [(spot.offset, spot.shape.code, spot.shape.size) for spot in spots if isinstance(spot.shape, Number)]
        unpack = struct.Struct(_with_gaps(order, fields)).unpack_from
        if self.plain:
            return unpack
        import numpy as np

        dtype = np.dtype(order + fields[0][1]) if fields else np.dtype("d")
        array = np.array
        return lambda data: array(unpack(data), dtype)

    def _careful(self, data: bytes, spot: Spot) -> Any:
        walker = Walker(self.shape, data)
        walker.path = [self.path]
        walker.position = spot.offset
        return walker.read(spot.shape)


def _with_gaps(order: str, fields: list[tuple[int, str, int]]) -> str:
    """A `struct` format that reads values at the given offsets and passes over what is between them."""
    parts = [order]
    position = 0
    for offset, code, size in fields:
        parts.append(f"{offset - position}x{code}")
        position = offset + size
    return "".join(parts)
