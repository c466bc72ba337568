"""The operators' pads: which bit, byte or number is which button or axis."""

from __future__ import annotations

ATOM_BITS = {
    2: ("rb", "lb", "start", "select", "rt", "lt", "f1", "f2"),
    3: ("a", "b", "x", "y", "up", "right", "down", "left"),
}
"""Dobot, 40 bytes: buttons by byte, from the lowest bit up."""
ATOM_AXES = {"lx": 4, "rx": 8, "ry": 12, "ly": 16}
"""Little-endian floats by offset. Other makers' pads have ly at 20: not this one."""

_ADAM_ORDER = (
    *("lx", "ly", "rx", "ry", "lt", "rt", "dpad_x", "dpad_y", "a", "b", "x", "y"),
    *("lb", "rb", "select", "start", "home", "lo", "ro"),
)
ADAM_AXES = {name: _ADAM_ORDER.index(name) for name in ("lx", "ly", "rx", "ry", "dpad_x", "dpad_y")}
"""PND, 19 floats or in older firmware 40 whole numbers in the same order."""
ADAM_BUTTONS = {name: place for place, name in enumerate(_ADAM_ORDER) if name not in ADAM_AXES}
ADAM_FULL_SCALE = 32767
"""Of an axis in the layout of whole numbers; not documented."""

BUTTONS = {
    "atom": tuple(name for names in ATOM_BITS.values() for name in names),
    "adam": tuple(ADAM_BUTTONS),
}
AXES = {"atom": tuple(ATOM_AXES), "adam": tuple(ADAM_AXES)}
