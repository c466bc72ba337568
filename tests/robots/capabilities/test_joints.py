"""Joint motion: arrived, stuck, or taken away."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.robots import intents
from orchestrator.robots.reasons import Reason
from tests.support.fake_robot import FakeRobot, known, ready, reason


def move_head(fake: FakeRobot, yaw: float) -> None:
    fake.messages["rt/upper/state"].motor_state[15].q = yaw


def with_upper_control() -> FakeRobot:
    fake = FakeRobot("atom")
    fake.set("rt/upper/state", is_upper_control=True)
    fake.run(0.5)
    return fake


def test_joints_are_there_when_every_one_is_near_its_target() -> None:
    fake = with_upper_control()
    move = fake.robot.joints.move("head", (0.8, 0.0), 2.0)
    for yaw in (0.2, 0.4, 0.6, 0.79):
        assert move.outcome().status == "running"
        move_head(fake, yaw)
        fake.run(0.5)
        move.outcome()
    assert fake.judge(move).status == "success"


def test_joints_that_stop_on_the_way_make_no_progress() -> None:
    fake = with_upper_control()
    move = fake.robot.joints.move("head", (0.8, 0.0), 1.0)
    fake.run(0.1)
    move.outcome()
    move_head(fake, 0.4)
    fake.run(1.1)
    assert move.outcome().status == "running"
    assert reason(fake.judge(move)) is Reason.NO_PROGRESS


def bent() -> FakeRobot:
    """A head that was told to be at 0.8 rad and stands a little below that."""
    fake = with_upper_control()
    move = fake.robot.joints.move_to({"head_yaw": 0.8}, 1.0)
    move_head(fake, 0.76)
    assert fake.judge(move).status == "success"
    return fake


def told(fake: FakeRobot) -> float:
    """Where the head is told to stay while it nods."""
    fake.robot.joints.move_to({"head_pitch": 0.2}, 1.0)
    intent = fake.orders.intents[-1]
    assert isinstance(intent, intents.JointTarget)
    return intent.q[0]


def test_a_joint_that_a_load_bends_is_told_to_stay_where_it_was_told_to_be() -> None:
    fake = bent()
    for _ in range(5):
        assert told(fake) == 0.8
        fake.robot.joints.move_to({"head_pitch": 0.1}, 1.0).cancel()
        assert told(fake) == 0.8
        nod = fake.robot.joints.move_to({"head_pitch": 0.0}, 1.0)
        assert fake.judge(nod).status == "success"


def test_a_joint_that_was_moved_away_is_told_to_stay_there() -> None:
    fake = bent()
    move_head(fake, 0.65)
    fake.run(0.1)
    assert told(fake) == pytest.approx(0.65)


def test_a_joint_that_did_not_arrive_is_told_to_stay_where_it_is() -> None:
    fake = bent()
    fake.robot.joints.move_to({"head_yaw": 0.7}, 1.0).cancel()
    assert told(fake) == pytest.approx(0.76)


@pytest.mark.parametrize(
    "happens",
    [
        lambda fake: fake.reboot(),
        lambda fake: fake.robot.fsm.set("ready"),
        lambda fake: fake.robot.upper_body.set("on"),
        lambda fake: fake.robot.joints.enable_motors(True),
    ],
    ids=["restart", "state", "upper control", "motors"],
)
def test_what_moves_joints_or_lets_them_go_makes_them_stay_where_they_are(happens: Callable[[FakeRobot], None]) -> None:
    fake = bent()
    happens(fake)
    fake.run(0.5)
    assert told(fake) == pytest.approx(0.76)


@pytest.mark.parametrize(("away", "status"), [(0.14, "success"), (0.16, "failure")])
def test_a_joint_that_is_to_stay_may_be_bent_a_little(away: float, status: str) -> None:
    fake = bent()
    nod = fake.robot.joints.move_to({"head_pitch": 0.0}, 1.0)
    move_head(fake, 0.8 - away)
    assert fake.judge(nod).status == status


def test_losing_upper_control_fails_a_motion() -> None:
    fake = with_upper_control()
    move = fake.robot.joints.move("head", (0.8, 0.0), 2.0)
    fake.set("rt/upper/state", is_upper_control=False)
    assert reason(fake.judge(move)) is Reason.CONTROL_LOST


def test_a_path_that_ends_where_it_began_is_not_done_before_its_time() -> None:
    fake = with_upper_control()
    there, back = intents.Keyframe(1.0, (0.8, 0.0)), intents.Keyframe(2.0, (0.0, 0.0))
    play = fake.robot.joints.play("head", (there, back))
    for yaw in (0.4, 0.8, 0.4, 0.0):
        fake.run(0.45)
        move_head(fake, yaw)
        assert play.outcome().status == "running"
    assert fake.judge(play).status == "success"


def test_a_path_that_ends_where_it_began_is_not_done_by_a_joint_that_never_moved() -> None:
    fake = with_upper_control()
    there, back = intents.Keyframe(1.0, (0.8, 0.0)), intents.Keyframe(2.0, (0.0, 0.0))
    assert reason(fake.judge(fake.robot.joints.play("head", (there, back)))) is Reason.NOT_ACCEPTED


def test_a_stream_ended_by_the_guard_fails_with_its_reason() -> None:
    fake = with_upper_control()
    move = fake.robot.joints.move("head", (0.8, 0.0), 2.0)
    fake.orders.receipts[0].state, fake.orders.receipts[0].reason = "ended", "the robot is stale"
    assert fake.judge(move).text == "the guard ended it: the robot is stale"


def test_how_far_a_pose_is() -> None:
    fake = ready("atom")
    move_head(fake, 0.25)
    fake.run(0.1)
    assert known(fake.robot.joints.distance({"head": (0.0, 0.1)})) == pytest.approx(0.25)


def put_the_left_hand_at(fake: FakeRobot, place: tuple[float, float, float]) -> None:
    for arm in fake.messages["robot_cartesian_state"].cartesian_state:
        if arm.group_name == "left_manipulator":
            arm.pose = [*place, *arm.pose[3:]]


def test_a_planned_move_is_not_done_before_it_can_have_begun() -> None:
    fake = ready("gr2")
    move = fake.robot.joints.move_hand("left", (0.3, 0.2, 0.1), straight=False, speed=0.3)
    fake.run(0.16)
    assert move.outcome().status == "running"
    fake.set("robot_control_group_state", group_motion_state=[0, 0, 0, 0, 1, 0, 0, 0])
    fake.run(2.0)
    assert move.outcome().status == "running"
    fake.set("robot_control_group_state", group_motion_state=[0] * 8)
    put_the_left_hand_at(fake, (0.31, 0.2, 0.1))
    assert fake.judge(move).status == "success"


def test_a_hand_that_stops_on_its_way_has_not_arrived() -> None:
    fake = ready("gr2")
    move = fake.robot.joints.move_hand("left", (0.3, 0.2, 0.1), straight=False, speed=0.3)
    fake.run(0.16)
    fake.set("robot_control_group_state", group_motion_state=[0, 0, 0, 0, 1, 0, 0, 0])
    fake.run(2.0)
    assert move.outcome().status == "running"
    fake.set("robot_control_group_state", group_motion_state=[0] * 8)
    put_the_left_hand_at(fake, (0.2, 0.2, 0.1))
    stopped = fake.judge(move)
    assert reason(stopped) is Reason.NO_PROGRESS
    assert "10 cm from the place" in stopped.text


def test_a_planned_move_that_errs_fails() -> None:
    fake = ready("gr2")
    move = fake.robot.joints.move_hand("left", (0.3, 0.2, 0.1), straight=False, speed=0.3)
    fake.set("robot_control_group_state", group_motion_state=[0, 0, 0, 0, 3, 0, 0, 0])
    assert reason(fake.judge(move)) is Reason.FAILED


def test_motors_are_on_when_every_axis_says_so() -> None:
    fake = ready("atom")
    fake.messages["rt/main/nodes/state"].left_arm[2].servo_state = 0
    enable = fake.robot.joints.enable_motors(True)
    fake.run(1.0)
    assert enable.outcome().status == "running"
    fake.messages["rt/main/nodes/state"].left_arm[2].servo_state = 3
    assert fake.judge(enable).status == "success"
