"""What goes out, what must be known to send it, and the checks every value passes on its way into a message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cyclonedds.idl import IdlStruct

from orchestrator.robots.intents import Intent
from orchestrator.robots.profile import Joint, Profile

Message = tuple[str, IdlStruct]
"""A topic's plain name (as in wire.topics, without prefix) and what to write to it."""

Params = dict[str, float | bool]
"""Of a JSON-RPC call."""

Positions = Mapping[str, tuple[float, ...]]
"""Positions by joint group, or by hand."""

_LARGEST_FLOAT32 = 3.4028234663852886e38


class CannotSend(ValueError):
    """An intent this robot has no message for, or a value that must not reach it; the text says why."""


@dataclass(frozen=True)
class RpcCall:
    """A call of the vendor's JSON-RPC."""

    method: str
    params: Params


@dataclass(frozen=True)
class Sending:
    """What an intent does not say but its messages need. Whoever sends knows it; nothing here is made up."""

    command_id: int
    """Counts commands, for the receiver's log."""
    timestamp: int
    """Milliseconds; never decreases."""
    valid_for: float
    """Seconds after which the robot itself ends a velocity that is not renewed."""
    joints: Positions
    """Where each joint group is held: last commanded, else measured (rad)."""
    hands: Positions
    """Where each hand is held, in the vendor's unit and finger order."""


Maker = Callable[[Profile, Any, Sending], list[Message]]
ParamsOf = Callable[[Profile, Any, Sending], Params]
Makers = dict[type[Intent], Maker]


def finite(value: float, what: str) -> float:
    """The value, unless it is NaN, infinite or too large for the 32-bit floats that most messages have."""
    if not abs(value) <= _LARGEST_FLOAT32:  # NaN is not below anything
        raise CannotSend(f"{what} is {value}: only finite numbers that fit the message are sent")
    return value


def whole(value: int, bits: int, what: str) -> int:
    """The value, unless it does not fit into an unsigned integer of so many bits."""
    if not 0 <= value < 1 << bits:
        raise CannotSend(f"{what} is {value}: the message holds 0 to {(1 << bits) - 1}")
    return value


def number_of(states: Mapping[str, int], name: str, what: str) -> int:
    """The number behind a name of the profile."""
    if name not in states:
        raise CannotSend(f'this robot has no {what} "{name}": {", ".join(states) or "none"}')
    return states[name]


def group_of(profile: Profile, name: str) -> tuple[Joint, ...]:
    """The joints of a group that may be commanded."""
    joints = profile.group(name)
    if not joints:
        raise CannotSend(f'this robot has no joint group "{name}": {", ".join(profile.groups)}')
    if name in profile.read_only_groups:
        raise CannotSend(f"{name} of {profile.model} is never commanded")
    return joints


def of_length(values: Iterable[float], count: int, what: str) -> list[float]:
    """The values, finite and as many as there must be."""
    checked = list(values)
    if not sum(map(abs, checked)) <= _LARGEST_FLOAT32:  # then one of them may be; told apart only when it matters
        for value in checked:
            finite(value, what)
    if len(checked) != count:
        raise CannotSend(f"{what} has {len(checked)} values, not {count}")
    return checked


def held(positions: Positions, name: str, count: int) -> list[float]:
    """Where a group or hand is held; a position nobody knows is never made up."""
    if name not in positions:
        raise CannotSend(f"where {name} is now is not known, so it cannot be held there")
    return of_length(positions[name], count, f"held position of {name}")


def commanded_or_held(profile: Profile, positions: Positions, sending: Sending, groups: Iterable[str]) -> list[float]:
    """All joints of these groups in order: commanded where there is a command, else held where they are."""
    q: list[float] = []
    for group in groups:
        count = len(profile.group(group))
        if group in positions:
            q += of_length(positions[group], count, f"position of {group}")
        else:
            q += held(sending.joints, group, count)
    return q


def finger_positions(profile: Profile, hand: str, opening: tuple[float, ...]) -> list[float]:
    """A hand's opening, from 0 (closed) to 1 (open) for each finger, in the vendor's unit."""
    hands = profile.hands
    if hands is None or hand not in hands.order:
        raise CannotSend(f'{profile.model} has no hand "{hand}"')
    fractions = of_length(opening, len(hands.fingers), f"opening of the {hand} hand")
    if not all(0.0 <= fraction <= 1.0 for fraction in fractions):
        raise CannotSend(f"opening of the {hand} hand must be between 0 (closed) and 1 (open)")
    return [
        closed * (1.0 - fraction) + opened * fraction
        for closed, opened, fraction in zip(hands.closed, hands.open, fractions, strict=True)
    ]


def both_hands(profile: Profile, hand: str, opening: tuple[float, ...], sending: Sending) -> list[float]:
    """All fingers in the order of the wire: one hand commanded, the other held."""
    moved = finger_positions(profile, hand, opening)
    assert profile.hands is not None
    positions: list[float] = []
    for name in profile.hands.order:
        positions += moved if name == hand else held(sending.hands, name, len(moved))
    return positions
