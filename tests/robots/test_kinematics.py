"""Kinematics and dynamics, checked against what mechanics says rather than against the library."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from orchestrator.robots.data import Array, rotation_of
from orchestrator.robots.kinematics import KindynData, Kinematics, KinematicsError
from orchestrator.robots.profile import Joint, Profile, Range
from orchestrator.robots.profiles import load_profile

URDF = Path(__file__).parent / "pendulum.urdf"
LINKS = {"base": "body", "hand": "fore_arm"}
STEP = 1e-6


def profile(*names: str) -> Profile:
    joints = tuple(Joint(name, "arm", Range(-3, 3), 5.0, None, None, None) for name in names)
    return replace(load_profile("adam_u"), joints=joints, urdf=str(URDF))


@pytest.fixture
def arm() -> Kinematics:
    return Kinematics(profile("a_elbow", "shoulder"), LINKS)  # not in the order of the tree


Q = np.array([0.3, -0.2, 0.9, *(np.array([0.1, -0.2, 0.3, 0.9]) / np.linalg.norm([0.1, -0.2, 0.3, 0.9])), -0.7, 0.4])
QD = np.array([0.2, -0.1, 0.3, 0.4, -0.5, 0.6, 1.1, -0.8])


def moved(q: Array, qd: Array, time: float) -> Array:
    """Where this velocity leads in a short time."""
    x, y, z, w = q[3:7]
    rotation = rotate(q)
    half = qd[3:6] * time / 2
    turn = np.array([w, x, y, z]) + multiply(np.array([w, x, y, z]), np.array([0.0, *half]))
    turn /= np.linalg.norm(turn)
    return np.concatenate([q[:3] + rotation @ qd[:3] * time, turn[[1, 2, 3, 0]], q[7:] + qd[6:] * time])


def multiply(a: Array, b: Array) -> Array:
    w, v = a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.array([w, *v])


def rotate(q: Array) -> Array:
    return rotation_of(q[[6, 3, 4, 5]])


def differential(arm: Kinematics, value: str) -> tuple[KindynData, Array]:
    before, after = arm.compute(moved(Q, QD, -STEP), QD), arm.compute(moved(Q, QD, STEP), QD)
    return arm.compute(Q, QD), (getattr(after, value) - getattr(before, value)) / (2 * STEP)


def test_the_mass_matrix_is_symmetric_positive_and_inverted(arm: Kinematics) -> None:
    found = arm.compute(Q, QD)
    assert found.nv == 8
    assert pytest.approx(found.M.T) == found.M
    assert np.linalg.eigvalsh(found.M).min() > 0
    assert found.M @ found.Minv == pytest.approx(np.eye(8), abs=1e-9)


def test_joints_keep_the_profiles_order_whatever_the_tree_says() -> None:
    swapped = Kinematics(profile("shoulder", "a_elbow"), LINKS).compute(Q[[*range(7), 8, 7]], QD[[*range(6), 7, 6]])
    order = [*range(6), 7, 6]
    found = Kinematics(profile("a_elbow", "shoulder"), LINKS).compute(Q, QD)
    assert pytest.approx(swapped.M[np.ix_(order, order)]) == found.M
    assert found.g == pytest.approx(swapped.g[order])
    assert pytest.approx(swapped.links_W["hand"].J[:, order]) == found.links_W["hand"].J


def test_the_fingers_the_profile_does_not_have_are_fixed_but_weigh(arm: Kinematics) -> None:
    assert arm.compute(Q, QD).m == pytest.approx(7.6)


def test_gravity_is_the_slope_of_the_potential_energy(arm: Kinematics) -> None:
    found = arm.compute(Q, QD)
    for axis in range(8):
        direction = np.eye(8)[axis]
        high, low = (arm.compute(moved(Q, direction, side * STEP), QD).Pc[2] for side in (1, -1))
        assert found.g[axis] == pytest.approx(found.m * 9.81 * (high - low) / (2 * STEP), abs=1e-5)


def test_coriolis_forces_do_no_work(arm: Kinematics) -> None:
    found, mass_change = differential(arm, "M")
    skew = mass_change - 2 * found.C
    assert skew[6:, 6:] == pytest.approx(-skew[6:, 6:].T, abs=1e-5)
    assert QD @ skew @ QD == pytest.approx(0, abs=1e-5)
    assert found.c == pytest.approx(found.C @ QD)


def test_momentum_follows_from_its_matrix_and_is_mass_times_velocity(arm: Kinematics) -> None:
    found = arm.compute(Q, QD)
    assert found.hg == pytest.approx(found.Ag @ QD)
    assert found.hg[:3] == pytest.approx(found.m * found.Vc)
    assert found.Iw @ found.Wc == pytest.approx(found.hg[3:])


def test_the_centre_of_mass_moves_as_its_velocity_says(arm: Kinematics) -> None:
    found, velocity = differential(arm, "Pc")
    assert velocity == pytest.approx(found.Vc, abs=1e-6)


def test_the_momentum_matrix_changes_as_its_derivative_says(arm: Kinematics) -> None:
    found, change = differential(arm, "Ag")
    assert change == pytest.approx(found.Agd, abs=1e-5)


@pytest.mark.parametrize("frame", ["links_W", "links_B"])
def test_a_links_jacobian_gives_its_velocity_and_its_derivative_the_change(arm: Kinematics, frame: str) -> None:
    moving = QD if frame == "links_W" else np.array([0, 0, 0, 0, 0, 0, *QD[6:]])
    hand = getattr(arm.compute(Q, QD), frame)["hand"]
    assert hand.J @ moving == pytest.approx(np.concatenate([hand.v, hand.w]))
    before, after = (getattr(arm.compute(moved(Q, moving, t), moving), frame)["hand"] for t in (-STEP, STEP))
    assert (after.p - before.p) / (2 * STEP) == pytest.approx(hand.v, abs=1e-6)
    assert pytest.approx(hand.Jd, abs=1e-5) == (after.J - before.J) / (2 * STEP)


def test_links_in_the_base_frame_are_those_of_the_world_seen_from_the_base(arm: Kinematics) -> None:
    found = arm.compute(Q, QD)
    base, hand = found.links_W["base"], found.links_W["hand"]
    assert found.links_B["hand"].p == pytest.approx(base.R.T @ (hand.p - base.p))
    assert pytest.approx(base.R.T @ hand.R) == found.links_B["hand"].R
    assert found.links_B["base"].p == pytest.approx(np.zeros(3))
    assert pytest.approx(rotate(Q)) == base.R


@pytest.mark.parametrize(
    ("names", "links", "message"),
    [(("knee",), LINKS, "no joint knee"), (("shoulder",), {"foot": "toe"}, "no link toe")],
)
def test_a_urdf_that_does_not_fit_is_named(names: tuple[str, ...], links: dict[str, str], message: str) -> None:
    with pytest.raises(KinematicsError, match=message):
        Kinematics(profile(*names), links)


def test_a_file_that_is_no_urdf_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.urdf").write_text("<robot>")
    with pytest.raises(KinematicsError, match=r"x\.urdf"):
        Kinematics(replace(profile("shoulder"), urdf=str(tmp_path / "x.urdf")), LINKS)


def test_vectors_of_another_robot_are_refused(arm: Kinematics) -> None:
    with pytest.raises(KinematicsError, match="10 values instead of 9"):
        arm.compute(np.zeros(10), QD)


def test_a_profile_without_a_urdf_says_so() -> None:
    with pytest.raises(KinematicsError, match="the profile gr2 names no urdf"):
        Kinematics(load_profile("gr2"), LINKS)
