"""Intents to the messages and RPC calls of Dobot's Atom and Atom-W."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.robots.drive import CannotSend, RpcCall, Sending, calls, joint_messages, messages
from orchestrator.robots.drive.atom import heading_in_degrees
from orchestrator.robots.intents import (
    AnyIntent,
    CancelTask,
    ClearErrors,
    DriveBase,
    EnableMotors,
    HandTarget,
    MoveToTag,
    PauseTask,
    ResumeTask,
    RotateBase,
    SaveMap,
    SetBaseAcceleration,
    SetBaseDeceleration,
    SetBaseSpeed,
    SetFsm,
    StartMapping,
    StartRemote,
    StopMapping,
    StopRemote,
    SubscribeLaser,
    SwitchUpperControl,
    Velocity,
)
from orchestrator.robots.profile import Base
from orchestrator.robots.profiles import load_profile
from tests.support.captures import captures
from tests.support.drive import encoded, payload, sending, values

ATOM, ATOM_W = load_profile("atom"), load_profile("atom_w")
NOW, NOW_W = sending(ATOM), sending(ATOM_W)
UPPER = {"waist": slice(0, 1), "left_arm": slice(1, 8), "right_arm": slice(8, 15), "head": slice(15, 17)}


def f32(value: float) -> Any:
    return pytest.approx(value, rel=1e-6)


# States and switches.


@pytest.mark.parametrize(
    ("intent", "expected"),
    [
        (SetFsm("walk"), ("rt/set/fsm/id", {"id": 301, "current_action": ""})),
        (SetFsm("damping"), ("rt/set/fsm/id", {"id": 1, "current_action": ""})),
        (SwitchUpperControl(True), ("rt/switch/upper/control", {"flag": True})),
        (SwitchUpperControl(False), ("rt/switch/upper/control", {"flag": False})),
        (ClearErrors(), ("rt/clear/errors", {"msg_id": 1})),
        (
            EnableMotors((True,) * 12 + (False,) * 16 + (True,)),
            ("rt/enable/motors", {"flag": [True] * 12 + [False] * 16 + [True]}),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_messages(intent: AnyIntent, expected: tuple[str, Any]) -> None:
    assert values(messages(ATOM, intent, NOW)) == [expected]


def test_motors_the_wheeled_robot_does_not_have_stay_off() -> None:
    [(_, message)] = values(messages(ATOM_W, EnableMotors((True,) * 20), NOW_W))
    assert message["flag"] == [True] * 3 + [False] * 9 + [True] * 17


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("fsm_v1", {"id": 301}),
        ("fsm_v3", {"id": 301, "current_action": "", "state": 0}),
    ],
)
def test_other_firmware_gets_its_own_layout_of_a_state(variant: str, expected: dict[str, Any]) -> None:
    robot = replace(ATOM, variants=(variant,))
    assert values(messages(robot, SetFsm("walk"), NOW)) == [("rt/set/fsm/id", expected)]


@pytest.mark.parametrize(("intent", "topic"), [(SetFsm("walk"), "rt/set/fsm/id"), (ClearErrors(), "rt/clear/errors")])
def test_the_bytes_are_those_of_dobots_library(intent: AnyIntent, topic: str) -> None:
    [(theirs, _)] = captures(topic)
    [(name, ours)] = encoded(messages(ATOM, intent, NOW))
    assert (name, ours) == (topic, payload(theirs))


# Joints and hands.


@pytest.mark.parametrize(("theirs", "wanted"), captures("rt/upper/cmd"))
def test_upper_body_bytes_are_those_of_dobots_library(theirs: bytes, wanted: dict[str, Any]) -> None:
    q = [motor["q"] for motor in wanted["motor_cmd"]]
    positions = {group: tuple(q[part]) for group, part in UPPER.items()}
    assert encoded(joint_messages(ATOM, positions, NOW)) == [("rt/upper/cmd", payload(theirs))]


def test_groups_that_are_not_commanded_are_held_where_they_are() -> None:
    arm = (0.1, -0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
    [(_, message)] = values(joint_messages(ATOM, {"right_arm": arm}, NOW))
    q = [motor["q"] for motor in message["motor_cmd"]]
    assert q[UPPER["right_arm"]] == list(arm)
    for group in ("waist", "left_arm", "head"):
        assert q[UPPER[group]] == list(NOW.joints[group])


def test_the_wheeled_robot_has_the_same_upper_body() -> None:
    head = {"head": (0.1, 0.2)}
    now = replace(NOW_W, joints={group: NOW.joints[group] for group in UPPER})
    assert values(joint_messages(ATOM_W, head, now)) == values(joint_messages(ATOM, head, NOW))


@pytest.mark.parametrize(
    ("robot", "positions", "reason"),
    [
        (ATOM, {"left_leg": (0.0,) * 6}, "left_leg of ATOM is never commanded"),
        (ATOM_W, {"lift": (0.0,) * 3}, "lift of ATOM W is never commanded"),
        (ATOM, {"tail": (0.0,)}, 'no joint group "tail"'),
        (ATOM, {"head": (0.0,)}, "1 values, not 2"),
        (ATOM, {"head": (0.0, float("nan"))}, "is nan"),
        (ATOM, {"head": (0.0, 1e39)}, "is 1e\\+39"),
    ],
)
def test_joint_positions_that_cannot_be_sent(robot: Any, positions: dict[str, Any], reason: str) -> None:
    with pytest.raises(CannotSend, match=reason):
        joint_messages(robot, positions, sending(robot))


@pytest.mark.parametrize("known", [{}, {"waist": (float("nan"),)}])
def test_where_a_group_is_now_is_never_made_up(known: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(CannotSend, match=r"not known|is nan"):
        joint_messages(ATOM, {"head": (0.0, 0.0)}, replace(NOW, joints=known))


def test_one_hand_moves_and_the_other_is_held() -> None:
    [(topic, message)] = values(messages(ATOM, HandTarget("left", (1.0, 1.0, 0.0, 0.0, 0.5, 1.0)), NOW))
    fingers = message["hands"]
    assert topic == "rt/hands/cmd"
    assert [finger["q"] for finger in fingers[:6]] == list(NOW.hands["right"])
    assert [finger["q"] for finger in fingers[6:]] == [3.0815, 3.0815, 0.3316, 0.3316, f32(0.35385), 2.8798]
    assert {(f["mode"], f["dq"], f["tau"], f["kp"], f["kd"]) for f in fingers} == {(1, 0.0, 0.05, 40.0, 0.5)}


# The wheeled base.

BASE_COMMANDS: list[tuple[AnyIntent, str, dict[str, Any]]] = [
    (CancelTask(), "CANCEL_TASK", {}),
    (PauseTask(), "PAUSE_TASK", {}),
    (ResumeTask(), "RESUME_TASK", {}),
    (MoveToTag(12, None), "MOVE_TO_TAG", {"target_id": 12}),
    (MoveToTag(12, math.radians(90)), "MOVE_TO_TAG", {"target_id": 12, "theta": 90.0}),
    (DriveBase(0.3, -0.2), "REMOTE_CONTROL", {"linear_vel": 0.3, "angular_vel": -0.2}),
    (RotateBase(math.radians(-45)), "ROTATE", {"theta": -45.0}),
    (StartRemote(), "START_REMOTE", {}),
    (StopRemote(), "STOP_REMOTE", {}),
    (SubscribeLaser(True), "SUBSCRIBE_LASER", {}),
    (SubscribeLaser(False), "UNSUBSCRIBE_LASER", {}),
    (StartMapping(), "START_MAPPING", {}),
    (SaveMap(), "SAVE_MAP", {}),
    (StopMapping(), "STOP_MAPPING", {}),
    (SetBaseSpeed(0.5, 0.6), "SET_VEL", {"linear_vel": 0.5, "angular_vel": 0.6}),
    (SetBaseAcceleration(0.5, 0.6), "SET_ACCEL", {"linear_vel": 0.5, "angular_vel": 0.6}),
    (SetBaseDeceleration(0.5, 0.6), "SET_DECEL", {"linear_vel": 0.5, "angular_vel": 0.6}),
]
V1 = {
    "CANCEL_TASK": 0, "PAUSE_TASK": 1, "RESUME_TASK": 2, "MOVE_TO_TAG": 3, "REMOTE_CONTROL": 4, "ROTATE": 5,
    "START_REMOTE": 6, "STOP_REMOTE": 7, "SUBSCRIBE_LASER": 8, "UNSUBSCRIBE_LASER": 9, "START_MAPPING": 10,
    "SAVE_MAP": 11, "STOP_MAPPING": 12, "SET_VEL": 13, "SET_ACCEL": 14, "SET_DECEL": 15,
}  # fmt: skip
V2 = {
    "CANCEL_TASK": 0, "PAUSE_TASK": 1, "RESUME_TASK": 2, "MOVE_TO_TAG": 3, "REMOTE_CONTROL": 5, "ROTATE": 6,
    "START_REMOTE": 7, "STOP_REMOTE": 8, "SUBSCRIBE_LASER": 9, "UNSUBSCRIBE_LASER": 10, "START_MAPPING": 11,
    "SAVE_MAP": 12, "STOP_MAPPING": 13, "SET_VEL": 14, "SET_ACCEL": 15, "SET_DECEL": 16,
}  # fmt: skip
NOTHING = {"target_id": 0, "linear_vel": 0.0, "angular_vel": 0.0, "theta": 0.0}
SENT = {"command_id": 7, "timestamp": 1_700_000_000_123}


@pytest.mark.parametrize(("variants", "numbers"), [((), V1), (("amr_v2",), V2)], ids=["first", "amr_v2"])
@pytest.mark.parametrize(("intent", "command", "fields"), BASE_COMMANDS)
def test_base_commands_by_each_firmwares_numbers(
    variants: tuple[str, ...], numbers: dict[str, int], intent: AnyIntent, command: str, fields: dict[str, Any]
) -> None:
    assert ATOM_W.base is not None
    robot = replace(ATOM_W, variants=variants, base=replace(ATOM_W.base, rotate=True))
    [(topic, found)] = values(messages(robot, intent, NOW_W))
    assert topic == "rt/amr/cmd"
    assert found == {
        **NOTHING, **SENT, **{name: f32(value) for name, value in fields.items()}, "command_type": numbers[command],
    }  # fmt: skip
    [(_, data)] = encoded(messages(robot, intent, NOW_W))
    assert int.from_bytes(data[:4], "little") == numbers[command]


def test_move_to_tag_is_what_dobots_library_writes() -> None:
    [(theirs, wanted)] = captures("rt/amr/cmd")
    now = replace(NOW_W, command_id=wanted["command_id"], timestamp=wanted["timestamp"])
    goal = MoveToTag(wanted["target_id"], math.radians(wanted["theta"]))
    assert encoded(messages(ATOM_W, goal, now)) == [("rt/amr/cmd", payload(theirs))]


@pytest.mark.parametrize(
    ("degrees", "sent"),
    [(None, 0.0), (0, 360.0), (-0.0, 360.0), (90, 90.0), (-90, 270.0), (360, 360.0), (361, 1.0), (-720, 360.0)],
)
def test_a_heading_of_zero_is_not_the_zero_that_leaves_it_open(degrees: float | None, sent: float) -> None:
    heading = None if degrees is None else math.radians(degrees)
    assert heading_in_degrees(heading) == pytest.approx(sent)


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9))
def test_every_heading_is_above_zero_up_to_360_and_points_the_same_way(heading: float) -> None:
    degrees = heading_in_degrees(heading)
    assert 0.0 < degrees <= 360.0
    apart = (degrees - math.degrees(heading)) % 360.0
    assert min(apart, 360.0 - apart) < 1e-3


@pytest.mark.parametrize(
    ("intent", "reason"),
    [
        (MoveToTag(-1, None), "tag is -1"),
        (MoveToTag(2**32, None), "tag is 4294967296"),
        (MoveToTag(1, float("nan")), "heading is nan"),
        (DriveBase(float("nan"), 0.0), "linear is nan"),
        (DriveBase(0.0, float("inf")), "angular is inf"),
        (DriveBase(1e39, 0.0), "linear is 1e\\+39"),
        (RotateBase(1.0), "cannot turn on the spot"),
        (Velocity(0.1, 0.0, 0.0), "no message for Velocity"),
        (SetFsm("pd_stand"), 'no state "pd_stand"'),
        (EnableMotors((True,)), "1 values, not 20"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_the_reason(intent: AnyIntent, reason: str) -> None:
    with pytest.raises(CannotSend, match=reason):
        messages(ATOM_W, intent, NOW_W)


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (replace(NOW_W, command_id=-1), "command_id is -1"),
        (replace(NOW_W, command_id=2**32), "command_id is 4294967296"),
        (replace(NOW_W, timestamp=-1), "timestamp is -1"),
        (replace(NOW_W, timestamp=2**64), "timestamp is 18446744073709551616"),
    ],
)
def test_numbers_of_the_sender_must_fit_too(now: Sending, reason: str) -> None:
    with pytest.raises(CannotSend, match=reason):
        messages(ATOM_W, CancelTask(), now)


def test_a_robot_on_legs_has_no_base() -> None:
    with pytest.raises(CannotSend, match="ATOM has no wheeled base"):
        messages(ATOM, CancelTask(), NOW)


def test_a_base_that_can_turn_does() -> None:
    base = Base(tags={}, linear=1.0, angular=1.0, rotate=True, confirm_key=False)
    assert messages(replace(ATOM_W, base=base), RotateBase(1.0), NOW_W)


# JSON-RPC.


@pytest.mark.parametrize(
    ("intent", "expected"),
    [
        (SetFsm("walk"), [RpcCall("SetFsmId", {"fsm_id": 301})]),
        (SwitchUpperControl(True), [RpcCall("SwitchUpperLimbControl", {"is_on": True})]),
        (Velocity(0.1, 0.2, -0.3), [RpcCall("SetVel", {"vx": 0.1, "vy": 0.2, "vyaw": -0.3, "duration": 0.4})]),
        (ClearErrors(), []),
        (MoveToTag(1, None), []),
    ],
)
def test_calls(intent: AnyIntent, expected: list[RpcCall]) -> None:
    assert calls(ATOM, intent, NOW) == expected


def test_without_an_address_there_are_no_calls() -> None:
    assert calls(replace(ATOM, rpc=None), SetFsm("walk"), NOW) == []


def test_calls_carry_only_finite_numbers() -> None:
    with pytest.raises(CannotSend, match="yaw is nan"):
        calls(ATOM, Velocity(0.0, 0.0, float("nan")), NOW)
    with pytest.raises(CannotSend, match="valid_for is inf"):
        calls(ATOM, Velocity(0.0, 0.0, 0.0), replace(NOW, valid_for=float("inf")))
