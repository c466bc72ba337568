"""The operators' pads, from their bytes or numbers to buttons and axes."""

from __future__ import annotations

import struct

from orchestrator.robots.pads import ADAM_AXES, ADAM_BUTTONS, ADAM_FULL_SCALE, ATOM_AXES, ATOM_BITS, BUTTONS
from orchestrator.robots.signals import Convert, Signal, finite

_AXIS = finite(-1.01, 1.01)


def atom_pad(topic: str) -> dict[str, Signal]:
    """Dobot: 40 bytes."""
    table = {
        f"pad.{name}": Signal(topic, f"wireless_remote[{byte}]", _bit(place))
        for byte, names in ATOM_BITS.items()
        for place, name in enumerate(names)
    }
    table |= {f"pad.{name}": Signal(topic, "wireless_remote", _float_at(at)) for name, at in ATOM_AXES.items()}
    table["pad"] = Signal(topic, "wireless_remote", lambda pad: _pressed(pad[2] | pad[3] << 8))
    # Dobot's own software walks forward, left and turns left when these are negative.
    sticks = [_float_at(ATOM_AXES[axis]) for axis in ("ly", "lx", "rx")]
    table["sticks"] = Signal(topic, "wireless_remote", lambda pad: tuple(-axis(pad) for axis in sticks))
    return table


def adam_pad(topic: str, whole_numbers: bool) -> dict[str, Signal]:
    """PND: numbers."""
    scale, threshold = (1 / ADAM_FULL_SCALE, 0) if whole_numbers else (1.0, 0.5)
    lt, b = ADAM_BUTTONS["lt"], ADAM_BUTTONS["b"]
    table = {
        f"pad.{name}": Signal(topic, f"wireless_remote[{place}]", lambda raw: _AXIS(raw * scale))
        for name, place in ADAM_AXES.items()
    }
    for name, place in ADAM_BUTTONS.items():
        table[f"pad.{name}"] = Signal(topic, f"wireless_remote[{place}]", _pushed(threshold))
    table["pad"] = Signal(
        topic, "wireless_remote", lambda pad: {name for name, at in ADAM_BUTTONS.items() if pad[at] > threshold}
    )
    # The chord with which an operator makes the robot limp: the nearest thing to an emergency stop that it reports.
    table["emergency.pad"] = Signal(topic, "wireless_remote", lambda pad: pad[lt] > threshold and pad[b] > threshold)
    return table


def _pushed(threshold: float) -> Convert:
    check = finite(-ADAM_FULL_SCALE - 1, ADAM_FULL_SCALE)
    return lambda raw: check(raw) > threshold


def _bit(place: int) -> Convert:
    return lambda byte: bool(byte >> place & 1)


def _float_at(offset: int) -> Convert:
    return lambda pad: _AXIS(struct.unpack_from("<f", bytes(pad), offset)[0])


def _pressed(mask: int) -> set[str]:
    return {name for place, name in enumerate(BUTTONS["atom"]) if mask >> place & 1}
