"""Intents to Aurora's messages, as Fourier's own client sends them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.robots.drive import CannotSend, joint_messages, messages
from orchestrator.robots.intents import (
    AnyIntent,
    ClearErrors,
    EnableMotors,
    HandTarget,
    MoveHand,
    MoveToTag,
    SetFsm,
    SetGains,
    SetUpperFsm,
    SetVelocitySource,
    StandPose,
    SwitchUpperControl,
    Velocity,
)
from orchestrator.robots.profiles import load_profile
from tests.support.captures import captures
from tests.support.drive import encoded, payload, sending, values

GR2 = load_profile("gr2")
NOW = sending(GR2)
HEADER = {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""}
POSE = (0.3, 0.2, 0.1, 0.0, 0.0, 0.6, 0.8)


def group(name: str, q: list[Any]) -> dict[str, Any]:
    return {
        "group_name": name,
        "group_motion_state": 0,
        "control_type": 0,
        "motor_mode": 0,
        "position": q,
        "velocity": [],
        "effort": [],
    }


def only(topic: str, **fields: Any) -> list[tuple[str, Any]]:
    return [(topic, {"header": HEADER, **fields})]


@pytest.mark.parametrize(
    ("intent", "expected"),
    [
        (SetFsm("pd_stand"), only("whole_body_fsm_state_change_cmd", desired_state=2)),
        (SetFsm("security"), only("whole_body_fsm_state_change_cmd", desired_state=9)),
        (SetFsm("upper_user_cmd"), only("whole_body_fsm_state_change_cmd", desired_state=11)),
        (SetUpperFsm("remote"), only("upper_body_fsm_state_change_cmd", desired_state=2)),
        (SetVelocitySource("joystick"), only("velocity_source_cmd", desired_source=0)),
        (Velocity(0.1, -0.2, 0.3), only("velocity_cmd", vx=0.1, vy=-0.2, yaw=0.3, duration=0.4)),
        (StandPose(-0.1, 0.2, 0.3), only("robot_stand_pose_cmd", delta_z=-0.1, delta_pitch=0.2, delta_yaw=0.3)),
        (
            HandTarget("left", (1.0, 0.0, 0.5, 0.0, 1.0, 0.0)),
            only(
                "robot_control_group_cmd",
                group_cmd=[group("left_hand", [0.2, 1.7, pytest.approx(0.95), 1.7, 1.2, 0.0])],
                ex_data=[],
            ),
        ),
        (
            SetGains("head", (10.0, 11.0), (1.0, 1.1)),
            only(
                "robot_motor_cfg_group_cmd",
                group_cmd=[
                    {
                        "group_name": "head",
                        "mode": 0,
                        "pos_kp": [],
                        "pos_ki": [],
                        "pos_kd": [],
                        "pd_kp": [10.0, 11.0],
                        "pd_kd": [1.0, 1.1],
                    }
                ],
                ex_data=[],
            ),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_messages(intent: AnyIntent, expected: list[tuple[str, Any]]) -> None:
    found = values(messages(GR2, intent, NOW))
    assert found == expected


@pytest.mark.parametrize(
    ("intent", "topic"),
    [
        (SetUpperFsm("move_cmd"), "upper_body_fsm_state_change_cmd"),
        (SetVelocitySource("navigation"), "velocity_source_cmd"),
    ],
)
def test_the_bytes_are_those_of_fouriers_client(intent: AnyIntent, topic: str) -> None:
    [(theirs, _)] = captures(topic)
    [(name, ours)] = encoded(messages(GR2, intent, NOW))
    assert (name, ours) == (topic, payload(theirs))


def test_old_firmware_gets_a_velocity_without_duration() -> None:
    old = replace(GR2, variants=("no_duration",))
    assert values(messages(old, Velocity(0.1, 0.0, 0.3), NOW)) == only("velocity_cmd", vx=0.1, vy=0.0, yaw=0.3)


def test_joint_groups_are_sent_whole_and_under_fouriers_names() -> None:
    arm = (0.1, 0.2, 0.3, -0.4, 0.5, 0.6, 0.7)
    found = values(joint_messages(GR2, {"left_arm": arm, "head": (0.1, 0.2)}, NOW))
    groups = [group("left_manipulator", list(arm)), group("head", [0.1, 0.2])]
    assert found == only("robot_control_group_cmd", group_cmd=groups, ex_data=[])


@pytest.mark.parametrize(("straight", "move_type"), [(False, 1), (True, 2)])
def test_a_pose_for_a_hand_names_all_groups_and_holds_those_that_take_no_part(straight: bool, move_type: int) -> None:
    [(topic, move)] = values(messages(GR2, MoveHand("right_arm", POSE, straight, 0.25), NOW))
    names = {"left_arm": "left_manipulator", "right_arm": "right_manipulator", "head": "head", "waist": "waist"}
    speeds = [[1000.0], [1000.0], [400.0], [500.0]]
    no_pose = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    assert topic == "move_command_data"
    assert move["move_type"] == move_type
    assert move["joint_commands"]["group_cmd"] == [group(names[name], list(NOW.joints[name])) for name in names]
    assert [speed["arg_double"] for speed in move["joint_commands"]["ex_data"]] == speeds
    assert move["cartesian_commands"]["coordinate_system"] == 0
    assert [
        (arm["group_name"], arm["group_motion_state"], arm["pose"])
        for arm in move["cartesian_commands"]["cartesian_cmd"]
    ] == [("left_manipulator", 0, no_pose), ("right_manipulator", 1, list(POSE))]
    assert [speed["arg_double"] for speed in move["cartesian_commands"]["ex_data"]] == [[1000.0], [250.0]]


@pytest.mark.parametrize(
    ("intent", "reason"),
    [
        (SetFsm("ready"), 'no state "ready"'),
        (SetUpperFsm("walk"), 'no upper-body state "walk"'),
        (SetVelocitySource("dds"), 'no velocity source "dds"'),
        (Velocity(float("nan"), 0.0, 0.0), "vx is nan"),
        (Velocity(0.0, float("inf"), 0.0), "vy is inf"),
        (StandPose(0.0, 0.0, float("-inf")), "yaw is -inf"),
        (HandTarget("left", (1.0,) * 5), "5 values, not 6"),
        (HandTarget("left", (1.0,) * 5 + (1.1,)), "between 0"),
        (HandTarget("left", (1.0,) * 5 + (float("nan"),)), "is nan"),
        (HandTarget("third", (1.0,) * 6), 'no hand "third"'),
        (SetGains("head", (1.0,), (1.0, 1.0)), "kp has 1 values, not 2"),
        (SetGains("tail", (1.0,), (1.0,)), 'no joint group "tail"'),
        (MoveHand("head", POSE, False, 0.5), "left_arm or right_arm"),
        (MoveHand("left_arm", POSE, False, 1.5), "between 0 and 1"),
        (MoveHand("left_arm", POSE, False, float("nan")), "between 0 and 1"),
        (ClearErrors(), "no message for ClearErrors"),
        (SwitchUpperControl(True), "no message for SwitchUpperControl"),
        (EnableMotors((True,) * 29), "no message for EnableMotors"),
        (MoveToTag(1, None), "no message for MoveToTag"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_the_reason(intent: AnyIntent, reason: str) -> None:
    with pytest.raises(CannotSend, match=reason):
        messages(GR2, intent, NOW)


def test_only_some_robots_plan_arm_movements() -> None:
    gr1 = load_profile("gr1")
    with pytest.raises(CannotSend, match="GR-1 does not plan"):
        messages(gr1, MoveHand("left_arm", POSE, False, 0.5), sending(gr1))


def test_a_robot_without_hands_has_no_message_for_them() -> None:
    n1 = load_profile("n1")
    with pytest.raises(CannotSend, match="N1 has no hand"):
        messages(n1, HandTarget("left", (1.0,) * 6), sending(n1))


@pytest.mark.parametrize(
    ("positions", "reason"),
    [
        ({}, "no joint group is named"),
        ({"head": (0.1,)}, "1 values, not 2"),
        ({"head": (0.1, float("nan"))}, "is nan"),
        ({"neck": (0.1, 0.1)}, 'no joint group "neck"'),
    ],
)
def test_joint_positions_that_do_not_fit_are_refused(positions: dict[str, tuple[float, ...]], reason: str) -> None:
    with pytest.raises(CannotSend, match=reason):
        joint_messages(GR2, positions, NOW)
