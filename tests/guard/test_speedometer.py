"""The guard's own idea of how fast a base drives."""

from __future__ import annotations

import random

import pytest

from orchestrator.guard.observing import Speedometer, Unbelievable

STILL = 0.02
"""m/s: what the guard file calls standing still for a base."""


def test_nothing_is_known_before_there_is_something_to_compare() -> None:
    speed = Speedometer()
    assert speed(0.0, 1.0, 1.0, 0.0) is None
    assert speed(0.3, 1.0, 1.0, 0.0) is None
    assert speed(0.5, 1.0, 1.0, 0.0) == 0.0


def test_the_noise_of_a_position_is_not_motion() -> None:
    speed, rng = Speedometer(), random.Random(1)
    seen = [speed(n * 0.025, *(rng.gauss(0, 0.001) for _ in range(3))) for n in range(4000)]
    assert max(found for found in seen if found is not None) < STILL


def test_driving_is_seen_and_so_is_its_end() -> None:
    speed = Speedometer()
    driving = [speed(n * 0.025, 0.4 * n * 0.025, 0.0, 0.0) for n in range(80)]
    assert driving[-1] == pytest.approx(0.4)
    standing = [speed(2.0 + n * 0.025, 0.8, 0.0, 0.0) for n in range(24)]
    assert standing[-1] == 0.0


def test_a_position_that_is_no_number_is_not_believed() -> None:
    with pytest.raises(Unbelievable):
        Speedometer()(0.0, float("nan"), 0.0, 0.0)


def test_a_base_that_turns_on_the_spot_does_not_stand_still() -> None:
    speed = Speedometer()
    turning = [speed(n * 0.025, 0.0, 0.0, 3.0 + 0.5 * n * 0.025) for n in range(80)]
    assert turning[-1] == pytest.approx(0.15)


def test_after_a_long_silence_the_speed_is_not_known() -> None:
    speed = Speedometer()
    for at, x in ((0.0, 0.0), (0.5, 1.0)):
        speed(at, x, 0.0, 0.0)
    assert speed(10.0, 1.0, 0.0, 0.0) is None
    assert speed(10.5, 2.0, 0.0, 0.0) == 2.0
