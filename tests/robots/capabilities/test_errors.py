"""Errors of each family, and clearing them."""

from __future__ import annotations

from orchestrator.robots import intents
from orchestrator.robots.reasons import Reason
from tests.support.fake_robot import known, ready, reason


def test_nothing_is_sent_when_there_is_nothing_to_clear() -> None:
    fake = ready("atom")
    assert fake.robot.errors.clear().outcome().status == "success"
    assert fake.orders.intents == []


def test_errors_are_cleared_when_no_axis_reports_one_any_more() -> None:
    fake = ready("atom")
    axis = fake.messages["rt/main/nodes/state"].left_arm[3]
    axis.error_code, axis.servo_state = 0x7305, 1
    fake.run(0.4)
    assert known(fake.robot.errors.problems()) == ("left_elbow_pitch: error_code 0x7305, servo state 1",)
    clear = fake.robot.errors.clear()
    fake.run(0.4)
    assert clear.outcome().status == "running"
    axis.error_code, axis.servo_state = 0, 3
    assert fake.judge(clear).status == "success"
    assert fake.orders.intents == [intents.ClearErrors()]


def test_the_axes_of_a_lift_have_the_names_of_its_joints() -> None:
    fake = ready("atom_w")
    fake.messages["rt/main/nodes/state"].left_leg[0].error_code = 0x10
    fake.messages["rt/main/nodes/state"].right_leg[1].error_code = 0x11  # no joint of the profile
    fake.run(0.4)
    found = known(fake.robot.errors.problems())
    assert found == ("lift_1: error_code 0x10", "right_leg 2: error_code 0x11")


def test_errors_that_stay_are_named_and_not_cleared_again() -> None:
    fake = ready("atom")
    fake.messages["rt/main/nodes/state"].waist.node_state = 4
    fake.run(0.4)
    outcome = fake.judge(fake.robot.errors.clear())
    assert reason(outcome) is Reason.FAILED
    assert "waist_yaw: node state 4" in outcome.text
    assert fake.orders.intents == [intents.ClearErrors()]


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
    assert fake.orders.intents == [intents.ClearErrors(), intents.ClearErrors(confirmed=True)]


def test_what_was_refused_has_cleared_nothing() -> None:
    fake = ready("atom")
    fake.messages["rt/main/nodes/state"].left_arm[3].error_code = 0x7310
    fake.run(0.5)
    fake.orders.refuse = "audit: the audit file takes no records"
    assert reason(fake.judge(fake.robot.errors.clear())) is Reason.REFUSED
    fake.orders.refuse = ""
    again = fake.robot.errors.clear()
    assert again.outcome().status == "running"
    assert reason(fake.robot.errors.clear().outcome()) is Reason.REFUSED
    assert len(fake.orders.intents) == 2


def test_motors_that_are_merely_off_are_nothing_to_clear() -> None:
    fake = ready("atom")
    axis = fake.messages["rt/main/nodes/state"].left_arm[3]
    axis.servo_state = 0
    fake.run(0.4)
    assert known(fake.robot.errors.problems()) == ("left_elbow_pitch: servo state 0",)
    assert fake.robot.errors.clear().outcome().status == "success"
    assert fake.orders.intents == []
    axis.error_code, axis.servo_state = 0x7305, 1
    fake.run(0.4)
    clear = fake.robot.errors.clear()
    axis.error_code, axis.servo_state = 0, 0
    assert fake.judge(clear).status == "success"
    assert fake.orders.intents == [intents.ClearErrors()]
