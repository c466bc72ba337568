"""The operators' pads: which byte or number is which button or axis."""

from __future__ import annotations

import struct

from orchestrator.robots.signals import Convert, Signal, finite

_ATOM_BITS = {
    2: ("rb", "lb", "start", "select", "rt", "lt", "f1", "f2"),
    3: ("a", "b", "x", "y", "up", "right", "down", "left"),
}
"""Buttons by byte, from the lowest bit up."""
_ATOM_AXES = {"lx": 4, "rx": 8, "ry": 12, "ly": 16}
"""Little-endian floats by offset. Other makers' pads have ly at 20: not this one."""

_ADAM_ORDER = (
    *("lx", "ly", "rx", "ry", "lt", "rt", "dpad_x", "dpad_y", "a", "b", "x", "y"),
    *("lb", "rb", "select", "start", "home", "lo", "ro"),
)
_ADAM = {name: place for place, name in enumerate(_ADAM_ORDER)}
_ADAM_AXES = ("lx", "ly", "rx", "ry", "dpad_x", "dpad_y")
_FULL_SCALE = 32767
"""Of an axis in the older layout of whole numbers; not documented."""


def atom_pad(topic: str) -> dict[str, Signal]:
    """Dobot: 40 bytes."""
    table = {
        f"pad.{name}": Signal(topic, f"wireless_remote[{byte}]", _bit(place))
        for byte, names in _ATOM_BITS.items()
        for place, name in enumerate(names)
    }
    table |= {f"pad.{name}": Signal(topic, "wireless_remote", _float_at(at)) for name, at in _ATOM_AXES.items()}
    names = [name for names in _ATOM_BITS.values() for name in names]
    table["pad"] = Signal(topic, "wireless_remote", lambda pad: _pressed(names, pad[2] | pad[3] << 8))
    return table


def adam_pad(topic: str, whole_numbers: bool) -> dict[str, Signal]:
    """PND: 19 floats, or in older firmware 40 whole numbers in the same order."""
    scale, threshold = (1 / _FULL_SCALE, 0) if whole_numbers else (1.0, 0.5)
    axis = finite(-1.01, 1.01)
    table = {
        f"pad.{name}": Signal(topic, f"wireless_remote[{_ADAM[name]}]", lambda raw: axis(raw * scale))
        for name in _ADAM_AXES
    }
    buttons = [name for name in _ADAM if name not in _ADAM_AXES]
    places = [(name, _ADAM[name]) for name in buttons]
    for name, place in places:
        table[f"pad.{name}"] = Signal(topic, f"wireless_remote[{place}]", _pushed(threshold))
    table["pad"] = Signal(topic, "wireless_remote", lambda pad: {name for name, at in places if pad[at] > threshold})
    table["emergency.pad"] = Signal(
        topic, "wireless_remote", lambda pad: pad[_ADAM["lt"]] > threshold and pad[_ADAM["b"]] > threshold
    )
    return table


def _pushed(threshold: float) -> Convert:
    check = finite(-_FULL_SCALE - 1, _FULL_SCALE)
    return lambda raw: check(raw) > threshold


def _bit(place: int) -> Convert:
    return lambda byte: bool(byte >> place & 1)


def _float_at(offset: int) -> Convert:
    check = finite(-1.01, 1.01)
    return lambda pad: check(struct.unpack_from("<f", bytes(pad), offset)[0])


def _pressed(names: list[str], mask: int) -> set[str]:
    return {name for place, name in enumerate(names) if mask >> place & 1}
