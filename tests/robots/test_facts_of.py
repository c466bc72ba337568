"""From a profile to what the tree language knows about a robot."""

from __future__ import annotations

import pytest

from orchestrator.leaf import RESOURCES, installed
from orchestrator.robots.facts_of import FieldsOfAllRobots, facts_of, robot_named
from orchestrator.robots.profiles import load_profile, profile_names

every_robot = pytest.mark.parametrize("name", profile_names())


@every_robot
def test_every_robot_can_be_described(name: str) -> None:
    facts = facts_of(load_profile(name))
    assert facts.name == name
    assert {group.resource for group in facts.groups.values()} <= set(RESOURCES)
    assert all(pose.angles.keys() <= facts.joints.keys() for pose in facts.poses.values())
    assert {field.capability for field in facts.fields.values()} <= facts.capabilities
    assert facts.model.replace("_", "").isalnum()


def test_what_depends_on_one_fact_of_the_profile() -> None:
    atom_w, gr1, gr2 = (facts_of(load_profile(name)) for name in ("atom_w", "gr1", "gr2"))
    assert "mobile_base" in atom_w.capabilities
    assert "rotate_base" not in atom_w.capabilities
    assert "move_hand" in gr2.capabilities - gr1.capabilities
    assert atom_w.ranges["base.speed"] == (-0.6, 0.6)
    assert atom_w.ranges["hand.fingers"] == (6, 6)
    assert gr2.ranges["stand.height"] == (-0.2, 0.025)
    assert gr2.ranges["reach.forward"] == (-0.2, 0.6)
    assert (atom_w.upper_states, gr1.upper_states) == (("off", "on"), ("default", "act", "remote"))
    assert atom_w.model == "atom_w" and gr2.model == "gr2"


def test_what_is_never_commanded_cannot_be_named() -> None:
    atom_w = facts_of(load_profile("atom_w"))
    assert "lift" not in atom_w.groups
    assert not any(joint.startswith("lift") for joint in atom_w.joints)
    assert atom_w.read_only_joints == {"lift_1", "lift_2", "lift_3"}


def test_a_read_only_robot_can_do_nothing() -> None:
    adam_sp = facts_of(load_profile("adam_sp"))
    assert not {"joints", "hands", "gains"} & adam_sp.capabilities


def test_every_need_of_a_leaf_is_met_by_some_robot_or_named_here() -> None:
    capabilities = {each for name in profile_names() for each in facts_of(load_profile(name)).capabilities}
    needs = {need for leaf in installed() for need in leaf.needs}
    # no base we know turns on the spot by command, and no vendor names the gains that SetGains could be held against
    assert needs - capabilities == {"rotate_base", "gains"}


def test_every_state_a_leaf_speaks_of_exists_on_a_robot_of_that_family() -> None:
    known: dict[tuple[str, str], set[str]] = {}
    for facts in (facts_of(load_profile(name)) for name in profile_names()):
        states = (("fsm", facts.fsm_states), ("upper", facts.upper_states), ("velocity_source", facts.velocity_sources))
        for mode, named in states:
            known.setdefault((facts.family, mode), set()).update(named)
    for leaf in installed():
        for family, alternatives in leaf.requires.items():
            for alternative in alternatives:
                for mode, wanted in alternative.items():
                    assert set(wanted) <= known.get((family, mode), set(wanted)), f"{leaf.name} on {family}"


def test_fields_of_all_robots_hold_whatever_any_robot_may_report() -> None:
    fields = FieldsOfAllRobots()
    assert {"ready", "pd_stand"} <= set(fields["fsm.state"].choices)
    assert fields["battery.level"].upper == 100
    assert len(fields) == len(list(fields)) > 50


def test_no_such_robot() -> None:
    assert robot_named("nobody") is None
