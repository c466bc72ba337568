"""Careful, slow reading of a message: every length checked, every mistake named.

The fast decoder comes here to explain what went wrong, and a field reader to find where its field is in a new layout.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Any

from orchestrator.wire.encapsulation import BODY, Encoding, kinds
from orchestrator.wire.errors import WireError
from orchestrator.wire.shape import Char, Enumeration, Many, Number, Shape, Struct, Text, has_size_header

Step = str | int
"""One step of a path: a field name, an index, or "*" for every element."""

EVERY = "*"
_STEP = re.compile(r"(?:^|\.)([A-Za-z_]\w*)|\[(\d+|\*)\]")


@dataclass(frozen=True)
class Spot:
    """Where a value stands in a message; `count` is its number of elements when it is a collection."""

    offset: int
    shape: Shape
    count: int | None = None


def parse_path(shape: Struct, path: str) -> tuple[list[Step], Shape]:
    """`motor_state[3].q` as steps, checked against the type, and the shape of what it leads to."""
    steps: list[Step] = []
    position = 0
    while position < len(path) or not steps:
        match = _STEP.match(path, position)
        if match is None or path.startswith("."):
            raise WireError(shape.name, path, None, "is not a field path such as motor_state[3].q")
        name, index = match.groups()
        steps.append(name or (EVERY if index == EVERY else int(index)))
        position = match.end()
    return steps, _end_of(shape, path, steps)


def _end_of(root: Struct, path: str, steps: list[Step]) -> Shape:
    shape: Shape = root
    for step in steps:
        if isinstance(step, str) and step != EVERY:
            names = dict(shape.fields) if isinstance(shape, Struct) else {}
            if step not in names:
                raise WireError(root.name, path, None, f"there is no field {step!r}; there are {', '.join(names)}")
            shape = names[step]
        else:
            if not isinstance(shape, Many):
                raise WireError(root.name, path, None, f"[{step}] asks for an element of something that has none")
            if shape.length is not None and isinstance(step, int) and step >= shape.length:
                raise WireError(root.name, path, None, f"the last element of the array is [{shape.length - 1}]")
            shape = shape.element
    return shape


class Walker:
    """Goes through one message from front to back."""

    def __init__(self, root: Struct, data: bytes) -> None:
        self.root = root
        self.data = data
        self.position = BODY
        self.path: list[Step] = []
        self.layout: list[tuple[int, int]] = []
        """Every length word met so far: (offset, value)."""
        self.decisive = 0
        """How many of them decide where the located value stands."""
        self.encoding = self._encapsulation()
        self.end = len(data)

    def _encapsulation(self) -> Encoding:
        if len(self.data) < BODY:
            raise WireError(self.root.name, "", 0, f"{len(self.data)} bytes are too few for an encapsulation header")
        kind = int.from_bytes(self.data[:2], "big")
        known = kinds(self.root)
        if kind not in known:
            expected = ", ".join(f"{k:#06x}" for k in known)
            raise WireError(self.root.name, "", 0, f"encapsulation {kind:#06x} is not one of {expected}")
        return known[kind]

    def fail(self, problem: str, offset: int | None = None) -> WireError:
        return WireError(self.root.name, format_path(self.path), self.position if offset is None else offset, problem)

    def read_all(self) -> Any:
        """The whole message as an object; lists and tuples where the fast decoder gives numpy arrays."""
        message = self.read(self.root)
        self.finish()
        return message

    def finish(self) -> None:
        left = len(self.data) - self.position
        if left > 3:
            raise WireError(
                self.root.name, "", self.position, f"{left} bytes are left over: another version of this type?"
            )

    # Reading with all checks on the values.

    def read(self, shape: Shape) -> Any:
        match shape:
            case Number(code, size):
                return self._number(code, size)
            case Char():
                return chr(self._number("B", 1))
            case Enumeration(members):
                value = self._number("I", 4)
                try:
                    return members(value)
                except ValueError:
                    raise self.fail(f"{value} is not a value of {members.__name__}", self.position - 4) from None
            case Text():
                return self._text()
            case Many(element, _, _):
                count, end = self._open(shape)
                items = [self._at(index, element, self.read) for index in range(count)]
                self._close(end)
                return "".join(items).rstrip("\0") if isinstance(element, Char) else items
            case Struct(cls, _, fields, _):
                end = self._open_struct(shape)
                values = {name: self._at(name, field, self.read) for name, field in fields}
                self._close(end)
                return cls(**values)

    # Going over a value, checking only that it fits.

    def skip(self, shape: Shape) -> None:
        match shape:
            case Number(_, size):
                self._advance(size, size)
            case Char():
                self._advance(1, 1)
            case Enumeration():
                self._advance(4, 4)
            case Text():
                self._raw_text()
            case Many(element, _, _):
                count, end = self._open(shape)
                if isinstance(element, Number) and count:
                    self._advance(element.size * count, element.size)
                else:
                    for index in range(count):
                        self._at(index, element, self.skip)
                self._close(end)
            case Struct(_, _, fields, _):
                end = self._open_struct(shape)
                for name, field in fields:
                    self._at(name, field, self.skip)
                self._close(end)

    def locate(self, shape: Shape, steps: list[Step]) -> list[Spot]:
        """Where the value at the end of the path stands (several when it has a `[*]`); goes over everything else."""
        if not steps:
            return [self._spot(shape)]
        step, rest = steps[0], steps[1:]
        spots: list[Spot] = []

        def visit(part: Shape) -> None:
            if self.path[-1] == step or step == EVERY:
                spots.extend(self.locate(part, rest))
            else:
                self.skip(part)

        if isinstance(shape, Struct):
            end = self._open_struct(shape)
            for name, field in shape.fields:
                self._at(name, field, visit)
        else:
            assert isinstance(shape, Many)
            count, end = self._open(shape)
            if isinstance(step, int) and step >= count:
                raise self.fail(f"there is no element [{step}]: the sequence has {count}")
            for index in range(count):
                self._at(index, shape.element, visit)
        self._close(end)
        if step == EVERY:
            self.decisive = len(self.layout)  # how many elements there are decides too, also when there is none
        return spots

    def _spot(self, shape: Shape) -> Spot:
        match shape:
            case Number() | Char() | Enumeration():
                self.skip(shape)
                size = shape.size if isinstance(shape, Number) else 4 if isinstance(shape, Enumeration) else 1
                spot = Spot(self.position - size, shape)
            case Text():
                size = self._raw_text()
                spot = Spot(self.position - size, shape, size - 1)
            case Many(Number() | Char() as element, _, _):
                count, _ = self._open(shape)
                size = element.size if isinstance(element, Number) else 1
                spot = Spot(self._advance(size * count, size if count else 1), shape, count)
            case _:
                spot = Spot(self.position, shape)
                self.skip(shape)
        self.decisive = len(self.layout)
        return spot

    # The small steps.

    def _at(self, step: Step, shape: Shape, action: Any) -> Any:
        self.path.append(step)
        result = action(shape)
        self.path.pop()
        return result

    def _pad(self, position: int, align: int) -> int:
        return -(position - BODY) % min(align, self.encoding.max_align)

    def _align(self, align: int) -> None:
        self.position += self._pad(self.position, align)

    def _advance(self, size: int, align: int) -> int:
        self._align(align)
        start = self.position
        if start + size > self.end:
            raise self.fail(f"needs {size} bytes, {max(0, self.end - start)} are left: the message is cut short")
        self.position = start + size
        return start

    def _number(self, code: str, size: int) -> Any:
        offset = self._advance(size, size)
        return struct.unpack_from(self.encoding.order + code, self.data, offset)[0]

    def _length(self) -> int:
        value: int = self._number("I", 4)
        self.layout.append((self.position - 4, value))
        return value

    def _raw_text(self) -> int:
        size = self._length()
        start = self.position
        if size == 0:
            raise self.fail("a string without terminator", start - 4)
        if start + size > self.end:
            raise self.fail(f"a string of {size} bytes, {self.end - start} are left", start - 4)
        if self.data[start + size - 1] != 0:
            raise self.fail("a string without terminator", start)
        self.position = start + size
        return size

    def _text(self) -> str:
        size = self._raw_text()
        start = self.position - size
        try:
            return self.data[start : self.position - 1].decode()
        except UnicodeDecodeError as error:
            raise self.fail("not valid UTF-8", start + error.start) from None

    def _open(self, shape: Many) -> tuple[int, int | None]:
        """Number of elements, and where they must end if the encoding says so."""
        end = self._size_header() if self.encoding.version == 2 and has_size_header(shape) else None
        if shape.length is not None:
            return shape.length, end
        count = self._length()
        if count > self.end - self.position:
            raise self.fail(
                f"a sequence of {count} elements, {self.end - self.position} bytes are left", self.position - 4
            )
        return count, end

    def _open_struct(self, shape: Struct) -> int | None:
        return self._size_header() if self.encoding.version == 2 and shape.delimited else None

    def _size_header(self) -> int:
        size = self._length()
        if self.position + size > self.end:
            raise self.fail(f"a size of {size} bytes, {self.end - self.position} are left", self.position - 4)
        return self.position + size

    def _close(self, end: int | None) -> None:
        if end is not None and self.position != end:
            raise self.fail(f"ends {abs(end - self.position)} bytes {'early' if self.position < end else 'late'}")


def format_path(path: list[Step]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) or step == EVERY else f".{step}" for step in path)
    return text.removeprefix(".")
