"""The simulated Adam, as seen on its topics in virtual time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.robots.knowledge import Known
from orchestrator.robots.profiles import load_profile
from orchestrator.robots.state import State
from orchestrator.sim.faults import inject
from orchestrator.wire.pnd_adam import MotorCmd_
from tests.support.lab import Lab

JOINTS = 19


@pytest.fixture
def lab() -> Lab:
    return Lab("adam_u")


def move(lab: Lab, q: float, mode: int = 1, kp: float = 9.0) -> None:
    commands = [MotorCmd_(mode, q, 0.0, 0.0, kp, 0.9, 0.0, 0) for _ in range(JOINTS)]
    lab.tell("rt/lowcmd", motor_cmd=commands, wait=2.0)


def neck(lab: Lab) -> float:
    q: float = lab.see("rt/lowstate").motor_state[3].q
    return q


def test_joints_follow_in_developer_mode(lab: Lab) -> None:
    assert len(lab.see("rt/lowstate").motor_state) == JOINTS
    move(lab, 0.2)
    assert neck(lab) == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(("mode", "kp"), [(0, 9.0), (1, 0.0)])
def test_a_joint_that_is_off_or_slack_stays(lab: Lab, mode: int, kp: float) -> None:
    move(lab, 0.2, mode, kp)
    assert neck(lab) == pytest.approx(0.0, abs=0.01)


def test_no_other_mode_obeys_and_the_pad_leads_between_them(lab: Lab) -> None:
    lab.twin.press("lt", "b")
    move(lab, 0.2)
    assert neck(lab) == pytest.approx(0.0, abs=0.01)
    lab.twin.release("lt", "b")
    lab.twin.press("lo", "ro")
    move(lab, 0.2)
    assert neck(lab) == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(
    ("presses", "mode"),
    [
        (["lt@1s+2s", "b@2s+2s"], "damping"),
        (["b@1s+2s", "lt@2s+2s"], "damping"),
        (["select@1s+3s", "lt@1s+2s", "b@2s+2s"], "damping"),
        (["lt@1s+500ms", "b@2s+2s"], "developer"),
        (["lt@1s+2s", "y@2s+2s"], "developer"),
    ],
)
def test_buttons_that_are_held_together_are_a_chord(lab: Lab, presses: list[str], mode: str) -> None:
    for press in presses:
        inject(lab.twin, f"press:{press}")
    lab.wait(5.0)
    assert lab.twin.mode == mode


def test_a_chord_counts_once_not_as_long_as_it_is_held(lab: Lab) -> None:
    lab.twin.press("lt", "b")
    lab.twin.press("lo", "ro")
    lab.twin.press("select")
    assert lab.twin.mode == "developer"


def test_the_wrong_number_of_joints_is_ignored(lab: Lab) -> None:
    lab.tell("rt/lowcmd", motor_cmd=[MotorCmd_(1, 0.2, 0.0, 0.0, 9.0, 0.9, 0.0, 0)] * 5, wait=2.0)
    assert lab.see("rt/lowstate").motor_state[0].q == pytest.approx(0.0, abs=0.01)


def test_hands_count_from_open_to_closed_and_stall(lab: Lab) -> None:
    assert list(lab.see("rt/handstate").position) == [1000] * 12
    lab.twin.hand("left").object = True
    lab.tell("rt/handcmd", position=[0] * 12, wait=2.0)
    assert list(lab.see("rt/handstate").position) == [450] * 6 + [0] * 6


def test_an_actuator_error_shows_its_code(lab: Lab) -> None:
    lab.twin.fail_motor("neck_yaw", code=17)
    move(lab, 0.2)
    assert lab.see("rt/lowstate").motor_state[3].state == 17
    assert neck(lab) == pytest.approx(0.0, abs=0.01)


def test_tick_and_battery_go_on(lab: Lab) -> None:
    before = lab.see("rt/lowstate")
    lab.wait(60.0)
    after = lab.see("rt/lowstate")
    assert after.tick - before.tick == 60_000
    assert after.battery_data.timestamp_ms > before.battery_data.timestamp_ms
    assert after.battery_data.voltage == pytest.approx(before.battery_data.voltage, abs=0.1)


def test_the_pad_in_both_layouts(lab: Lab) -> None:
    lab.twin.press("a")
    lab.twin.push(ly=-0.5)
    lab.wait(0.1)
    remote = lab.see("rt/lowstate").wireless_remote
    assert (remote[1], remote[8]) == (-0.5, 1.0)
    old = Lab(replace(load_profile("adam_u"), variants=("remote_int16",)))
    state = State(old.twin.profile, old.bus)
    old.twin.press("select")
    old.twin.push(ly=-0.5)
    old.wait(0.3)
    assert len(old.see("rt/lowstate").wireless_remote) == 40
    assert seen(state, "pad.ly") == pytest.approx(-0.5, abs=1e-4)
    assert seen(state, "pad") == {"select"}
    old.twin.press_emergency()
    old.wait(0.1)
    assert seen(state, "emergency.pad")


def seen(state: State, name: str) -> Any:
    found = state.read(name)
    assert isinstance(found, Known)
    return found.value


def test_a_motor_that_is_switched_off_says_so(lab: Lab) -> None:
    assert {motor.mode for motor in lab.see("rt/lowstate").motor_state} == {1}
    commands = [MotorCmd_(int(joint != 3), 0.0, 0.0, 0.0, 9.0, 0.9, 0.0, 0) for joint in range(JOINTS)]
    lab.tell("rt/lowcmd", motor_cmd=commands, wait=0.1)
    assert [joint for joint, motor in enumerate(lab.see("rt/lowstate").motor_state) if motor.mode == 0] == [3]


def test_a_fall_tilts_the_imu(lab: Lab) -> None:
    lab.twin.fall()
    lab.wait(0.1)
    assert lab.see("rt/lowstate").imu_state.accelerometer[2] < 3.0
