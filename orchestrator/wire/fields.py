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
from orchestrator.wire.walk import EVERY, Spot, Step, Walker, parse_path

_KNOWN_LAYOUTS = 16


Read = Callable[[bytes], Any]
Piece = tuple[int, str, int]
"""Something `struct` can read: offset, code, size."""


class FieldReader:
    """Reads the field at one path, such as `motor_state[3].q`, `group_state[2].joint_position` or `motor_state[*].q`.

    The whole message is checked when its layout is new; after that, everything that decides where the field stands is.
    Collections of numbers come as read-only numpy arrays, or with `plain` as tuples (and numpy is not imported).
    """

    def __init__(self, shape: Struct, path: str, plain: bool = False) -> None:
        self.shape = shape
        self.path = path
        self.plain = plain
        self._steps, self._end = parse_path(shape, path)
        self._every = EVERY in self._steps
        if self._every and not isinstance(self._end, Number):
            raise WireError(shape.name, path, None, "[*] reads numbers only")
        self._layouts: dict[int, Read] = {}
        self.read: Read = self._learn
        """Reads a message laid out like the last one, and learns from any other: look it up for each message."""

    def __call__(self, data: bytes) -> Any:
        return self.read(data)

    def _other(self, data: bytes, tried: Read) -> Any:
        """A message that is not laid out like the last one."""
        known = self._layouts.get(len(data))
        if known is None or known is tried:
            return self._learn(data)
        self.read = known
        return known(data)

    def _find(self, data: bytes) -> tuple[Walker, list[Spot], list[Piece]]:
        """Where the field stands, and what else must stand where it does, so that it is there in another message."""
        walker = Walker(self.shape, data)
        spots = walker.locate(self.shape, self._steps)
        walker.finish()
        return walker, spots, [(offset, "I", 4) for offset, _ in walker.layout[: walker.decisive]]

    def _learn(self, data: bytes) -> Any:
        walker, spots, decisive = self._find(data)
        checks = [(0, "H", 2), *decisive]
        order, values = walker.encoding.order, self._values(spots)
        if values is not None and (not values or checks[-1][0] < values[0][0]):
            read = self._at_once(data, order, checks, values)
        else:
            read = self._in_two_steps(data, order, checks, self._reader(order, spots))
        if len(self._layouts) >= _KNOWN_LAYOUTS:
            self._layouts.clear()
        self._layouts[len(data)] = self.read = read
        return read(data)

    def _values(self, spots: list[Spot]) -> list[Piece] | None:
        """The field as plain numbers; None if it is something else."""
        if self._every:
            return [_piece(spot) for spot in spots] if self.plain else None
        spot = spots[0]
        match spot.shape:
            case Number() | Enumeration():
                return [_piece(spot)]
            case Many(Number(code, size), _, _) if self.plain or code == "?":
                count = spot.count or 0
                return [(spot.offset, f"{count}{code}", count * size)]
            case _:
                return None

    def _at_once(self, data: bytes, order: str, checks: list[Piece], values: list[Piece]) -> Read:
        """One unpack gives the words that must be the same and the value."""
        unpack = struct.Struct(_with_gaps(order, checks + values, len(data))).unpack
        count = len(checks)
        expected = unpack(data)[:count]
        name = self._name(values[0][0]) if isinstance(self._end, Enumeration) else None

        def many(message: bytes) -> Any:
            try:
                found = unpack(message)
            except struct.error:  # not of the same length
                return self._other(message, many)
            return found[count:] if found[:count] == expected else self._other(message, many)

        def one(message: bytes) -> Any:
            try:
                found = unpack(message)
            except struct.error:
                return self._other(message, one)
            if found[:count] == expected:
                return found[count] if name is None else name(found[count])
            return self._other(message, one)

        kind, *_ = expected

        def one_in_a_fixed_place(message: bytes) -> Any:
            try:
                found, value = unpack(message)
            except struct.error:
                return self._other(message, one_in_a_fixed_place)
            if found == kind:
                return value if name is None else name(value)
            return self._other(message, one_in_a_fixed_place)

        if self._every or isinstance(self._end, Many):
            return many
        return one_in_a_fixed_place if count == 1 else one

    def _in_two_steps(self, data: bytes, order: str, checks: list[Piece], give: Read) -> Read:
        unpack = struct.Struct(_with_gaps(order, checks, len(data))).unpack
        expected = unpack(data)

        def read(message: bytes) -> Any:
            same = len(message) == len(data) and unpack(message) == expected
            return give(message) if same else self._other(message, read)

        return read

    def _reader(self, order: str, spots: list[Spot]) -> Read:
        if self._every:
            return self._column(order, spots)
        spot = spots[0]
        match spot.shape:
            case Text():
                return self._text(spot)
            case Char():
                return lambda data: chr(data[spot.offset])
            case Many(Char(), _, _):
                start, end = spot.offset, spot.offset + (spot.count or 0)
                return lambda data: data[start:end].decode("latin-1").rstrip("\0")
            case Many(Number(code, _), _, _):
                return _array(order + code, spot)
            case _:
                return lambda data: self._careful(data, spot)

    def _name(self, offset: int) -> Callable[[int], Any]:
        assert isinstance(self._end, Enumeration)
        members = {member.value: member for member in self._end.members}
        kind = self._end.members.__name__

        def name(value: int) -> Any:
            try:
                return members[value]
            except KeyError:
                raise WireError(self.shape.name, self.path, offset, f"{value} is not a value of {kind}") from None

        return name

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

    def _column(self, order: str, spots: list[Spot]) -> Read:
        pieces = [_piece(spot) for spot in spots]
        unpack = struct.Struct(_with_gaps(order, pieces)).unpack_from
        if self.plain:
            return unpack
        import numpy as np

        dtype = np.dtype(order + pieces[0][1]) if pieces else np.dtype("d")
        array = np.array
        return lambda data: array(unpack(data), dtype)

    def _careful(self, data: bytes, spot: Spot) -> Any:
        walker = Walker(self.shape, data)
        walker.path = [self.path]
        walker.position = spot.offset
        return walker.read(spot.shape)


class PackedReader(FieldReader):
    """Reads a little-endian number that somebody packed into bytes; the path leads to the first of them."""

    def __init__(self, shape: Struct, path: str, code: str) -> None:
        super().__init__(shape, path, plain=True)
        self._number = struct.Struct("<" + code)

    def _values(self, spots: list[Spot]) -> list[Piece] | None:
        return None

    def _reader(self, order: str, spots: list[Spot]) -> Read:
        unpack, offset = self._number.unpack_from, spots[0].offset
        return lambda data: unpack(data, offset)[0]


class NoElement(Exception):
    """No element of the sequence carries the name."""


class ElementReader(FieldReader):
    """Reads a field of the element that carries a name, wherever in its sequence that stands; paths have `{}` there.

    That the name stands where it stood, with the right length and the right number of values behind it, says enough:
    the lengths of all elements before it need not be looked at.
    """

    def __init__(self, shape: Struct, path: str, name_path: str, name: str) -> None:
        super().__init__(shape, path.format(0), plain=True)
        self._value_path, self._name_path = path, name_path
        self._wanted = name.encode()

    def _find(self, data: bytes) -> tuple[Walker, list[Spot], list[Piece]]:
        whole = Walker(self.shape, data)
        whole.skip(self.shape)
        whole.finish()  # from here on the only thing that can be wrong is that there are no more elements
        for index in range(len(data)):
            try:
                (name,) = Walker(self.shape, data).locate(self.shape, self._at(self._name_path, index))
            except WireError:
                break
            end = name.offset + (name.count or 0)
            if data[name.offset : end] == self._wanted:
                walker = Walker(self.shape, data)
                spots = walker.locate(self.shape, self._at(self._value_path, index))
                behind = [(offset, "I", 4) for offset, _ in walker.layout[: walker.decisive] if offset > end]
                return walker, spots, [(name.offset - 4, f"{end - name.offset + 5}s", end - name.offset + 5), *behind]
        raise NoElement

    def _at(self, path: str, index: int) -> list[Step]:
        return parse_path(self.shape, path.format(index))[0]


def _array(code: str, spot: Spot) -> Read:
    import numpy as np

    count, offset = spot.count or 0, spot.offset
    dtype = np.dtype(code)
    frombuffer = np.frombuffer
    if not count:
        return lambda data: np.empty(0, dtype)
    return lambda data: frombuffer(data, dtype, count, offset)


def _piece(spot: Spot) -> Piece:
    assert isinstance(spot.shape, Number | Enumeration)
    return (spot.offset, spot.shape.code, spot.shape.size) if isinstance(spot.shape, Number) else (spot.offset, "I", 4)


def _with_gaps(order: str, pieces: list[Piece], length: int = 0) -> str:
    """A `struct` format that reads values at the given offsets of a message and passes over what is between them."""
    parts = [order]
    position = 0
    for offset, code, size in pieces:
        parts.append(f"{offset - position}x{code}")
        position = offset + size
    return "".join(parts) + f"{max(length - position, 0)}x"
