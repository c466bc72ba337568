"""The one table of what expressions may read of a robot, and how each field is read.

Light to import: the tree checker uses it without any middleware.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from orchestrator.robots.facts import Field
from orchestrator.robots.knowledge import Read
from orchestrator.robots.pads import AXES, BUTTONS
from orchestrator.robots.profile import Profile

if TYPE_CHECKING:
    from orchestrator.robots.robot import Robot

NAVIGATION = (
    *("unknown", "queuing", "running", "completed", "failed"),
    *("paused", "canceled", "waiting_confirm", "idle", "stopped"),
)
DEVICE = ("devunknown", "devidle", "tasking", "error", "offline", "init", "charging", "upgrade")
EMERGENCY = {
    "aurora": {"security": "the robot is in its security state"},
    "atom": {
        "soft": "stopped from the app",
        "hard": "the button on the robot is pressed",
        "amr": "the robot reports the base's stop",
        "di": "a digital input stops it",
    },
    "adam": {"motors": "a motor reports an error", "pad": "LT and B are pressed: the robot goes limp"},
}
"""Emergency flags by family."""
_EMERGENCY_BASE = {"base": "the button on the base is pressed"}


@dataclass(frozen=True)
class Source:
    """A field and where it comes from."""

    field: Field
    read: Callable[[Robot], Read]
    """Gives what reads it: a known value in the unit we calculate in, or unknown."""
    watch: tuple[str, ...] = ()
    """Signals whose change changes the field; without any it is a stream."""


def sources(profile: Profile) -> dict[str, Source]:
    """Everything an expression may read of this robot."""
    found: dict[str, Source] = {}
    for capability, rows in _ROWS.items():
        if capability in profile.capabilities:
            found |= {source.field.name: source for source in rows(profile)}
    return found


def fields_of(profile: Profile) -> dict[str, Field]:
    """The field table the tree checker uses."""
    return {name: source.field for name, source in sources(profile).items()}


def _source(
    name: str,
    kind: str,
    capability: str,
    read: Callable[[Robot], Read],
    help: str,  # noqa: A002
    watch: tuple[str, ...] = (),
    lower: float | None = None,
    upper: float | None = None,
    choices: tuple[str, ...] = (),
) -> Source:
    return Source(Field(name, kind, capability, bool(watch), lower, upper, choices, help), read, watch)


def _fsm(profile: Profile) -> Iterator[Source]:
    yield _source(
        *("fsm.state", "choice", "fsm", lambda robot: robot.fsm.state, "State of the whole body."),
        watch=("fsm.id",),
        choices=tuple(profile.fsm),
    )


def _upper_body(profile: Profile) -> Iterator[Source]:
    own_states = bool(profile.upper_fsm)
    yield _source(
        *("upper.state", "choice", "upper_body", lambda robot: robot.upper_body.state, "State of the upper body."),
        watch=("upper.state",) if own_states else ("upper.control",),
        choices=tuple(profile.upper_fsm) or ("off", "on"),
    )
    if own_states:
        yield _flag("upper.override", "upper_body", "upper.override", "Whether the upper body may be driven.")
    else:
        yield _flag("upper.control", "upper_body", "upper.control", "Whether we control the upper body.")


def _stand_pose(profile: Profile) -> Iterator[Source]:
    yield _source(
        *("body.stable", "bool", "stand_pose", lambda robot: robot.stand_pose.stable, "Stands on its own feet."),
        watch=("stand.level",),
    )
    yield _signal("body.height", "length", "stand_pose", "stand.dz", "Height above the normal stand.", (-1, 1))
    yield _signal("body.lean", "angle", "stand_pose", "stand.pitch", "Pitch against the normal stand.", (-2, 2))
    yield _signal("body.twist", "angle", "stand_pose", "stand.yaw", "Turn against the normal stand.", (-2, 2))


def _velocity(profile: Profile) -> Iterator[Source]:
    if profile.velocity_sources:
        yield _source(
            *("velocity.source", "choice", "velocity", lambda robot: robot.velocity.source),
            "Whose velocity commands the robot follows.",
            watch=("velocity.source",),
            choices=tuple(profile.velocity_sources),
        )


def _hands(profile: Profile) -> Iterator[Source]:
    for hand in profile.hands.order if profile.hands is not None else ():
        yield _source(
            *(f"hands.{hand}.holding", "bool", "hands", lambda robot, hand=hand: partial(robot.hands.holding, hand)),
            "Still presses on what it closed on.",
        )
        yield _source(
            *(f"hands.{hand}.opening", "percent", "hands", lambda robot, hand=hand: robot.hands.mean_opening[hand]),
            "How far it is open, all fingers together.",
            lower=-50,
            upper=150,
        )


def _mobile_base(profile: Profile) -> Iterator[Source]:
    for place, axis in enumerate(("x", "y")):
        yield _part(
            f"base.{axis}", "length", "mobile_base", "amr.position", f"v{place}", "Where the base is on its map."
        )
    facing, whole = f"(v2 + {math.pi}) % {2 * math.pi} - {math.pi}", (-math.pi, math.pi)
    yield _part(
        *("base.heading", "angle", "mobile_base", "amr.position", facing, "Which way the base faces on its map."), whole
    )
    if "amr_v2" in profile.variants:
        yield _signal("base.speed", "speed", "mobile_base", "amr.speed", "How fast the base drives.", (-10, 10))
    yield _flag("base.blocked", "mobile_base", "amr.blocked", "Its way is blocked.")
    yield _source(
        *("base.remote", "bool", "mobile_base", lambda robot: robot.mobile_base.remote, "In a remote session."),
        watch=("amr.mode",),
    )
    for name, signal, words in (("status", "navigation", NAVIGATION), ("device", "device", DEVICE)):
        yield _source(
            *(f"navigation.{name}", "choice", "mobile_base", lambda robot, of=signal: robot.state.signal(f"amr.{of}")),
            "What the base says about its task." if name == "status" else "What the base says about itself.",
            watch=(f"amr.{signal}",),
            choices=words,
        )


def _errors(profile: Profile) -> Iterator[Source]:
    yield _source("errors.any", "bool", "errors", lambda robot: robot.errors.any, "Something reports an error.")
    yield _source(
        *("errors.count", "int", "errors", lambda robot: robot.errors.count, "How many things report an error."),
        lower=0,
    )


def _emergency(profile: Profile) -> Iterator[Source]:
    flags = dict(EMERGENCY[profile.family]) | (_EMERGENCY_BASE if profile.base is not None else {})
    if "emergency_3" in profile.variants:
        del flags["di"]
    yield _source(
        *("emergency.any", "bool", "emergency", lambda robot: robot.emergency.any, "Any emergency stop is active."),
        watch=tuple(f"emergency.{flag}" for flag in flags),
    )
    for flag, help_ in flags.items():
        yield _flag(f"emergency.{flag}", "emergency", f"emergency.{flag}", f"Emergency stop: {help_}.")


def _battery(profile: Profile) -> Iterator[Source]:
    if profile.family == "adam":  # it reports no level
        yield _signal("battery.voltage", "voltage", "battery", "battery.voltage", "Voltage of the battery.", (0, 200))
        yield _signal("battery.current", "current", "battery", "battery.current", "Current drawn.", (-500, 500))
        return
    yield _signal("battery.level", "percent", "battery", "battery.level", "How full the battery is.", (0, 100))
    if profile.base is not None:
        yield _signal("battery.base", "percent", "battery", "amr.battery", "How full the base's battery is.", (0, 100))


def _pad(profile: Profile) -> Iterator[Source]:
    for button in BUTTONS[profile.family]:
        yield _source(
            *(f"pad.{button}", "bool", "pad", lambda robot, button=button: robot.pad.button_reader(button)),
            f"Button {button} is pressed.",
            watch=(f"pad.{button}",),
        )
    for axis in AXES[profile.family]:
        yield _signal(f"pad.{axis}", "number", "pad", f"pad.{axis}", f"Axis {axis}, with the vendor's sign.", (-1, 1))


def _body(profile: Profile) -> Iterator[Source]:
    for angle, bound in (("roll", math.pi), ("pitch", math.pi / 2), ("yaw", math.pi)):
        yield _source(
            *(f"body.{angle}", "angle", "body", lambda robot, angle=angle: getattr(robot.body, angle)),
            f"The body's {angle} in the world.",
            lower=-bound,
            upper=bound,
        )
    if profile.family != "aurora":
        return
    where = "Where the body is in the world, by the robot's own estimate."
    for place, axis in enumerate("xyz"):
        yield _part(f"body.{axis}", "length", "body", "base.position", f"v{place}", where)
    fast = "How fast the body moves over ground."
    yield _part("body.speed", "speed", "body", "base.velocity", "(v0 * v0 + v1 * v1) ** 0.5", fast, (0, None))
    for place, foot in enumerate(("left", "right")):
        sure = f"How surely the {foot} foot stands on the ground."
        yield _part(f"contact.{foot}", "percent", "body", "contact.probability", f"100 * v{place}", sure, (0, 100))


_ROWS: dict[str, Callable[[Profile], Iterator[Source]]] = {
    "battery": _battery,
    "fsm": _fsm,
    "upper_body": _upper_body,
    "velocity": _velocity,
    "emergency": _emergency,
    "errors": _errors,
    "stand_pose": _stand_pose,
    "body": _body,
    "mobile_base": _mobile_base,
    "hands": _hands,
    "pad": _pad,
}


def _signal(name: str, kind: str, capability: str, signal: str, help_: str, bounds: tuple[float, float]) -> Source:
    """A stream read straight from the wire."""
    read = lambda robot: robot.state.signal(signal)  # noqa: E731
    return _source(name, kind, capability, read, help_, lower=bounds[0], upper=bounds[1])


def _flag(name: str, capability: str, signal: str, help_: str) -> Source:
    return _source(name, "bool", capability, lambda robot: robot.state.signal(signal), help_, watch=(signal,))


def _part(
    name: str,
    kind: str,
    capability: str,
    signal: str,
    result: str,
    help_: str,
    bounds: tuple[float | None, float | None] = (None, None),
) -> Source:
    """Something that follows from several numbers (State.part)."""
    read = lambda robot: robot.state.part(signal, result)  # noqa: E731
    return _source(name, kind, capability, read, help_, lower=bounds[0], upper=bounds[1])
