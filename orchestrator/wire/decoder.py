"""Writes the Python source of a decoder for one type in one encoding.

Runs of values whose place is known become a single `unpack_from`.
The generated code checks just enough to fail on bad input; the careful walker then says what is wrong.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from orchestrator.wire.encapsulation import BODY, Encoding
from orchestrator.wire.shape import Char, Enumeration, Many, Number, Shape, Struct, Text, has_size_header

BAD_INPUT = (struct.error, IndexError, KeyError, ValueError)
"""What generated decoders raise on bad input."""


def compile_decoder(shape: Struct, kind: bytes, encoding: Encoding, otherwise: Callable[[bytes], Any]) -> Any:
    """A decoder for messages of one encapsulation kind; `otherwise` gets every message that is not as it should be."""
    source = _Decoder(encoding)
    result = source.value(shape)
    source.flush()
    code = source.text(kind, result)
    source.names |= {"otherwise": otherwise, "BAD_INPUT": BAD_INPUT}
    exec(compile(code, f"<decoder of {shape.name}>", "exec"), source.names)
    return source.names["decode"]


@dataclass
class _Decoder:
    """The position is `rel` while everything so far has a fixed size, and `o + rel` with a variable `o` after that."""

    encoding: Encoding
    lines: list[str] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)
    indent: int = 2
    rel: int = BODY
    aligned: int = 8
    """What `o - BODY` is known to be a multiple of."""
    dynamic: bool = False
    pending: list[tuple[int, str, int, str]] = field(default_factory=lambda: [(0, "H", 2, "kind")])
    """Values waiting for one common unpack: (rel, struct code, size, variable)."""
    counter: int = 0

    def text(self, kind: bytes, result: str) -> str:
        body = "\n".join(self.lines)
        # Up to three bytes of padding may follow; more means that this is another type.
        sizes = {self.rel + padding for padding in range(4)}
        fits = f"0 <= len(b) - o - {self.rel} <= 3" if self.dynamic else f"len(b) in {sizes}"
        order: Any = {"<": "little", ">": "big"}[self.encoding.order]
        return (
            f"def decode(b):\n    try:\n{body}\n"
            f"        if kind == {int.from_bytes(kind, order)} and {fits}:\n            return {result}\n"
            "    except BAD_INPUT:\n        pass\n    return otherwise(b)\n"
        )

    # Small pieces.

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def variable(self) -> str:
        self.counter += 1
        return f"v{self.counter}"

    def bind(self, prefix: str, value: Any) -> str:
        for name, known in self.names.items():
            if known is value:
                return name
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name

    def place(self, rel: int) -> str:
        if not self.dynamic:
            return str(rel)
        return f"o + {rel}" if rel else "o"

    def align(self, size: int) -> None:
        size = min(size, self.encoding.max_align)
        if not self.dynamic:
            self.rel += -(self.rel - BODY) % size
        elif size <= self.aligned:
            self.rel += -self.rel % size
        else:
            self.flush()
            self.emit(f"o = {self.rel} + o + (-(o + {self.rel - BODY}) & {size - 1})")
            self.rel, self.aligned = 0, size

    def alignment(self) -> int:
        """What the position is known to be a multiple of."""
        offset, known = (self.rel, self.aligned) if self.dynamic else (self.rel - BODY, 8)
        while offset % known:
            known //= 2
        return known

    def restart(self, position: str, aligned: int) -> None:
        """From here on the position is a variable."""
        self.flush()
        self.emit(f"o = {position}")
        self.rel, self.aligned, self.dynamic = 0, min(aligned, self.encoding.max_align), True

    def flush(self) -> None:
        """One unpack for all values that wait for it."""
        if not self.pending:
            return
        first = self.pending[0][0]
        codes, position = [self.encoding.order], first
        for rel, code, size, _ in self.pending:
            codes.append(f"{rel - position}x{code}" if rel > position else code)
            position = rel + size
        unpack = self.bind("u", struct.Struct("".join(codes)).unpack_from)
        targets = ", ".join(variable for *_, variable in self.pending)
        self.emit(f"{targets}, = {unpack}(b, {self.place(first)})")
        self.pending.clear()

    def number(self, code: str, size: int) -> str:
        self.align(size)
        variable = self.variable()
        self.pending.append((self.rel, code, size, variable))
        self.rel += size
        return variable

    def length(self) -> str:
        count = self.number("I", 4)
        self.flush()
        return count

    # One method per shape; each returns the expression of its value.

    def value(self, shape: Shape) -> str:
        match shape:
            case Number(code, size):
                return self.number(code, size)
            case Char():
                return f"chr({self.number('B', 1)})"
            case Enumeration(members):
                table = self.bind("e", _table(members))
                return f"{table}[{self.number('I', 4)}]"
            case Text():
                return self.string()
            case Many(Number(code) as element, _, _) if code != "?":
                return self.numbers(shape, element)
            case Many(Number(), int() as length, _):
                return self.booleans(length)
            case Many(Char(), int() as length, _):
                return self.characters(length)
            case Many(_, int(), _):
                return self.array(shape)
            case Many():
                return self.sequence(shape)
            case Struct():
                return self.struct(shape)

    def string(self) -> str:
        size, variable = self.length(), self.variable()
        start = self.place(self.rel)
        self.emit(f"e = {start} + {size}")
        self.emit(f"if not {size} or b[e - 1]: raise ValueError('string')")
        self.emit(f"{variable} = b[{start}:e - 1].decode()")
        self.restart("e", 1)
        return variable

    def booleans(self, length: int) -> str:
        variable = self.variable()
        self.emit(f"{variable} = {self.bind('u', struct.Struct(f'{length}?').unpack_from)}(b, {self.place(self.rel)})")
        self.rel += length
        return variable

    def characters(self, length: int) -> str:
        variable, start = self.variable(), self.rel
        self.rel += length
        self.emit(f"{variable} = b[{self.place(start)}:{self.place(self.rel)}].decode('latin-1').rstrip('\\0')")
        return variable

    def numbers(self, shape: Many, element: Number) -> str:
        import numpy as np

        dtype = self.bind("d", np.dtype(self.encoding.order + element.code))
        array = self.bind("array", np.frombuffer)
        if shape.length is not None:
            self.align(element.size)
            variable = self.variable()
            self.emit(f"{variable} = {array}(b, {dtype}, {shape.length}, {self.place(self.rel)})")
            self.rel += element.size * shape.length
            return variable
        count, variable = self.length(), self.variable()
        empty = self.bind("empty", np.empty(0, self.encoding.order + element.code))
        pad = min(element.size, self.encoding.max_align) - 1
        self.restart(self.place(self.rel), self.alignment())
        self.emit(f"if {count}:")
        if self.aligned <= pad:
            self.emit(f"    o += -(o - {BODY}) & {pad}")  # an empty sequence is followed by no padding
        self.emit(f"    {variable} = {array}(b, {dtype}, {count}, o)")
        self.emit(f"    o += {count} * {element.size}")
        self.emit("else:")
        self.emit(f"    {variable} = {empty}")
        self.aligned = min(self.aligned, pad + 1)
        return variable

    def array(self, shape: Many) -> str:
        end = self.size_header() if self.encoding.version == 2 and has_size_header(shape) else None
        items = [self.value(shape.element) for _ in range(shape.length or 0)]
        self.flush()
        variable = self.variable()
        self.emit(f"{variable} = [{', '.join(items)}]")
        self.close(end)
        return variable

    def sequence(self, shape: Many) -> str:
        end = self.size_header() if self.encoding.version == 2 and has_size_header(shape) else None
        count, variable = self.length(), self.variable()
        self.restart(self.place(self.rel), 1)
        self.emit(f"{variable} = []")
        self.emit(f"for _ in range({count}):")
        self.indent += 1
        item = self.value(shape.element)
        self.flush()
        self.emit(f"{variable}.append({item})")
        if self.rel:
            self.restart(self.place(self.rel), 1)
        self.indent -= 1
        self.rel, self.aligned = 0, 1
        self.close(end)
        return variable

    def struct(self, shape: Struct) -> str:
        end = self.size_header() if self.encoding.version == 2 and shape.delimited else None
        values = [self.value(part) for _, part in shape.fields]
        self.flush()
        self.close(end)
        variable = self.variable()
        self.emit(f"{variable} = {self.bind('C', shape.cls)}({', '.join(values)})")
        return variable

    def size_header(self) -> str:
        size = self.length()
        end = self.variable()
        self.emit(f"{end} = {self.place(self.rel)} + {size}")
        return end

    def close(self, end: str | None) -> None:
        if end is not None:
            self.flush()
            self.emit(f"if {self.place(self.rel)} != {end}: raise ValueError('size')")


_TABLES: dict[type, dict[int, Any]] = {}


def _table(members: Any) -> dict[int, Any]:
    return _TABLES.setdefault(members, {member.value: member for member in members})
