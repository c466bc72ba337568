"""What each family's topics say, and what is not believed."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest

from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.reasons import SENTENCES, Reason
from orchestrator.wire.codec import codec
from tests.support.fake_robot import FakeRobot

ROBOTS = ("gr1", "gr2", "gr3", "n1", "atom", "atom_w", "adam_u", "adam_lite", "adam_sp", "adam_pro")


def value(fake: FakeRobot, name: str) -> Any:
    found = fake.robot.state.read(name)
    assert isinstance(found, Known), found
    return found.value


def why(fake: FakeRobot, name: str) -> Reason:
    found = fake.robot.state.read(name)
    assert isinstance(found, Unknown), found
    return found.reason


def test_every_reason_has_a_sentence() -> None:
    assert set(SENTENCES) == set(Reason)


@pytest.mark.parametrize("name", ROBOTS)
def test_nothing_is_known_before_a_sample_and_everything_once_the_robot_reports(name: str) -> None:
    fake = FakeRobot(name)
    assert {why(fake, signal) for signal in fake.robot.state.signals} == {Reason.NO_SAMPLE}
    fake.run(1.0)
    unknown = {signal for signal in fake.robot.state.signals if isinstance(fake.robot.state.read(signal), Unknown)}
    assert unknown == set()
    assert fake.robot.state.epoch == 0


@pytest.mark.parametrize("name", ROBOTS)
def test_everything_is_unknown_again_when_the_robot_falls_silent(name: str) -> None:
    fake = FakeRobot(name)
    fake.run(1.0)
    fake.clock.advance(5.0)
    on_change = {"rt/emergency/state", "rt/handstate"}
    for signal, bound in fake.robot.state.signals.items():
        assert why(fake, signal) is Reason.STALE, (signal, bound.topic in on_change)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_reboot_begins_a_new_epoch(name: str) -> None:
    fake = FakeRobot(name)
    fake.run(0.5)
    fake.reboot()
    fake.run(0.5)
    for signal in fake.robot.state.signals:
        fake.robot.state.read(signal)
    assert fake.robot.state.epoch > 0


def test_an_atom_says_what_state_it_is_in_and_a_number_without_name_is_unknown() -> None:
    fake = FakeRobot("atom")
    fake.set("rt/lower/state", fsm_id=301)
    fake.run(0.1)
    assert value(fake, "fsm.state") == "walk"
    fake.set("rt/lower/state", fsm_id=77)
    fake.run(0.1)
    assert why(fake, "fsm.state") is Reason.UNKNOWN_STATE
    assert value(fake, "fsm.id") == 77


def test_the_fsm_command_topic_is_not_a_source_of_state() -> None:
    for name in ROBOTS:
        topics = {signal.topic for signal in FakeRobot(name).robot.state.signals.values()}
        assert "rt/set/fsm/id" not in topics


@pytest.mark.parametrize(("raw", "level"), [(0, 0.0), (55, 55.0), (100, 100.0), (2050, 20.5), (10_000, 100.0)])
def test_an_atoms_battery_level_in_percent_or_hundredths(raw: int, level: float) -> None:
    fake = FakeRobot("atom")
    fake.set("rt/lower/state", bms_state__battery_level=raw)
    fake.run(0.1)
    assert value(fake, "battery.level") == level


def test_an_impossible_battery_level_is_unknown_and_counted() -> None:
    fake = FakeRobot("atom")
    fake.set("rt/lower/state", bms_state__battery_level=10_001)
    fake.run(0.1)
    assert why(fake, "battery.level") is Reason.OUT_OF_RANGE
    assert fake.robot.state.signal("battery.level").feed.reader.bad == 1


def test_a_battery_whose_own_heartbeat_stands_still_is_unknown_though_the_topic_lives() -> None:
    fake = FakeRobot("adam_u")
    fake.run(0.5)
    for _ in range(80):
        fake.run(0.02)
        fake.messages["rt/lowstate"].battery_data.timestamp_ms = 1000
        fake.robot.state.read("battery.voltage")
    assert why(fake, "battery.voltage") is Reason.FROZEN
    assert isinstance(fake.robot.state.read("q.waist"), Known)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 40.0])
@pytest.mark.parametrize("joint", [0, 3, 6])
def test_joint_angles_that_cannot_be_are_unknown_for_the_whole_group(bad: float, joint: int) -> None:
    fake = FakeRobot("atom")
    fake.messages["rt/upper/state"].motor_state[1 + joint].q = bad
    fake.run(0.1)
    assert why(fake, "q.left_arm") in (Reason.NOT_FINITE, Reason.OUT_OF_RANGE)
    assert isinstance(fake.robot.state.read("q.right_arm"), Known)


@pytest.mark.parametrize("bad", [[0.0] * 4, [1.0, 1.0, 0.0, 0.0], [math.nan, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
def test_a_quaternion_that_is_no_rotation_is_unknown(bad: list[float]) -> None:
    fake = FakeRobot("gr2")
    fake.set("base_data_pub", quat_wxyz=bad)
    fake.run(0.1)
    assert isinstance(fake.robot.state.read("base.quaternion"), Unknown)


def test_an_atoms_joints_are_found_where_they_stand_on_the_wire() -> None:
    fake = FakeRobot("atom")
    for index, motor in enumerate(fake.messages["rt/lower/state"].motor_state):
        motor.q = index / 10
    for index, motor in enumerate(fake.messages["rt/upper/state"].motor_state):
        motor.q = 1.2 + index / 10
    fake.run(0.1)
    angles = [q for group in fake.profile.groups for q in value(fake, f"q.{group}")]
    assert angles == pytest.approx([index / 10 for index in range(29)], abs=1e-6)


def test_an_atom_ws_lift_is_the_first_three_of_the_lower_motors() -> None:
    fake = FakeRobot("atom_w")
    for index, motor in enumerate(fake.messages["rt/lower/state"].motor_state):
        motor.q = index / 10
    fake.run(0.1)
    assert value(fake, "q.lift") == pytest.approx((0.0, 0.1, 0.2), abs=1e-6)


def test_aurora_groups_are_found_by_name_wherever_they_stand() -> None:
    fake = FakeRobot("gr2")
    fake.group("right_arm").joint_position = [0.7] * 7
    fake.run(0.1)
    assert value(fake, "q.right_arm") == (0.7,) * 7
    fake.messages["robot_control_group_state"].group_state.reverse()
    fake.run(0.1)
    assert value(fake, "q.right_arm") == (0.7,) * 7
    fake.group("right_arm").group_name = "third_manipulator"
    fake.run(0.1)
    assert why(fake, "q.right_arm") is Reason.NOT_REPORTED


def test_a_group_of_another_size_is_unknown() -> None:
    fake = FakeRobot("gr2")
    fake.group("head").joint_position = [0.0] * 3
    fake.run(0.1)
    assert why(fake, "q.head") is Reason.BAD_SAMPLE


@pytest.mark.parametrize(
    ("name", "topic", "fields", "flag"),
    [
        ("atom", "rt/emergency/state", {"soft_emergency_triggered": True}, "emergency.soft"),
        ("atom", "rt/emergency/state", {"hard_emergency_triggered": True}, "emergency.hard"),
        ("atom", "rt/emergency/state", {"di_emergency_triggered": True}, "emergency.di"),
        ("atom_w", "rt/emergency/state", {"amr_emergency_triggered": True}, "emergency.amr"),
        ("atom_w", "rt/amr/state", {"amr_event__emergency_stop_pressed": True}, "emergency.base"),
        ("gr2", "aurora_state", {"whole_body_fsm_state": 9}, "emergency.security"),
        ("adam_u", "rt/lowstate", {"wireless_remote": [0, 0, 0, 0, 1.0, 0, 0, 0, 0, 1.0] + [0] * 9}, "emergency.pad"),
    ],
)
def test_emergency_flags(name: str, topic: str, fields: dict[str, Any], flag: str) -> None:
    fake = FakeRobot(name)
    fake.run(0.2)
    assert value(fake, flag) is False
    fake.set(topic, **fields)
    fake.run(0.1)
    assert value(fake, flag) is True


@pytest.mark.parametrize(
    "nonsense",
    [
        {"position": [math.nan, 0.0, 0.0]},
        {"position": [0.0, math.inf, 0.0]},
        {"basic_status__battery_level": -1.0},
        {"basic_status__battery_level": 1e30},
        {"basic_status__battery_level": math.nan},
    ],
)
def test_a_base_that_reports_nonsense_shows_no_emergency_stop(nonsense: dict[str, Any]) -> None:
    """The guard does not believe such a report either: run and guard must not tell two stories."""
    fake = FakeRobot("atom_w")
    fake.run(0.2)
    fake.set("rt/amr/state", amr_event__emergency_stop_pressed=True, **nonsense)
    fake.run(0.1)
    assert why(fake, "emergency.base") in (Reason.NOT_FINITE, Reason.OUT_OF_RANGE)
    fake.set("rt/amr/state", position=[0.0, 0.0, 0.0], basic_status__battery_level=80.0)
    fake.run(0.1)
    assert value(fake, "emergency.base") is True


def test_an_adams_motor_error_is_an_emergency() -> None:
    fake = FakeRobot("adam_u")
    fake.messages["rt/lowstate"].motor_state[4].state = 3
    fake.run(0.1)
    assert value(fake, "emergency.motors") is True


def test_older_atoms_have_three_emergency_flags() -> None:
    fake = FakeRobot("atom", variants=("emergency_3",))
    fake.run(0.2)
    assert not fake.robot.state.has("emergency.di")
    assert value(fake, "emergency.hard") is False


@pytest.mark.parametrize("variants", [(), ("amr_v2",)])
def test_both_generations_of_the_base(variants: tuple[str, ...]) -> None:
    fake = FakeRobot("atom_w", variants=variants)
    fake.base("RUNNING", "TASKING", task=9)
    fake.set("rt/amr/state", position=[1.0, 2.0, 0.5])
    fake.run(0.2)
    found = [value(fake, f"amr.{part}") for part in ("navigation", "device", "task", "position")]
    assert found == ["running", "tasking", 9, (1.0, 2.0, 0.5)]
    assert fake.robot.state.has("amr.speed") == bool(variants)


PRESSED = {"f2": (2, 7), "lt": (2, 5), "rt": (2, 4), "select": (2, 3), "start": (2, 2), "lb": (2, 1), "rb": (2, 0)}
PRESSED |= {"left": (3, 7), "down": (3, 6), "right": (3, 5), "up": (3, 4), "y": (3, 3), "x": (3, 2), "b": (3, 1)}
PRESSED |= {"a": (3, 0), "f1": (2, 6)}


@pytest.mark.parametrize("button", PRESSED)
def test_the_buttons_of_an_atoms_pad(button: str) -> None:
    fake = FakeRobot("atom")
    byte, bit = PRESSED[button]
    pad = [0] * 40
    pad[byte] = 1 << bit
    fake.set("rt/lower/state", wireless_remote=pad)
    fake.run(0.1)
    assert {name for name in PRESSED if value(fake, f"pad.{name}")} == {button}
    assert value(fake, "pad") == {button}


def test_the_axes_of_an_atoms_pad() -> None:
    fake = FakeRobot("atom")
    pad = [0] * 4 + list(struct.pack("<4f", -0.25, 0.5, 0.125, 0.75)) + [0] * 20
    fake.set("rt/lower/state", wireless_remote=pad)
    fake.run(0.1)
    assert [value(fake, f"pad.{axis}") for axis in ("lx", "rx", "ry", "ly")] == [-0.25, 0.5, 0.125, 0.75]


@pytest.mark.parametrize(("variants", "full"), [((), 1.0), (("remote_int16",), 32767)])
def test_both_layouts_of_an_adams_pad(variants: tuple[str, ...], full: float) -> None:
    fake = FakeRobot("adam_u", variants=variants)
    pad = fake.messages["rt/lowstate"].wireless_remote
    for place in (1, 8, 16):
        pad[place] = full
    fake.run(0.1)
    assert value(fake, "pad") == {"a", "home"}
    assert value(fake, "pad.a") is True
    assert value(fake, "pad.b") is False
    assert value(fake, "pad.ly") == pytest.approx(1.0)


def test_a_sample_of_another_firmware_is_never_misread() -> None:
    fake = FakeRobot("atom_w")
    fake.run(0.2)
    newer = FakeRobot("atom_w", variants=("amr_v2",)).messages["rt/amr/state"]
    newer.basic_status.heartbeat = 50
    fake.writers["rt/amr/state"].write_bytes(codec(type(newer)).encode(newer))
    fake.clock.advance(0.001)
    assert why(fake, "amr.navigation") is Reason.BAD_SAMPLE
    assert fake.robot.state.signal("amr.navigation").feed.reader.bad > 0


IMU = {
    "gr2": ("base_data_pub", {"omega_B": [0.1, 0.2, 0.3]}, ("base.quaternion", "base.position", "base.velocity")),
    "atom": ("rt/lower/state", {"imu_state__gyroscope": [0.1, 0.2, 0.3]}, ("base.quaternion", "base.acceleration")),
    "adam_u": ("rt/lowstate", {"imu_state__gyroscope": [0.1, 0.2, 0.3]}, ("base.quaternion", "base.omega")),
}


@pytest.mark.parametrize("name", IMU)
def test_measurements_that_repeat_exactly_are_frozen_though_stamps_and_heartbeats_go_on(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, held, signals = IMU[name]
    fake = FakeRobot(name)
    yaw = fake.robot.field("body.yaw")
    fake.run(0.5)
    monkeypatch.setattr(fake, "_noisy", lambda values: values)
    fake.set(topic, **held)

    def after(seconds: float) -> list[Reason | None]:
        found = []
        for _ in range(round(seconds / 0.1)):
            fake.run(0.1)
            found = [*(fake.robot.state.read(signal) for signal in signals), yaw()]
        return [known.reason if isinstance(known, Unknown) else None for known in found]

    assert after(0.9) == [None] * (len(signals) + 1)
    assert after(0.4) == [Reason.FROZEN] * (len(signals) + 1)
    assert isinstance(fake.robot.state.read("q.left_arm"), Known)  # joints may stand still
    monkeypatch.undo()
    assert after(0.2) == [None] * (len(signals) + 1)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_that_stands_still_for_a_minute_is_believed(name: str) -> None:
    """Angles, states, hands, contacts and positions may well be the same for ever; only what measures noise may not."""
    fake = FakeRobot(name)
    for _ in range(30):
        fake.run(2.0)
        unknown = {signal for signal in fake.robot.state.signals if isinstance(fake.robot.state.read(signal), Unknown)}
        assert unknown == set()


@pytest.mark.parametrize("name", IMU)
def test_a_sensor_that_is_not_fitted_is_not_a_frozen_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeRobot(name)
    monkeypatch.setattr(fake, "_noisy", lambda values: [0.0] * len(values))
    fake.run(0.5)
    for _ in range(10):
        fake.run(0.5)
        assert isinstance(fake.robot.state.read("base.quaternion"), Known)
