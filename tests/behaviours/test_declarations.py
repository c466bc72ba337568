"""Every leaf's docstring shows how it is written: the examples are checked like any tree."""

from pathlib import Path
from shutil import copy

import pytest

import behaviours
from orchestrator.guard.config import load_guard_config, rules_for
from orchestrator.leaf import MODES, Catalogue, Declaration, leaves_of
from orchestrator.robots.facts_of import facts_of
from orchestrator.robots.profiles import load_profile, profile_names
from orchestrator.treefile import Surroundings, check_file
from tests.treefile.stand_in import FIELDS, ROBOTS

CATALOGUE = Catalogue(leaves_of(behaviours))
MOTIONS = Path(__file__).parent / "motions"
every_leaf = pytest.mark.parametrize("declared", list(CATALOGUE), ids=lambda declared: declared.name)


@every_leaf
def test_the_example_of_a_leaf_is_right(declared: Declaration, tmp_path: Path) -> None:
    (tmp_path / "motions").mkdir()
    copy(MOTIONS / "wave_gr2.yaml", tmp_path / "motions" / "wave.yaml")  # which one of them speaks of
    path = tmp_path / "example.yaml"
    nodes = "".join(f"  {line}\n" for line in declared.example.splitlines())
    path.write_text(f"tree: example\nparams: {{place: {{type: tag, default: 3}}}}\nroot:\n{nodes}")
    checked = check_file(path, Surroundings(CATALOGUE, FIELDS))
    assert [f for f in checked.findings.sorted() if f.severity == "error"] == []


SHIPPED = [facts_of(load_profile(name)) for name in profile_names()]


@every_leaf
def test_a_robot_that_has_what_a_leaf_needs_takes_its_example(declared: Declaration, tmp_path: Path) -> None:
    (tmp_path / "motions").mkdir()
    copy(MOTIONS / "wave_gr2.yaml", tmp_path / "motions" / "wave.yaml")
    path = tmp_path / "example.yaml"
    for line in declared.example.splitlines():
        path.write_text(f"tree: example\nparams: {{place: {{type: tag, default: 12}}}}\nroot:\n  {line}\n")
        checks = [check_file(path, Surroundings(CATALOGUE, FIELDS, robot=robot)).findings for robot in SHIPPED]
        codes = [{finding.code for finding in found.sorted() if finding.severity == "error"} for found in checks]
        able = [found for found in codes if "lacks-capability" not in found]
        assert not able or any(found <= {"wrong-mode"} for found in able), (line, able)


@every_leaf
def test_a_leaf_speaks_of_states_its_robots_have(declared: Declaration) -> None:
    for robot in ROBOTS.values():
        values = dict(zip(MODES, (robot.fsm_states, robot.upper_states, robot.velocity_sources, ("off", "on"))))
        for alternative in declared.requires.get(robot.family, ()):
            for mode, allowed in alternative.items():
                assert mode not in MODES or set(allowed) <= set(values[mode]), (declared.name, mode)


USER_CONTROLLERS = {"user_b", "user_c", "user_d", "user_e", "user_f"}
"""What they are is not written down: the guard takes them for walking, no leaf relies on that."""


@every_leaf
@pytest.mark.parametrize("robot", ["gr2", "atom", "atom_w"])
def test_the_guard_lets_a_leaf_command_in_the_states_in_which_it_is_allowed_and_no_others(
    declared: Declaration, robot: str
) -> None:
    """Where a leaf is called like its command, which nearly all are."""
    profile = load_profile(robot)
    permit = rules_for(load_guard_config(), profile).permit.get(declared.name)
    allowed = declared.requires.get(profile.family)
    if permit is not None and allowed:
        assert {state for option in permit for state in option.fsm or ()} - USER_CONTROLLERS == {
            state for option in allowed for state in option.get("fsm", ())
        }


MOVES_NOTHING_OF_ITS_OWN = {
    "SubscribeLaser": "no motion at all",
    "PauseNavigation": "the task of a leaf beside it, which keeps the base",
    "ResumeNavigation": "the same",
}


@every_leaf
def test_a_leaf_that_moves_the_robot_says_what_it_uses(declared: Declaration) -> None:
    only_talks = declared.looks or not declared.needs or declared.name in MOVES_NOTHING_OF_ITS_OWN
    assert bool(declared.uses) is not only_talks


@every_leaf
def test_a_leaf_does_something(declared: Declaration) -> None:
    assert declared.implemented
