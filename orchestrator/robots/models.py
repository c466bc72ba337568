"""Is this the robot that the profile describes? From what a robot shows of itself.

Aurora names its joint groups and shows how many joints each has, Adam shows how many motors it has, an Atom says what
it is called. Robots that show the same cannot be told apart (docs/robots.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from orchestrator.robots.families import AURORA_GROUPS
from orchestrator.robots.profile import Joint, Profile
from orchestrator.robots.profiles import ProfileError, load_profile, profile_names

Shown = Mapping[str, int] | str
"""How many joints it has by group, or what it calls itself; nothing: it does not tell."""

SHOWN_ON = {"aurora": "robot_control_group_state", "atom": "rt/upper/state", "adam": "rt/lowstate"}
"""The topic on which a robot of each family shows its model."""

ATOMS: dict[str, Literal["legs", "wheels"]] = {
    "ATOM": "legs",  # our own simulated one
    "ATOM MAX": "legs",
    "ATOM STANDARD": "legs",
    "ATOM D": "legs",
    "ATOM TRAINER": "legs",
    "ATOM AMR": "wheels",
    "ATOM W": "wheels",
}
"""Names in Dobot's library, in capitals, and what stands under them: nobody says so, it is read from the name."""

AURORA_NAMES = {theirs: ours for ours, theirs in AURORA_GROUPS.items()}
"""Our names for Aurora's groups."""
HANDS = ("left_hand", "right_hand")
"""Groups that may be fitted or not."""
MOTORS = "motors"
"""All joints of a robot that does not name groups."""

MARGIN = 0.2
"""Radians by which a joint may be beyond its limits: zeros and limits of real joints are off by less."""


def shown_by(family: str, message: Any) -> Shown:
    """What a decoded message of SHOWN_ON says."""
    if family == "aurora":
        groups = message.group_state
        return {AURORA_NAMES.get(each.group_name, each.group_name): len(each.joint_position) for each in groups}
    return str(message.robot_type) if family == "atom" else {MOTORS: len(message.motor_state)}


def misfit(profile: Profile, shown: Shown) -> str | None:
    """Why a robot that shows this is not the profile's; None where nothing speaks against it."""
    if isinstance(shown, str):
        return _other_name(profile, shown.partition("\0")[0].strip())
    wanted = joint_counts(profile)
    found = {group: count for group, count in shown.items() if count and group not in HANDS}
    if found == wanted:
        return None
    differing = [group for group in {**wanted, **found} if wanted.get(group) != found.get(group)]
    parts = [f"{group} {found.get(group, 0)} (profile: {wanted.get(group, 0)})" for group in differing]
    return f"the robot has other joints than {profile.name}: {', '.join(parts)}"


def joint_counts(profile: Profile) -> dict[str, int]:
    """How many joints a robot of this profile shows, by group."""
    if profile.family == "adam":
        return {MOTORS: len(profile.joints)}
    return {group: len(profile.group(group)) for group in profile.groups}


def _other_name(profile: Profile, name: str) -> str | None:
    stands_on = "legs" if profile.base is None else "wheels"
    known = ATOMS.get(name.upper())
    if known is not None and known != stands_on:
        return f"the robot calls itself {name}, which stands on {known}; {profile.name} stands on {stands_on}"
    if name and known is None and name.upper() != profile.model.upper():
        return f'the robot calls itself "{name}", which nobody knows: write model: {name} if {profile.name} is right'
    return None


def fitting(family: str, shown: Shown) -> str:
    """Which profiles there are for a robot that shows this, as advice."""
    names = [profile.name for profile in _profiles(family) if misfit(profile, shown) is None]
    return f"use {' or '.join(names)}" if names else "no profile here fits it"


def _profiles(family: str) -> list[Profile]:
    found = []
    for name in profile_names():
        try:
            found.append(load_profile(name))
        except ProfileError:  # said when that robot is wanted
            continue
    return [profile for profile in found if profile.family == family]


def beyond_limits(profile: Profile, joints: Mapping[str, tuple[float, ...]]) -> str | None:
    """The measured joint that is farthest beyond the limits of its profile, if it is too far."""
    measured = [
        (joint, angle) for group in joints for joint, angle in zip(profile.group(group), joints[group], strict=False)
    ]
    joint, angle = max(measured, key=lambda each: _beyond(*each), default=(None, 0.0))
    if joint is None or _beyond(joint, angle) <= MARGIN:
        return None
    limits = joint.position
    return f"{joint.name} is at {angle:.3f} rad, its limits are {limits.low:g} to {limits.high:g}"


def _beyond(joint: Joint, angle: float) -> float:
    return max(joint.position.low - angle, angle - joint.position.high)
