"""Faults of state topics: what becomes of a sample between the robot and those who read it."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from typing import Any

from cyclonedds.idl import IdlStruct

from orchestrator.clock import VirtualClock
from orchestrator.sim.field_values import code_of, held
from orchestrator.sim.lines import SampleFault, Send
from orchestrator.wire.encapsulation import BODY
from orchestrator.wire.errors import WireError
from orchestrator.wire.shape import struct_of
from orchestrator.wire.walk import Walker, parse_path


class Field:
    """Changes one field in the bytes of a message: numbers, flags and enumerations."""

    def __init__(self, kind: type[IdlStruct], path: str) -> None:
        self._shape = struct_of(kind)
        self._steps, self._end = parse_path(self._shape, path)
        code = code_of(self._end)
        if code is None:
            raise WireError(self._shape.name, path, None, "only numbers, flags and enumerations can be changed")
        self._code = code
        self._size = struct.calcsize(code)
        self._known: dict[int, list[tuple[int, int]]] = {}
        """Where it stands, by the length of the message."""

    def find(self, data: bytes) -> list[tuple[int, int]]:
        """Offset and count of its numbers in a message; a WireError if it is not there."""
        spots = Walker(self._shape, data).locate(self._shape, self._steps)
        return [(spot.offset, 1 if spot.count is None else spot.count) for spot in spots]

    def held(self, value: Any) -> Any:
        """The value as this field holds it; a ValueError says what it could be."""
        return held(self._end, value)

    def write(self, data: bytes, value: Any) -> bytes:
        one = struct.pack(f"<{self._code}", self.held(value))
        return self._changed(data, lambda offset, size: one * (size // self._size))

    def spoil(self, data: bytes) -> bytes:
        one = struct.pack(f"<{self._code}", math.nan) if self._code in "fd" else b"\xff" * self._size
        return self._changed(data, lambda offset, size: one * (size // self._size))

    def copy(self, source: bytes, data: bytes) -> bytes:
        """The message with this field as it was in another of the same length."""
        return self._changed(data, lambda offset, size: source[offset : offset + size])

    def _changed(self, data: bytes, part: Callable[[int, int], bytes]) -> bytes:
        changed = bytearray(data)
        for offset, count in self._places(data):
            changed[offset : offset + self._size * count] = part(offset, self._size * count)
        return bytes(changed)

    def _places(self, data: bytes) -> list[tuple[int, int]]:
        if len(data) not in self._known:
            try:
                self._known[len(data)] = self.find(data)
            except WireError:
                return []  # another fault has spoilt the message, and this field is nowhere in it
        return self._known[len(data)]


def off() -> SampleFault:
    return lambda data, send: None


class Stuck:
    """The first sample again and again, or one field as it was in it."""

    def __init__(self, field: Field | None) -> None:
        self._field = field
        self._first: bytes | None = None

    def __call__(self, data: bytes, send: Send) -> None:
        if self._first is None or (self._field is not None and len(self._first) != len(data)):
            self._first = data
        send(self._first if self._field is None else self._field.copy(self._first, data))


class Garbage:
    """Random bytes in the message, or nonsense in one field."""

    def __init__(self, field: Field | None, seed: int) -> None:
        self._field = field
        self._random = random.Random(seed)

    def __call__(self, data: bytes, send: Send) -> None:
        if self._field is not None:
            send(self._field.spoil(data))
        else:
            send(data[:BODY] + self._random.randbytes(len(data) - BODY))


def wrong(field: Field, value: Any) -> SampleFault:
    return lambda data, send: send(field.write(data, value))


class Slow:
    """Only one sample of so many."""

    def __init__(self, factor: int) -> None:
        self._factor = factor
        self._count = 0

    def __call__(self, data: bytes, send: Send) -> None:
        if self._count % self._factor == 0:
            send(data)
        self._count += 1


def delayed(clock: VirtualClock, seconds: float) -> SampleFault:
    def later(data: bytes, send: Send) -> None:
        clock.after(seconds, lambda: send(data, seconds))

    return later


def intermittent(clock: VirtualClock, on: float, off: float) -> SampleFault:
    began = clock.now()

    def sometimes(data: bytes, send: Send) -> None:
        if (clock.now() - began) % (on + off) >= off:
            send(data)

    return sometimes


def duplicate() -> SampleFault:
    def twice(data: bytes, send: Send) -> None:
        send(data)
        send(data)

    return twice


class Reorder:
    """Of two neighbours, the later one first."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self._held: tuple[bytes, float] | None = None

    def __call__(self, data: bytes, send: Send) -> None:
        if self._held is None:
            self._held = data, self._clock.now()
            return
        (held, since), self._held = self._held, None
        send(data)
        send(held, self._clock.now() - since)


class Burst:
    """Nothing for a while, then everything at once."""

    def __init__(self, clock: VirtualClock, count: int) -> None:
        self._clock = clock
        self._count = count
        self._held: list[tuple[bytes, float]] = []

    def __call__(self, data: bytes, send: Send) -> None:
        now = self._clock.now()
        self._held.append((data, now))
        if len(self._held) >= self._count:
            held, self._held = self._held, []
            for sample, since in held:
                send(sample, now - since)


def truncated(count: int) -> SampleFault:
    """As from a firmware whose type ends earlier; the header in front of every message stays."""
    return lambda data, send: send(data[: max(len(data) - count, BODY)])
