"""What a message looks like: a plain description of an IDL type, read once from its Python class."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from cyclonedds.idl import IdlStruct, types


@dataclass(frozen=True)
class Number:
    """A number or boolean: its `struct` code, its size and alignment in bytes."""

    code: str
    size: int


@dataclass(frozen=True)
class Char:
    """One 8-bit character, a one-letter `str` in Python."""


@dataclass(frozen=True)
class Enumeration:
    """A 32-bit enumeration."""

    members: type[Enum]


@dataclass(frozen=True)
class Text:
    """A zero-terminated UTF-8 string."""

    bound: int | None


@dataclass(frozen=True)
class Many:
    """An array (`length` is given) or a sequence (it is not) of one kind of element."""

    element: Shape
    length: int | None
    bound: int | None


@dataclass(frozen=True)
class Struct:
    """A structure; `delimited` means XCDR2 writes its size in front (appendable types)."""

    cls: type[IdlStruct]
    name: str
    fields: tuple[tuple[str, Shape], ...]
    delimited: bool


Shape = Number | Char | Enumeration | Text | Many | Struct

_NUMBERS: dict[Any, Number] = {
    types.byte: Number("B", 1),
    types.uint8: Number("B", 1),
    types.int8: Number("b", 1),
    types.int16: Number("h", 2),
    types.uint16: Number("H", 2),
    types.int32: Number("i", 4),
    types.uint32: Number("I", 4),
    types.int64: Number("q", 8),
    types.uint64: Number("Q", 8),
    types.float32: Number("f", 4),
    types.float64: Number("d", 8),
    bool: Number("?", 1),
}


_KNOWN: dict[type[IdlStruct], Struct] = {}


def struct_of(cls: type[IdlStruct]) -> Struct:
    """The shape of a message type, worked out once."""
    if cls not in _KNOWN:
        _KNOWN[cls] = _read(cls)
    return _KNOWN[cls]


def _read(cls: type[IdlStruct]) -> Struct:
    hints = get_type_hints(cls, include_extras=True)
    fields = tuple((field.name, _shape(hints[field.name])) for field in dataclasses.fields(cls))
    annotations = cls.__idl_annotations__
    return Struct(
        cls=cls,
        name=cls.__idl_typename__.replace(".", "::"),
        fields=fields,
        delimited=annotations.get("extensibility", "final") == "appendable",
    )


def _shape(hint: Any) -> Shape:
    if hint in _NUMBERS:
        return _NUMBERS[hint]
    if hint == types.char:
        return Char()
    if hint is str:
        return Text(bound=None)
    if get_origin(hint) is Annotated:
        return _annotated(get_args(hint)[1], hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Enumeration(hint)
    if isinstance(hint, type) and issubclass(hint, IdlStruct):
        return struct_of(hint)
    raise TypeError(f"no wire shape for {hint!r}")


def _annotated(note: Any, hint: Any) -> Shape:
    if isinstance(note, types.array):
        return Many(_shape(note.subtype), length=note.length, bound=None)
    if isinstance(note, types.sequence):
        return Many(_shape(note.subtype), length=None, bound=note.max_length)
    if isinstance(note, types.bounded_str):
        return Text(bound=note.max_length)
    raise TypeError(f"no wire shape for {hint!r}")


def has_size_header(shape: Many) -> bool:
    """XCDR2 writes a size in front of collections whose elements are not primitive."""
    return not isinstance(shape.element, Number | Char)
