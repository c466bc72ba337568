"""Faults of state topics: what becomes of a sample between the robot and those who read it."""

from __future__ import annotations

import random
import struct
from typing import Any

from cyclonedds.idl import IdlStruct

from orchestrator.clock import VirtualClock
from orchestrator.sim.lines import SampleFault, Send
from orchestrator.wire.encapsulation import BODY
from orchestrator.wire.shape import Enumeration, Many, Number, Shape, struct_of
from orchestrator.wire.walk import Spot, Walker, parse_path

_SPOILT = {"f": float("nan"), "d": float("nan"), "?": None}
"""What garbage looks like in a field: not a number, or (None) all bits set."""


class Field:
    """Changes one field in the bytes of a message."""

    def __init__(self, kind: type[IdlStruct], path: str) -> None:
        self._shape = struct_of(kind)
        self._steps, self._end = parse_path(self._shape, path)
        self._known: dict[int, list[tuple[int, str, int]]] = {}
        """Offset, code and count of the field's numbers, by the length of the message."""

    def write(self, data: bytes, value: Any) -> bytes:
        changed = bytearray(data)
        number = self._number(value)
        for offset, code, count in self._places(data):
            struct.pack_into(f"<{count}{code}", changed, offset, *[number] * count)
        return bytes(changed)

    def spoil(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for offset, code, count in self._places(data):
            size = struct.calcsize(code)
            nan = _SPOILT.get(code)
            one = struct.pack(f"<{code}", nan) if nan is not None else b"\xff" * size
            changed[offset : offset + size * count] = one * count
        return bytes(changed)

    def copy(self, source: bytes, data: bytes) -> bytes:
        """The message with this field as it was in another of the same length."""
        changed = bytearray(data)
        for offset, code, count in self._places(data):
            end = offset + struct.calcsize(code) * count
            changed[offset:end] = source[offset:end]
        return bytes(changed)

    def _number(self, value: Any) -> Any:
        shape: Shape = self._end.element if isinstance(self._end, Many) else self._end
        if isinstance(shape, Enumeration):
            return shape.members[value].value if isinstance(value, str) else int(value)
        if isinstance(shape, Number) and shape.code not in "fd":
            return int(value)
        return float(value)

    def _places(self, data: bytes) -> list[tuple[int, str, int]]:
        if len(data) not in self._known:
            walker = Walker(self._shape, data)
            self._known[len(data)] = [_place(spot) for spot in walker.locate(self._shape, self._steps)]
        return self._known[len(data)]


def _place(spot: Spot) -> tuple[int, str, int]:
    match spot.shape:
        case Number(code, _):
            return spot.offset, code, 1
        case Enumeration():
            return spot.offset, "I", 1
        case Many(Number(code, _), _, _):
            return spot.offset, code, spot.count or 0
    raise ValueError("only numbers, flags and enumerations can be changed")


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
    """As from a firmware whose type ends earlier."""
    return lambda data, send: send(data[:-count])
