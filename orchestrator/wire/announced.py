"""Types as DDS programs announce them: by a number, from which the firmware generation can be told."""

from __future__ import annotations

from typing import Any

from cyclonedds.idl import IdlStruct

from orchestrator.wire.topics import FAMILIES, VARIANTS

DEFAULT = ""
"""The firmware generation that needs no variant."""


def type_number(identifier: Any) -> str:
    """An XTypes type identifier as text: its kind and its hash."""
    return f"{identifier.discriminator:x}-{bytes(identifier.value).hex()}"


def type_numbers(type_: type[IdlStruct]) -> frozenset[str]:
    """The numbers under which one of our types may be announced: with and without its field names."""
    information: Any = type_.__idl__.get_type_info()
    parts = (information.minimal, information.complete)
    return frozenset(type_number(part.typeid_with_size.type_id) for part in parts)


def variant_of(family: str, topic: str, number: str) -> str | None:
    """Which firmware variant announces this number on a topic (plain name); None if no variant we know does."""
    known = {DEFAULT: FAMILIES[family], **VARIANTS[family]}
    return next((name for name, table in known.items() if topic in table and _has(table[topic].type, number)), None)


def _has(type_: type[IdlStruct], number: str) -> bool:
    return number in type_numbers(type_)
