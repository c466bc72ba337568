"""What the robots of one family have in common, as data: joint groups, capabilities, and what their wire can carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestrator.robots.profile import Family

COMMANDING = frozenset(
    {
        *("fsm", "upper_body", "stand_pose", "velocity", "joints", "hands", "mobile_base", "gains"),
        *("move_hand", "rotate_base", "mapping"),
    }
)
"""Capabilities that move the robot or change its state; a read-only robot has none of them."""

CAPABILITY_OF_SECTION = {
    "fsm": "fsm",
    "upper_fsm": "upper_body",
    "velocity": "velocity",
    "stand_pose": "stand_pose",
    "joints": "joints",
    "hands": "hands",
    "base": "mobile_base",
    "move_command": "move_hand",
}
"""What a robot can do because its profile has this section."""
OF_A_BASE = ("mapping", "rotate_base")
"""What a robot with a base may be able to do besides."""

AURORA_GROUPS = {
    "left_leg": "left_leg",
    "right_leg": "right_leg",
    "waist": "waist",
    "head": "head",
    "left_arm": "left_manipulator",
    "right_arm": "right_manipulator",
    "left_hand": "left_hand",
    "right_hand": "right_hand",
}
"""What Aurora calls each group, in the order of its group_motion_state."""

AURORA_SECURITY = 9
"""Aurora's state that stands for an emergency stop: damping, then no torque."""

ATOM_FIRST_INDEX = {
    "left_leg": 0,
    "right_leg": 6,
    "lift": 0,
    "waist": 12,
    "left_arm": 13,
    "right_arm": 20,
    "head": 27,
}
"""Where each group of an Atom begins among its 29 motors; the lower messages hold 0 to 11, the upper ones 12 to 28."""


@dataclass(frozen=True)
class FamilyFacts:
    """What holds for every robot of a family."""

    always: frozenset[str]
    """Capabilities that do not depend on the profile."""
    sections: frozenset[str]
    """What a profile may have beside what every profile has."""
    groups: dict[str, int | None]
    """Joint groups it may have, and how many joints each has where the wire leaves no choice."""
    variants: tuple[tuple[str, ...], ...]
    """Firmware generations, those that exclude each other together (in wire.topics, too; that imports cyclonedds)."""
    highest_state: int
    """The highest state number its messages can carry."""
    stopping_states: dict[str, int | None]
    """States without which the guard cannot know or stop the robot, with their number where the vendor fixed it."""
    forbidden_domain: int | None
    """A domain that is the robot's inside."""
    hand_unit: Literal["rad", "count"]
    sends_gains: bool
    """Whether every joint command carries gains, so that the profile must name them.

    Where they have a command of their own, the robot has it once the profile names the nominal ones: without them no
    gain can be held against a limit.
    """
    obeys_only: str = ""
    """In which mode, if no topic shows it: what to look at when the robot does not react."""


_SOME: int | None = None

FAMILIES: dict[Family, FamilyFacts] = {
    "aurora": FamilyFacts(
        always=frozenset({"errors", "emergency", "body"}),
        sections=frozenset(
            {"fsm", "upper_fsm", "velocity_sources", "velocity", "stand_pose", "hands", "move_command", "reach"}
        ),
        groups=dict.fromkeys(("left_leg", "right_leg", "waist", "head", "left_arm", "right_arm"), _SOME),
        variants=(("no_duration",),),
        highest_state=255,
        stopping_states={"security": AURORA_SECURITY},
        forbidden_domain=None,
        hand_unit="rad",
        sends_gains=False,
    ),
    "atom": FamilyFacts(
        always=frozenset({"upper_body", "errors", "emergency", "battery", "pad", "body"}),
        sections=frozenset({"fsm", "velocity", "hands", "base", "rpc"}),
        groups={"left_leg": 6, "right_leg": 6, "lift": 3, "waist": 1, "left_arm": 7, "right_arm": 7, "head": 2},
        variants=(("fsm_v1", "fsm_v3"), ("emergency_3",), ("amr_v2",)),
        highest_state=65535,
        stopping_states={"damping": None},
        forbidden_domain=None,
        hand_unit="rad",
        sends_gains=True,
    ),
    "adam": FamilyFacts(
        always=frozenset({"errors", "battery", "pad", "body"}),
        sections=frozenset({"hands"}),
        groups=dict.fromkeys(("left_leg", "right_leg", "waist", "head", "left_arm", "right_arm"), _SOME),
        variants=(("remote_int16",),),
        highest_state=0,
        stopping_states={},
        forbidden_domain=0,
        hand_unit="count",
        sends_gains=True,
        obeys_only="in developer mode (LO + RO on the pad, from damping)",
    ),
}


def may_have(family: Family) -> frozenset[str]:
    """Every capability that a robot of the family can have; which ones it has is in its profile."""
    facts = FAMILIES[family]
    of_sections = {CAPABILITY_OF_SECTION[name] for name in facts.sections if name in CAPABILITY_OF_SECTION}
    of_base = OF_A_BASE if "base" in facts.sections else ()
    gains = () if facts.sends_gains else ("gains",)
    return facts.always | of_sections | {CAPABILITY_OF_SECTION["joints"], *of_base, *gains}


CAPABILITIES = frozenset[str]().union(*map(may_have, FAMILIES))
