"""Records from tables of fields: what a mapping may contain, read in one go with every mistake at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from orchestrator.yamlfile.findings import Findings, nearest
from orchestrator.yamlfile.nodes import Mapping, Node, Scalar, Sequence
from orchestrator.yamlfile.reader import read_file
from orchestrator.yamlfile.values import Mistake, ScalarType

T = TypeVar("T")


class Unread(Enum):
    """Stands for a value that could not be read; the reason is among the findings."""

    UNREAD = "unread"


UNREAD: Final = Unread.UNREAD


class Type(Generic[T]):
    """How a node of a file becomes a value."""

    name: str

    def read(self, node: Node, findings: Findings) -> T | Unread:
        raise NotImplementedError


class _ScalarNode(Type[T]):
    def __init__(self, of: ScalarType[T]) -> None:
        self.name = of.name
        self._of = of

    def read(self, node: Node, findings: Findings) -> T | Unread:
        if not isinstance(node, Scalar):
            findings.error(node, "wrong-kind", f"{_article(self.name)} is wanted here, not a {node.kind}")
            return UNREAD
        try:
            return self._of.parse(node.text)
        except Mistake as mistake:
            findings.error(node, mistake.code, mistake.message, mistake.suggestion)
            return UNREAD


def scalar(of: ScalarType[T]) -> Type[T]:
    """A type for nodes from one for text; `required`, `optional`, `list_of` and `map_of` do it by themselves."""
    return _ScalarNode(of)


def _node_type(of: Type[T] | ScalarType[T]) -> Type[T]:
    return scalar(of) if isinstance(of, ScalarType) else of


class _ListOf(Type[list[T]]):
    def __init__(self, of: Type[T], at_least: int, at_most: int | None) -> None:
        self.name = f"list of {of.name}"
        self._of = of
        self._at_least = at_least
        self._at_most = at_most

    def read(self, node: Node, findings: Findings) -> list[T] | Unread:
        if not isinstance(node, Sequence):
            findings.error(node, "wrong-kind", f"a {self.name} is wanted here, not a {node.kind}")
            return UNREAD
        count = len(node.items)
        if count < self._at_least or (self._at_most is not None and count > self._at_most):
            findings.error(node, "wrong-length", f"{self._wanted()} {self._of.name} wanted here, not {count}")
            return UNREAD
        values = [self._of.read(item, findings) for item in node.items]
        good = [value for value in values if not isinstance(value, Unread)]
        return good if len(good) == count else UNREAD

    def _wanted(self) -> str:
        if self._at_least == self._at_most:
            return f"exactly {self._at_least}"
        if self._at_most is None:
            return f"at least {self._at_least}"
        return f"{self._at_least} to {self._at_most}"


def list_of(of: Type[T] | ScalarType[T], at_least: int = 0, at_most: int | None = None) -> Type[list[T]]:
    """A list of values of one type."""
    return _ListOf(_node_type(of), at_least, at_most)


class _MapOf(Type[dict[str, T]]):
    def __init__(self, of: Type[T]) -> None:
        self.name = f"mapping of names to {of.name}"
        self._of = of

    def read(self, node: Node, findings: Findings) -> dict[str, T] | Unread:
        if not isinstance(node, Mapping):
            findings.error(node, "wrong-kind", f"a {self.name} is wanted here, not a {node.kind}")
            return UNREAD
        values = {key: self._of.read(value, findings) for key, (_, value) in node.entries.items()}
        good = {key: value for key, value in values.items() if not isinstance(value, Unread)}
        return good if len(good) == len(values) else UNREAD


def map_of(of: Type[T] | ScalarType[T]) -> Type[dict[str, T]]:
    """A mapping whose keys are free names and whose values have one type."""
    return _MapOf(_node_type(of))


class Key:
    """One key of a record: its type, and what holds when it is left out."""

    def __init__(self, of: Type[Any], required: bool, default: Any) -> None:
        self.of = of
        self.required = required
        self.default = default


def required(of: Type[Any] | ScalarType[Any]) -> Key:
    """A key that must be there."""
    return Key(_node_type(of), True, None)


def optional(of: Type[Any] | ScalarType[Any], default: Any = None) -> Key:
    """A key that may be left out; then its value is `default`."""
    return Key(_node_type(of), False, default)


class _Record(Type[T]):
    def __init__(
        self, make: Callable[..., T], keys: dict[str, Key], check: Callable[[T], Iterable[str]] | None, name: str
    ) -> None:
        self.name = name
        self._make = make
        self._keys = keys
        self._check = check

    def read(self, node: Node, findings: Findings) -> T | Unread:
        if not isinstance(node, Mapping):
            findings.error(
                node, "wrong-kind", f"{_article(self.name)} is wanted here: keys and values, not a {node.kind}"
            )
            return UNREAD
        self._report_unknown(node, findings)
        self._report_missing(node, findings)
        values = {name: self._value(name, key, node, findings) for name, key in self._keys.items()}
        if any(value is UNREAD for value in values.values()):
            return UNREAD
        made = self._make(**values)
        return made if self._holds(made, node, findings) else UNREAD

    def _report_unknown(self, node: Mapping, findings: Findings) -> None:
        for name, (key, _) in node.entries.items():
            if name not in self._keys:
                valid = [valid for valid in self._keys if valid not in node.entries]
                findings.unknown(key, "unknown-key", f'{self.name} has no key "{name}"', name, valid)

    def _report_missing(self, node: Mapping, findings: Findings) -> None:
        absent = tuple(name for name, key in self._keys.items() if key.required and name not in node.entries)
        meant = {nearest(name, absent) for name in node.entries if name not in self._keys} if absent else set()
        missing = [f'"{name}" ({self._keys[name].of.name})' for name in absent if name not in meant]
        if missing:
            findings.missing(node, "missing-key", f"{self.name} needs {_and(missing)}")

    def _value(self, name: str, key: Key, node: Mapping, findings: Findings) -> Any:
        entry = node.entries.get(name)
        if entry is None:
            return UNREAD if key.required else key.default
        written, value = entry
        if isinstance(value, Scalar) and value.empty:
            findings.missing(written, "missing-value", f'"{name}" has no value: {_article(key.of.name)} is wanted')
            return UNREAD
        return key.of.read(value, findings)

    def _holds(self, made: T, node: Mapping, findings: Findings) -> bool:
        sentences = list(self._check(made)) if self._check else []
        if sentences:
            findings.error(node, "does-not-hold", "; ".join(sentences))
        return not sentences


def record(
    make: Callable[..., T],
    keys: dict[str, Key],
    *,
    check: Callable[[T], Iterable[str]] | None = None,
    name: str | None = None,
) -> Type[T]:
    """A mapping with known keys; `make` is called with their values as keywords, messages call it `name`."""
    return _Record(make, keys, check, name or getattr(make, "__name__", "mapping").lower())


def _article(noun: str) -> str:
    if noun.startswith(("list", "one of")):
        return f"a {noun}" if noun.startswith("list") else noun
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def load(path: Path, of: Type[T], findings: Findings) -> T | None:
    """A file as one value; None when anything in it is wrong."""
    document = read_file(path, findings)
    if document.root is None:
        return None
    value = of.read(document.root, findings)
    return None if isinstance(value, Unread) or findings.errors else value
