"""A robot of another model than the profile's is recognised from what it shows, and the profile that fits is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.robots.models import Shown, fitting, joint_counts, misfit
from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import load_profile, profile_names

PROFILES = {name: load_profile(name) for name in profile_names()}


def shown(profile: Profile) -> Shown:
    return profile.model.upper() if profile.family == "atom" else joint_counts(profile)


@pytest.mark.parametrize("actual", PROFILES)
@pytest.mark.parametrize("expected", PROFILES)
def test_every_pair_of_robots_of_a_family_is_told_apart(actual: str, expected: str) -> None:
    robot, profile = PROFILES[actual], PROFILES[expected]
    if robot.family == profile.family:
        assert (misfit(profile, shown(robot)) is None) is (actual == expected)
        assert fitting(profile.family, shown(robot)) == f"use {actual}"


def test_what_differs_is_said() -> None:
    assert misfit(PROFILES["n1"], joint_counts(PROFILES["gr2"])) == (
        "the robot has other joints than n1: left_arm 7 (profile: 5), right_arm 7 (profile: 5), head 2 (profile: 0)"
    )


def test_hands_and_groups_without_joints_make_no_other_model() -> None:
    n1 = PROFILES["n1"]
    assert misfit(n1, joint_counts(n1) | {"head": 0, "left_hand": 6, "right_hand": 6}) is None


@pytest.mark.parametrize(
    ("robot", "name", "problem"),
    [
        ("atom", "", None),  # it does not tell
        ("atom", "ATOM MAX", None),
        ("atom", "ATOM Standard", None),
        ("atom", "ATOM Trainer\0\x07", None),
        ("atom_w", "ATOM AMR", None),
        ("atom_w", "ATOM D", "the robot calls itself ATOM D, which stands on legs; atom_w stands on wheels"),
        ("atom", "ATOM W", "the robot calls itself ATOM W, which stands on wheels; atom stands on legs"),
        ("atom", "NEO", 'the robot calls itself "NEO", which nobody knows: write model: NEO if atom is right'),
    ],
)
def test_an_atom_says_what_it_is_called(robot: str, name: str, problem: str | None) -> None:
    assert misfit(PROFILES[robot], name) == problem


def test_a_name_nobody_knows_is_right_where_the_profile_has_it() -> None:
    assert misfit(replace(PROFILES["atom"], model="Neo"), "NEO") is None
    assert misfit(replace(PROFILES["atom"], model="ATOM W"), "ATOM W") is not None  # it has no base


def test_a_robot_for_which_there_is_no_profile() -> None:
    assert fitting("aurora", {"left_arm": 9}) == "no profile here fits it"
