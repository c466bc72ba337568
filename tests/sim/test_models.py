"""Models follow in closed form: where they get to does not depend on the steps in which time passes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.robots.profiles import load_profile
from orchestrator.sim.base import WheeledBase
from orchestrator.sim.battery import Battery
from orchestrator.sim.fsm import StateMachine
from orchestrator.sim.hands import Hand
from orchestrator.sim.joints import Joints
from orchestrator.sim.reach import Reach
from orchestrator.sim.stand_pose import StandPose
from orchestrator.sim.walking import Walking

STEPS = st.lists(st.floats(1e-4, 3.0), min_size=1, max_size=20)
ATOM_W, GR2 = load_profile("atom_w"), load_profile("gr2")


def joints() -> tuple[Any, Callable[[Any], Any]]:
    model = Joints(ATOM_W.joints)
    model.follow(slice(None), np.full(len(ATOM_W.joints), 1.5))
    return model, lambda m: m.q


def hand() -> tuple[Any, Callable[[Any], Any]]:
    model = Hand(6)
    model.object = True
    model.move(np.zeros(6))
    return model, lambda m: [*m.opening, *m.torque]


def walking() -> tuple[Any, Callable[[Any], Any]]:
    model = Walking(GR2.velocity)
    model.go(0.4, 0.2, 0.7, 4.0, 0.0)
    return model, lambda m: [m.x, m.y, m.yaw, m.vx]


def stand() -> tuple[Any, Callable[[Any], Any]]:
    assert GR2.stand_pose is not None
    model = StandPose(GR2.stand_pose)
    model.rise(0.0)
    model.move((-0.15, 0.3, -0.2))
    return model, lambda m: [*m.pose, m.level]


def base() -> tuple[Any, Callable[[Any], Any]]:
    assert ATOM_W.base is not None
    model = WheeledBase(ATOM_W.base)
    model.move_to_tag(12, 90.0)
    model.move_to_tag(15, 0.0)
    return model, lambda m: [*m.pose, m.task_id, m.navigation.value]


def reach() -> tuple[Any, Callable[[Any], Any]]:
    model = Reach((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    model.go((0.5, 0.5, 0.2, 0.0, 0.0, 1.0, 0.0), 0.2, 0.0)
    return model, lambda m: m.pose


@pytest.mark.parametrize("make", [joints, hand, walking, stand, base, reach])
@given(steps=STEPS)
def test_many_steps_lead_to_the_same_place_as_one(make: Callable[[], Any], steps: list[float]) -> None:
    (stepped, shown), (jumped, _) = make(), make()
    now = 0.0
    for step in steps:
        now += step
        stepped.advance(now)
    jumped.advance(now)
    assert list(shown(stepped)) == pytest.approx(list(shown(jumped)), abs=1e-4)


@pytest.mark.parametrize("make", [joints, hand, walking, stand, base, reach])
def test_going_from_change_to_change_comes_to_an_end(make: Callable[[], Any]) -> None:
    model, _ = make()
    now = 0.0
    for _ in range(100):
        now = max(model.next_change(), now + 1e-6)
        if not math.isfinite(now) or now > 3600.0:
            return  # nothing more to come but an empty battery
        model.advance(now)
    raise AssertionError(f"still changing after {now} s")


def test_a_battery_drains_faster_at_work_and_never_below_empty() -> None:
    idle, working = Battery(50.0), Battery(50.0)
    working.working = True
    for battery in (idle, working):
        battery.advance(1000.0)
    assert 0.0 < working.level < idle.level < 50.0
    working.advance(1e6)
    assert working.level == 0.0


def test_a_newer_request_replaces_one_under_way() -> None:
    fsm = StateMachine(1, frozenset({1, 2, 3}), lambda state, to: to != 3, lambda state: 1.0)
    assert fsm.request(2, 0.0)
    assert not fsm.request(3, 0.5)
    assert fsm.request(1, 0.5)
    fsm.advance(5.0)
    assert fsm.state == 1
