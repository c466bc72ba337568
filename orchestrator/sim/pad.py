"""A game pad in somebody's hands, and its bytes in the two vendors' layouts."""

from __future__ import annotations

import struct

DOBOT_BITS = {
    2: ("rb", "lb", "start", "select", "rt", "lt", "f1", "f2"),
    3: ("a", "b", "x", "y", "up", "right", "down", "left"),
}
"""Buttons by byte, lowest bit first (docs/wire.md)."""
ADAM_ORDER = ["lx", "ly", "rx", "ry", "lt", "rt", "xx", "yy", "a", "b", "x", "y", "lb", "rb"]
ADAM_ORDER += ["select", "start", "home", "lo", "ro"]
AXES = ("lx", "ly", "rx", "ry")
DOBOT_BUTTONS = tuple(name for names in DOBOT_BITS.values() for name in names)
ADAM_BUTTONS = tuple(name for name in ADAM_ORDER if name not in (*AXES, "xx", "yy"))


class Pad:
    """Buttons held down and sticks pushed."""

    def __init__(self) -> None:
        self.held: frozenset[str] = frozenset()
        self.axes: dict[str, float] = dict.fromkeys(AXES, 0.0)
        self.changes = 0

    def press(self, *buttons: str) -> None:
        self.held |= set(buttons)
        self.changes += 1

    def release(self, *buttons: str) -> None:
        self.held -= set(buttons)
        self.changes += 1

    def push(self, **axes: float) -> None:
        """Push sticks: `push(lx=0.5)`, from -1 to 1."""
        unknown = set(axes) - set(AXES)
        if unknown:
            raise ValueError(f"the pad has no stick {', '.join(sorted(unknown))}; it has {', '.join(AXES)}")
        self.axes |= axes
        self.changes += 1

    def dobot(self) -> bytes:
        data = bytearray(40)
        for place, names in DOBOT_BITS.items():
            data[place] = sum(1 << bit for bit, name in enumerate(names) if name in self.held)
        left_trigger = float("lt" in self.held)
        struct.pack_into("<5f", data, 4, *(self.axes[name] for name in ("lx", "rx", "ry", "ly")), left_trigger)
        return bytes(data)

    def adam(self) -> tuple[float, ...]:
        return tuple(self.axes.get(name, float(name in self.held)) for name in ADAM_ORDER)
