"""Buttons are not missed."""

from __future__ import annotations

from orchestrator.robots.knowledge import Unknown
from tests.support.fake_robot import known, ready


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
