"""The four bytes in front of every message: which encoding follows, in which byte order."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.wire.shape import Struct


@dataclass(frozen=True)
class Encoding:
    """XCDR version and byte order; XCDR2 aligns to four bytes at most."""

    version: int
    order: str

    @property
    def max_align(self) -> int:
        return 8 if self.version == 1 else 4


XCDR1 = Encoding(1, "<")
XCDR2 = Encoding(2, "<")
BODY = 4
"""Where the message itself begins: behind the encapsulation header."""


def kinds(shape: Struct) -> dict[int, Encoding]:
    """The encapsulation kinds in which this type may arrive."""
    plain = {0x0000: Encoding(1, ">"), 0x0001: XCDR1}
    if shape.delimited:
        return plain | {0x0008: Encoding(2, ">"), 0x0009: XCDR2}
    return plain | {0x0006: Encoding(2, ">"), 0x0007: XCDR2}


def header(shape: Struct, encoding: Encoding) -> bytes:
    kind = next(kind for kind, known in kinds(shape).items() if known == encoding)
    return kind.to_bytes(2, "big") + b"\0\0"
