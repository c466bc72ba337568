"""Writes the Python source of an encoder for one type in one encoding.

Like the decoder, it checks just enough to fail on a bad value; `explain` then says which one and why.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from orchestrator.wire.encapsulation import BODY, Encoding, header
from orchestrator.wire.errors import WireError
from orchestrator.wire.shape import Char, Enumeration, Many, Number, Shape, Struct, Text, has_size_header
from orchestrator.wire.walk import Step, format_path

BAD_VALUE = (struct.error, AttributeError, TypeError, ValueError, OverflowError)
"""What generated encoders raise on bad values."""


def compile_encoder(shape: Struct, encoding: Encoding, finite: bool) -> Callable[[Any], bytes]:
    source = _Encoder(encoding, finite)
    source.names |= {"BadValue": ValueError, "isfinite": math.isfinite, "PADS": [bytes(n) for n in range(8)]}
    source.value(shape, "m")
    source.flush()
    body = "\n".join(source.lines)
    code = (
        f"def encode(m):\n    out = bytearray({header(shape, encoding)!r})\n    total = 0.0\n{body}\n"
        + ("    if not isfinite(total): raise BadValue('not finite')\n" if finite else "")
        + "    pad = -len(out) & 3\n    out += PADS[pad]\n    out[3] = pad\n    return bytes(out)\n"
    )
    exec(compile(code, f"<encoder of {shape.name}>", "exec"), source.names)
    encode: Callable[[Any], bytes] = source.names["encode"]
    return encode


@dataclass
class _Encoder:
    encoding: Encoding
    finite: bool
    lines: list[str] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)
    indent: int = 1
    aligned: int = 8
    """What the length of the body written so far, less `ahead`, is known to be a multiple of."""
    ahead: int = 0
    """Bytes that follow that point: waiting in `codes`, or already written."""
    codes: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    counter: int = 0

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def variable(self) -> str:
        self.counter += 1
        return f"v{self.counter}"

    def bind(self, prefix: str, value: Any) -> str:
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name

    def align(self, size: int) -> None:
        size = min(size, self.encoding.max_align)
        if size <= self.aligned:
            pad = -self.ahead % size
            if pad:
                self.codes.append(f"{pad}x")
                self.ahead += pad
        else:
            self.flush()
            self.emit(f"out += PADS[-(len(out) - {BODY}) & {size - 1}]")
            self.aligned, self.ahead = size, 0

    def unknown(self) -> None:
        self.flush()
        self.aligned, self.ahead = 1, 0

    def flush(self) -> None:
        if not self.codes:
            return
        pack = self.bind("p", struct.Struct(self.encoding.order + "".join(self.codes)).pack)
        self.emit(f"out += {pack}({', '.join(self.values)})")
        self.codes.clear()
        self.values.clear()

    def number(self, code: str, size: int, value: str) -> None:
        self.align(size)
        self.codes.append(code)
        self.values.append(value)
        self.ahead += size

    def value(self, shape: Shape, name: str) -> None:
        match shape:
            case Number("?", _):
                # Any object is true or false to `struct`: only a real boolean is a decision.
                self.emit(f"if {name} is not True and {name} is not False: raise BadValue('boolean')")
                self.number("?", 1, name)
            case Number(code, size):
                if self.finite and code in "fd":
                    self.emit(f"total += {name}")
                self.number(code, size, name)
            case Char():
                self.number("B", 1, f"ord({name})")
            case Enumeration(members):
                self.emit(f"if {name}.__class__ is not {self.bind('E', members)}: raise BadValue('enumeration')")
                self.number("I", 4, f"{name}.value")
            case Text(bound):
                self.string(name, bound)
            case Many(Number() as element, _, _):
                self.numbers(shape, element, name)
            case Many(Char(), int() as length, _):
                self.emit(f"if len({name}) > {length}: raise BadValue('length')")
                self.number(f"{length}s", length, f"{name}.encode('latin-1')")
            case Many():
                self.items(shape, name)
            case Struct():
                self.struct(shape, name)

    def string(self, name: str, bound: int | None) -> None:
        text = self.variable()
        self.emit(f"{text} = {name}.encode()")
        self.emit(f"if 0 in {text}: raise BadValue('zero')")
        if bound is not None:
            self.emit(f"if len({text}) > {bound}: raise BadValue('length')")
        self.number("I", 4, f"len({text}) + 1")
        self.flush()
        self.emit(f"out += {text}")
        self.emit("out.append(0)")
        self.unknown()

    def numbers(self, shape: Many, element: Number, name: str) -> None:
        if element.code == "?":
            self.emit(f"for x in {name}:")
            self.emit("    if x is not True and x is not False: raise BadValue('boolean')")
        if self.finite and element.code in "fd":
            self.emit(f"total += sum({name})")
        if shape.length is not None:
            self.emit(f"if len({name}) != {shape.length}: raise BadValue('length')")
            self.align(element.size)
            self.codes.append(f"{shape.length}{element.code}")
            self.values.append(f"*{name}")
            self.ahead += element.size * shape.length
            return
        count = self.count(shape, name)
        self.flush()
        self.emit(f"if {count}:")
        if element.size > 4:
            self.emit(f"    out += PADS[-(len(out) - {BODY}) & {min(element.size, self.encoding.max_align) - 1}]")
        pack, order = self.bind("pack", struct.pack), self.encoding.order
        self.emit(f"    out += {pack}(f'{order}{{{count}}}{element.code}', *{name})")
        self.unknown()

    def count(self, shape: Many, name: str) -> str:
        count = self.variable()
        self.emit(f"{count} = len({name})")
        if shape.bound is not None:
            self.emit(f"if {count} > {shape.bound}: raise BadValue('length')")
        self.number("I", 4, count)
        return count

    def items(self, shape: Many, name: str) -> None:
        start = self.size_header() if self.encoding.version == 2 and has_size_header(shape) else None
        if shape.length is None:
            self.count(shape, name)
        else:
            self.emit(f"if len({name}) != {shape.length}: raise BadValue('length')")
        item = self.variable()
        self.unknown()
        self.emit(f"for {item} in {name}:")
        self.indent += 1
        self.value(shape.element, item)
        self.unknown()
        self.indent -= 1
        self.close(start)

    def struct(self, shape: Struct, name: str) -> None:
        start = self.size_header() if self.encoding.version == 2 and shape.delimited else None
        for part, part_shape in shape.fields:
            variable = self.variable()
            self.emit(f"{variable} = {name}.{part}")
            self.value(part_shape, variable)
        self.close(start)

    def size_header(self) -> str:
        self.number("I", 4, "0")
        self.flush()
        start = self.variable()
        self.emit(f"{start} = len(out)")
        return start

    def close(self, start: str | None) -> None:
        if start is not None:
            self.flush()
            pack = self.bind("pack_into", struct.Struct(self.encoding.order + "I").pack_into)
            self.emit(f"{pack}(out, {start} - 4, len(out) - {start})")


def explain(shape: Struct, message: Any, finite: bool) -> WireError | None:
    """What is wrong with a message that could not be encoded; None if nothing is."""
    found = _fault(shape, message, finite, [])
    if found is None:
        return None
    path, problem = found
    return WireError(shape.name, format_path(path), None, problem)


def _fault(shape: Shape, value: Any, finite: bool, path: list[Step]) -> tuple[list[Step], str] | None:
    match shape:
        case Struct(_, _, fields, _):
            for name, part in fields:
                if not hasattr(value, name):
                    return [*path, name], f"missing: {type(value).__name__} has no such field"
                if found := _fault(part, getattr(value, name), finite, [*path, name]):
                    return found
            return None
        case Many(Char(), int() as length, _):
            if not isinstance(value, str) or len(value) > length or any(ord(c) > 255 for c in value):
                return path, f"{value!r} is not a text of at most {length} 8-bit characters"
            return None
        case Many():
            return _fault_in_many(shape, value, finite, path)
        case _:
            problem = _fault_in_scalar(shape, value, finite)
            return (path, problem) if problem else None


def _fault_in_many(shape: Many, value: Any, finite: bool, path: list[Step]) -> tuple[list[Step], str] | None:
    try:
        items = list(value)
    except TypeError:
        return path, f"{value!r} is not a list of values"
    if shape.length is not None and len(items) != shape.length:
        return path, f"{len(items)} values, the array takes exactly {shape.length}"
    if shape.bound is not None and len(items) > shape.bound:
        return path, f"{len(items)} values, the sequence takes at most {shape.bound}"
    for index, item in enumerate(items):
        if found := _fault(shape.element, item, finite, [*path, index]):
            return found
    return None


def _fault_in_scalar(shape: Shape, value: Any, finite: bool) -> str | None:
    match shape:
        case Number("?", _):
            return None if value is True or value is False else f"{value!r} is not True or False"
        case Number(code, _):
            try:
                struct.pack(f"<{code}", value)
                if finite and code in "fd" and not math.isfinite(value):
                    return f"{value} is not a finite number"
            except (struct.error, OverflowError, TypeError) as error:
                return f"{value!r} does not fit: {error}"
            return None
        case Char():
            ok = isinstance(value, str) and len(value) == 1 and ord(value) < 256
            return None if ok else f"{value!r} is not one 8-bit character"
        case Enumeration(members):
            return None if isinstance(value, members) else f"{value!r} is not a {members.__name__}: {_choices(members)}"
        case Text(bound):
            return _fault_in_text(value, bound)
        case _:
            raise AssertionError(shape)


def _fault_in_text(value: Any, bound: int | None) -> str | None:
    if not isinstance(value, str):
        return f"{value!r} is not text"
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        return f"{value!r} is not text that UTF-8 can carry"
    if "\0" in value:
        return f"{value!r} has a zero inside, where C programs see its end"
    if bound is not None and size > bound:
        return f"text of {size} bytes, at most {bound} are allowed"
    return None


def _choices(members: type[Enum]) -> str:
    return ", ".join(member.name for member in members)
