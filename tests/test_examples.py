"""The example missions: each succeeds, and each way of recovering works when it is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.data import data_path
from orchestrator.testing import MissionRun, StartMission

TREES = data_path("trees")
EXAMPLES = sorted(TREES.glob("*.yaml"))
AGREED = {"01_nod_adam_u": {"look down": "yes"}, "04_deliver_adam_u": {"hand the cup over": "yes"}}
"""What a person agrees to, by tree."""


def empty(run: MissionRun, hand: str = "right") -> None:
    """Nothing is there to be grasped."""
    run.twin.hand(hand).object = False


def fill(run: MissionRun, hand: str = "right") -> None:
    run.twin.hand(hand).object = True


@pytest.mark.parametrize("tree", EXAMPLES, ids=lambda tree: tree.stem)
def test_every_example_succeeds(tree: Path, mission: StartMission) -> None:
    run = mission(tree, answers=AGREED.get(tree.stem))
    run.finish()
    assert (run.reason, run.failed_node) == ("", "")
    assert run.succeeded


def test_every_family_has_a_delivery() -> None:
    robots = {tree.stem.partition("deliver_")[2] for tree in EXAMPLES if "deliver" in tree.stem}
    assert robots == {"gr2", "atom_w", "adam_u"}


def test_the_way_is_cleared_by_a_person(mission: StartMission) -> None:
    run = mission(TREES / "04_deliver_atom_w.yaml")
    run.until("drive to the shelf")
    run.fault("amr_blocked@1s+80s")
    run.until("Ask")
    assert run.time > 60.0
    assert run.status("close the hand on the box") == "idle"
    run.wait(30.0)
    run.answer("Ask", "clear")
    run.finish()
    assert run.succeeded
    assert [command["tag"] for command in run.commands("MoveToTag")] == [12, 12, 15]


def test_a_way_that_nobody_clears_ends_the_delivery_and_gives_the_upper_body_back(mission: StartMission) -> None:
    run = mission(TREES / "04_deliver_atom_w.yaml", answers={"Ask": "abort"})
    run.until("drive to the shelf")
    run.fault("amr_blocked@1s")
    assert run.finish().status == "failure"
    assert run.reason == (
        'the operator answered "abort" (after MoveToTag failed: blocked: the way is blocked: for 60 s)'
    )
    assert run.commands("SwitchUpperControl")[-1] == {"enabled": False}


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("amr_failed@6s", "failed: the robot reports that it failed"),
        ("amr_error@6s", "failed: the robot reports that it failed: the base is error"),
        ("off:rt/amr/state@6s", "stale: the robot has stopped reporting it"),
        ("lost:rt/amr/cmd", "not_accepted: the robot did not react to the command"),
    ],
)
def test_nobody_is_asked_to_clear_a_way_that_is_not_blocked(fault: str, reason: str, mission: StartMission) -> None:
    run = mission(TREES / "04_deliver_atom_w.yaml", answers={"Ask": "clear"}, faults=[fault])
    assert run.finish().status == "failure"
    assert run.failed_node == "MoveToTag"
    assert run.reason.startswith(reason)
    assert len(run.commands("MoveToTag")) == 1


@pytest.mark.parametrize("after", ["500ms", "2s"])
def test_a_box_that_is_lost_on_the_way_is_no_delivery(after: str, mission: StartMission) -> None:
    run = mission(TREES / "04_deliver_atom_w.yaml")
    run.until("drive to the table")
    run.fault(f"object_lost:right@{after}")
    assert run.finish().status == "failure"
    assert run.failed_node == "drive to the table"
    assert "hands.right.holding" in run.reason
    assert not run.log
    assert run.sent[-2:] == ["CancelTask", "SwitchUpperControl"]


def test_a_box_that_slips_is_grasped_again(mission: StartMission) -> None:
    run = mission(TREES / "04_deliver_atom_w.yaml")
    empty(run)
    run.until("close the hand on the box")
    run.wait(1.5)
    fill(run)
    run.finish()
    assert run.succeeded
    assert len(run.commands("HandTarget")) > 3


def test_gr2_steps_closer_when_its_hand_stays_empty(mission: StartMission) -> None:
    run = mission(TREES / "04_deliver_gr2.yaml")
    empty(run)
    run.until("take the box from closer by")
    fill(run)
    run.finish()
    assert run.succeeded


def test_gr2_does_not_carry_on_with_an_empty_hand(mission: StartMission) -> None:
    run = mission(TREES / "04_deliver_gr2.yaml")
    run.until("carry it back")
    run.fault("object_lost:right")
    assert run.finish().status == "failure"
    assert "hands.right.holding" in run.reason
    assert run.sent[-1] == "SetFsm"


def test_adam_asks_for_the_cup_when_it_gets_no_hold_of_it(mission: StartMission) -> None:
    run = mission(TREES / "04_deliver_adam_u.yaml", answers={"hand the cup over": "yes"})
    empty(run)
    run.until("Ask")
    fill(run)
    run.answer("Ask", "in_place")
    run.finish()
    assert run.succeeded


def test_adam_asks_nobody_for_the_cup_when_its_hand_is_jammed(mission: StartMission) -> None:
    run = mission(TREES / "04_deliver_adam_u.yaml", faults=["hand_jam:right"])
    assert run.finish().status == "failure"
    assert run.failed_node == "take the cup"
    assert run.reason.endswith("the fingers did not move")


def test_adam_says_what_failed_when_its_hand_falls_silent(mission: StartMission) -> None:
    run = mission(TREES / "04_deliver_adam_u.yaml")
    run.until("take the cup")
    run.fault("off:rt/handstate")
    assert run.finish().status == "failure"
    assert run.failed_node == "take the cup"
    assert run.reason.startswith("stale: ")
    assert "never saved" not in run.reason


def test_the_patrol_pauses_at_a_button_and_goes_on_at_another(mission: StartMission) -> None:
    run = mission(TREES / "05_patrol_atom_w.yaml")
    run.until("go to the next tag")
    run.twin.press("b")
    run.wait(0.5)
    run.twin.release("b")
    run.wait(20.0)
    assert run.paused
    assert run.sent[-1] == "PauseTask"
    run.twin.press("a")
    run.finish()
    assert run.succeeded
