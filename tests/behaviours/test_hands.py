"""HandGrasp, HandOpen, HandPose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from behaviours.hands import HandGrasp, HandOpen, HandPose
from orchestrator.leaf import Leaf, Status, installed
from orchestrator.robots.capabilities.hands import REACHED
from orchestrator.robots.knowledge import Unknown
from orchestrator.testing import StartMission
from tests.support.leaf_cases import (
    READY,
    STANDING,
    Case,
    Step,
    check_emergency,
    check_interruption,
    check_late,
    check_lost,
    check_success,
    each,
)
from tests.support.leaf_harness import Stage

ROBOTS: dict[str, tuple[list[Step], str]] = {
    "gr2": (STANDING, "robot_control_group_cmd"),
    "atom": (READY, "rt/hands/cmd"),
    "atom_w": (READY, "rt/hands/cmd"),
    "adam_u": ([], "rt/handcmd"),
}


def put_something_in(twin: Any) -> None:
    twin.hand("right").object = True


def case(robot: str, leaf: type[Leaf], **values: Any) -> Case:
    before, command = ROBOTS[robot]
    act = put_something_in if leaf is HandGrasp else (lambda twin: None)
    return Case(robot, leaf, {"hand": "right"} | values, before, ["HandTarget"], command, act=act)


GRASP = [case(robot, HandGrasp, grip=80.0) for robot in ROBOTS]
HALF = [case(robot, HandPose, fingers=[50.0] * 6) for robot in ROBOTS]
CLOSED: Step = (HandPose, {"hand": "right", "fingers": [80.0] * 6})
OPEN = [replace(case(robot, HandOpen), before=[*ROBOTS[robot][0], CLOSED]) for robot in ROBOTS]
CASES = [*GRASP, *HALF, *OPEN]


@each([*GRASP, *HALF])
def test_it_succeeds(case: Case) -> None:
    check_success(case)


@each([*GRASP, *HALF])
def test_a_robot_that_never_gets_the_command(case: Case) -> None:
    play = check_lost(case)
    assert play.leaf.result == ("not_moved" if case.leaf is HandGrasp else None)


@each(HALF)
def test_a_robot_that_obeys_late(case: Case) -> None:
    check_late(case)


@each(CASES)
@pytest.mark.parametrize("after", [0.0, 0.3])
def test_an_emergency_stop(case: Case, after: float) -> None:
    check_emergency(case, after)


@each(GRASP)
def test_interrupted_a_hand_goes_on_to_hold(case: Case) -> None:
    play = check_interruption(case)
    assert play.stage.twin.hand("right").holding


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_grasp_says_what_it_closed_on(robot: str) -> None:
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    empty = stage.play(HandGrasp, hand="right", grip=80.0)
    assert (empty.status, empty.reason, empty.leaf.result) == (Status.FAILURE, "nothing_held", "nothing")
    assert stage.play(HandOpen, hand="right").status is Status.SUCCESS
    put_something_in(stage.twin)
    full = stage.play(HandGrasp, hand="right", grip=80.0)
    assert (full.status, full.leaf.result) == (Status.SUCCESS, "object")
    assert stage.robot.hands.holding("right").value is True  # type: ignore[union-attr]


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_grip_that_is_taken_if_none_is_written_finds_the_object(robot: str) -> None:
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    put_something_in(stage.twin)
    assert stage.play(HandGrasp, hand="right").leaf.result == "object"


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize(
    ("grip", "text"),
    [(30.0, "it met nothing up to a grip of 30 %: what is there may be smaller"), (100.0, "it closed on nothing")],
)
def test_a_hand_that_did_not_close_does_not_say_that_there_is_nothing(robot: str, grip: float, text: str) -> None:
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    stage.twin.hand("right").object = grip < 100.0
    play = stage.play(HandGrasp, hand="right", grip=grip)
    assert (play.reason, play.leaf.result) == ("nothing_held", "nothing")
    assert play.leaf.message.endswith(text)


def test_how_much_further_than_the_object_the_grip_must_be_is_written_down() -> None:
    assert f"more than {100 * REACHED:.0f} % further than the object lets it" in installed().leaves["HandGrasp"].remark


@pytest.mark.parametrize("robot", ROBOTS)
def test_what_is_held_already_is_held(robot: str) -> None:
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    put_something_in(stage.twin)
    stage.prepare((HandGrasp, {"hand": "right", "grip": 80.0}))
    play = stage.leaf(HandGrasp, hand="right", grip=90.0).start()
    assert stage.robot.hands.holding("right").value is True  # type: ignore[union-attr]
    assert (play.finish().status, play.leaf.result) == (Status.SUCCESS, "object")
    stage.twin.hand("right").object = False
    again = stage.play(HandGrasp, hand="right", grip=90.0)
    assert (again.status, again.leaf.result) == (Status.FAILURE, "nothing")


@pytest.mark.parametrize("robot", ["gr2", "atom", "atom_w"])  # whose hands report their effort
def test_a_grasp_that_is_begun_anew_finds_what_the_first_closed_on(robot: str) -> None:
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    put_something_in(stage.twin)
    stage.leaf(HandGrasp, hand="right", grip=80.0).go(0.2).stop()
    stage.wait(3.0)
    play = stage.play(HandGrasp, hand="right", grip=80.0)
    assert (play.status, play.leaf.result) == (Status.SUCCESS, "object")


@pytest.mark.parametrize("robot", ROBOTS)
def test_fingers_that_stand_where_an_unfinished_grasp_left_them_hold_nothing(robot: str) -> None:
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    hand = stage.twin.hand("right")
    stage.leaf(HandGrasp, hand="right", grip=80.0).until(lambda: bool(hand.opening.min() < 0.7)).stop()
    hand.move(hand.opening)
    stage.hurt(f"lost:{ROBOTS[robot][1]}")
    play = stage.play(HandGrasp, hand="right", grip=80.0)
    assert (play.status, play.leaf.result) == (Status.FAILURE, "not_moved")


@pytest.mark.parametrize("robot", ROBOTS)
def test_fingers_that_are_stuck_have_not_moved(robot: str) -> None:
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    stage.hurt("hand_jam:right")
    play = stage.play(HandGrasp, hand="right", grip=80.0)
    assert (play.status, play.leaf.result) == (Status.FAILURE, "not_moved")


@pytest.mark.parametrize("robot", ROBOTS)
def test_an_open_hand_holds_nothing(robot: str) -> None:
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    put_something_in(stage.twin)
    stage.prepare((HandGrasp, {"hand": "right", "grip": 80.0}), (HandOpen, {"hand": "right"}))
    assert not stage.twin.hand("right").holding
    assert stage.robot.hands.holding("right").value is False  # type: ignore[union-attr]


MISSION = "tree: poses\nrobot: atom_w\nroot:\n  - SetFsm: {{state: ready}}\n  {}\n"


def test_the_documented_pose_is_taken_in_a_simulated_mission(mission: StartMission) -> None:
    run = mission(MISSION.format(HandPose.declaration.example))
    assert run.finish().status == "success", run.story()


def test_a_pose_that_the_object_in_a_simulated_hand_prevents(mission: StartMission) -> None:
    pose = "- HandPose: {hand: left, fingers: [0 %, 0 %, 0 %, 100 %, 0 %, 0 %]}"
    run = mission(MISSION.format(pose))
    assert run.finish().status == "failure"
    assert run.reason.endswith("index did not arrive: is something in the hand?")
    empty = mission(MISSION.format(pose), faults=["object_lost:left@0s"])
    assert empty.finish().status == "success", empty.story()


def test_the_other_hand_stays_as_it_is() -> None:
    stage = Stage("atom").prepare(*READY)
    stage.play(HandPose, hand="right", fingers=[100.0] * 6)
    assert list(stage.twin.hand("left").opening) == pytest.approx([1.0] * 6, abs=0.01)


def test_a_wrong_number_of_fingers_is_refused() -> None:
    play = Stage("atom").prepare(*READY).play(HandPose, hand="right", fingers=[10.0, 10.0])
    assert (play.status, play.reason) == (Status.FAILURE, "refused")
    assert "6 fingers" in play.leaf.message


def test_hands_of_a_limp_robot_stay_still() -> None:
    play = Stage("atom").play(HandOpen, hand="right")
    assert (play.status, play.reason) == (Status.FAILURE, "refused")


def test_paused_and_resumed_it_arrives() -> None:
    stage = Stage("atom").prepare(*READY)
    play = stage.leaf(HandPose, hand="right", fingers=[80.0] * 6).go(0.2)
    play.leaf.pause()
    stage.wait(2.0)
    play.leaf.resume()
    assert play.finish().status is Status.SUCCESS


@pytest.mark.parametrize(("topic", "robot"), [("rt/hands/state", "atom"), ("rt/handstate", "adam_u")])
def test_a_hand_that_falls_silent_is_no_success(topic: str, robot: str) -> None:
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    play = stage.leaf(HandPose, hand="right", fingers=[80.0] * 6).go(0.2)
    stage.hurt(f"off:{topic}")
    play.finish()
    assert (play.status, play.reason) == (Status.FAILURE, "stale")


def test_a_hand_that_is_silent_before_its_rhythm_is_known(mission: StartMission) -> None:
    """Nobody documents how often an Adam tells of its hands: a few samples do not show it, but a moving hand tells."""
    closes = "HandPose: {hand: right, fingers: [80 %, 80 %, 80 %, 80 %, 80 %, 80 %]}"
    run = mission(f"tree: silent\nrobot: adam_u\nroot: {{{closes}}}\n")
    run.wait(0.2)
    run.fault("off:rt/handstate")
    assert run.finish().status == "failure"
    assert "stale: " in run.reason
    assert "nothing has come on rt/handstate for 0.5" in run.reason
    assert run.time < 1.0


@pytest.mark.parametrize("after", [0.1, 0.3, 0.45, 0.55])
@pytest.mark.parametrize(
    ("topic", "robot"),
    [("rt/hands/state", "atom"), ("rt/hands/state", "atom_w"), ("robot_control_group_state", "gr2")],
)
def test_a_report_that_is_frozen_while_an_empty_hand_closes_is_no_success(topic: str, robot: str, after: float) -> None:
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    play = stage.leaf(HandGrasp, hand="right", grip=80.0).go(after)
    stage.hurt(f"stuck:{topic}")
    play.finish()
    assert (play.status, play.reason) == (Status.FAILURE, "frozen")


GRASPED = """
tree: grasped
robot: {robot}
root:
  sequence:
{before}
    - HandGrasp: {{hand: right, grip: 80 %}}
    - Wait: {{time: 4 s}}
      name: carry
      while: hands.right.holding
"""


@pytest.mark.parametrize("robot", ["atom_w", "adam_u"])
@pytest.mark.parametrize("after", [0.1, 1.5])
def test_what_a_hand_holds_it_holds_through_a_pause_and_after_the_run(
    robot: str, after: float, mission: StartMission
) -> None:
    before = "    - SetFsm: {state: ready}" if robot == "atom_w" else ""
    run = mission(GRASPED.format(robot=robot, before=before))
    twin: Any = run.twin
    put_something_in(twin)
    run.until("carry")
    run.wait(after)
    run.pause()
    run.wait(2.0)
    assert twin.hand("right").holding
    run.resume()
    run.wait(0.5)
    assert twin.hand("right").holding
    assert run.finish().status == "success"
    assert twin.hand("right").holding


def test_an_object_that_falls_after_a_pause_is_missed(mission: StartMission) -> None:
    run = mission(GRASPED.format(robot="atom_w", before="    - SetFsm: {state: ready}"))
    put_something_in(run.twin)
    run.until("carry")
    run.pause()
    run.wait(1.0)
    run.resume()
    run.fault("object_lost:right")
    assert run.finish().status == "failure"
    assert run.failed_node == "carry"


def test_what_a_hand_holds_that_was_stopped_on_its_way_is_not_known(mission: StartMission) -> None:
    """It presses with what is left of it; how much that is nobody knows."""
    again = "    - HandGrasp: {hand: right, grip: 90 %}\n      name: firmer\n"
    run = mission(GRASPED.format(robot="atom_w", before="    - SetFsm: {state: ready}") + again)
    put_something_in(run.twin)
    run.until("firmer")
    run.wait(0.2)
    run.pause()
    run.wait(0.5)
    holding = run._mission.mission.robot.hands.holding("right")
    assert isinstance(holding, Unknown)
    assert holding.reason == "ended"
    run.resume()
    assert run.finish().status == "success"


@pytest.mark.parametrize("robot", ["atom", "atom_w", "adam_u"])
def test_a_command_to_one_hand_leaves_the_other_its_grip(robot: str, mission: StartMission) -> None:
    """Both stand in one message."""
    before = "" if robot == "adam_u" else "    - SetFsm: {state: ready}"
    other = "    - HandPose: {hand: left, fingers: [50 %, 50 %, 50 %, 50 %, 50 %, 50 %]}\n"
    run = mission(GRASPED.format(robot=robot, before=before) + other)
    twin: Any = run.twin
    put_something_in(twin)
    run.until("carry")
    target = twin.hand("right")._target.copy()
    assert run.finish().status == "success"
    assert twin.hand("left").opening[0] == pytest.approx(0.5, abs=0.01)
    assert twin.hand("right")._target == pytest.approx(target)
    assert twin.hand("right").holding


BOTH = """
tree: both
robot: {robot}
root:
  sequence:
{before}
    - parallel:
        - HandGrasp: {{hand: right}}
        - sequence:
            - Wait: {{time: {after} ms}}
            - {other}
"""
LEFT_POSE = "HandPose: {hand: left, fingers: [20 %, 20 %, 20 %, 0 %, 20 %, 20 %]}"
SHARED = ["atom", "atom_w", "adam_u"]
"""Their hands are commanded by one message."""


def both(mission: StartMission, robot: str, other: str, after: int, right: bool, left: bool) -> Any:
    before = "" if robot == "adam_u" else "    - SetFsm: {state: ready}"
    run = mission(BOTH.format(robot=robot, before=before, after=after, other=other))
    twin: Any = run.twin
    twin.hand("right").object, twin.hand("left").object = right, left
    run.finish()
    return run


@pytest.mark.parametrize("robot", SHARED)
@pytest.mark.parametrize("after", [100, 200, 300, 400, 500])
@pytest.mark.parametrize("full", [True, False])
def test_a_hand_that_closes_goes_on_while_the_other_is_commanded(
    robot: str, after: int, full: bool, mission: StartMission
) -> None:
    run = both(mission, robot, LEFT_POSE, after, right=full, left=False)
    hand = run.twin.hand("right")
    assert (run.succeeded, hand.holding) == (full, full), run.story()
    if not full:
        assert "it met nothing up to a grip of 80 %" in run.reason
    assert hand.opening[0] == pytest.approx(0.45 if full else 0.2, abs=0.01)


@pytest.mark.parametrize("robot", SHARED)
@pytest.mark.parametrize("after", [0, 300])
@pytest.mark.parametrize(("right", "left"), [(True, True), (True, False), (False, True)])
def test_both_hands_grasp_at_once(robot: str, after: int, right: bool, left: bool, mission: StartMission) -> None:
    run = both(mission, robot, "HandGrasp: {hand: left}", after, right, left)
    assert run.succeeded == (right and left), run.story()
    if not run.succeeded:
        assert "nothing_held" in run.reason
    assert (run.twin.hand("right").holding, run.twin.hand("left").holding) == (right, left)


@pytest.mark.parametrize("robot", SHARED)
def test_one_hand_opens_while_the_other_grasps(robot: str, mission: StartMission) -> None:
    before = "" if robot == "adam_u" else "    - SetFsm: {state: ready}\n"
    before += "    - HandPose: {hand: left, fingers: [80 %, 80 %, 80 %, 80 %, 80 %, 80 %]}"
    run = mission(BOTH.format(robot=robot, before=before, after=0, other="HandOpen: {hand: left}"))
    twin: Any = run.twin
    twin.hand("left").object = False
    assert run.finish().status == "success", run.story()
    assert twin.hand("right").holding
    assert list(twin.hand("left").opening) == pytest.approx([1.0] * 6, abs=0.01)


def holding(run: Any) -> Any:
    return run._mission.mission.robot.hands.holding("right")


CARRIED = (
    GRASPED
    + """
    - HandOpen: {{hand: right}}
      name: let go
"""
)


@pytest.mark.parametrize("robot", ["atom", "atom_w"])
def test_a_hand_whose_opening_is_refused_still_holds(robot: str, mission: StartMission) -> None:
    run = mission(CARRIED.format(robot=robot, before="    - SetFsm: {state: ready}"))
    put_something_in(run.twin)
    run.until("carry")
    run.fault("battery,level=12")
    assert run.finish().status == "failure"
    assert run.failed_node == "let go"
    twin: Any = run.twin
    assert twin.hand("right").holding
    assert holding(run).value is True
    assert run._mission.mission.robot.hands.full() == ("right",)


def test_what_a_hand_holds_whose_opening_was_stopped_is_not_known(mission: StartMission) -> None:
    run = mission(CARRIED.format(robot="atom_w", before="    - SetFsm: {state: ready}"))
    put_something_in(run.twin)
    run.until("let go")
    run.wait(0.1)
    assert holding(run).value is False
    run.pause()
    run.wait(0.5)
    assert isinstance(holding(run), Unknown)
    run.resume()
    assert run.finish().status == "success"
    assert holding(run).value is False


CUT_SHORT = """
tree: cut_short
robot: {robot}
root:
  sequence:
{before}
    - HandGrasp: {{hand: right}}
      timeout: 500 ms
      result: success
    - Wait: {{time: 3 s}}
    - {then}
"""


@pytest.mark.parametrize("robot", ["atom_w", "adam_u"])
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("claim", ["hands.right.holding", "not hands.right.holding"])
def test_what_a_hand_holds_that_closes_without_a_leaf_is_not_known(
    robot: str, full: bool, claim: str, mission: StartMission
) -> None:
    """The leaf is over before the hand has closed, and the hand goes on."""
    before = "    - SetFsm: {state: ready}" if robot == "atom_w" else ""
    run = mission(CUT_SHORT.format(robot=robot, before=before, then=f"check: {claim}"))
    twin: Any = run.twin
    twin.hand("right").object = full
    assert run.finish().status == "failure"
    assert twin.hand("right").holding == full
    assert "what the right hand closed on was not found out" in run.reason
    again = mission(CUT_SHORT.format(robot=robot, before=before, then="HandOpen: {hand: right}"))
    assert again.finish().status == "success"
    assert holding(again).value is False


@pytest.mark.parametrize("robot", ["gr2", "atom", "atom_w"])  # whose hands report their effort
def test_fingers_that_are_stuck_after_a_grasp_that_met_nothing_hold_nothing(robot: str) -> None:
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    assert stage.play(HandGrasp, hand="right", grip=50.0).leaf.result == "nothing"
    stage.hurt("hand_jam:right")
    firmer = stage.play(HandGrasp, hand="right", grip=90.0)
    assert (firmer.status, firmer.leaf.result) == (Status.FAILURE, "not_moved")
