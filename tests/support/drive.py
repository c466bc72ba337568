"""What tests of the drive share: a sender that knows where everything is, and messages as plain values or bytes."""

from __future__ import annotations

from enum import Enum
from typing import Any

from orchestrator.robots.drive import Message, Sending
from orchestrator.robots.profile import Profile
from orchestrator.wire.codec import codec
from tests.support.messages import plain


def sending(profile: Profile) -> Sending:
    """Every joint and finger is held somewhere that tells it from all others, inside its range."""
    joints: dict[str, tuple[float, ...]] = {}
    for number, group in enumerate(profile.groups):
        joints[group] = tuple(0.01 * number + 0.001 * index for index in range(len(profile.group(group))))
    fingers = len(profile.hands.fingers) if profile.hands else 0
    hands = {"left": tuple(100.0 + n for n in range(fingers)), "right": tuple(200.0 + n for n in range(fingers))}
    return Sending(command_id=7, timestamp=1_700_000_000_123, valid_for=0.4, joints=joints, hands=hands)


def values(messages: list[Message]) -> list[tuple[str, Any]]:
    """Topics and messages as dicts, lists and numbers."""
    return [(topic, _numbers(plain(message))) for topic, message in messages]


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _numbers(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_numbers(part) for part in value]
    return value.value if isinstance(value, Enum) else value


def encoded(messages: list[Message]) -> list[tuple[str, bytes]]:
    """Topics and the bytes behind the four of the encapsulation header."""
    return [(topic, payload(codec(type(message)).encode(message, finite=True))) for topic, message in messages]


def payload(data: bytes) -> bytes:
    """What follows the encapsulation header, which not every vendor fills in, padded as ours is."""
    return data[4:] + bytes(-len(data) % 4)
