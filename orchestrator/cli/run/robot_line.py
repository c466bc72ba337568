"""What a robot shows, in one line for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

NAMED = 2
"""Errors that are named; a line has an end."""
Part = tuple[str, str]
"""Words and how they look: normal, good, bad or doubtful."""


def robot_parts(fields: dict[str, Any]) -> list[Part]:
    """Every part that this robot has; what is not known says so."""
    return [part for about in _ABOUT for part in about(fields)]


def robot_line(fields: dict[str, Any]) -> str:
    return ", ".join(words for words, _ in robot_parts(fields))


def _state(fields: dict[str, Any]) -> Iterator[Part]:
    for name, label in (("fsm.state", "fsm"), ("upper.state", "upper")):
        if name in fields:
            value = fields[name]
            yield (f"{label} not known", "doubtful") if value is None else (f"{label} {value}", "normal")


def _emergency(fields: dict[str, Any]) -> Iterator[Part]:
    flags = {name.removeprefix("emergency."): value for name, value in fields.items() if name.startswith("emergency.")}
    if not flags:
        return
    pressed = [name for name, value in flags.items() if value and name != "any"]
    if pressed or flags["any"]:
        yield f"E-STOP {' '.join(pressed)}".strip(), "bad"
    else:
        yield ("e-stop not known", "doubtful") if flags["any"] is None else ("e-stop clear", "good")


def _errors(fields: dict[str, Any]) -> Iterator[Part]:
    if "errors.problems" not in fields:
        return
    problems = fields["errors.problems"]
    if problems is None:
        yield "errors not known", "doubtful"
    elif not problems:
        yield "no errors", "normal"
    else:
        more = f" and {len(problems) - NAMED} more" if len(problems) > NAMED else ""
        yield f"ERROR {'; '.join(problems[:NAMED])}{more}", "bad"


def _batteries(fields: dict[str, Any]) -> Iterator[Part]:
    for name, label, unit in (
        ("battery.level", "battery", "%"),
        ("battery.voltage", "battery", "V"),
        ("battery.base", "base battery", "%"),
    ):
        if name in fields:
            value = fields[name]
            yield (f"{label} not known", "doubtful") if value is None else (f"{label} {value:g} {unit}", "normal")


def _base(fields: dict[str, Any]) -> Iterator[Part]:
    if "navigation.device" not in fields:
        return
    device, status = fields["navigation.device"], fields["navigation.status"]
    x, y = fields["base.x"], fields["base.y"]
    if device is None or status is None:
        yield "base not known", "doubtful"
        return
    place = "" if x is None or y is None else f" at {x:.1f} {y:.1f}"
    yield f"base {device} {status}{place}", "bad" if device == "error" else "normal"
    if fields["base.blocked"]:
        yield "BLOCKED", "bad"


_ABOUT: tuple[Callable[[dict[str, Any]], Iterator[Part]], ...] = (_emergency, _state, _errors, _batteries, _base)
