"""Every profile that comes with the program, and the facts in it that hurt when they are wrong."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from orchestrator.data import data_path
from orchestrator.robots.facts_of import facts_of
from orchestrator.robots.families import COMMANDING, FAMILIES, may_have
from orchestrator.robots.profile import CAUTIOUS_REACH, Family, Profile, Range
from orchestrator.robots.profile_schema import keys
from orchestrator.robots.profiles import ProfileError, load_profile, profile_names
from orchestrator.wire.topics import VARIANTS

NAMES = ("adam_lite", "adam_pro", "adam_sp", "adam_u", "atom", "atom_w", "gr1", "gr2", "gr3", "n1")
READ_ONLY = ("adam_lite", "adam_pro", "adam_sp")
every_profile = pytest.mark.parametrize("name", NAMES)


def joint(profile: Profile, name: str) -> Range:
    return next(joint.position for joint in profile.joints if joint.name == name)


def sizes(profile: Profile) -> dict[str, int]:
    return dict(Counter(joint.group for joint in profile.joints))


def short_names(profile: Profile, group: str) -> list[str]:
    return [joint.name.split("_", 1)[1] for joint in profile.group(group)]


def test_the_profiles_that_come_with_the_program() -> None:
    assert profile_names() == NAMES


@every_profile
def test_a_profile_is_named_after_its_file(name: str) -> None:
    assert load_profile(name).name == name


@every_profile
def test_every_joint_has_a_range_that_is_not_empty_and_a_speed(name: str) -> None:
    for joint in load_profile(name).joints:
        assert joint.position.low < joint.position.high
        assert joint.velocity is not None and joint.velocity > 0


@every_profile
def test_the_right_side_mirrors_the_left(name: str) -> None:
    profile = load_profile(name)
    for left in profile.joints:
        if left.name.startswith("left_"):
            right = joint(profile, left.name.replace("left_", "right_"))
            swapped = Range(-left.position.high, -left.position.low)
            turns_the_other_way = left.name.endswith(("roll", "yaw"))
            assert right == (swapped if turns_the_other_way else left.position), left.name


@every_profile
def test_open_questions_are_listed(name: str) -> None:
    assert all(open_question.what and open_question.note for open_question in load_profile(name).unconfirmed)
    assert load_profile(name).unconfirmed


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("gr1", {"left_leg": 6, "right_leg": 6, "waist": 3, "head": 3, "left_arm": 7, "right_arm": 7}),
        ("gr2", {"left_leg": 6, "right_leg": 6, "waist": 1, "head": 2, "left_arm": 7, "right_arm": 7}),
        ("gr3", {"left_leg": 6, "right_leg": 6, "waist": 3, "head": 2, "left_arm": 7, "right_arm": 7}),
        ("n1", {"left_leg": 6, "right_leg": 6, "waist": 1, "left_arm": 5, "right_arm": 5}),
        ("atom", {"left_leg": 6, "right_leg": 6, "waist": 1, "left_arm": 7, "right_arm": 7, "head": 2}),
        ("atom_w", {"lift": 3, "waist": 1, "left_arm": 7, "right_arm": 7, "head": 2}),
        ("adam_u", {"waist": 3, "head": 2, "left_arm": 7, "right_arm": 7}),
        ("adam_lite", {"left_leg": 6, "right_leg": 6, "waist": 3, "left_arm": 4, "right_arm": 4}),
        ("adam_sp", {"left_leg": 6, "right_leg": 6, "waist": 3, "left_arm": 7, "right_arm": 7}),
        ("adam_pro", {"left_leg": 6, "right_leg": 6, "waist": 3, "left_arm": 7, "right_arm": 7, "head": 2}),
    ],
)
def test_joint_groups_in_the_order_of_the_wire(name: str, groups: dict[str, int]) -> None:
    assert list(sizes(load_profile(name)).items()) == list(groups.items())


@pytest.mark.parametrize(
    ("name", "group", "order"),
    [
        ("gr1", "left_leg", "hip_roll hip_yaw hip_pitch knee_pitch ankle_pitch ankle_roll"),
        ("gr2", "left_leg", "hip_pitch hip_roll hip_yaw knee_pitch ankle_pitch ankle_roll"),
        ("gr3", "left_leg", "hip_pitch hip_roll hip_yaw knee_pitch ankle_pitch ankle_roll"),
        ("n1", "left_leg", "hip_pitch hip_roll hip_yaw knee_pitch ankle_roll ankle_pitch"),
        ("gr1", "waist", "yaw pitch roll"),
        ("gr3", "waist", "yaw roll pitch"),
        ("gr1", "head", "roll yaw pitch"),
        ("gr1", "left_arm", "shoulder_pitch shoulder_roll shoulder_yaw elbow_pitch wrist_yaw wrist_roll wrist_pitch"),
        ("gr2", "left_arm", "shoulder_pitch shoulder_roll shoulder_yaw elbow_pitch wrist_yaw wrist_pitch wrist_roll"),
        ("n1", "left_arm", "shoulder_pitch shoulder_roll shoulder_yaw elbow_pitch wrist_yaw"),
        ("atom", "left_arm", "shoulder_pitch shoulder_roll shoulder_yaw elbow_pitch elbow_roll wrist_pitch wrist_roll"),
        ("adam_u", "waist", "roll pitch yaw"),
        ("adam_u", "left_arm", "shoulder_pitch shoulder_roll shoulder_yaw elbow wrist_yaw wrist_pitch wrist_roll"),
    ],
)
def test_joint_order(name: str, group: str, order: str) -> None:
    assert short_names(load_profile(name), group) == order.split()


@pytest.mark.parametrize(
    ("name", "joint_name", "low", "high"),
    [
        ("gr1", "left_hip_pitch", -1.75, 0.70),
        ("gr1", "right_shoulder_roll", -2.53, 0.57),
        ("gr2", "left_elbow_pitch", -1.5272, 0.47997),
        ("gr3", "right_wrist_roll", -1.2217, 1.0472),
        ("gr3", "left_knee_pitch", 0, 2.3562),
        ("n1", "left_elbow_pitch", -0.349, 1.658),
        ("atom", "waist_yaw", -2.7925, 2.7925),
        ("atom", "left_elbow_pitch", -0.87, 2.0),
        ("atom", "right_shoulder_roll", -3.14, 0.43),
        ("atom", "left_ankle_pitch", -0.5236, 0.5236),
        ("atom", "head_yaw", -1.57, 1.57),
        ("atom_w", "lift_3", -2.33, 0.9074),
        ("adam_u", "left_shoulder_pitch", -1.047, 2.042),
        ("adam_u", "right_elbow", -2.496, 0.209),
    ],
)
def test_joint_limits(name: str, joint_name: str, low: float, high: float) -> None:
    assert joint(load_profile(name), joint_name) == Range(low, high)


@pytest.mark.parametrize(
    ("name", "vx", "vy", "yaw"),
    [
        ("gr1", (-0.4, 0.5), 0.3, 0.8),
        ("gr2", (-0.5, 0.75), 0.5, 1.0),
        ("gr3", (-1.0, 1.0), 0.3, 0.6),
        ("n1", (-0.5, 0.5), 0.5, 1.0),
    ],
)
def test_velocity_ranges(name: str, vx: tuple[float, float], vy: float, yaw: float) -> None:
    velocity = load_profile(name).velocity
    assert velocity is not None
    assert (velocity.vx, velocity.vy, velocity.yaw) == (Range(*vx), Range(-vy, vy), Range(-yaw, yaw))


@pytest.mark.parametrize(
    ("name", "dz", "pitch", "yaw"),
    [
        ("gr1", (-0.20, 0.02), (-0.3, 0.45), 0.5),
        ("gr2", (-0.20, 0.025), (-0.3, 0.45), 0.3),
        ("gr3", (-0.20, 0.01), (-0.3, 0.5), 0.3),
        ("n1", (-0.15, 0.01), (-0.2, 0.5), 0.3),
    ],
)
def test_stand_pose_ranges(name: str, dz: tuple[float, float], pitch: tuple[float, float], yaw: float) -> None:
    pose = load_profile(name).stand_pose
    assert pose is not None
    assert (pose.dz, pose.pitch, pose.yaw, pose.stable_level) == (Range(*dz), Range(*pitch), Range(-yaw, yaw), 100)


@pytest.mark.parametrize("name", ["gr1", "gr2", "gr3", "n1"])
def test_aurora_states(name: str) -> None:
    profile = load_profile(name)
    names = "default joint_stand pd_stand walk user_b user_c user_d user_e user_f security user_cmd upper_user_cmd"
    assert profile.fsm == {name: number for number, name in enumerate(names.split())}
    assert profile.velocity_sources == {"joystick": 0, "handheld": 1, "navigation": 2}
    assert (profile.upper_fsm["default"], profile.upper_fsm["act"], profile.upper_fsm["remote"]) == (0, 1, 2)


@pytest.mark.parametrize(("name", "has"), [("gr1", False), ("gr2", True), ("gr3", True), ("n1", False)])
def test_only_gr2_and_gr3_plan_arm_movements(name: str, has: bool) -> None:
    profile = load_profile(name)
    assert profile.move_command is has
    assert profile.upper_fsm.get("move_cmd") == (4 if has else None)


def test_a_profile_that_names_no_reach_has_a_cautious_one(tmp_path: Path) -> None:
    text = data_path("config/robots/gr2.yaml").read_text()
    without = re.sub(r"^reach:.*\n(  .*\n)+", "", text, flags=re.MULTILINE)
    (tmp_path / "mine.yaml").write_text(without)
    assert "reach:" not in without
    assert load_profile(str(tmp_path / "mine.yaml")).reach == CAUTIOUS_REACH


@pytest.mark.parametrize("name", ["atom", "atom_w"])
def test_atom_states_that_are_not_confirmed_are_marked(name: str) -> None:
    profile = load_profile(name)
    marked = " ".join(open_question.what for open_question in profile.unconfirmed)
    assert profile.fsm == {"zero_torque": 0, "damping": 1, "ready": 2, "walk": 301, "balance": 302}
    assert all(f"fsm.{state}" in marked for state in ("zero_torque", "damping", "ready", "balance"))
    assert "fsm.walk" not in marked


@pytest.mark.parametrize(("family", "domain"), [("aurora", 123), ("atom", 0), ("adam", 1)])
def test_domains(family: str, domain: int) -> None:
    profiles = [load_profile(name) for name in NAMES]
    assert {profile.domain for profile in profiles if profile.family == family} == {domain}


def test_atom_gains_are_those_of_dobots_sdk() -> None:
    gains = [(joint.kp, joint.kd) for joint in load_profile("atom").joints[12:]]
    left = [(200, 3), (200, 3), (200, 3), (200, 8), (200, 4), (200, 1), (200, 1)]
    right = [(200, 3), (200, 3), (200, 3), (200, 4), (200, 4), (200, 1), (200, 1)]
    assert gains == [(200, 5), *left, *right, (200, 0.25), (200, 0.25)]


def test_adam_gains_are_those_of_pnds_samples() -> None:
    gains = [(joint.kp, joint.kd) for joint in load_profile("adam_u").joints]
    arm = [(18, 0.9)] + [(9, 0.9)] * 6
    assert gains == [(405, 6.1), (405, 6.1), (205, 4.1), (9, 0.9), (9, 0.9), *arm, *arm]


def test_hands() -> None:
    atom, adam, gr1 = (load_profile(name).hands for name in ("atom", "adam_u", "gr1"))
    assert atom and adam and gr1
    assert (atom.order, adam.order) == (("right", "left"), ("left", "right"))
    assert atom.fingers == adam.fingers == ("little", "ring", "middle", "index", "thumb_bend", "thumb_rotation")
    assert (atom.unit, adam.unit, gr1.unit) == ("rad", "count", "rad")
    assert all(opened > closed for opened, closed in zip(atom.open, atom.closed, strict=True))
    assert (adam.open, adam.closed) == ((1000,) * 6, (0,) * 6)
    assert (atom.kp, atom.kd, atom.tau) == (40, 0.5, 0.05)
    assert load_profile("n1").hands is None


def test_only_the_wheeled_robot_has_a_base() -> None:
    assert [name for name in NAMES if load_profile(name).base] == ["atom_w"]
    base = load_profile("atom_w").base
    assert base and (base.linear, base.angular, base.rotate, base.confirm_key) == (0.6, 1.0, False, True)


def test_groups_whose_vendor_facts_are_unsafe_are_never_commanded() -> None:
    assert load_profile("atom").read_only_groups == ("left_leg", "right_leg")
    assert load_profile("atom_w").read_only_groups == ("lift",)


@pytest.mark.parametrize(
    ("name", "capabilities"),
    [
        ("gr1", "fsm upper_body stand_pose velocity joints hands errors emergency body"),
        ("gr2", "fsm upper_body stand_pose velocity joints hands errors emergency body move_hand"),
        ("gr3", "fsm upper_body stand_pose velocity joints hands errors emergency body move_hand"),
        ("n1", "fsm upper_body stand_pose velocity joints errors emergency body"),
        ("atom", "fsm upper_body velocity joints hands errors emergency battery pad body"),
        ("atom_w", "fsm upper_body velocity joints hands mobile_base mapping errors emergency battery pad body"),
        ("adam_u", "joints hands errors battery pad body"),
        ("adam_lite", "errors battery pad body"),
        ("adam_sp", "errors battery pad body"),
        ("adam_pro", "errors battery pad body"),
    ],
)
def test_capabilities(name: str, capabilities: str) -> None:
    assert load_profile(name).capabilities == set(capabilities.split())


@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_family_may_have_is_what_its_robots_have(family: Family) -> None:
    robots = [facts_of(load_profile(name)) for name in profile_names()]
    found = set[str]().union(*(robot.capabilities for robot in robots if robot.family == family))
    assert may_have(family) - found <= {"rotate_base", "gains"}  # of newer bases; where a site knows its gains
    assert found <= may_have(family)


@pytest.mark.parametrize("name", READ_ONLY)
def test_a_robot_with_an_uncertain_joint_order_is_read_only(name: str) -> None:
    profile = load_profile(name)
    assert profile.read_only
    assert not profile.capabilities & COMMANDING


def test_poses_are_read_in_radians() -> None:
    assert load_profile("gr2").poses["ready"]["left_arm"][3] == math.radians(-69)


def test_the_variants_are_those_of_the_wire() -> None:
    for family, facts in FAMILIES.items():
        assert {variant for alternatives in facts.variants for variant in alternatives} == set(VARIANTS[family])


def test_variants_that_change_the_same_topic_exclude_each_other() -> None:
    for family, facts in FAMILIES.items():
        for variant, other in combinations(VARIANTS[family], 2):
            together = any({variant, other} <= set(alternatives) for alternatives in facts.variants)
            assert together == bool(VARIANTS[family][variant].keys() & VARIANTS[family][other].keys())


def test_loading_needs_neither_cyclonedds_nor_numpy() -> None:
    program = (
        "import sys; from orchestrator.robots.profiles import load_profile; load_profile('gr2');"
        "print([name for name in ('cyclonedds', 'numpy', 'py_trees') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


# Finding them.


def test_ones_own_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "config" / "robots"
    own.mkdir(parents=True)
    text = data_path("config/robots/gr2.yaml").read_text()
    (own / "gr2.yaml").write_text(text.replace("domain: 123", "domain: 7"))
    (own / "our_gr2.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert load_profile("gr2").domain == 7
    assert load_profile("our_gr2").domain == 123
    assert load_profile("gr3").domain == 123
    assert profile_names() == tuple(sorted((*NAMES, "our_gr2")))


def test_a_path_is_taken_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "lab_robot.yaml"
    file.write_text(data_path("config/robots/n1.yaml").read_text())
    assert load_profile(file).name == "lab_robot"
    assert load_profile(str(file)).model == "N1"


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ProfileError, match="did you mean atom_w") as error:
        load_profile("atom-w")
    assert len(error.value.findings) == 1


def test_a_missing_file_is_a_finding(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"nowhere\.yaml"):
        load_profile(tmp_path / "nowhere.yaml")


def test_every_section_of_a_profile_is_described() -> None:
    described = (Path(__file__).parents[2] / "docs" / "robots.md").read_text().split("## Writing a profile")[1]
    for family in FAMILIES:
        for section in keys(family):
            assert f"`{section}" in described, section
