"""What the guard file forbids is known before anything moves, and it is what the guard would refuse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.data import data_path
from orchestrator.engine.substitution import Substitutes
from orchestrator.guard.policy import POLICIES
from orchestrator.leaf import installed
from orchestrator.mission.forbidden import forbidden
from orchestrator.mission.loading import CannotRun, load_mission, surroundings
from orchestrator.robots import intents
from orchestrator.robots.facts_of import facts_of
from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import load_profile
from orchestrator.treefile import check_file
from tests.behaviours.phases import CASES
from tests.support.leaf_cases import Case

RULES = data_path("config/guard.yaml")


def found(folder: Path, robot: str | Profile, nodes: str, rules: Path = RULES) -> list[str]:
    profile = load_profile(robot) if isinstance(robot, str) else robot
    tree = folder / "tree.yaml"
    tree.write_text(f"tree: x\nrobot: {profile.name}\nroot:\n{nodes}")
    checked = check_file(tree, replace(surroundings(), robot=facts_of(profile)))
    assert checked.findings.errors == 0, checked.findings.render()
    return [f"{place.line}: {text}" for place, text in forbidden(checked.tree, profile, rules)]


def line_of(key: str) -> int:
    lines = RULES.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.startswith(f"  {key}:"))


@pytest.mark.parametrize(
    ("robot", "node", "key"),
    [
        ("atom_w", "SetBaseSpeed: {speed: 0.3 m/s}", "base_settings"),
        ("atom_w", "StartMapping", "maps"),
        ("atom_w", "DriveBase: {forward: 0.1 m/s, time: 1 s}", "remote_drive"),
        ("atom_w", "EnableMotors: {enabled: true}", "motors"),
        ("atom_w", "SetFsm: {state: damping}", "drop"),
        ("gr2", "MoveJoints: {group: left_leg, angles: {left_knee_pitch: 0.1 rad}}", "low_level"),
        ("gr2", "MoveJoints: {angles: {left_knee_pitch: 0.1 rad}}", "low_level"),
    ],
)
def test_a_leaf_that_the_guard_file_forbids_is_named_with_the_line_that_does(
    robot: str, node: str, key: str, tmp_path: Path
) -> None:
    (said,) = found(tmp_path, robot, f"  - Log: {{text: hello}}\n  - {node}\n")
    assert said.startswith(f"5: {node.split(':')[0]} is forbidden: ")
    assert f"allow.{key} is off in the guard file ({RULES}:{line_of(key)}:3)" in said


@pytest.mark.parametrize(
    ("node", "legs"),
    [
        ("MoveJoints: {pose: squat}", ["left_leg", "right_leg"]),
        ("MoveJoints: {pose: squat, group: left_leg}", ["left_leg"]),
        ("MoveJoints: {pose: squat, group: left_arm}", []),
        ("MoveJoints: {pose: home}", []),
        ("MoveJoints: {pose: $p}\n    for_each: {p: [home, squat]}", ["left_leg", "right_leg"]),
        ("CheckPose: {pose: squat}", []),
    ],
)
def test_legs_in_a_pose_are_legs_that_it_moves(node: str, legs: list[str], tmp_path: Path) -> None:
    gr2 = load_profile("gr2")
    angles = {group: (0.0,) * len(gr2.group(group)) for group in ("left_leg", "right_leg", "left_arm")}
    robot = replace(gr2, poses={**gr2.poses, "squat": angles})
    said = found(tmp_path, robot, f"  - {node}\n")
    assert [text.partition(", and ")[0] for text in said] == [
        f"4: MoveJoints is forbidden: it moves {leg}" for leg in legs
    ]


@pytest.mark.parametrize(
    "nodes",
    [
        "  - SetFsm: {state: $s}\n    for_each: {s: [ready, damping]}\n",
        "  - Ask: {question: Which?, choices: [ready, damping]}\n    save: s\n  - SetFsm: {state: $s}\n",
    ],
)
def test_one_forbidden_value_of_a_name_is_enough(nodes: str, tmp_path: Path) -> None:
    (said,) = found(tmp_path, "atom_w", nodes)
    assert "SetFsm is forbidden: in damping the robot falls" in said
    assert found(tmp_path, "atom_w", nodes.replace("damping", "walk")) == []


@pytest.mark.parametrize(("joint", "legs"), [("left_knee_pitch", ["left_leg"]), ("head_yaw", [])])
def test_legs_in_a_motion_are_legs_that_it_moves(joint: str, legs: list[str], tmp_path: Path) -> None:
    (tmp_path / "motion.yaml").write_text(f"joints: [{joint}]\nkeyframes:\n  - {{at: 1 s, angles: [0.1 rad]}}\n")
    said = found(tmp_path, "gr2", "  - PlayMotion: {file: motion.yaml}\n")
    assert [text.partition(", and ")[0] for text in said] == [
        f"4: PlayMotion is forbidden: it moves {leg}" for leg in legs
    ]


def test_every_motion_that_may_be_played_is_judged(tmp_path: Path) -> None:
    for name, joint in (("nod", "head_yaw"), ("kick", "left_knee_pitch")):
        (tmp_path / f"{name}.yaml").write_text(f"joints: [{joint}]\nkeyframes:\n  - {{at: 1 s, angles: [0.1 rad]}}\n")
    said = found(tmp_path, "gr2", "  - PlayMotion: {file: $name.yaml}\n    for_each: {name: [nod, kick]}\n")
    assert [text.partition(", and ")[0] for text in said] == ["4: PlayMotion is forbidden: it moves left_leg"]


def test_what_a_site_allows_is_not_forbidden(tmp_path: Path) -> None:
    own = tmp_path / "guard.yaml"
    own.write_text(RULES.read_text().replace("motors: false", "motors: true"))
    assert found(tmp_path, "atom_w", "  - EnableMotors: {enabled: true}\n", own) == []


def test_a_node_that_never_runs_on_this_robot_is_not_forbidden(tmp_path: Path) -> None:
    nodes = "  - StartMapping:\n    when: robot.family == aurora\n"
    assert found(tmp_path, "atom_w", nodes) == []


def test_run_refuses_before_anything_moves(tmp_path: Path) -> None:
    tree = tmp_path / "tree.yaml"
    tree.write_text("tree: x\nrobot: atom_w\nroot:\n  - SetFsm: {state: ready}\n  - StartMapping\n")
    with pytest.raises(CannotRun, match=r"tree.yaml:5:5: error: StartMapping is forbidden"):
        load_mission(tree)
    load_mission(tree, substitutes=Substitutes({"StartMapping": "succeed"}))


def test_run_refuses_a_robot_that_is_only_watched(tmp_path: Path) -> None:
    tree = tmp_path / "tree.yaml"
    tree.write_text("tree: x\nrobot: adam_lite\nroot:\n  - Log: {text: hello}\n")
    with pytest.raises(CannotRun, match="adam_lite is read-only: it is only watched, and no tree can run on it"):
        load_mission(tree)


def test_run_says_what_is_wrong_and_what_is_forbidden_at_once(tmp_path: Path) -> None:
    tree = tmp_path / "tree.yaml"
    tree.write_text("tree: x\nrobot: atom_w\nroot:\n  - SetFsm: {state: reddy}\n  - StartMapping\n")
    with pytest.raises(CannotRun, match=r"(?s)tree.yaml:4:.*reddy.*tree.yaml:5:5: error: StartMapping is forbidden"):
        load_mission(tree)


@pytest.mark.parametrize(
    "node",
    ["MoveJoints: {pose: squat, group: left_amr}", "MoveJoints: {angles: {left_knee_pich: 1 rad}}", "StartMapping"],
)
def test_what_could_not_be_read_or_is_not_there_is_not_forbidden(node: str, tmp_path: Path) -> None:
    gr2 = load_profile("gr2")
    robot = replace(gr2, poses={**gr2.poses, "squat": {"left_leg": (0.0,) * len(gr2.group("left_leg"))}})
    tree = tmp_path / "tree.yaml"
    tree.write_text(f"tree: x\nrobot: gr2\nroot:\n  - {node}\n")
    checked = check_file(tree, replace(surroundings(), robot=facts_of(robot)))
    assert checked.findings.errors
    assert list(forbidden(checked.tree, robot, RULES)) == []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_leaf_declares_what_its_commands_need(case: Case) -> None:
    kinds = [getattr(intents, name) for name in case.sends if hasattr(intents, name)]
    needed = {POLICIES[kind].permission for kind in kinds if POLICIES[kind].permission}
    assert needed <= {case.leaf.declaration.permission}
    assert case.leaf.declaration.permission in (needed or {""})


def test_every_permission_is_one_of_the_guard_file() -> None:
    for leaf in installed():
        assert not leaf.permission or line_of(leaf.permission)


@pytest.mark.parametrize(
    ("steps", "stands_in"),
    [
        (("pd_stand", "upper_user_cmd"), "pd_stand"),
        (("pd_stand", "walk", "default"), "walk"),
        (("joint_stand", "pd_stand", "joint_stand"), "pd_stand"),
        (("joint_stand", "pd_stand"), None),
        (("joint_stand", "user_cmd"), None),
        (("user_cmd",), None),  # it may be hanging: the guard looks
    ],
)
def test_a_state_in_which_a_standing_robot_falls_is_forbidden_where_it_must_stand(
    steps: tuple[str, ...], stands_in: str | None, tmp_path: Path
) -> None:
    said = found(tmp_path, "gr2", "".join(f"  - SetFsm: {{state: {state}}}\n" for state in steps))
    if stands_in is None:
        assert said == []
    else:
        (why,) = said
        assert f"in {steps[-1]} nothing balances the robot, which stands (in {stands_in}), and allow.drop is off" in why


def test_whoever_only_looks_lets_nobody_fall(tmp_path: Path) -> None:
    nodes = "  - SetFsm: {state: pd_stand}\n  - WaitForFsm: {state: user_cmd}\n"
    assert found(tmp_path, "gr2", nodes) == []


def tuned() -> Profile:
    """A GR-2 whose nominal gains its owner knows."""
    gr2 = load_profile("gr2")
    joints = tuple(replace(joint, kp=100.0, kd=4.0) for joint in gr2.joints)
    return replace(gr2, joints=joints, capabilities=gr2.capabilities | {"gains"})


@pytest.mark.parametrize(
    ("gains", "said"),
    [
        ("stiffness: 150, damping: 6", ""),
        ("stiffness: 500, damping: 2", "kp of head_yaw 500 is outside 0 to 150"),
        ("stiffness: 40, damping: 6.1", "kd of head_yaw 6.1 is outside 0 to 6"),
        ("stiffness: $k, damping: 2}\n    for_each: {k: [100, 200]", "kp of head_yaw 200 is outside 0 to 150"),
        ("stiffness: $k, damping: 2}\n    for_each: {k: [100, 150]", ""),
    ],
)
def test_gains_that_the_guard_lets_nobody_set_are_named(gains: str, said: str, tmp_path: Path) -> None:
    rules = tmp_path / "guard.yaml"
    rules.write_text(RULES.read_text().replace("  gains: false", "  gains: true"))
    beyond = f"4: SetGains is beyond what the guard lets pass: {said}"
    assert found(tmp_path, tuned(), f"  - SetGains: {{group: head, {gains}}}\n", rules) == ([beyond] if said else [])


@pytest.mark.parametrize("tag", ["12", "$t}\n    for_each: {t: [12, 13]"])
def test_a_tag_of_a_base_whose_profile_names_none_is_named(tag: str, tmp_path: Path) -> None:
    atom_w = load_profile("atom_w")
    assert atom_w.base is not None
    nodes = f"  - MoveToTag: {{tag: {tag}}}\n"
    untagged = replace(atom_w, base=replace(atom_w.base, tags={}))
    said = found(tmp_path, untagged, nodes)
    assert said[0] == "4: MoveToTag is beyond what the guard lets pass: there is no tag 12 in the profile of atom_w"
    assert len(said) == nodes.count(",") + 1
    tags = {"shelf": 12, "table": 13}
    assert found(tmp_path, replace(atom_w, base=replace(atom_w.base, tags=tags)), nodes) == []
