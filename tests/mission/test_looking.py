"""A look at a robot, and a twin made like it: nobody on the network notices."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from orchestrator.bus.memory import MemoryNetwork
from orchestrator.clock import VirtualClock
from orchestrator.mission.likeness import likeness, make_alike
from orchestrator.mission.looking import look_at
from orchestrator.robots.commander import Receipt
from orchestrator.robots.intents import AnyIntent
from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import load_profile
from orchestrator.robots.robot import Robot
from orchestrator.sim import make_twin
from orchestrator.sim.base import Pose
from tests.support.live import simulated


class Nobody:
    def send(self, intent: AnyIntent) -> Receipt:
        raise AssertionError("nothing is asked of it")

    def end(self, receipt: Receipt) -> None:
        pass


def twin_of(profile: Profile) -> tuple[Any, Robot]:
    """A simulated robot in virtual time, and what is seen of it."""
    clock = VirtualClock()
    network = MemoryNetwork(clock)
    twin: Any = make_twin(profile, network.bus("robot"), clock)
    twin.start()
    robot = Robot(profile, network.bus("looking"), Nobody())
    clock.advance(0.5)
    return twin, robot


STATES: dict[str, str] = {"atom_w": "ready", "gr2": "pd_stand"}


@pytest.mark.parametrize("name", ["atom_w", "gr2", "adam_u"])
def test_a_twin_shows_what_the_robot_shows(name: str) -> None:
    profile = load_profile(name)
    original, seen = twin_of(profile)
    if name in STATES:
        original.fsm.force(profile.fsm[STATES[name]], original.uptime)
    if profile.base is not None:
        original.upper_control = True
        original.base.pose = Pose(1.0, -2.0, 0.5)
        original.base.battery.level = 44.0
        original.battery.level = 55.0
    if profile.hands is not None:
        original.hand("left").place(np.full(len(profile.hands.fingers), 0.3))
    original.joints.place(slice(None), np.array([0.01] * len(profile.joints)))
    original.update()
    original.clock.advance(0.5)
    before = likeness(seen)
    other, looked = twin_of(profile)
    make_alike(other, before)
    other.clock.advance(0.5)
    after = likeness(looked)
    assert before.joints
    assert after.fields == {name: pytest.approx(value, abs=0.1) for name, value in before.fields.items()}
    for group, angles in before.joints.items():
        assert after.joints[group] == pytest.approx(angles, abs=0.01)
    for side, opening in before.hands.items():
        assert after.hands[side] == pytest.approx(opening, abs=0.02)
    assert after.base == (None if before.base is None else pytest.approx(before.base, abs=0.05))


@pytest.mark.dds
def test_a_look_at_a_robot_leaves_no_trace_on_the_wire() -> None:
    with simulated("atom_w") as observer, ThreadPoolExecutor() as aside:
        commands = [topic for topic in observer.topics.values() if topic.kind == "command"]
        readers = [observer.bus.reader(topic) for topic in commands]
        looking = aside.submit(look_at, load_profile("atom_w"), observer.bus.settings)
        writers: set[str] = set()
        while not looking.done():
            observer.bus.wait(0.01)
            writers |= {endpoint.name for topic in commands for endpoint in observer.bus.writers(topic.name)}
    looked = looking.result()
    assert [line for line in looked.lines if not line.ok] == []
    assert writers == {"atom_w"}  # the robot itself, which reports on one of them
    assert {reader.topic.name for reader in readers if reader.received} <= {"rt/set/fsm/id"}
    assert looked.shown.fields["fsm.state"] == "damping"
    assert looked.shown.base is not None
