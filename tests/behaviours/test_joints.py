"""MoveJoints, PlayMotion, MoveHand, SetGains, EnableMotors."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from behaviours.fsm import SetFsm
from behaviours.joints import EnableMotors, MoveHand, MoveJoints, PlayMotion, SetGains
from orchestrator.data import data_path
from orchestrator.guard.events import Observation
from orchestrator.guard.motion import commanded, joint_stream
from orchestrator.leaf import Status
from orchestrator.mission.loading import CannotRun
from orchestrator.robots.motion import Motion
from orchestrator.testing import StartMission
from tests.support.leaf_cases import (
    MOVE_COMMAND,
    STANDING,
    UPPER,
    Case,
    Step,
    check_emergency,
    check_interruption,
    check_late,
    check_lost,
    check_success,
    each,
)
from tests.support.leaf_harness import Play, Stage, profile

ROBOTS: dict[str, tuple[list[Step], str]] = {
    "gr2": (STANDING, "robot_control_group_cmd"),
    "n1": (STANDING, "robot_control_group_cmd"),
    "atom": (UPPER, "rt/upper/cmd"),
    "atom_w": (UPPER, "rt/upper/cmd"),
    "adam_u": ([], "rt/lowcmd"),
}


def rests(twin: Any) -> bool:
    return bool(np.allclose(twin.joints.dq, 0.0, atol=1e-6))


def joint_of(robot: str) -> tuple[str, float]:
    """A joint that can be bent, and where to."""
    elbow = profile(robot).group("left_arm")[3]
    return elbow.name, math.copysign(0.6, elbow.position.low + elbow.position.high)


def bend(robot: str) -> Case:
    before, command = ROBOTS[robot]
    name, angle = joint_of(robot)
    values = {"group": "left_arm", "angles": {name: angle}, "time": 2.0}
    return Case(robot, MoveJoints, values, before, ["Joints", "Joints"], command, resting=rests, midway=1.0)


BEND = [bend(robot) for robot in ROBOTS]


def q(stage: Stage, name: str) -> float:
    names = [joint.name for joint in stage.profile.joints]
    return float(stage.twin.joints.q[names.index(name)])


@each(BEND)
def test_a_joint_arrives_and_the_others_stay(case: Case) -> None:
    play = check_success(case)
    (name, angle), stage = joint_of(case.robot), play.stage
    assert q(stage, name) == pytest.approx(angle, abs=0.06)
    others = [joint.name for joint in stage.profile.joints if joint.name != name]
    assert max(abs(q(stage, other)) for other in others) < 0.02


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize(("part", "time"), [(1.0, 20.0), (0.08, 2.0)])
def test_it_is_done_when_the_whole_way_is(robot: str, part: float, time: float) -> None:
    """Near the target is not there, and what is near from the beginning has not been moved."""
    stage, (name, angle) = Stage(robot).prepare(*ROBOTS[robot][0]), joint_of(robot)
    play = stage.play(MoveJoints, angles={name: part * angle}, time=time)
    assert (play.status, play.took >= time) == (Status.SUCCESS, True)
    assert q(stage, name) == pytest.approx(part * angle, abs=0.01)


def bend_by(stage: Stage, name: str, load: float) -> None:
    """From now on a joint stands below where it is told to be."""
    joints, index = stage.twin.joints, [joint.name for joint in stage.profile.joints].index(name)
    follow = joints.advance

    def advance(now: float) -> None:
        follow(now)
        joints.q[index] = joints.target[index] - load

    joints.advance = advance


@pytest.mark.parametrize("load", [0.04, 0.09])
@pytest.mark.parametrize("robot", ["atom", "adam_u"])
def test_a_joint_that_a_load_bends_does_not_sink_while_others_move(robot: str, load: float) -> None:
    shoulder, (elbow, angle) = "left_shoulder_roll", joint_of(robot)
    stage = Stage(robot).prepare(*ROBOTS[robot][0], (MoveJoints, {"angles": {shoulder: 1.0}}))
    bend_by(stage, shoulder, load)
    for part in (0.5, 0.6, 0.5, 0.6):
        play = stage.play(MoveJoints, angles={elbow: part * angle}, time=0.5)
        assert play.status is Status.SUCCESS, play
    assert q(stage, shoulder) == pytest.approx(1.0 - load, abs=0.01)


@each(BEND)
def test_a_robot_that_never_gets_the_command(case: Case) -> None:
    play = check_lost(case)
    assert "no joint has moved" in play.leaf.message
    assert ("developer mode" in play.leaf.message) is (case.robot == "adam_u")


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_small_way_that_the_robot_never_gets(robot: str) -> None:
    stage, (name, angle) = Stage(robot).prepare(*ROBOTS[robot][0]), joint_of(robot)
    stage.hurt(f"lost:{ROBOTS[robot][1]}")
    assert stage.play(MoveJoints, angles={name: 0.08 * angle}).reason == "not_accepted"


@each(BEND)
def test_a_robot_that_obeys_late(case: Case) -> None:
    check_late(case)


@each(BEND)
@pytest.mark.parametrize("after", [0.0, 1.0])
def test_an_emergency_stop(case: Case, after: float) -> None:
    check_emergency(case, after)


@each(BEND)
def test_interrupted_the_joints_hold_where_they_are(case: Case) -> None:
    play = check_interruption(case)
    name, angle = joint_of(case.robot)
    assert 0.1 < q(play.stage, name) / angle < 0.9


@pytest.mark.parametrize("robot", ROBOTS)
def test_paused_it_holds_and_resumed_it_arrives(robot: str) -> None:
    play = bend(robot).begin().go(1.0)
    play.leaf.pause()
    play.stage.wait(3.0)
    assert rests(play.stage.twin)
    play.leaf.resume()
    assert play.finish().status is Status.SUCCESS


@pytest.mark.parametrize("robot", [robot for robot in ROBOTS if "ready" in profile(robot).poses])
def test_a_pose_moves_all_its_groups_at_once(robot: str) -> None:
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    assert stage.play(MoveJoints, pose="ready", time=2.0).status is Status.SUCCESS
    distance = stage.robot.joints.distance(stage.profile.poses["ready"])
    assert distance.value < 0.06  # type: ignore[union-attr]


def test_of_a_pose_only_the_named_group_moves() -> None:
    stage = Stage("gr2").prepare(*STANDING)
    pose = stage.profile.poses["ready"]
    assert stage.play(MoveJoints, group="left_arm", pose="ready", time=2.0).status is Status.SUCCESS
    left, everything = (stage.robot.joints.distance(part) for part in ({"left_arm": pose["left_arm"]}, pose))
    assert left.value < 0.06 < everything.value  # type: ignore[union-attr]


def test_a_pose_that_says_nothing_about_the_group_is_refused() -> None:
    play = Stage("gr2").prepare(*STANDING).play(MoveJoints, group="left_leg", pose="ready")
    assert (play.status, play.reason) == (Status.FAILURE, "unsupported")


def test_faster_than_the_joints_can_takes_longer_and_is_no_failure() -> None:
    stage = Stage("gr2").prepare(*STANDING)
    play = stage.play(MoveJoints, pose="ready", time=0.2)
    assert play.status is Status.SUCCESS
    assert play.took > 1.0


def test_an_angle_out_of_reach_is_refused() -> None:
    play = Stage("atom").prepare(*UPPER).play(MoveJoints, angles={"left_elbow_pitch": 3.0})
    assert (play.status, play.reason) == (Status.FAILURE, "refused")


def placed(robot: str, seed: int, beyond: float, end: str) -> Stage:
    """Every joint a little beyond one end of its range."""
    stage = Stage(robot, seed=seed).prepare(*ROBOTS[robot][0])
    sign = 1 if end == "high" else -1
    stage.twin.joints.place(
        slice(None), np.array([getattr(j.position, end) + sign * beyond for j in stage.profile.joints])
    )
    stage.wait(0.2)
    return stage


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize("robot", ROBOTS)
def test_joints_at_the_end_of_their_range_keep_no_other_from_moving(robot: str, end: str, seed: int) -> None:
    stage = placed(robot, seed, 0.0005, end)
    for group in ("left_arm", "head", "waist"):
        for joint in stage.profile.group(group)[-2:]:
            middle = (joint.position.low + joint.position.high) / 2
            play = stage.play(MoveJoints, angles={joint.name: middle}, time=0.2)
            assert play.status is Status.SUCCESS, (joint.name, play)


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_joint_far_beyond_its_range_keeps_its_group_from_moving(robot: str) -> None:
    stage, (name, angle) = placed(robot, 1, 0.2, "high"), joint_of(robot)
    play = stage.play(MoveJoints, angles={name: angle})
    assert (play.status, play.reason) == (Status.FAILURE, "refused")
    assert "is outside" in play.leaf.message


def test_a_joint_of_another_group_is_refused() -> None:
    play = Stage("atom").prepare(*UPPER).play(MoveJoints, group="head", angles={"left_elbow_pitch": 0.3})
    assert (play.status, play.reason) == (Status.FAILURE, "unsupported")


def test_a_robot_that_takes_back_its_upper_body_ends_the_move() -> None:
    play = bend("atom").begin().go(1.0)
    play.stage.twin.switch_upper_control(False)
    play.stage.twin.update()
    assert play.finish().reason in ("control_lost", "ended")


# Motions from files

MOTIONS = Path(__file__).parent / "motions"
WAVE = """\
description: Bend and stretch.
joints: [{joint}]
keyframes:
  - {{at: 1.5 s, angles: [{angle} rad]}}
  - {{at: 3 s, angles: [0 deg]}}
"""


def with_motion(robot: str, folder: Path, speed: float = 100.0, kind: str = "yaml") -> tuple[Stage, dict[str, Any]]:
    joint, angle = joint_of(robot)
    (folder / "motions").mkdir()
    if kind == "yaml":
        (folder / "motions/wave.yaml").write_text(WAVE.format(joint=joint, angle=angle))
    else:
        np.savez(folder / "motions/wave.npz", joints=np.array([joint]), time=[1.5, 3.0], q=[[angle], [0.0]])
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    stage.folder = folder
    return stage, {"file": f"motions/wave.{kind}", "speed": speed}


def play_wave(robot: str) -> Case:
    before, command = ROBOTS[robot]
    values = {"file": f"wave_{robot}.yaml", "speed": 100.0}
    return Case(robot, PlayMotion, values, before, ["Joints"] * 2, command, "no_progress", rests, 1.0, folder=MOTIONS)


PLAY = [play_wave(robot) for robot in ("gr2", "atom", "adam_u")]


@pytest.mark.parametrize("kind", ["yaml", "npz"])
@pytest.mark.parametrize("robot", ["gr2", "atom", "adam_u"])
def test_a_motion_is_played_from_a_file_beside_the_tree(robot: str, kind: str, tmp_path: Path) -> None:
    stage, values = with_motion(robot, tmp_path, kind=kind)
    joint, angle = joint_of(robot)
    play = stage.leaf(PlayMotion, **values).go(1.6)
    assert q(stage, joint) == pytest.approx(angle, abs=0.15)
    assert play.status is Status.RUNNING
    assert play.finish().status is Status.SUCCESS
    assert q(stage, joint) == pytest.approx(0.0, abs=0.06)


def test_half_as_fast_takes_twice_as_long(tmp_path: Path) -> None:
    stage, values = with_motion("gr2", tmp_path, speed=50.0)
    assert stage.play(PlayMotion, **values).took == pytest.approx(6.1, abs=0.2)


def to_and_fro(folder: Path, keyframes: int) -> dict[str, Any]:
    """Faster than a GR-2 can: it takes three and a half times as long."""
    rows = [[math.copysign(1.4, -1 if n % 2 else 1)] for n in range(keyframes)]
    np.savez(folder / "fro.npz", joints=np.array(["left_shoulder_pitch"]), time=np.arange(1.0, keyframes + 1), q=rows)
    return {"file": "fro.npz"}


def test_the_time_it_takes_is_that_of_this_robot(tmp_path: Path) -> None:
    stage = Stage("gr2").prepare(*STANDING)
    stage.folder = tmp_path
    leaf = stage.leaf(PlayMotion, **to_and_fro(tmp_path, 4))
    play = leaf.finish()
    assert play.status is Status.SUCCESS, play
    assert play.took == pytest.approx(leaf.leaf.takes(), abs=2.0)
    assert play.took > 10.0


def two_arms(folder: Path, left: list[float], right: list[float]) -> dict[str, Any]:
    """The shoulder of one arm and the elbow of the other, at four instants."""
    names = np.array(["left_shoulder_pitch", "right_elbow_pitch"])
    np.savez(folder / "two.npz", joints=names, time=[1, 2, 3, 4], q=np.column_stack([left, right]))
    return {"file": "two.npz"}


def motion_of(stage: Stage, group: str) -> Motion:
    stream = joint_stream(stage.guard.state, group)
    assert stream is not None
    assert stream.motion is not None
    return stream.motion


@pytest.mark.parametrize(
    ("at_first", "left", "right"),
    [
        (0.0, [-2.0, 0.0, -2.0, 0.0], [0.4, 0.0, 0.4, 0.0]),
        (0.0, [-2.0, -1.9, -1.8, -1.7], [0.1, 1.8, 0.1, 0.0]),
        (2.5, [-0.5, -0.4, -0.3, -0.2], [0.4, 0.0, 0.4, 0.0]),
    ],
    ids=["one arm", "in turn", "on the way there"],
)
def test_both_arms_are_in_step_where_one_is_too_slow(
    at_first: float, left: list[float], right: list[float], tmp_path: Path
) -> None:
    stage = Stage("atom").prepare(*UPPER)
    if at_first:
        stage.prepare((MoveJoints, {"angles": {"left_shoulder_pitch": at_first}}))
    stage.folder = tmp_path
    play = stage.leaf(PlayMotion, **two_arms(tmp_path, left, right)).start()
    arms = [motion_of(stage, "left_arm"), motion_of(stage, "right_arm")]
    assert arms[0].times == pytest.approx(arms[1].times, abs=0.01)
    assert arms[0].duration > 4.2
    assert play.finish().status is Status.SUCCESS
    if not at_first:  # where they are before the first keyframe is not in the file
        assert play.took == pytest.approx(play.leaf.takes(), abs=0.5)


def test_what_makes_both_arms_slower_is_said_as_ever(tmp_path: Path) -> None:
    stage = Stage("atom").prepare(*UPPER)
    stage.folder = tmp_path
    stage.leaf(PlayMotion, **two_arms(tmp_path, [-2.0, 0.0, -2.0, 0.0], [0.4, 0.0, 0.4, 0.0])).start()
    said = [report.text for report in stage.commander.reports if report.value == "slower"]
    assert len(said) == 1
    assert "left_shoulder_pitch needs 1." in said[0]
    assert "instead of 1 s" in said[0]


def test_a_motion_that_is_too_fast_has_the_time_it_needs(tmp_path: Path) -> None:
    stage = Stage("gr2")
    stage.folder = tmp_path
    play = stage.leaf(PlayMotion, **to_and_fro(tmp_path, 150), speed=50.0)
    limit = play.leaf.time_limit
    assert limit is not None
    assert limit > 149 * 1.875 * 2.8 / 1.5 + 300.0


def test_an_emergency_stop_midway(tmp_path: Path) -> None:
    stage, values = with_motion("atom", tmp_path)
    play = stage.leaf(PlayMotion, **values).go(1.0)
    stage.twin.press_emergency("soft")
    assert play.finish().reason == "emergency"


def test_a_motion_the_robot_never_gets(tmp_path: Path) -> None:
    stage, values = with_motion("gr2", tmp_path)
    joint, _ = joint_of("gr2")
    stage.prepare((MoveJoints, {"angles": {joint: -0.5}}))
    stage.hurt("lost:robot_control_group_cmd")
    assert stage.play(PlayMotion, **values).reason == "not_accepted"


def test_a_motion_back_to_where_it_began_that_the_robot_never_gets(tmp_path: Path) -> None:
    stage, values = with_motion("gr2", tmp_path)
    stage.hurt("lost:robot_control_group_cmd")
    assert stage.play(PlayMotion, **values).reason == "not_accepted"


# Motions the robot does not follow

NOT_STABLE: list[Step] = [(SetFsm, {"state": "joint_stand"}), (SetFsm, {"state": "pd_stand"})]
"""Fourier's robots ignore joints until they stand stably, which nobody waits for here."""
ALLOWED, NOTICED = 0.3, 0.3
"""Radians a joint may be off, and the seconds for which it may be told to go on after that."""


def jump(robot: str, folder: Path) -> dict[str, Any]:
    """A way that is quickly over; then the joint is to stay there."""
    joint, angle = joint_of(robot)
    angle = math.copysign(1.4, angle)
    rows = "\n".join(f"  - {{at: {at} s, angles: [{angle} rad]}}" for at in (1.8, 10.0))
    (folder / "jump.yaml").write_text(f"joints: [{joint}]\nkeyframes:\n{rows}\n")
    return {"file": "jump.yaml"}


def furthest(stage: Stage, group: str = "left_arm") -> float:
    """How far from where its joints are a group is told to be."""
    told = commanded(stage.guard.state, group, stage.clock.now())
    names = [joint.name for joint in stage.profile.group(group)]
    return max((abs(a - q(stage, name)) for a, name in zip(told or (), names)), default=0.0)


def ready_for(stage: Stage, folder: Path) -> dict[str, Any]:
    """Its joints are reported as often as on a robot."""
    stage.folder = folder
    stage.hurt(f"delayed:{stage.guard.core.setting.robot.roles['joints']},seconds=0.001s")
    stage.wait(0.2)
    return jump(stage.profile.name, folder)


def watched(play: Play) -> tuple[Play, float]:
    """A motion to its end, and the furthest any of its joints was ever sent from where it was."""
    distances = [0.0]

    def look() -> bool:
        distances.append(furthest(play.stage))
        return False

    return play.until(look).stop(), max(distances)


def check_not_followed(play: Play, worst: float, reason: str) -> None:
    stage, (joint, _) = play.stage, joint_of(play.stage.profile.name)
    assert (play.status, play.reason) == (Status.FAILURE, reason), play
    assert f"{joint} does not follow: it is 0." in play.leaf.message, play
    fastest = max(each.velocity or 0.0 for each in stage.profile.group("left_arm"))
    assert ALLOWED < worst < ALLOWED + NOTICED * fastest
    assert stage.guard.state.streams == ()
    stage.wait(5.0)
    assert furthest(stage) < 0.1


def test_a_motion_ends_while_the_robot_is_not_ready_for_it(tmp_path: Path) -> None:
    """It would jump to where the motion is by then, as fast as it can."""
    stage = Stage("gr2").prepare(*NOT_STABLE)
    play, worst = watched(stage.leaf(PlayMotion, **ready_for(stage, tmp_path)))
    check_not_followed(play, worst, "not_accepted")
    assert abs(q(stage, joint_of("gr2")[0])) < 0.1


def test_a_motion_ends_while_an_adam_is_not_in_developer_mode(tmp_path: Path) -> None:
    stage = Stage("adam_u")
    stage.twin.mode = "motion"
    play, worst = watched(stage.leaf(PlayMotion, **ready_for(stage, tmp_path)))
    assert "developer mode" in play.leaf.message
    stage.twin.mode = "developer"
    check_not_followed(play, worst, "not_accepted")
    assert abs(q(stage, joint_of("adam_u")[0])) < 0.1


@pytest.mark.parametrize("robot", ROBOTS)
def test_an_arm_that_is_held_is_not_pushed_to_the_end_of_the_motion(robot: str, tmp_path: Path) -> None:
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    play = stage.leaf(PlayMotion, **ready_for(stage, tmp_path)).go(0.9)
    joint, _ = joint_of(robot)
    stage.twin.joints.block(np.array([each.name == joint for each in stage.profile.joints]))
    check_not_followed(*watched(play), "no_progress")


def there_and_back(robot: str, group: str, steps: int, folder: Path) -> dict[str, Any]:
    """From one end of every joint's range to the other, faster than any of them can."""
    ends = [(joint.position.low, joint.position.high) for joint in profile(robot).group(group)]
    parts = [0.0, *(step / steps for step in range(1, steps + 1)), *(step / steps for step in range(steps)[::-1])]
    rows = [[low + (0.001 + 0.998 * part) * (high - low) for low, high in ends] for part in parts]
    names = np.array([joint.name for joint in profile(robot).group(group)])
    np.savez(folder / "ends.npz", joints=names, time=[0.01 * n for n in range(1, len(rows) + 1)], q=rows)
    return {"file": "ends.npz"}


@pytest.mark.parametrize(
    ("steps", "late"), [(1, ""), (7, ""), (1, "delayed:{state},seconds=0.2s"), (1, "late_exec:{command},seconds=0.2s")]
)
@pytest.mark.parametrize("group", ["left_arm", "head"])
@pytest.mark.parametrize("robot", ROBOTS)
def test_the_fastest_motions_are_followed(robot: str, group: str, late: str, steps: int, tmp_path: Path) -> None:
    if not profile(robot).group(group):
        return
    stage, values = Stage(robot).prepare(*ROBOTS[robot][0]), there_and_back(robot, group, steps, tmp_path)
    stage.folder = tmp_path
    if late:
        state = stage.guard.core.setting.robot.roles["joints"]
        stage.hurt(late.format(state=state, command=ROBOTS[robot][1]))
        stage.wait(3.0)
    assert (play := stage.play(PlayMotion, **values)).status is Status.SUCCESS, play


def test_a_single_report_that_is_wrong_ends_nothing() -> None:
    play = bend("gr2").begin().go(1.0)
    guard = play.stage.guard
    joints = {"left_arm": (0.0, 0.0, 0.0, -1.4, 0.0, 0.0, 0.0)}
    guard._decide(Observation("robot_control_group_state", {"joints": joints}, {}))
    assert play.finish().status is Status.SUCCESS


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (0, 0)])
def test_arrays_without_joints_or_times_are_no_motion(shape: tuple[int, int], tmp_path: Path) -> None:
    stage, _ = with_motion("gr2", tmp_path)
    times, joints = shape
    names = np.array([joint.name for joint in stage.profile.joints][:joints], dtype="U40")
    np.savez(tmp_path / "empty.npz", joints=names, time=np.arange(1.0, 1 + times), q=np.zeros(shape))
    play = stage.play(PlayMotion, file="empty.npz")
    assert (play.status, play.reason, stage.sent) == (Status.FAILURE, "bad_file", [])


def test_nothing_at_all_is_no_success() -> None:
    """Whoever asks for no joint in particular has forgotten something."""
    play = Stage("gr2").prepare(*STANDING).play(MoveJoints, angles={})
    assert (play.status, play.reason) == (Status.FAILURE, "refused")


def test_a_bad_file_is_named(tmp_path: Path) -> None:
    stage, _ = with_motion("gr2", tmp_path)
    play = stage.play(PlayMotion, file="motions/wafe.yaml")
    assert (play.status, play.reason) == (Status.FAILURE, "bad_file")
    assert "wave.yaml" in play.leaf.message
    assert stage.sent == []


# A hand to a place, by the robot's own planning

REACH = Case(
    "gr2",
    MoveHand,
    {"hand": "left", "forward": 0.35, "left": 0.25, "up": 0.1, "speed": 10.0},
    MOVE_COMMAND,
    ["MoveHand"],
    "move_command_data",
)


def test_a_hand_arrives() -> None:
    play = check_success(REACH)
    assert play.stage.twin.arms["left_arm"].pose[:3] == pytest.approx((0.35, 0.25, 0.1))


def test_a_hand_is_not_sent_beyond_its_reach() -> None:
    stage = Stage("gr2").prepare(*MOVE_COMMAND)
    play = stage.play(MoveHand, hand="left", forward=3.0, left=0.2, up=0.1)
    assert (play.status, play.reason, stage.sent) == (Status.FAILURE, "refused", [])
    assert "forward 3 is outside -0.2 to 0.6" in play.leaf.message


def test_interrupted_a_hand_that_began_beyond_its_reach_stays_where_it_is() -> None:
    """It is told to be where it is, and that must not be refused."""
    stage = Stage("gr2").prepare(*MOVE_COMMAND)
    stage.twin.arms["left_arm"].pose = (0.0, 0.2, -0.7, 0.0, 0.0, 0.0, 1.0)
    stage.twin.arms["left_arm"].stay()
    stage.wait(0.2)
    stage.leaf(MoveHand, hand="left", forward=0.3, left=0.2, up=0.1, speed=30.0).go(0.5).stop()
    stage.wait(3.0)
    assert stage.sent == ["MoveHand", "MoveHand"]
    assert stage.twin.arms["left_arm"].pose[2] < -0.4


def test_a_hand_that_never_gets_the_command() -> None:
    check_lost(REACH)


def test_a_hand_that_starts_late() -> None:
    check_late(REACH)


@pytest.mark.parametrize("after", [0.0, 0.5])
def test_an_emergency_stop_of_a_reaching_hand(after: float) -> None:
    check_emergency(REACH, after)


def test_interrupted_a_hand_stays_where_it_is() -> None:
    play = check_interruption(REACH)
    assert play.stage.twin.arms["left_arm"].pose[0] < 0.3
    assert play.stage.sent == ["MoveHand", "MoveHand"]


# Gains and motors


def with_gains() -> dict[str, Any]:
    """The vendor names no gains; an operator has put some into the profile."""
    gr2 = profile("gr2")
    joints = tuple(replace(joint, kp=60.0, kd=3.0) for joint in gr2.joints)
    return {"joints": joints, "capabilities": gr2.capabilities | {"gains"}}


USER_CMD: list[Step] = [(SetFsm, {"state": "joint_stand"}), (SetFsm, {"state": "user_cmd"})]
GAINS = Case(
    "gr2",
    SetGains,
    {"group": "left_arm", "stiffness": 40.0, "damping": 2.0},
    USER_CMD,
    ["SetGains"],
    "robot_motor_cfg_group_cmd",
    allow=("gains",),
    changes=with_gains(),
)


def test_gains_are_set_when_the_robot_reports_them() -> None:
    check_success(GAINS)


def test_gains_the_robot_never_gets() -> None:
    check_lost(GAINS)


def test_gains_are_off_unless_the_guard_file_allows_them() -> None:
    play = replace(GAINS, allow=()).stage().play(SetGains, **GAINS.values)
    assert (play.status, play.reason) == (Status.FAILURE, "refused")


SET_GAINS = """
tree: soften
robot: our_gr2
params:
  stiffness: {type: number, default: 40}
root:
  - SetFsm: {state: joint_stand}
  - SetFsm: {state: user_cmd}
  - SetGains: {group: left_arm, stiffness: $stiffness, damping: 2}
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody's own folder: a GR-2 whose arm's gains are known there, and a guard file that allows to set them."""
    (tmp_path / "config" / "robots").mkdir(parents=True)
    gr2 = data_path("config/robots/gr2.yaml").read_text()
    rows = re.sub(r"(name: left_(?:shoulder|elbow|wrist).*)}", r"\1, kp: 60, kd: 3}", gr2)
    (tmp_path / "config" / "robots" / "our_gr2.yaml").write_text(rows)
    rules = data_path("config/guard.yaml").read_text().replace("gains: false", "gains: true")
    (tmp_path / "config" / "guard.yaml").write_text(rules)
    (tmp_path / "tree.yaml").write_text(SET_GAINS)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "tree.yaml"


def test_gains_of_a_robot_whose_profile_names_the_nominal_ones(site: Path, mission: StartMission) -> None:
    run = mission(site)
    assert run.finish().status == "success", run.story()
    assert list(run.twin.gains["left_arm"][0]) == [40.0] * 7


def test_gains_that_get_lost_are_said_to_have_changed_nothing(site: Path, mission: StartMission) -> None:
    run = mission(site, faults=["lost:robot_motor_cfg_group_cmd"])
    assert run.finish().status == "failure"
    assert "nothing changed within 5 s" in run.reason


def test_gains_far_beyond_the_nominal_ones_are_refused(site: Path, mission: StartMission) -> None:
    """Before anything moves, where they are written."""
    with pytest.raises(
        CannotRun, match="SetGains is beyond what the guard lets pass: kp of left_shoulder_pitch 91 is "
    ):
        mission(site, values={"stiffness": 91})
    assert mission(site, values={"stiffness": 90}).finish().status == "success"


def test_gains_that_become_known_in_the_run_and_are_far_beyond_the_nominal_ones_are_refused(
    site: Path, mission: StartMission
) -> None:
    site.write_text(SET_GAINS.replace("stiffness: $stiffness", "stiffness: 90 + $attempt") + "    retry: 2\n")
    run = mission(site)
    assert run.finish().status == "failure"
    assert "kp of left_shoulder_pitch 93 is outside 0 to 90" in run.reason


def test_gains_of_a_robot_whose_nominal_ones_nobody_knows(site: Path, mission: StartMission) -> None:
    with pytest.raises(CannotRun, match="gr2 has no gains, which SetGains needs"):
        mission(site, "gr2")


@pytest.mark.parametrize("robot", ["atom_w", "adam_u"])
def test_gains_of_a_robot_that_gets_them_with_every_command(robot: str, site: Path, mission: StartMission) -> None:
    with pytest.raises(CannotRun, match="it has no such command: every joint command carries kp and kd of its profile"):
        mission("tree: soften\nroot:\n  - SetGains: {group: left_arm, stiffness: 40, damping: 2}\n", robot)


def switch_off(twin: Any) -> None:
    twin.drives.enable([False] * 29)
    twin.update()


@pytest.mark.parametrize("robot", ["atom", "atom_w"])
def test_motors_are_on_when_the_robot_reports_it(robot: str) -> None:
    stage = Stage(robot, ("motors",), switch_off)
    assert stage.play(EnableMotors, enabled=True).status is Status.SUCCESS
    assert stage.sent == ["EnableMotors"]


@pytest.mark.parametrize("robot", ["atom", "atom_w"])
def test_motors_that_never_get_the_command(robot: str) -> None:
    stage = Stage(robot, ("motors",), switch_off)
    stage.hurt("lost:rt/enable/motors")
    assert stage.play(EnableMotors, enabled=True).reason == "not_accepted"


MOTORS = [
    Case(
        robot,
        EnableMotors,
        {"enabled": True},
        [],
        ["EnableMotors"],
        "rt/enable/motors",
        allow=("motors",),
        changes={"at_first": switch_off},
    )
    for robot in ("atom", "atom_w")
]
CASES = [*BEND, *PLAY, REACH, GAINS, *MOTORS]


def test_motors_are_left_alone_unless_the_guard_file_allows_it() -> None:
    play = Stage("atom").play(EnableMotors, enabled=True)
    assert (play.status, play.reason) == (Status.FAILURE, "refused")
