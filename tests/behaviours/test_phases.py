"""Every leaf that commands, disturbed before, at and after its acceptance and at its last tick; a part of phases.py."""

from __future__ import annotations

import pytest

import behaviours
from orchestrator.leaf import Catalogue, Declaration, leaves_of
from orchestrator.robots.facts_of import facts_of
from orchestrator.robots.profiles import load_profile, profile_names
from tests.behaviours.phases import CASES, ONE_EACH, Trial, attempt, family, trials

EVERY = 7
"""One trial of so many is in the suite: all of them take minutes."""
COMMANDING = [leaf for leaf in Catalogue(leaves_of(behaviours)) if leaf.needs and not leaf.looks]


@pytest.mark.parametrize("trial", list(trials(ONE_EACH))[::EVERY], ids=str)
def test_it_ends_for_the_right_reason_and_leaves_the_robot_at_rest(trial: Trial) -> None:
    attempt(trial)


@pytest.mark.parametrize("declared", COMMANDING, ids=lambda declared: declared.name)
def test_every_leaf_that_commands_is_tried_on_every_family_that_has_what_it_needs(declared: Declaration) -> None:
    robots = [facts_of(load_profile(name)) for name in profile_names()]
    able = {robot.family for robot in robots if robot.capabilities.issuperset(declared.needs)}
    assert {family(case) for case in CASES if case.leaf is declared.leaf} >= able & set(declared.families)
