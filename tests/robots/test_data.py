"""RobotData: the same layout for every robot, and nothing made up."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from orchestrator.robots.data import RobotData, robot_data
from orchestrator.robots.profiles import profile_names
from orchestrator.robots.reasons import Reason
from tests.support.fake_robot import FakeRobot


def look(fake: FakeRobot) -> RobotData:
    fake.run(1.2)
    return robot_data(fake.robot)


@pytest.mark.parametrize("name", profile_names())
def test_joint_arrays_have_the_profiles_order_and_groups(name: str) -> None:
    fake = FakeRobot(name)
    data = look(fake)
    count = len(fake.profile.joints)
    assert data.joints == tuple(joint.name for joint in fake.profile.joints)
    assert data.hardware.q is not None and data.hardware.q.shape == (count,)
    assert data.joint_limits.lower.shape == data.joint_limits.upper.shape == (count,)
    assert (data.joint_limits.lower < data.joint_limits.upper).all()
    named = [data.joints[part] for part in data.groups.values()]
    assert [joint for group in named for joint in group] == list(data.joints)
    assert data.unknown == {}


def test_before_the_robot_speaks_everything_is_absent_and_says_why() -> None:
    data = robot_data(FakeRobot("gr2").robot)
    assert data.hardware.q is None
    assert data.base.R is None
    assert data.generalized.q is None
    assert data.fsm.whole_body is None
    assert data.unknown["q.head"].reason is Reason.NO_SAMPLE


def test_an_aurora_fills_base_contact_and_generalised_state() -> None:
    fake = FakeRobot("gr2")
    half = math.radians(90) / 2
    fake.set("base_data_pub", quat_wxyz=[math.cos(half), 0.0, math.sin(half), 0.0], pos_W=[1.0, 2.0, 0.9])
    fake.set("base_data_pub", vel_B=[0.1, 0.2, 0.3], omega_B=[0.4, 0.5, 0.6])
    fake.set("contact_data_pub", contact_force=[float(i) for i in range(12)], contact_prob=[1.0, 0.25])
    fake.group("left_arm").joint_position = [0.1] * 7
    fake.group("left_arm").joint_effort = [2.0] * 7
    data = look(fake)
    assert data.base.grav_proj == pytest.approx([1, 0, 0])  # pitched down by a right angle: down is ahead
    assert data.base.R @ np.array([0, 0, 1]) == pytest.approx([1, 0, 0])
    assert data.base.quat_xyzw == pytest.approx([0, math.sin(half), 0, math.cos(half)])
    assert data.base.rpy == pytest.approx([0, math.pi / 2, 0], abs=1e-6)
    assert data.contact.contact_force is not None and data.contact.contact_force[1, 0] == 6
    assert data.contact.contact_prob == pytest.approx([1.0, 0.25])
    generalized = data.generalized
    assert generalized.q is not None and generalized.qd is not None and generalized.tau is not None
    assert generalized.q.shape == (7 + 29,)
    assert generalized.q[:7] == pytest.approx([1, 2, 0.9, 0, math.sin(half), 0, math.cos(half)])
    assert generalized.qd[:6] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert generalized.tau[:6] == pytest.approx(np.zeros(6))
    arm = data.groups["left_arm"]
    assert generalized.q[7:][arm] == pytest.approx([0.1] * 7)
    assert generalized.tau[6:][arm] == pytest.approx([2.0] * 7)
    assert data.gains.kp is not None
    assert data.hardware.qdd is None  # not on Aurora's wire


def test_what_an_atom_lacks_is_absent() -> None:
    fake = FakeRobot("atom")
    fake.set("rt/lower/state", wireless_remote=[0] * 4 + list(struct.pack("<4f", -0.25, 0.5, 0.0, 0.75)) + [0] * 20)
    fake.set("rt/upper/state", is_upper_control=True)
    data = look(fake)
    assert data.joystick.linear_cmd == pytest.approx([-0.75, 0.25, -0.5])
    assert data.fsm.whole_body == "ready"
    assert data.fsm.upper_body == "on"
    assert data.fsm.velocity_source is None
    assert data.base.pos_W is None
    assert data.base.omega_B is None  # its unit is not sure
    assert data.generalized.q is None
    assert data.generalized.tau is not None
    assert data.contact.contact_prob is None
    assert data.gains.kp is None
    assert set(data.hands) == {"left", "right"}


def test_an_adams_angular_velocity_is_turned_into_the_world() -> None:
    fake = FakeRobot("adam_u")
    half = math.radians(90) / 2
    fake.set("rt/lowstate", imu_state__quaternion=[math.cos(half), 0.0, 0.0, math.sin(half)])
    fake.set("rt/lowstate", imu_state__gyroscope=[1.0, 0.0, 0.0])
    data = look(fake)
    assert data.base.omega_W == pytest.approx([0, 1, 0], abs=1e-6)
    assert data.joystick.linear_cmd is None
    assert data.hands["left"].effort is None


def test_a_hand_has_what_its_vendor_reports() -> None:
    atom, aurora = FakeRobot("atom"), FakeRobot("gr2")
    for number, finger in enumerate(atom.messages["rt/hands/state"].hands):
        finger.dq, finger.ddq, finger.tau_est = 0.125 * number, -0.5 * number, 0.25 * number
    aurora.group("left_hand").joint_velocity = [0.5] * 6
    right, left = look(atom).hands["right"], look(aurora).hands["left"]
    assert right.velocity == pytest.approx([0.125 * n for n in range(6)])
    assert right.acceleration == pytest.approx([-0.5 * n for n in range(6)])
    assert right.effort == pytest.approx([0.25 * n for n in range(6)])
    assert left.velocity == pytest.approx([0.5] * 6)
    assert left.acceleration is None
    adam = look(FakeRobot("adam_u")).hands["left"]
    assert adam.position is not None
    assert (adam.velocity, adam.acceleration, adam.effort) == (None, None, None)


def test_one_bad_joint_makes_the_whole_vector_absent_not_zero() -> None:
    fake = FakeRobot("atom")
    fake.messages["rt/upper/state"].motor_state[4].q = math.nan
    data = look(fake)
    assert data.hardware.q is None
    assert data.hardware.tau is not None
    assert data.unknown["q.left_arm"].reason is Reason.NOT_FINITE
