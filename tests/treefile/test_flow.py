import pytest

from tests.treefile.beside import MOTION, MOTIONS
from tests.treefile.conftest import CheckText, whole


def messages(check: CheckText, nodes: str, robot: str = "gr2") -> list[str]:
    return [finding.message for finding in check(whole(nodes), robot).findings.sorted()]


def test_an_error_names_what_is_needed_what_is_and_who_set_it(check: CheckText) -> None:
    assert messages(check, "- SetFsm: {state: walk}\n- StandPose: {height: 1 cm}") == [
        "StandPose needs fsm pd_stand; here it is walk, set on line 3"
    ]


def test_a_warning_says_that_nothing_has_set_it(check: CheckText) -> None:
    assert messages(check, "- StandPose: {height: 1 cm}") == [
        "StandPose needs fsm pd_stand; here it may be anything, as nothing before has set it"
    ]


def test_two_modes_that_are_wrong_stand_each_with_what_it_is(check: CheckText) -> None:
    nodes = (
        "- SetFsm: {state: pd_stand}\n- SetVelocitySource: {source: joystick}\n"
        "- Walk: {forward: 0.2 m/s, distance: 1 m}"
    )
    assert messages(check, nodes) == [
        "Walk needs fsm walk (here it is pd_stand, set on line 3) "
        "and velocity source navigation (here it is joystick, set on line 4)"
    ]


def test_every_way_to_be_allowed_is_named(check: CheckText) -> None:
    assert messages(check, "- SetFsm: {state: walk}\n- HandOpen: {hand: right}") == [
        "HandOpen needs fsm user_cmd or upper_user_cmd or pd_stand; here it may be walk, set on line 3; "
        "or else fsm walk with upper-body control remote"
    ]


def test_a_mistake_in_what_sets_a_mode_is_not_followed_by_others(check: CheckText) -> None:
    [message] = messages(check, "- SetFsm: {state: pdstand}\n- StandPose: {height: 1 cm}")
    assert message.startswith('gr2 has no fsm state "pdstand"')
    assert messages(check, "- SetFms: {state: pd_stand}\n- StandPose: {height: 1 cm}") == ['there is no node "SetFms"']


def test_several_modes_are_followed_together(check: CheckText) -> None:
    nodes = (
        "- selector:\n"
        "    - sequence:\n        - SetFsm: {state: walk}\n        - SetUpperFsm: {state: remote}\n"
        "    - SetFsm: {state: pd_stand}\n"
        "- MoveJoints: {pose: home}\n"
    )
    assert messages(check, nodes) == []


def test_a_collision_names_both_and_the_parallel(check: CheckText) -> None:
    nodes = (
        "- SetFsm: {state: pd_stand}\n"
        "- parallel:\n    - HandOpen: {hand: left}\n    - HandGrasp: {hand: left}\n      name: grab\n"
    )
    assert messages(check, nodes) == [
        "grab and HandOpen (line 5) both use left_hand at the same time, in the parallel on line 4"
    ]


KICK = MOTION.format(joint="left_hip_pitch", angle="10 deg")
BESIDE = """
- SetFsm: {{state: walk}}
- SetUpperFsm: {{state: remote}}
- SetVelocitySource: {{source: navigation}}
- parallel:
    - PlayMotion: {{file: {file}}}
    - {other}
{rest}
"""
KICK_TOO = "MoveJoints: {angles: {left_hip_pitch: 0.1 rad}}"
WALK = "Walk: {forward: 0.2 m/s, time: 1 s}"


@pytest.mark.parametrize("other", [KICK_TOO, WALK])
@pytest.mark.parametrize(
    ("file", "rest", "use"),
    [
        ("kick.yaml", "", "both use legs"),
        ("$m", "  for_each: {m: ['wave.yaml', 'kick.yaml']}", "may both use legs"),
        ("$m.yaml", "  for_each: {m: [wave, kick]}", "may both use legs"),
    ],
)
def test_a_motion_of_legs_uses_them(check: CheckText, file: str, rest: str, use: str, other: str) -> None:
    found = check(whole(BESIDE.format(file=file, other=other, rest=rest)), "gr2", **MOTIONS, kick=KICK)
    [collision] = [finding.message for finding in found.findings.sorted() if finding.code == "collision"]
    assert collision.startswith(f"{other.partition(':')[0]} and PlayMotion (line 7) {use} at the same time")


@pytest.mark.parametrize(
    ("file", "rest"), [("wave.yaml", ""), ("nod.yaml", ""), ("$m.yaml", "  for_each: {m: [wave, nod]}")]
)
@pytest.mark.parametrize("other", [KICK_TOO, WALK])
def test_a_motion_of_arms_or_head_leaves_the_legs_to_others(check: CheckText, file: str, rest: str, other: str) -> None:
    found = check(whole(BESIDE.format(file=file, other=other, rest=rest)), "gr2", **MOTIONS)
    assert "collision" not in [finding.code for finding in found.findings.sorted()]


def test_what_a_motion_moves_is_read_beside_the_file_that_plays_it(check: CheckText) -> None:
    part = "tree: p\nroot:\n  - PlayMotion: {file: wave.yaml}\n"
    nodes = whole(f"- parallel:\n    - use: part/go.yaml\n    - {WALK}")
    found = check(nodes, "gr2", **MOTIONS, part__go=part, part__wave=KICK)
    assert "collision" in [finding.code for finding in found.findings.sorted()]


def test_what_never_runs_names_the_reason(check: CheckText) -> None:
    assert messages(check, "- WaitStable:\n  repeat: forever\n- CheckEmergency\n") == [
        "this never runs, because WaitStable on line 3 never succeeds"
    ]


def test_an_alternative_for_another_robot_is_not_followed(check: CheckText) -> None:
    nodes = (
        "- if: robot.has.mobile_base\n  then: [SetFsm: {state: walk}]\n  else: [SetFsm: {state: pd_stand}]\n"
        "- StandPose: {height: 1 cm}\n"
    )
    assert messages(check, nodes) == []


def test_deep_nesting_of_loops_and_parallels_is_followed_in_one_walk(check: CheckText) -> None:
    lines = []
    for depth in range(12):
        indent = "    " * depth
        lines += [f"{indent}- parallel:", f"{indent}    - CheckEmergency"]
    indent = "    " * 12
    text = "\n".join([*lines, f"{indent}- SetFsm: {{state: walk}}", f"{indent}  retry: 2"])
    assert messages(check, text) == []


def test_of_several_ways_the_one_that_brought_it_about_is_named(check: CheckText) -> None:
    nodes = (
        "- SetFsm: {state: pd_stand}\n"
        "- selector:\n    - StandPose: {height: 1 cm}\n    - SetFsm: {state: walk}\n"
        "- StandPose: {height: 0 cm}\n"
    )
    assert messages(check, nodes) == ["StandPose needs fsm pd_stand; here it may be walk, set on line 6"]


def test_inside_a_loop_the_leaf_that_sets_it_is_named(check: CheckText) -> None:
    nodes = (
        "- SetFsm: {state: pd_stand}\n"
        "- sequence:\n    - StandPose: {height: 1 cm}\n    - sequence:\n        - SetFsm: {state: walk}\n"
        "  repeat: 3\n"
    )
    assert messages(check, nodes) == ["StandPose needs fsm pd_stand; here it may be walk, set on line 7"]


def test_a_mode_set_on_one_way_only_says_so(check: CheckText) -> None:
    nodes = "- SetFsm: {state: pd_stand}\n  when: body.stable\n- StandPose: {height: 0 cm}\n"
    [message] = messages(check, nodes)
    assert message == "StandPose needs fsm pd_stand; here it may be anything, as not every way here has set it"
