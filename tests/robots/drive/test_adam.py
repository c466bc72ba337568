"""Intents to the messages of PND's Adam."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.robots.drive import CannotSend, joint_messages, messages
from orchestrator.robots.intents import AnyIntent, EnableMotors, HandTarget, SetFsm, Velocity
from orchestrator.robots.profiles import load_profile
from tests.support.captures import captures
from tests.support.drive import encoded, payload, sending, values

ADAM = load_profile("adam_u")
NOW = sending(ADAM)
ALL_HELD = [q for group in ADAM.groups for q in NOW.joints[group]]


def motors(q: list[float], mode: list[int]) -> list[dict[str, Any]]:
    return [
        {"mode": m, "q": value, "dq": 0.0, "tau": 0.0, "kp": joint.kp, "kd": joint.kd, "ki": 0.0, "reserve": 0}
        for joint, value, m in zip(ADAM.joints, q, mode, strict=True)
    ]


def test_every_joint_is_in_the_message_and_those_not_commanded_are_held() -> None:
    head = (0.3, -0.3)
    expected = [*ALL_HELD[:3], *head, *ALL_HELD[5:]]
    assert values(joint_messages(ADAM, {"head": head}, NOW)) == [
        ("rt/lowcmd", {"mode_pr": 0, "motor_cmd": motors(expected, [1] * 19), "reserve": 0})
    ]


def test_motors_that_are_switched_on_hold_their_joint() -> None:
    enabled = (True,) * 5 + (False,) * 14
    assert values(messages(ADAM, EnableMotors(enabled), NOW)) == [
        ("rt/lowcmd", {"mode_pr": 0, "motor_cmd": motors(ALL_HELD, [1] * 5 + [0] * 14), "reserve": 0})
    ]


def test_one_hand_moves_and_the_other_is_held() -> None:
    found = values(messages(ADAM, HandTarget("right", (1.0, 0.0, 0.5, 0.25, 1.0, 0.3333)), NOW))
    expected = [*NOW.hands["left"], 1000, 0, 500, 250, 1000, 333]
    assert found == [("rt/handcmd", {"position": expected, "reserve": 0})]
    assert all(isinstance(count, int) for count in found[0][1]["position"])


def test_the_bytes_are_those_of_pnds_sdk() -> None:
    [(theirs, _)] = captures("rt/handcmd")
    now = replace(NOW, hands={"right": (0.0,) * 6})
    [(topic, ours)] = encoded(messages(ADAM, HandTarget("left", (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)), now))
    assert (topic, ours) == ("rt/handcmd", payload(theirs))


@pytest.mark.parametrize(
    ("intent", "reason"),
    [
        (SetFsm("walk"), "no message for SetFsm"),
        (Velocity(0.0, 0.0, 0.0), "no message for Velocity"),
        (EnableMotors((True,)), "1 values, not 19"),
        (HandTarget("left", (0.5,) * 4), "4 values, not 6"),
        (HandTarget("left", (-0.1,) * 6), "between 0"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_the_reason(intent: AnyIntent, reason: str) -> None:
    with pytest.raises(CannotSend, match=reason):
        messages(ADAM, intent, NOW)


def test_a_hand_that_is_somewhere_unknown_is_not_made_up() -> None:
    with pytest.raises(CannotSend, match="where right is now is not known"):
        messages(ADAM, HandTarget("left", (0.5,) * 6), replace(NOW, hands={}))
    with pytest.raises(CannotSend, match="finger position is -5"):
        messages(ADAM, HandTarget("left", (0.5,) * 6), replace(NOW, hands={"right": (-5.0,) * 6}))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e39])
def test_a_joint_never_gets_a_number_that_is_none(value: float) -> None:
    with pytest.raises(CannotSend):
        joint_messages(ADAM, {"head": (0.0, value)}, NOW)
    with pytest.raises(CannotSend):
        joint_messages(ADAM, {}, replace(NOW, joints={**NOW.joints, "head": (0.0, value)}))
