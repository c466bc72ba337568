"""Who controls the upper body, and when a change counts."""

from __future__ import annotations

from orchestrator.robots import intents
from orchestrator.robots.capabilities.upper_body import UpperStates
from tests.support.fake_robot import known, ready


def test_upper_control_is_confirmed_by_the_robots_own_flag() -> None:
    fake = ready("atom")
    switch = fake.robot.upper_body.set("on")
    assert fake.orders.intents == [intents.SwitchUpperControl(True)]
    fake.run(0.4)
    assert switch.outcome().status == "running"
    fake.set("rt/upper/state", is_upper_control=True)
    assert fake.judge(switch).status == "success"
    assert known(fake.robot.upper_body.state()) == "on"


def test_the_upper_state_and_velocity_source_of_an_aurora() -> None:
    fake = ready("gr2")
    upper, source = fake.robot.upper_body.set("remote"), fake.robot.velocity.set_source("navigation")
    fake.set("aurora_state", upper_body_fsm_state=2, velocity_command_source=2, allow_upper_body_override=True)
    assert fake.judge(upper).status == "success"
    assert fake.judge(source).status == "success"
    assert isinstance(fake.robot.upper_body, UpperStates)
    assert known(fake.robot.upper_body.override_allowed()) is True
    assert known(fake.robot.velocity.source()) == "navigation"


def test_nothing_is_sent_to_give_back_an_upper_body_that_is_not_ours() -> None:
    fake = ready("atom")
    assert fake.judge(fake.robot.upper_body.set("off")).status == "success"
    assert fake.orders.intents == []


def test_what_may_still_be_taken_over_is_given_back_for_sure() -> None:
    fake = ready("atom")
    upper = fake.robot.upper_body
    upper.set("on").cancel()
    for _ in range(2):
        switch = upper.set("off")
        assert fake.orders.intents[-1] == intents.SwitchUpperControl(False)
        assert switch.outcome().status == "running"  # what was reported before says nothing
        switch.cancel()
    assert fake.judge(upper.set("off")).status == "success"
    assert len(fake.orders.intents) == 4
    assert fake.judge(upper.set("off")).status == "success"
    assert len(fake.orders.intents) == 4


def test_what_was_never_taken_over_is_on_its_way_no_more_after_some_seconds() -> None:
    fake = ready("atom")
    upper = fake.robot.upper_body
    upper.set("on").cancel()
    fake.run(5.0)
    assert fake.judge(upper.set("off")).status == "success"
    assert fake.orders.intents == [intents.SwitchUpperControl(True)]


def test_nothing_is_sent_to_give_back_what_the_robot_has_dropped_or_never_gave() -> None:
    fake = ready("atom")
    upper = fake.robot.upper_body
    fake.set("rt/upper/state", is_upper_control=True)
    assert fake.judge(upper.set("on")).status == "success"
    fake.set("rt/upper/state", is_upper_control=False)
    fake.run(0.1)
    assert fake.judge(upper.set("off")).status == "success"
    fake.orders.refuse = "it is limp"
    upper.set("on").cancel()
    assert fake.judge(upper.set("off")).status == "success"
    assert fake.orders.intents == [intents.SwitchUpperControl(True)] * 2
