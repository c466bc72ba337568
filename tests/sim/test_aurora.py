"""The simulated Aurora robots, as seen on their topics in virtual time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.robots.profiles import load_profile
from orchestrator.wire.fourier_msgs import (
    CartesianCmd,
    ControlGroupCmd,
    MotorCfgGroupCmd,
    MotorMode,
    RobotCartesianCmd,
    RobotControlGroupCmd,
)
from orchestrator.wire.std_msgs import BaseDataType
from tests.support.lab import Lab

DEFAULT, JOINT_STAND, PD_STAND, WALK, SECURITY, USER_CMD, UPPER_USER_CMD = 0, 1, 2, 3, 9, 10, 11
ROBOTS = ["gr1", "gr2", "gr3", "n1"]


@pytest.fixture
def lab() -> Lab:
    return Lab("gr2")


def go(lab: Lab, *states: int) -> Lab:
    for state in states:
        lab.tell("whole_body_fsm_state_change_cmd", desired_state=state, wait=5.0)
    return lab


def whole(lab: Lab) -> int:
    state: int = lab.see("aurora_state").whole_body_fsm_state
    return state


def group(lab: Lab, name: str) -> Any:
    return next(part for part in lab.see("robot_control_group_state").group_state if part.group_name == name)


def positions(name: str, *angles: float) -> list[ControlGroupCmd]:
    return [ControlGroupCmd(name, 0, 0, 0, list(angles), [], [])]


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_usual_way_up(robot: str) -> None:
    lab = Lab(robot)
    seen = lab.history("aurora_state", "whole_body_fsm_state")
    go(lab, JOINT_STAND, PD_STAND, WALK)
    assert seen == [DEFAULT, JOINT_STAND, PD_STAND, WALK]


@pytest.mark.parametrize("state", [WALK, 4, 77])
def test_what_it_refuses(lab: Lab, state: int) -> None:
    go(lab, state)
    assert whole(lab) == DEFAULT


def test_walking_waits_for_a_stable_stand(lab: Lab) -> None:
    lab.tell("whole_body_fsm_state_change_cmd", desired_state=PD_STAND, wait=1.1)
    lab.tell("whole_body_fsm_state_change_cmd", desired_state=WALK, wait=1.0)
    assert whole(lab) == PD_STAND
    lab.wait(2.0)
    lab.tell("whole_body_fsm_state_change_cmd", desired_state=WALK, wait=1.0)
    assert whole(lab) == WALK


def test_the_stable_level_rises_to_its_top(lab: Lab) -> None:
    assert lab.see("robot_stand_pose_state").stable_level == 0
    lab.tell("whole_body_fsm_state_change_cmd", desired_state=PD_STAND, wait=2.0)
    assert 0 < lab.see("robot_stand_pose_state").stable_level < 100
    lab.wait(5.0)
    assert lab.see("robot_stand_pose_state").stable_level == 110
    assert lab.see("robot_control_group_state").stable_level == 110


def test_levels_of_the_vendors_simulator() -> None:
    profile = load_profile("gr2")
    assert profile.stand_pose is not None
    lab = go(Lab(replace(profile, stand_pose=replace(profile.stand_pose, stable_level=10))), PD_STAND)
    assert lab.see("robot_stand_pose_state").stable_level == 15


def test_the_stand_pose_moves_within_its_range(lab: Lab) -> None:
    lab.tell("robot_stand_pose_cmd", delta_z=-0.1, wait=1.0)
    assert lab.see("robot_stand_pose_state").delta_z == 0.0  # not standing
    go(lab, PD_STAND)
    lab.tell("robot_stand_pose_cmd", delta_z=-0.1, delta_pitch=2.0, wait=0.5)
    assert -0.1 < lab.see("robot_stand_pose_state").delta_z < 0.0
    lab.wait(5.0)
    pose = lab.see("robot_stand_pose_state")
    assert (pose.delta_z, pose.delta_pitch) == (-0.1, 0.45)


def test_stand_poses_while_walking_only_on_gr3() -> None:
    for robot, z in (("gr2", 0.0), ("gr3", -0.1)):
        lab = go(Lab(robot), PD_STAND, WALK)
        lab.tell("robot_stand_pose_cmd", delta_z=-0.1, wait=5.0)
        assert lab.see("robot_stand_pose_state").delta_z == z


def test_velocity_needs_the_state_and_the_source_and_ends_after_its_duration(lab: Lab) -> None:
    go(lab, PD_STAND, WALK)
    lab.tell("velocity_cmd", vx=0.5, duration=1.0, wait=2.0)
    assert lab.see("true_data_pub").pos_W[0] == 0.0  # the joystick has the say
    lab.tell("velocity_source_cmd", desired_source=2, wait=0.1)
    lab.tell("velocity_cmd", vx=0.5, duration=1.0, wait=0.5)
    assert lab.see("base_data_pub").vel_B[0] == pytest.approx(0.5, abs=0.02)
    lab.wait(2.0)
    assert lab.see("true_data_pub").pos_W[0] == pytest.approx(0.5)
    assert lab.see("true_data_pub").vel_B[0] == 0.0


def test_velocity_is_cut_to_the_robots_range_and_turns_the_pose(lab: Lab) -> None:
    go(lab, PD_STAND, WALK)
    lab.tell("velocity_source_cmd", desired_source=2, wait=0.1)
    lab.tell("velocity_cmd", yaw=5.0, duration=1.0, wait=2.0)
    assert lab.see("base_data_pub").rpy[2] == pytest.approx(1.0, abs=0.01)
    lab.tell("velocity_cmd", vx=0.5, duration=1.0, wait=2.0)
    x, y, _ = lab.see("true_data_pub").pos_W
    assert (x, y) == pytest.approx((0.5 * math.cos(1.0), 0.5 * math.sin(1.0)), abs=0.01)


def test_older_firmware_has_no_duration() -> None:
    lab = go(Lab(replace(load_profile("gr2"), variants=("no_duration",))), PD_STAND, WALK)
    lab.tell("velocity_source_cmd", desired_source=2, wait=0.1)
    lab.tell("velocity_cmd", vx=0.5, wait=5.0)
    assert lab.see("true_data_pub").pos_W[0] == pytest.approx(0.5)


ARM = "left_manipulator"


@pytest.mark.parametrize(
    ("states", "upper", "moves"),
    [
        ((), 0, False),
        ((PD_STAND,), 0, True),
        ((PD_STAND, WALK), 0, False),
        ((PD_STAND, WALK), 2, True),
        ((USER_CMD,), 0, True),
        ((UPPER_USER_CMD,), 0, True),
        ((SECURITY,), 0, False),
    ],
)
def test_when_an_arm_obeys(lab: Lab, states: tuple[int, ...], upper: int, moves: bool) -> None:
    go(lab, *states)
    lab.tell("upper_body_fsm_state_change_cmd", desired_state=upper, wait=0.1)
    lab.tell("robot_control_group_cmd", group_cmd=positions(ARM, *[0.3] * 7), wait=2.0)
    assert group(lab, ARM).joint_position[0] == pytest.approx(0.3 if moves else 0.0, abs=0.01)


def test_legs_obey_only_when_everything_is_by_command(lab: Lab) -> None:
    for state, angle in ((UPPER_USER_CMD, 0.0), (USER_CMD, 0.1)):
        go(lab, state)
        lab.tell("robot_control_group_cmd", group_cmd=positions("left_leg", *[0.1] * 6), wait=2.0)
        assert group(lab, "left_leg").joint_position[0] == pytest.approx(angle, abs=0.01)


def test_half_a_group_is_ignored(lab: Lab) -> None:
    go(lab, PD_STAND)
    lab.tell("robot_control_group_cmd", group_cmd=positions(ARM, 0.3, 0.3), wait=2.0)
    assert group(lab, ARM).joint_position[0] == pytest.approx(0.0, abs=0.01)


def test_a_hand_stalls_on_an_object(lab: Lab) -> None:
    go(lab, PD_STAND)
    lab.twin.hand("right").object = True
    closed = lab.twin.profile.hands.closed
    for side in ("left_hand", "right_hand"):
        lab.tell("robot_control_group_cmd", group_cmd=positions(side, *closed), wait=2.0)
    assert group(lab, "left_hand").joint_position[0] == pytest.approx(1.7, abs=0.01)
    assert group(lab, "right_hand").joint_position[0] < 1.3
    assert group(lab, "right_hand").joint_effort[0] > 0.4


def test_the_upper_state_drops_with_the_stand(lab: Lab) -> None:
    go(lab, PD_STAND, WALK)
    lab.tell("upper_body_fsm_state_change_cmd", desired_state=2, wait=0.1)
    assert lab.see("aurora_state").upper_body_fsm_state == 2
    assert lab.see("aurora_state").allow_upper_body_override
    go(lab, SECURITY)
    assert lab.see("aurora_state").upper_body_fsm_state == 0
    assert not lab.see("aurora_state").allow_upper_body_override


def move(lab: Lab, kind: int, **parts: Any) -> None:
    lab.tell("upper_body_fsm_state_change_cmd", desired_state=4, wait=0.1)
    lab.tell("move_command_data", move_type=kind, wait=0.2, **parts)


def header() -> Any:
    from orchestrator.sim.template import blank
    from orchestrator.wire.std_msgs import Header

    return blank(Header)


def test_move_command_drives_joints_at_its_speed(lab: Lab) -> None:
    go(lab, PD_STAND, WALK)
    command = ControlGroupCmd(ARM, 1, 0, 0, [0.4] * 7, [], [])
    slow = BaseDataType([], [200.0], [])
    move(lab, 0, joint_commands=RobotControlGroupCmd(header(), [command], [slow]))
    assert lab.see("robot_control_group_state").group_motion_state[4] == 1
    lab.wait(5.0)
    assert lab.see("robot_control_group_state").group_motion_state[4] == 0
    assert group(lab, ARM).joint_position[0] == pytest.approx(0.4, abs=0.01)


def test_move_command_drives_an_arm_to_a_pose(lab: Lab) -> None:
    go(lab, PD_STAND, WALK)
    goal = [0.4, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0]
    arm = CartesianCmd(ARM, 1, goal, [], [])
    move(lab, 2, cartesian_commands=RobotCartesianCmd(header(), 0, [arm], [BaseDataType([], [1000.0], [])]))
    assert lab.see("robot_cartesian_state").group_motion_state[4] == 1
    lab.wait(5.0)
    state = lab.see("robot_cartesian_state")
    assert state.group_motion_state[4] == 0
    assert list(state.cartesian_state[0].pose) == pytest.approx(goal, abs=0.01)


def test_gains_are_taken_in_command_states_only(lab: Lab) -> None:
    command = MotorCfgGroupCmd("waist", MotorMode.PD, [], [], [], [50.0], [2.0])
    lab.tell("robot_motor_cfg_group_cmd", group_cmd=[command], wait=2.0)
    go(lab, USER_CMD)
    before = lab.see("robot_motor_cfg_group_state").group_state
    lab.tell("robot_motor_cfg_group_cmd", group_cmd=[command], wait=2.0)
    after = lab.see("robot_motor_cfg_group_state").group_state
    assert [list(part.pd_kp) for part in (before[2], after[2])] == [[0.0], [50.0]]


def test_security_stops_everything_from_anywhere(lab: Lab) -> None:
    go(lab, PD_STAND, WALK)
    lab.tell("velocity_source_cmd", desired_source=2, wait=0.1)
    lab.tell("velocity_cmd", vx=0.5, duration=9.0, wait=0.5)
    lab.twin.press("lt", "rt")
    lab.wait(0.1)
    assert whole(lab) == SECURITY
    before = lab.see("true_data_pub").pos_W[0]
    lab.wait(2.0)
    assert lab.see("true_data_pub").pos_W[0] == before
    go(lab, PD_STAND)
    assert whole(lab) == SECURITY  # only by way of default or joint stand


def test_a_fall_shows_in_tilt_contact_and_stable_level(lab: Lab) -> None:
    go(lab, PD_STAND)
    assert lab.see("contact_data_pub").contact_prob[0] == 1.0
    lab.twin.fall()
    lab.wait(0.1)
    assert abs(lab.see("base_data_pub").rpy[0]) > 1.0
    assert lab.see("contact_data_pub").contact_prob[0] == 0.0
    assert lab.see("robot_stand_pose_state").stable_level == 0


def test_a_motor_error_shows_in_its_group(lab: Lab) -> None:
    go(lab, PD_STAND)
    lab.twin.fail_motor("left_elbow_pitch", code=5)
    lab.wait(1.1)
    assert lab.see("robot_control_group_state").group_motion_state[4] == 3
    assert list(lab.see("robot_motor_cfg_group_state").group_state[4].motor_error) == [0, 0, 0, 5, 0, 0, 0]


def test_stamps_go_forward(lab: Lab) -> None:
    stamps = []
    for _ in range(5):
        lab.wait(1.0)
        stamp = lab.see("base_data_pub").header.stamp
        stamps.append((stamp.sec, stamp.nanosec))
    assert stamps == sorted(set(stamps))
    assert len({nanosec for _, nanosec in stamps}) == 5


@pytest.mark.parametrize("robot", ROBOTS)
def test_groups_have_the_robots_sizes(robot: str) -> None:
    lab = Lab(robot)
    sizes = {part.group_name: len(part.joint_position) for part in lab.see("robot_control_group_state").group_state}
    profile = load_profile(robot)
    assert sizes["left_manipulator"] == len(profile.group("left_arm"))
    assert ("head" in sizes) == ("head" in profile.groups)
    assert len(lab.see("robot_control_group_state").group_motion_state) == 8
