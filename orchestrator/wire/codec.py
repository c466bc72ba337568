"""CDR bytes to objects and back, and single fields straight from the bytes.

A codec is compiled once per type from its definition. Arrays and sequences of numbers come as numpy arrays (read-only
views of the bytes, no copy); numpy is imported only by what gives arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Generic, TypeVar

from cyclonedds.idl import IdlStruct

from orchestrator.wire.decoder import compile_decoder
from orchestrator.wire.encapsulation import XCDR1, XCDR2
from orchestrator.wire.encoder import BAD_VALUE, compile_encoder, explain
from orchestrator.wire.errors import WireError
from orchestrator.wire.fields import FieldReader
from orchestrator.wire.shape import struct_of
from orchestrator.wire.walk import Walker

T = TypeVar("T", bound=IdlStruct)
_USUAL = b"\x00\x01"
"""Encapsulation of XCDR1, little-endian: what all vendors send."""


class Codec(Generic[T]):
    """Encodes and decodes one message type. Get it from `codec(Type)`."""

    def __init__(self, cls: type[T]) -> None:
        self.shape = struct_of(cls)
        self.type_name = self.shape.name
        self._decoders: dict[bytes, Callable[[bytes], T]] = {}
        self._encoders: dict[tuple[int, bool], Callable[[T], bytes]] = {}
        self._fields: dict[tuple[str, bool], FieldReader] = {}

    @cached_property
    def decode(self) -> Callable[[bytes], T]:
        """Bytes to the whole message. Anything that is not exactly this type raises WireError."""
        decoder: Callable[[bytes], T] = compile_decoder(self.shape, _USUAL, XCDR1, self._decode_other)
        return decoder

    def encode(self, message: T, version: int = 1, finite: bool = False) -> bytes:
        """The bytes of a message in XCDR `version` 1 or 2. With `finite`, NaN and infinities are refused."""
        try:
            encoder = self._encoders[version, finite]
        except KeyError:
            encoder = compile_encoder(self.shape, {1: XCDR1, 2: XCDR2}[version], finite)
            self._encoders[version, finite] = encoder
        try:
            return encoder(message)
        except BAD_VALUE as error:
            fault = explain(self.shape, message, finite)
            if fault is None and finite:  # the numbers are finite, only their sum is not
                return self.encode(message, version)
            raise fault or WireError(self.type_name, "", None, f"cannot be encoded: {error}") from None

    def field(self, path: str, plain: bool = False) -> FieldReader:
        """A reader of one field: `codec.field("motor_state[3].q")(data)`. With `plain`, tuples, not numpy arrays."""
        key = (path, plain)
        if key not in self._fields:
            self._fields[key] = FieldReader(self.shape, path, plain)
        return self._fields[key]

    def _decode_other(self, data: bytes) -> T:
        """A message in another encoding, or one that is not as it should be."""
        kind = data[:2]
        if kind in self._decoders:
            return self._decoders[kind](data)
        encoding = Walker(self.shape, data).encoding
        if encoding != XCDR1:
            self._decoders[kind] = compile_decoder(self.shape, kind, encoding, self._refuse)
            return self._decoders[kind](data)
        return self._refuse(data)

    def _refuse(self, data: bytes) -> T:
        Walker(self.shape, data).read_all()
        raise WireError(self.type_name, "", None, "cannot be decoded")


_KNOWN: dict[type[IdlStruct], Codec[IdlStruct]] = {}


def codec(cls: type[T]) -> Codec[T]:
    """The codec of a message type, compiled once."""
    if cls not in _KNOWN:
        _KNOWN[cls] = Codec(cls)
    return _KNOWN[cls]


__all__ = ["Codec", "WireError", "codec"]
