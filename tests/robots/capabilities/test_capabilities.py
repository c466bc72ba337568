"""What each capability sends, and when it counts as done."""

from __future__ import annotations

import math
from typing import Any

import pytest

from orchestrator.robots import intents
from orchestrator.robots.capabilities.upper_body import UpperStates
from orchestrator.robots.judging import Judge
from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.outcome import Outcome
from orchestrator.robots.reasons import Reason
from orchestrator.robots.robot import MissingCapability
from tests.support.fake_robot import FakeRobot


def ready(name: str) -> FakeRobot:
    fake = FakeRobot(name)
    fake.run(0.5)
    return fake


def reason(outcome: Outcome) -> Reason | None:
    assert outcome.status == "failure", outcome
    return outcome.reason


def known(found: Any) -> Any:
    assert isinstance(found, Known), found
    return found.value


def test_a_capability_the_robot_lacks_is_an_error_that_names_both() -> None:
    fake = ready("adam_u")
    assert not fake.robot.has("mobile_base")
    with pytest.raises(MissingCapability, match="adam_u has no mobile_base"):
        _ = fake.robot.mobile_base


# State machine


def test_a_state_is_reached_when_the_robot_has_reported_it_for_a_moment() -> None:
    fake = ready("atom")
    change = fake.robot.fsm.set("walk")
    assert fake.orders.intents == [intents.SetFsm("walk")]
    fake.set("rt/lower/state", fsm_id=301)
    fake.run(0.1)
    assert change.outcome().status == "running"
    fake.run(0.3)
    assert change.outcome().status == "success"


def test_a_state_the_robot_was_in_before_needs_new_evidence_too() -> None:
    fake = ready("atom")
    change = fake.robot.fsm.set("ready")
    fake.clock.advance(0.05)
    assert change.outcome().status == "running"
    assert fake.judge(change).status == "success"


def test_a_change_that_shows_no_effect_fails_and_is_not_repeated_here() -> None:
    """Repeating is the guard's."""
    fake = ready("atom")
    outcome = fake.judge(fake.robot.fsm.set("walk"))
    assert reason(outcome) is Reason.NOT_ACCEPTED
    assert fake.orders.intents == [intents.SetFsm("walk")]


def test_waiting_for_a_state_sends_nothing() -> None:
    fake = ready("atom")
    change = fake.robot.fsm.wait_for("walk")
    fake.run(10.0)
    assert change.outcome().status == "running"
    fake.set("rt/lower/state", fsm_id=301)
    assert fake.judge(change).status == "success"
    assert fake.orders.intents == []


def test_once_somebody_else_has_changed_the_state_it_fails() -> None:
    fake = ready("atom")
    change = fake.robot.fsm.set("walk")
    fake.set("rt/lower/state", fsm_id=1)
    outcome = fake.judge(change)
    assert reason(outcome) is Reason.FAILED
    assert "damping" in outcome.text
    assert fake.orders.intents == [intents.SetFsm("walk")]


def test_a_state_nobody_knows_on_the_way_is_not_success_and_not_the_end() -> None:
    fake = ready("atom")
    change = fake.robot.fsm.set("walk")
    fake.set("rt/lower/state", fsm_id=9999)
    fake.run(1.0)
    assert change.outcome().status == "running"
    assert reason(fake.judge(change)) is Reason.UNKNOWN_STATE


def test_a_state_that_does_not_last_is_not_reached() -> None:
    fake = ready("gr2")
    change = fake.robot.fsm.set("pd_stand")
    fake.set("aurora_state", whole_body_fsm_state=2)
    fake.run(0.1)
    fake.set("aurora_state", whole_body_fsm_state=1)
    assert reason(fake.judge(change)) is Reason.FAILED


@pytest.mark.parametrize("name", ["atom", "gr2"])
def test_silence_fails_a_change(name: str) -> None:
    fake = ready(name)
    change = fake.robot.fsm.set("walk")
    fake.silent |= set(fake.writers)
    assert reason(fake.judge(change)) is Reason.STALE


# Upper body


def test_upper_control_is_confirmed_by_the_robots_own_flag() -> None:
    fake = ready("atom")
    switch = fake.robot.upper_body.set("on")
    assert fake.orders.intents == [intents.SwitchUpperControl(True)]
    fake.run(0.4)
    assert switch.outcome().status == "running"
    fake.set("rt/upper/state", is_upper_control=True)
    assert fake.judge(switch).status == "success"
    assert known(fake.robot.upper_body.state()) == "on"


def test_nothing_is_sent_to_give_back_an_upper_body_that_is_not_ours() -> None:
    fake = ready("atom")
    assert fake.judge(fake.robot.upper_body.set("off")).status == "success"
    assert fake.orders.intents == []


def test_the_upper_state_and_velocity_source_of_an_aurora() -> None:
    fake = ready("gr2")
    upper, source = fake.robot.upper_body.set("remote"), fake.robot.velocity.set_source("navigation")
    fake.set("aurora_state", upper_body_fsm_state=2, velocity_command_source=2, allow_upper_body_override=True)
    assert fake.judge(upper).status == "success"
    assert fake.judge(source).status == "success"
    assert isinstance(fake.robot.upper_body, UpperStates)
    assert known(fake.robot.upper_body.override_allowed()) is True
    assert known(fake.robot.velocity.source()) == "navigation"


# Stand pose


def test_a_stand_pose_is_done_when_it_is_reported_and_the_body_is_stable() -> None:
    fake = ready("gr2")
    pose = fake.robot.stand_pose.set(-0.05, 0.1, 0.0)
    fake.set("robot_stand_pose_state", delta_z=-0.05, delta_pitch=0.1)
    fake.run(1.0)
    assert pose.outcome().status == "running"
    fake.set("robot_stand_pose_state", stable_level=105)
    assert fake.judge(pose).status == "success"


def test_a_body_that_ignores_the_pose_makes_no_progress() -> None:
    fake = ready("gr2")
    outcome = fake.judge(fake.robot.stand_pose.set(-0.05, 0.0, 0.0))
    assert reason(outcome) is Reason.NO_PROGRESS
    assert "stably" in outcome.text


def test_waiting_for_a_stable_stand_begins_anew_when_it_is_lost() -> None:
    fake = ready("gr2")
    wait = fake.robot.stand_pose.wait_stable(1.0)
    fake.set("robot_stand_pose_state", stable_level=110)
    fake.judge(wait, within=0.8)
    fake.set("robot_stand_pose_state", stable_level=50)
    fake.judge(wait, within=0.2)
    fake.set("robot_stand_pose_state", stable_level=110)
    assert fake.judge(wait, within=0.8).status == "running"
    assert fake.judge(wait, within=0.6).status == "success"
    assert fake.orders.intents == []


# Walking


def test_walking_for_a_time_ends_by_itself_and_cancelling_ends_the_stream() -> None:
    fake = ready("gr2")
    walk = fake.robot.velocity.walk(0.3, 0.0, 0.0, time=2.0)
    fake.set("base_data_pub", vel_B=[0.3, 0.0, 0.0])
    fake.run(1.0)
    assert walk.outcome().progress == pytest.approx(0.5, abs=0.05)
    assert fake.judge(walk).status == "success"
    walk.cancel()
    assert fake.orders.ended == fake.orders.receipts
    assert walk.outcome().status == "success"


@pytest.mark.parametrize(("forward", "turn"), [(0.3, 0.0), (0.0, 0.3)])
def test_walking_for_a_time_needs_the_robot_to_say_that_it_moves(forward: float, turn: float) -> None:
    fake = ready("gr2")
    assert reason(fake.judge(fake.robot.velocity.walk(forward, 0.0, turn, time=2.0))) is Reason.NO_PROGRESS


def test_walking_a_distance_is_measured_from_where_it_began() -> None:
    fake = ready("gr2")
    fake.set("base_data_pub", pos_W=[5.0, 5.0, 0.0])
    fake.run(0.1)
    walk = fake.robot.velocity.walk(0.3, 0.0, 0.0, distance=1.0)
    for step in range(12):
        fake.set("base_data_pub", pos_W=[5.0 + step / 10, 5.0, 0.0])
        fake.run(0.3)
        assert walk.outcome().status == ("success" if step >= 10 else "running"), step


def test_more_than_a_whole_turn_is_added_up() -> None:
    fake = ready("gr2")
    walk = fake.robot.velocity.walk(0.0, 0.0, 0.5, heading=3 * math.pi)
    for degrees in range(0, 545, 5):
        half = math.radians(degrees) / 2
        fake.set("base_data_pub", quat_wxyz=[math.cos(half), 0.0, 0.0, math.sin(half)])
        fake.run(0.04)
        assert walk.outcome().status == ("success" if degrees >= 540 else "running"), degrees


def test_a_robot_that_stays_where_it_is_makes_no_progress() -> None:
    fake = ready("gr2")
    assert reason(fake.judge(fake.robot.velocity.walk(0.3, 0.0, 0.0, distance=1.0))) is Reason.NO_PROGRESS


def test_a_robot_without_odometry_walks_no_distance() -> None:
    fake = ready("atom")
    assert reason(fake.robot.velocity.walk(0.3, 0.0, 0.0, distance=1.0).outcome()) is Reason.NOT_REPORTED
    assert fake.orders.intents == []


def test_stopping_needs_the_robot_to_stand() -> None:
    fake = ready("gr2")
    fake.set("base_data_pub", vel_B=[0.3, 0.0, 0.0])
    stop = fake.robot.velocity.stop()
    fake.run(1.0)
    assert stop.outcome().status == "running"
    fake.set("base_data_pub", vel_B=[0.01, 0.0, 0.0])
    assert fake.judge(stop).status == "success"
    assert fake.orders.ended == fake.orders.receipts


# Joints


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


def test_losing_upper_control_fails_a_motion() -> None:
    fake = with_upper_control()
    move = fake.robot.joints.move("head", (0.8, 0.0), 2.0)
    fake.set("rt/upper/state", is_upper_control=False)
    assert reason(fake.judge(move)) is Reason.CONTROL_LOST


def test_a_path_that_ends_where_it_began_is_not_done_before_its_time() -> None:
    fake = with_upper_control()
    there, back = intents.Keyframe(1.0, (0.8, 0.0)), intents.Keyframe(2.0, (0.0, 0.0))
    play = fake.robot.joints.play("head", (there, back))
    fake.run(1.8)
    assert play.outcome().status == "running"
    assert fake.judge(play).status == "success"


def test_a_stream_ended_by_the_guard_fails_with_its_reason() -> None:
    fake = with_upper_control()
    move = fake.robot.joints.move("head", (0.8, 0.0), 2.0)
    fake.orders.receipts[0].state, fake.orders.receipts[0].reason = "ended", "the robot is stale"
    assert fake.judge(move).text == "the command stream was ended: the robot is stale"


def test_how_far_a_pose_is() -> None:
    fake = ready("atom")
    move_head(fake, 0.25)
    fake.run(0.1)
    assert known(fake.robot.joints.distance({"head": (0.0, 0.1)})) == pytest.approx(0.25)


def test_a_planned_move_is_not_done_before_it_can_have_begun() -> None:
    fake = ready("gr2")
    move = fake.robot.joints.move_hand("left", (0.3, 0.2, 0.1), straight=False, speed=0.3)
    fake.run(0.16)
    assert move.outcome().status == "running"
    fake.set("robot_control_group_state", group_motion_state=[0, 0, 0, 0, 1, 0, 0, 0])
    fake.run(2.0)
    assert move.outcome().status == "running"
    fake.set("robot_control_group_state", group_motion_state=[0] * 8)
    assert fake.judge(move).status == "success"


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


# Hands


def fingers(fake: FakeRobot, opening: float, effort: float = 0.0) -> None:
    """Bring the right hand of an Atom to an opening."""
    shape = fake.profile.hands
    assert shape is not None
    for motor, open_, closed in zip(fake.messages["rt/hands/state"].hands, shape.open, shape.closed):
        motor.q = closed + opening * (open_ - closed)
        motor.tau_est = effort


def open_hand() -> FakeRobot:
    fake = FakeRobot("atom")
    fingers(fake, 1.0)
    fake.run(0.5)
    return fake


def close(fake: FakeRobot, until: float, effort: float) -> Judge:
    grasp: Judge = fake.robot.hands.grasp("right", 1.0)
    for step in range(10):
        fingers(fake, 1.0 + (until - 1.0) * (step + 1) / 10, effort)
        fake.run(0.1)
        grasp.outcome()
    return grasp


def test_a_hand_that_stops_short_and_presses_holds_something() -> None:
    fake = open_hand()
    outcome = fake.judge(close(fake, until=0.4, effort=0.3))
    assert (outcome.status, outcome.result) == ("success", "object")
    assert known(fake.robot.hands.holding("right")) is True
    assert known(fake.robot.hands.holding("left")) is False


def test_what_slips_out_of_the_hand_is_no_longer_held() -> None:
    fake = open_hand()
    fake.judge(close(fake, until=0.4, effort=0.3))
    fingers(fake, 0.0)
    fake.run(0.2)
    assert known(fake.robot.hands.holding("right")) is False


def test_a_hand_that_closes_completely_holds_nothing() -> None:
    fake = open_hand()
    outcome = fake.judge(close(fake, until=0.0, effort=0.3))
    assert (outcome.reason, outcome.result) == (Reason.NOTHING_HELD, "nothing")


def test_a_hand_that_does_not_move_says_so() -> None:
    fake = open_hand()
    outcome = fake.judge(fake.robot.hands.grasp("right", 1.0))
    assert (outcome.reason, outcome.result) == (Reason.NOT_ACCEPTED, "not_moved")


def test_a_hand_that_stops_without_effort_holds_nothing() -> None:
    fake = open_hand()
    outcome = fake.judge(close(fake, until=0.4, effort=0.0))
    assert (outcome.reason, outcome.result) == (Reason.NO_PROGRESS, "not_moved")


def test_a_hand_without_effort_is_judged_by_its_positions() -> None:
    fake = FakeRobot("adam_u")
    fake.set("rt/handstate", position=[1000] * 12)
    fake.run(0.5)
    grasp = fake.robot.hands.grasp("left", 1.0)
    fake.run(0.2)
    grasp.outcome()
    fake.set("rt/handstate", position=[400] * 6 + [1000] * 6)
    outcome = fake.judge(grasp)
    assert (outcome.status, outcome.result) == ("success", "object")


def test_an_open_hand_is_done_when_it_is_open_and_holds_nothing_any_more() -> None:
    fake = open_hand()
    fake.judge(close(fake, until=0.4, effort=0.3))
    opening = fake.robot.hands.open("right")
    assert known(fake.robot.hands.holding("right")) is False
    fingers(fake, 1.0)
    assert fake.judge(opening).status == "success"


def test_fingers_that_do_not_arrive_are_named() -> None:
    fake = open_hand()
    pose = fake.robot.hands.pose("right", (0.5,) * 6)
    fingers(fake, 0.5)
    shape = fake.profile.hands
    assert shape is not None
    fake.messages["rt/hands/state"].hands[3].q = shape.open[3]
    outcome = fake.judge(pose)
    assert outcome.status == "failure"
    assert "index" in outcome.text


# Errors


def test_nothing_is_sent_when_there_is_nothing_to_clear() -> None:
    fake = ready("atom")
    assert fake.robot.errors.clear().outcome().status == "success"
    assert fake.orders.intents == []


def test_errors_are_cleared_when_no_axis_reports_one_any_more() -> None:
    fake = ready("atom")
    axis = fake.messages["rt/main/nodes/state"].left_arm[3]
    axis.error_code, axis.servo_state = 0x7305, 1
    fake.run(0.4)
    assert known(fake.robot.errors.problems()) == ("left_arm 4: error_code 0x7305, servo state 1",)
    clear = fake.robot.errors.clear()
    fake.run(0.4)
    assert clear.outcome().status == "running"
    axis.error_code, axis.servo_state = 0, 3
    assert fake.judge(clear).status == "success"
    assert fake.orders.intents == [intents.ClearErrors()]


def test_errors_that_stay_are_named_and_not_cleared_again() -> None:
    fake = ready("atom")
    fake.messages["rt/main/nodes/state"].waist.node_state = 4
    fake.run(0.4)
    outcome = fake.judge(fake.robot.errors.clear())
    assert reason(outcome) is Reason.FAILED
    assert "waist: node state 4" in outcome.text
    assert fake.orders.intents == [intents.ClearErrors()]


def test_errors_are_cleared_once_in_a_run_and_again_only_when_a_person_has_agreed() -> None:
    fake = ready("atom")
    fake.messages["rt/main/nodes/state"].left_arm[3].error_code = 0x7310
    fake.run(0.5)
    fake.judge(fake.robot.errors.clear())
    again = fake.robot.errors.clear().outcome()
    assert reason(again) is Reason.REFUSED
    assert "confirm" in again.text
    assert fake.orders.intents == [intents.ClearErrors()]
    fake.robot.errors.clear(confirmed=True)
    assert fake.orders.intents == [intents.ClearErrors()] * 2


def test_virtual_axes_and_warnings_are_no_errors() -> None:
    fake = ready("atom")
    nodes = fake.messages["rt/main/nodes/state"]
    nodes.head[0].is_virtual, nodes.head[0].servo_state = True, 0
    nodes.head[1].warn_code = 5
    nodes.ecat2can[1].is_virtual, nodes.ecat2can[1].slave_state = True, 0
    fake.run(0.4)
    assert known(fake.robot.errors.any()) is False


def test_a_bus_coupler_out_of_order_is_an_error() -> None:
    fake = ready("atom")
    fake.messages["rt/main/nodes/state"].ecat2can[0].slave_state = 0
    fake.run(0.4)
    assert known(fake.robot.errors.any()) is True


def test_an_auroras_groups_and_motors_report_errors_that_cannot_be_cleared() -> None:
    fake = ready("gr2")
    fake.run(1.0)
    fake.set("robot_control_group_state", group_motion_state=[0, 0, 3, 0, 0, 0, 0, 0])
    fake.messages["robot_motor_cfg_group_state"].group_state[3].motor_error = [0, 9]
    fake.run(1.5)
    assert known(fake.robot.errors.problems()) == ("waist: motion error", "head_pitch: error 0x9")
    assert reason(fake.robot.errors.clear().outcome()) is Reason.UNSUPPORTED


def test_an_adams_motors_report_errors_by_joint() -> None:
    fake = ready("adam_u")
    fake.messages["rt/lowstate"].motor_state[3].state = 17
    fake.run(0.1)
    assert known(fake.robot.errors.problems()) == (f"{fake.profile.joints[3].name}: error 0x11",)


# Gains


def test_gains_are_set_when_the_robot_reports_them() -> None:
    fake = ready("gr2")
    fake.run(1.0)
    change = fake.robot.gains.set("head", (40.0, 40.0), (2.0, 2.0))
    fake.run(1.1)
    assert change.outcome().status == "running"
    head = fake.messages["robot_motor_cfg_group_state"].group_state[3]
    head.pd_kp, head.pd_kd = [40.0, 40.0], [2.0, 2.0]
    assert fake.judge(change).status == "success"
    assert len(fake.orders.intents) == 1


# Emergency


def test_any_emergency_needs_every_channel_to_be_known() -> None:
    fake = ready("atom_w")
    assert known(fake.robot.emergency.any()) is False
    fake.silent.add("rt/amr/state")
    fake.run(0.5)
    assert isinstance(fake.robot.emergency.any(), Unknown)
    fake.set("rt/emergency/state", hard_emergency_triggered=True)
    fake.run(0.1)
    assert known(fake.robot.emergency.any()) is True


# Pad


def test_a_press_between_two_ticks_is_not_missed() -> None:
    fake = ready("atom")
    pad = [0] * 40
    pad[3] = 1
    fake.set("rt/lower/state", wireless_remote=pad)
    fake.say("rt/lower/state")
    fake.set("rt/lower/state", wireless_remote=[0] * 40)
    fake.run(0.04)
    assert known(fake.robot.pad.button("a")) is True
    fake.run(0.1)
    assert known(fake.robot.pad.button("a")) is False
    assert isinstance(fake.robot.pad.button("home"), Unknown)


# Base, beside its tasks


def test_pause_and_resume_are_confirmed_by_the_status() -> None:
    fake = ready("atom_w")
    fake.base("RUNNING", "TASKING")
    fake.run(0.1)
    pause = fake.robot.mobile_base.pause()
    fake.base("PAUSED")
    assert fake.judge(pause).status == "success"
    resume = fake.robot.mobile_base.resume()
    fake.base("RUNNING")
    assert fake.judge(resume).status == "success"


def test_cancelling_an_idle_base_sends_nothing() -> None:
    fake = ready("atom_w")
    assert fake.robot.mobile_base.cancel().outcome().status == "success"
    assert fake.orders.intents == []


def test_cancelling_is_done_when_the_base_has_stopped() -> None:
    fake = ready("atom_w")
    fake.base("RUNNING", "TASKING")
    fake.run(0.1)
    cancel = fake.robot.mobile_base.cancel()
    assert fake.orders.intents == [intents.CancelTask()]
    fake.run(0.1)
    assert cancel.outcome().status == "running"
    fake.base("CANCELED", "DEVIDLE")
    assert fake.judge(cancel).status == "success"


def test_a_base_that_does_not_stop_fails_the_cancel() -> None:
    fake = ready("atom_w")
    fake.base("RUNNING", "TASKING")
    fake.run(0.1)
    assert reason(fake.judge(fake.robot.mobile_base.cancel())) is Reason.NOT_ACCEPTED


def test_a_base_that_cannot_turn_refuses_to() -> None:
    fake = ready("atom_w")
    assert reason(fake.robot.mobile_base.rotate(1.0).outcome()) is Reason.UNSUPPORTED


def test_a_remote_session_waits_for_the_key_and_is_closed_when_given_up() -> None:
    fake = ready("atom_w")
    remote = fake.robot.mobile_base.start_remote()
    fake.run(30.0)
    assert remote.outcome().status == "running"
    remote.cancel()
    assert fake.orders.intents == [intents.StartRemote(), intents.StopRemote()]


def test_driving_needs_the_session_to_stay_open() -> None:
    fake = ready("atom_w")
    fake.set("rt/amr/state", work_mode=3)
    fake.run(0.1)
    drive = fake.robot.mobile_base.drive(0.2, 0.0)
    fake.run(1.0)
    assert drive.outcome().status == "running"
    fake.set("rt/amr/state", work_mode=0)
    assert reason(fake.judge(drive)) is Reason.CONTROL_LOST


def test_settings_of_the_base_are_done_when_they_have_left() -> None:
    fake = ready("atom_w")
    base = fake.robot.mobile_base
    judges = [base.set_speed(0.3, 0.12, 0.24)]
    judges += [base.subscribe_laser(True), base.start_mapping(), base.save_map(), base.stop_mapping()]
    assert {judge.outcome().status for judge in judges} == {"success"}
    assert len(fake.orders.intents) == 7
