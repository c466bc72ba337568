"""Faults as text: `NAME[:TARGET][,KEY=VALUE…][@WHEN][+DURATION]`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from cyclonedds.idl import IdlStruct

from orchestrator.sim.fault import Fault, FaultError, known
from orchestrator.sim.field_values import held
from orchestrator.sim.twin import Twin
from orchestrator.wire.codec import WireError, codec
from orchestrator.wire.shape import Char, Enumeration, Many, Text, struct_of
from orchestrator.wire.walk import EVERY, parse_path
from orchestrator.yamlfile.findings import listed
from orchestrator.yamlfile.units import UNITS

_LASTING = re.compile(r"\+([^+,=@]*)$")
_LATE = re.compile(r",\s*\w+\s*=")
_EXACT = 2**53
"""Whole numbers below this are what they were written as."""
_TIME = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)\s*([a-z]+)")


def parse_fault(text: str, twin: Twin) -> Fault:
    """A fault from its text; mistakes are FaultErrors that say what would be right."""
    if not text.isprintable():
        raise FaultError(f"{text!r}: is not a fault such as hard@12s+3s")
    lasting = _LASTING.search(text)
    until = _seconds(lasting[1], text) if lasting else None
    head, at, moment = text[: lasting.start() if lasting else None].partition("@")
    if late := _LATE.search(moment):
        right = f"{head}{moment[late.start() :]}@{moment[: late.start()]}{lasting[0] if lasting else ''}"
        raise FaultError(f"{text}: parameters stand before the @: {right}")
    name_and_target, *pairs = head.split(",")
    name, _, target = name_and_target.partition(":")
    parameters = dict(_pair(pair, text) for pair in pairs)
    if "=" in moment:
        return Fault(name.strip(), target.strip(), parameters, when=condition(moment, twin), until=until)
    return Fault(name.strip(), target.strip(), parameters, _seconds(moment, text) if at else 0.0, until=until)


def _pair(text: str, whole: str) -> tuple[str, Any]:
    key, separator, value = text.partition("=")
    if not separator:
        raise FaultError(f"{whole}: {text!r} is not KEY=VALUE")
    return key.strip(), value_of(value.strip())


def value_of(text: str) -> Any:
    """A parameter as it is written: yes or no, a time, a number, or a word."""
    if text in ("true", "false"):
        return text == "true"
    time = _time(text)
    if time is not None:
        return time
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number % 1 == 0 and abs(number) < _EXACT else number


def _seconds(text: str, whole: str) -> float:
    time = _time(text.strip())
    if time is None or math.isinf(time):
        raise FaultError(f"{whole}: {text!r} is not a time such as 3s or 200ms")
    return time


def _time(text: str) -> float | None:
    match = _TIME.fullmatch(text)
    if match is None or UNITS.get(match[2], ("", float))[0] != "duration":
        return None
    return UNITS[match[2]][1](float(match[1]))


def condition(text: str, twin: Twin) -> Callable[[], bool]:
    """`TOPIC.FIELD=VALUE`, of the samples as the robot means them."""
    place, equals, wanted = text.partition("=")
    name, dot, path = place.strip().partition(".")
    known(name, twin.publications, "state topic", text, "when")
    if not (equals and dot):
        raise FaultError(f"{text}: is not a condition such as rt/amr/state.navigation_status=RUNNING", "when")
    try:
        read = codec(twin.topics[name].type).field(path, plain=True)
        value = _awaited(twin.topics[name].type, path, wanted.strip())
        read(twin.publications[name].make())  # an element that the robot does not have
    except WireError as error:
        raise FaultError(f"{text}: {error}", "when") from None
    except ValueError as error:
        raise FaultError(f"{text}: {path} {error}", "when") from None

    def holds() -> bool:
        seen = read(twin.publications[name].make())
        return bool(getattr(seen, "value", seen) == value)

    return holds


def _awaited(kind: type[IdlStruct], path: str, text: str) -> Any:
    """The value that a field is to have: one that it can have."""
    steps, shape = parse_path(struct_of(kind), path)
    if isinstance(shape, Text) or (isinstance(shape, Many) and isinstance(shape.element, Char)):
        return text
    if isinstance(shape, Many) or EVERY in steps:
        raise ValueError("is several values: a condition is on one of them, such as position[0]")
    value = held(shape, value_of(text))
    if isinstance(shape, Enumeration) and value not in {member.value for member in shape.members}:
        raise ValueError(f"is never {text}; it is one of {listed(tuple(shape.members.__members__))}")
    if value != value:
        raise ValueError("is never equal to what is not a number")
    return value
