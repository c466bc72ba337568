"""A YAML file as a tree of text with places: nothing is interpreted before somebody says which type is wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from orchestrator.yamlfile.findings import Place


class Mark(Protocol):
    """Where the YAML parser saw something: it counts from 0. Kept as it comes, because most are never looked at."""

    @property
    def name(self) -> str: ...
    @property
    def index(self) -> int: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


class Node:
    """A piece of a file that knows where it begins."""

    __slots__ = ("mark",)
    mark: Mark
    kind = "node"

    @property
    def place(self) -> Place:
        mark = self.mark
        return Place(mark.name, mark.line + 1, mark.column + 1)

    @property
    def line(self) -> int:
        return self.mark.line + 1


class Scalar(Node):
    """Text as written, without its quotes."""

    __slots__ = ("quoted", "text")
    kind = "text"

    def __init__(self, text: str, quoted: bool, mark: Mark) -> None:
        self.text = text
        self.quoted = quoted
        self.mark = mark

    @property
    def empty(self) -> bool:
        """Nothing is written here, as after the colon of `ClearErrors:`."""
        return not self.text and not self.quoted

    def __repr__(self) -> str:
        return f"Scalar({self.text!r})"


class Sequence(Node):
    """A list."""

    __slots__ = ("items",)
    kind = "list"

    def __init__(self, items: list[Node], mark: Mark) -> None:
        self.items = items
        self.mark = mark

    def __repr__(self) -> str:
        return f"Sequence({self.items!r})"


class Mapping(Node):
    """Keys and values in the order in which they are written; every key once."""

    __slots__ = ("entries",)
    kind = "mapping"

    def __init__(self, entries: dict[str, tuple[Scalar, Node]], mark: Mark) -> None:
        self.entries = entries
        self.mark = mark

    def get(self, key: str) -> Node | None:
        entry = self.entries.get(key)
        return entry[1] if entry else None

    def __repr__(self) -> str:
        return f"Mapping({ {key: value for key, (_, value) in self.entries.items()}!r})"


@dataclass(frozen=True, slots=True)
class Document:
    """What was read of a file; not complete when parts with syntax errors had to be left out."""

    file: str
    root: Node | None
    lines: list[str]
    complete: bool
