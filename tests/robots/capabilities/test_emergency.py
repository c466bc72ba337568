"""Emergency stops from several channels."""

from __future__ import annotations

from orchestrator.robots.knowledge import Unknown
from tests.support.fake_robot import known, ready


def test_any_emergency_needs_every_channel_to_be_known() -> None:
    fake = ready("atom_w")
    assert known(fake.robot.emergency.any()) is False
    fake.silent.add("rt/amr/state")
    fake.run(0.5)
    assert isinstance(fake.robot.emergency.any(), Unknown)
    fake.set("rt/emergency/state", hard_emergency_triggered=True)
    fake.run(0.1)
    assert known(fake.robot.emergency.any()) is True
