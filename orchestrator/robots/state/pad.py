"""The operators' pads, from their bytes or numbers to buttons and axes."""

from __future__ import annotations

from orchestrator.robots.pads import ADAM_AXES, ADAM_BUTTONS, ADAM_FULL_SCALE, ATOM_AXES, ATOM_BITS, BUTTONS
from orchestrator.robots.signals import Convert, Reads, Several, Signal, finite
from orchestrator.wire.codec import codec
from orchestrator.wire.fields import PackedReader
from orchestrator.wire.topics import Topic

_AXIS = finite(-1.01, 1.01)


def atom_pad(topic: str) -> dict[str, Signal]:
    """Dobot: 40 bytes."""
    table: dict[str, Signal] = {
        f"pad.{name}": Signal(topic, f"wireless_remote[{byte}]", _bit(place))
        for byte, names in ATOM_BITS.items()
        for place, name in enumerate(names)
    }
    axes = {name: _Float(topic, f"wireless_remote[{at}]", _AXIS) for name, at in ATOM_AXES.items()}
    table |= {f"pad.{name}": axis for name, axis in axes.items()}
    table["pad"] = Signal(topic, "wireless_remote", lambda pad: _pressed(pad[2] | pad[3] << 8))
    # Dobot's own software walks forward, left and turns left when these are negative.
    sticks = tuple(axes[name] for name in ("ly", "lx", "rx"))
    table["sticks"] = Several(topic, "", lambda values: tuple(-value for value in values), parts=sticks)
    return table


class _Float(Signal):
    """Four bytes that are a number; the path leads to the first."""

    def reader(self, topic: Topic) -> Reads:
        return PackedReader(codec(topic.type).shape, self.path, "f")


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


def _pressed(mask: int) -> set[str]:
    return {name for place, name in enumerate(BUTTONS["atom"]) if mask >> place & 1}
