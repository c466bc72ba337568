"""A leaf whose command the guard has stopped says why the guard did so; nobody else is blamed, and nothing succeeds."""

from __future__ import annotations

from typing import Any

import pytest

from behaviours.fsm import SetFsm
from behaviours.hands import HandGrasp, HandOpen, HandPose
from behaviours.joints import MoveHand, MoveJoints
from behaviours.mobile_base import DriveBase, MoveToTag, RotateBase
from behaviours.stand_pose import StandPose
from orchestrator.guard.base_task import PAUSED
from orchestrator.guard.events import StreamEnded
from orchestrator.guard.last_stop import last_stop
from orchestrator.guard.modes import Mode
from orchestrator.guard.outputs import Report
from orchestrator.leaf import Status
from tests.behaviours.test_hands import ROBOTS
from tests.behaviours.test_mobile_base import stands, turning_base
from tests.support.leaf_cases import MOVE_COMMAND, STANDING, UPPER, Step
from tests.support.leaf_harness import Play, Stage, guard_config

CLOSED: Step = (HandPose, {"hand": "right", "fingers": [90.0] * 6})
WHY = "left_elbow_pitch: error 0x1"


@pytest.mark.parametrize(
    ("leaf", "values", "after"),
    [
        (MoveToTag, {"tag": 12}, 3.0),
        (RotateBase, {"angle": 1.5}, 1.5),
        (MoveJoints, {"angles": {"right_elbow_pitch": -0.5}, "time": 3.0}, 1.0),
        (HandGrasp, {"hand": "right"}, 0.2),
        (HandPose, {"hand": "right", "fingers": [100.0] * 6}, 0.2),
        (HandOpen, {"hand": "right"}, 0.2),
        (DriveBase, {"forward": 0.2, "time": 2.0}, 1.0),  # waits for the key on the base
    ],
)
def test_a_motor_error_elsewhere(leaf: Any, values: dict[str, Any], after: float) -> None:
    stage = Stage("atom_w", ("remote_drive",), **turning_base()).prepare(*UPPER)
    if leaf is HandOpen:
        stage.prepare(CLOSED)
    play = stage.leaf(leaf, **values).go(after)
    assert play.status is Status.RUNNING
    stage.hurt("motor_error:left_elbow_pitch")
    play.finish()
    assert (play.status, play.reason) == (Status.FAILURE, "ended"), play
    assert WHY in play.leaf.message
    assert play.took < after + 1.0
    stage.wait(3.0)
    assert stands(stage.twin)


POSES: dict[Any, tuple[list[Step], dict[str, Any], str]] = {
    StandPose: (STANDING, {"height": -0.1, "pitch": 0.2, "yaw": 0.1}, "robot_stand_pose_state"),
    MoveHand: (
        MOVE_COMMAND,
        {"hand": "left", "forward": 0.35, "left": 0.25, "up": 0.1, "speed": 10.0},
        "robot_cartesian_state",
    ),
}


def where(stage: Stage) -> list[float]:
    return [*stage.twin.stand.pose, *stage.twin.arms["left_arm"].pose]


def begin_pose(leaf: Any) -> tuple[Stage, Play]:
    """A GR-2 on its own way to a pose."""
    before, values, _ = POSES[leaf]
    stage = Stage("gr2").prepare(*before)
    began = where(stage)
    play = stage.leaf(leaf, **values).go(0.3)
    assert play.status is Status.RUNNING
    assert where(stage) != began
    return stage, play


@pytest.mark.parametrize("leaf", POSES)
def test_a_pose_the_robot_drives_to_by_itself_ends_where_it_is(leaf: Any) -> None:
    stage, play = begin_pose(leaf)
    stage.hurt("motor_error:right_elbow_pitch")
    stage.wait(0.05)
    here = where(stage)
    play.finish()
    assert (play.status, play.reason) == (Status.FAILURE, "ended"), play
    assert "right_arm: motion error" in play.leaf.message
    stage.wait(3.0)
    assert where(stage) == pytest.approx(here, abs=0.005)
    assert {"cause": "right_arm: motion error", "role": "stop"}.items() <= stage.records[-1].items()
    assert leaf.__name__ in [sent for sent, record in zip(stage.sent, stage.records) if record["role"] == "stop"]


@pytest.mark.parametrize("silent", [0.8, 30.0])
def test_a_hand_whose_joints_fall_silent_stays_where_it_is(silent: float) -> None:
    """It is told so although no other command would pass."""
    stage, play = begin_pose(MoveHand)
    now = stage.clock.now() - stage.twin.started_at
    stage.hurt(f"off:robot_control_group_state@{now}s+{silent}s")
    play.finish()
    here = where(stage)
    assert (play.status, play.reason) == (Status.FAILURE, "stale")
    stage.wait(3.0)
    assert where(stage) == pytest.approx(here, abs=0.005)


@pytest.mark.parametrize("leaf", POSES)
def test_a_pose_that_has_failed_unseen_ends_as_soon_as_it_is_shown(leaf: Any) -> None:
    stage, play = begin_pose(leaf)
    now = stage.clock.now() - stage.twin.started_at
    stage.hurt(f"off:{POSES[leaf][2]}@{now}s+0.7s")
    play.finish()
    assert (play.status, play.reason) == (Status.FAILURE, "stale")
    assert f"{leaf.__name__} cannot be stopped: " in " ".join(report.text for report in stage.commander.reports)
    stage.wait(now + 0.8 - (stage.clock.now() - stage.twin.started_at))
    here = where(stage)
    stage.wait(3.0)
    assert where(stage) == pytest.approx(here, abs=0.005)
    told = [record["role"] for sent, record in zip(stage.sent, stage.records) if sent == leaf.__name__]
    assert told == ["command", "stop"]


def test_a_hand_that_is_called_off_while_its_command_waits_for_the_disk_stays() -> None:
    before, values, _ = POSES[MoveHand]
    stage = Stage("gr2").prepare(*before)
    began = where(stage)

    def slowly() -> None:
        number = stage.guard.state.under_way["MoveHand left_arm"]
        stage.guard.handle(StreamEnded(stage.commander.epoch, number))

    stage.sync = slowly  # type: ignore[method-assign]
    play = stage.play(MoveHand, **values)
    assert "no longer wanted" in play.leaf.message
    stage.wait(3.0)
    assert where(stage) == pytest.approx(began, abs=0.005)


@pytest.mark.parametrize("leaf", POSES)
def test_a_pose_that_is_reached_is_left_alone(leaf: Any) -> None:
    stage, play = begin_pose(leaf)
    assert play.finish().status is Status.SUCCESS
    stage.wait(1.0)
    assert stage.sent.count(leaf.__name__) == 1


@pytest.mark.parametrize("leaf", POSES)
def test_a_pose_that_failed_is_not_touched_after_an_emergency_stop(leaf: Any) -> None:
    stage, play = begin_pose(leaf)
    now = stage.clock.now() - stage.twin.started_at
    stage.hurt(f"off:{POSES[leaf][2]}@{now}s+1.5s")
    play.finish()
    stage.twin.press_emergency("security")
    stage.wait(3.0)
    assert stage.sent.count(leaf.__name__) == 1


@pytest.mark.parametrize("leaf", POSES)
def test_a_pose_that_is_not_shown_is_not_guessed(leaf: Any) -> None:
    topic = POSES[leaf][2]
    stage, play = begin_pose(leaf)
    stage.hurt(f"off:{topic}")
    stage.wait(0.6)
    stage.hurt("motor_error:right_elbow_pitch")
    stage.wait(0.1)
    assert stage.guard.state.mode is Mode.RUNNING, "silence of that topic alone stops nothing"
    stops = [sent for sent, record in zip(stage.sent, stage.records) if record["role"] == "stop"]
    assert set(stops) == {"Velocity"}
    told = [report.text for report in stage.commander.reports if report.value == "not held"]
    assert told == [f"{leaf.__name__} cannot be stopped: where the robot is, {topic}, is stale"]
    assert play.finish().status is Status.FAILURE


def test_what_lies_in_a_reader_from_before_a_silence_is_no_pose() -> None:
    stage = Stage("gr2").prepare(*STANDING)
    stage.hurt("off:robot_stand_pose_state")
    stage.wait(3.0)
    stage.leaf(StandPose, height=-0.1).start()
    stage.hurt("motor_error:right_elbow_pitch")
    stage.wait(0.1)
    told = [report.text for report in stage.commander.reports if report.value == "not held"]
    assert told == ["StandPose cannot be stopped: where the robot is, robot_stand_pose_state, is unknown"]


@pytest.mark.parametrize("leaf", POSES)
def test_a_run_whose_guard_is_gone_ends_a_pose_too(leaf: Any) -> None:
    stage, _ = begin_pose(leaf)
    stage.guard.handle = lambda event: None  # type: ignore[method-assign]
    asked = stage.commander._receipts.let_through
    here = where(stage)
    assert last_stop(stage.profile, guard_config(), stage.bus, asked, lambda report: None)
    stage.wait(3.0)
    assert where(stage) == pytest.approx(here, abs=0.06), "the robot has to find the run's writers first"


@pytest.mark.parametrize("paused", [True, False])
def test_a_run_whose_guard_is_gone_tells_of_a_task_left_paused_on_the_base(paused: bool) -> None:
    stage = Stage("atom_w").prepare(*UPPER)
    drive = stage.leaf(MoveToTag, tag=12).go(3.0)
    assert drive.status is Status.RUNNING
    if paused:
        stage.hurt("amr_pause")
        stage.wait(1.0)
    stage.guard.handle = lambda event: None  # type: ignore[method-assign]
    said: list[Report] = []
    assert last_stop(stage.profile, guard_config(), stage.bus, stage.commander._receipts.let_through, said.append)
    assert [report.text for report in said if report.value == "left behind"] == ([PAUSED] if paused else [])


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_run_whose_guard_is_gone_leaves_a_full_hand_its_grip(robot: str) -> None:
    """The other hand closes, and stops where it is, also where one message tells both."""
    stage = Stage(robot).prepare(*ROBOTS[robot][0])
    right, left = stage.twin.hand("right"), stage.twin.hand("left")
    right.object = True
    stage.prepare((HandGrasp, {"hand": "right", "grip": 80.0}))
    stage.leaf(HandGrasp, hand="left", grip=80.0).go(0.2)
    stage.guard.handle = lambda event: None  # type: ignore[method-assign]
    asked, full, target = stage.commander._receipts.let_through, stage.robot.hands.full(), right._target.copy()
    assert full == ("right",)
    assert last_stop(stage.profile, guard_config(), stage.bus, asked, lambda report: None, holding=full)
    stage.wait(2.0)
    assert right._target == pytest.approx(target)
    assert left.opening.min() > 0.3


def test_a_robot_that_walks_again_is_told_no_stand_pose() -> None:
    stage = Stage("gr2").prepare(*STANDING, (StandPose, {"height": -0.05}), (SetFsm, {"state": "walk"}))
    stage.hurt("motor_error:right_elbow_pitch")
    stage.wait(1.0)
    assert set(stage.sent) == {"Velocity"}


def test_a_drive_that_somebody_else_cancels_is_not_the_guards_doing() -> None:
    stage = Stage("atom_w").prepare(*UPPER)
    play = stage.leaf(MoveToTag, tag=12).go(3.0)
    stage.hurt("amr_cancel")
    assert play.finish().reason == "cancelled_by_other"


@pytest.mark.parametrize(("robot", "state"), [("gr2", "pd_stand"), ("atom_w", "ready")])
def test_a_state_that_comes_about_after_a_stop_was_still_asked_for_by_us(robot: str, state: str) -> None:
    stage = Stage(robot)
    play = stage.leaf(SetFsm, state=state).go(0.02)
    assert play.status is Status.RUNNING
    stage.hurt("motor_error:left_elbow_pitch")
    play.finish()
    stage.wait(3.0)
    assert stage.guard.state.mode is not Mode.INTERVENED
