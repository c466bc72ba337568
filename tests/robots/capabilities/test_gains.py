"""Gains count when the robot reports them."""

from __future__ import annotations

from orchestrator.robots.profiles import load_profile
from tests.support.fake_robot import FakeRobot


def test_gains_are_set_when_the_robot_reports_them() -> None:
    fake = FakeRobot("gr2", capabilities=load_profile("gr2").capabilities | {"gains"})
    fake.run(1.5)
    change = fake.robot.gains.set("head", (40.0, 40.0), (2.0, 2.0))
    fake.run(1.1)
    assert change.outcome().status == "running"
    head = fake.messages["robot_motor_cfg_group_state"].group_state[3]
    head.pd_kp, head.pd_kd = [40.0, 40.0], [2.0, 2.0]
    assert fake.judge(change).status == "success"
    assert len(fake.orders.intents) == 1
