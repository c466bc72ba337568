"""CheckEmergency."""

from __future__ import annotations

import pytest

from behaviours.emergency import CheckEmergency
from orchestrator.leaf import Status
from tests.support.leaf_harness import Stage

TOPIC = {"gr2": "aurora_state", "atom": "rt/emergency/state", "atom_w": "rt/amr/state"}


@pytest.mark.parametrize("robot", ["gr1", "gr2", "gr3", "n1", "atom", "atom_w"])
def test_a_free_robot(robot: str) -> None:
    stage = Stage(robot)
    assert stage.play(CheckEmergency).status is Status.SUCCESS
    assert stage.sent == []


@pytest.mark.parametrize(
    ("robot", "button", "named"),
    [
        ("gr2", "security", "security"),
        ("atom", "soft", "soft"),
        ("atom", "hard", "hard"),
        ("atom", "di", "di"),
        ("atom_w", "amr_topic", "amr"),
        ("atom_w", "amr_event", "base"),
    ],
)
def test_a_pressed_button_is_named(robot: str, button: str, named: str) -> None:
    stage = Stage(robot)
    stage.twin.press_emergency(button)
    stage.wait(0.3)
    play = stage.play(CheckEmergency)
    assert (play.status, play.reason) == (Status.FAILURE, "emergency")
    assert play.leaf.message == f"pressed: {named}"


@pytest.mark.parametrize("robot", TOPIC)
def test_what_is_not_known_counts_as_pressed(robot: str) -> None:
    stage = Stage(robot)
    stage.hurt(f"off:{TOPIC[robot]}")
    stage.wait(2.0)
    play = stage.play(CheckEmergency)
    assert (play.status, play.reason) == (Status.FAILURE, "stale")
    assert "emergency.any is not known" in play.leaf.message
    assert " s ago" in play.leaf.message
