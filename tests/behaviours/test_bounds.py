"""What a leaf allows at the most and at the least the guard lets pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from behaviours.hands import HandGrasp
from behaviours.mobile_base import DriveBase, SetBaseSpeed
from behaviours.stand_pose import StandPose
from behaviours.velocity import Walk
from orchestrator.guard.config import rules_for
from orchestrator.guard.limits import beyond_limits
from orchestrator.leaf import Leaf
from orchestrator.robots.facts_of import facts_of
from orchestrator.robots.profile import Profile
from orchestrator.testing import StartMission
from tests.support.fake_robot import ready
from tests.support.guard_world import default_config, profile

LEAVES: list[tuple[type[Leaf], dict[str, Any]]] = [
    (SetBaseSpeed, {"speed": 0.3, "acceleration": 0.3, "deceleration": 0.3}),
    (DriveBase, {"forward": 0.1, "turn": 0.1, "time": 1.0}),
    (StandPose, {"height": 0.0, "pitch": 0.0, "yaw": 0.0}),
    (Walk, {"forward": 0.1, "left": 0.0, "turn": 0.0, "time": 1.0}),
    (HandGrasp, {"hand": "right", "grip": 80.0}),
]
ROBOTS = ["atom", "atom_w", "adam_u", "gr1", "gr2", "gr3", "n1"]


def bounds(leaf: type[Leaf], robot: Profile) -> Iterator[tuple[str, float]]:
    """Every parameter with a range on this robot, at both ends of it."""
    ranges = facts_of(robot).ranges
    for name, param in leaf.declaration.params.items():
        wanted = param.type
        for bound in ranges[wanted.limit] if wanted.limit else (wanted.lower, wanted.upper):
            if bound is not None:
                yield name, bound


CASES = [
    (robot, leaf, {**values, name: bound})
    for robot in ROBOTS
    for leaf, values in LEAVES
    if profile(robot).capabilities.issuperset(leaf.declaration.needs)
    for name, bound in bounds(leaf, profile(robot))
]


@pytest.mark.parametrize(("robot", "leaf", "values"), CASES)
def test_the_guard_lets_both_ends_of_a_range_pass(robot: str, leaf: type[Leaf], values: dict[str, Any]) -> None:
    fake = ready(robot)
    made: Any = leaf.declaration.leaf(fake.robot, values, Path())
    made.start()
    config = default_config()
    refused = [beyond_limits(it, fake.profile, config, rules_for(config, fake.profile)) for it in fake.orders.intents]
    assert refused == [None] * len(refused)


@pytest.mark.parametrize("linear", [0.1, 0.3, 0.6, 0.7, 0.9, 1.1, 1.3])
@pytest.mark.parametrize("angular", [0.1, 0.7, 1.0, 1.57])
def test_a_base_at_its_highest_speed_turns_no_faster_than_it_may(linear: float, angular: float) -> None:
    fake = ready("atom_w")
    assert fake.profile.base is not None
    changed = replace(fake.profile, base=replace(fake.profile.base, linear=linear, angular=angular))
    fake.robot.mobile_base._context.profile = changed
    fake.robot.mobile_base.set_speed(linear, 2.0, 0.05)
    config = default_config()
    assert len(fake.orders.intents) == 3
    for intent in fake.orders.intents:
        assert beyond_limits(intent, changed, config, rules_for(config, changed)) is None


WALK = """
tree: sideways
robot: gr1
root:
  - SetFsm: {state: joint_stand}
  - SetFsm: {state: pd_stand}
  - WaitStable
  - SetFsm: {state: walk}
  - SetVelocitySource: {source: navigation}
  - """


@pytest.mark.parametrize(
    "node",
    [
        "Walk: {left: 0.1 m/s * 3, time: 1 s}",
        "Walk: {left: -0.1 m/s * 3, time: 1 s}",
        "Walk: {left: $v, time: 1 s}\n    for_each: {v: [0.1 m/s * 3]}",
        "Walk: {left: $v * 3, time: 1 s}\n    for_each: {v: [0.1 m/s, -0.1 m/s]}",
    ],
)
def test_what_rounding_carries_beyond_a_limit_is_at_the_limit(node: str, mission: StartMission) -> None:
    assert 0.1 * 3 > 0.3 == facts_of(profile("gr1")).ranges["walk.left"][1]
    run = mission(WALK + node)
    assert run.finish().status == "success", run.story()
    assert {abs(asked["vy"]) for asked in run.commands("Velocity")} == {0.3}
