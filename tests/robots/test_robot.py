"""A robot and its capabilities."""

from __future__ import annotations

import pytest

from orchestrator.robots.robot import MissingCapability
from tests.support.fake_robot import ready


def test_a_capability_the_robot_lacks_is_an_error_that_names_both() -> None:
    fake = ready("adam_u")
    assert not fake.robot.has("mobile_base")
    with pytest.raises(MissingCapability, match="adam_u has no mobile_base"):
        _ = fake.robot.mobile_base
