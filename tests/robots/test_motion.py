"""Joint motion: it starts and ends where it should, and never goes further or faster than the joints may."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.robots.intents import Keyframe
from orchestrator.robots.motion import PEAK, Motion, move, path
from orchestrator.robots.profile import Joint, Range

STEPS = 400


def joint(name: str, velocity: float | None) -> Joint:
    return Joint(name, "arm", Range(-3, 3), velocity, torque=None, kp=None, kd=None)


SLOW, FAST, FREE = joint("slow", 0.5), joint("fast", 3.0), joint("free", None)

angles = st.floats(-3, 3)
durations = st.floats(0.05, 20)
no_deadline = settings(deadline=None)  # other work on the machine must not fail a test


@st.composite
def keyframes(draw: st.DrawFn) -> tuple[Keyframe, ...]:
    spans = draw(st.lists(durations, min_size=1, max_size=5))
    times = [sum(spans[: index + 1]) for index in range(len(spans))]
    return tuple(Keyframe(time, (draw(angles), draw(angles))) for time in times)


def samples(motion: Motion) -> list[tuple[float, ...]]:
    return [motion.at(motion.duration * step / STEPS) for step in range(STEPS + 1)]


def test_a_movement_takes_the_time_asked_for_when_the_joints_are_fast_enough() -> None:
    motion = move([FAST], (0.0,), (1.0,), 2.0)
    assert motion.duration == 2.0
    assert motion.note == ""
    assert (motion.at(0.0), motion.at(1.0), motion.at(2.0)) == ((0.0,), (0.5,), (1.0,))


def test_it_starts_and_ends_gently() -> None:
    motion = move([FAST], (0.0,), (1.0,), 2.0)
    assert motion.at(0.02)[0] < 1e-5
    assert 1.0 - motion.at(1.98)[0] < 1e-5


def test_it_takes_longer_where_a_joint_is_too_slow_and_says_so() -> None:
    motion = move([FAST, SLOW], (0.0, 0.0), (1.0, 1.0), 2.0)
    assert motion.duration == PEAK * 1.0 / 0.5
    assert motion.note == "slow needs 3.75 s instead of 2 s"


def test_a_joint_whose_speed_is_not_known_is_not_slowed_down() -> None:
    assert move([FREE], (0.0,), (3.0,), 0.01).duration == 0.01


@pytest.mark.parametrize("time", [-1.0, 0.0, float("nan"), float("-inf")])
def test_before_its_start_it_is_at_its_start(time: float) -> None:
    assert move([FAST], (0.3,), (1.0,), 2.0).at(time) == (0.3,)


@pytest.mark.parametrize("time", [2.0, 100.0, float("inf")])
def test_after_its_end_it_holds(time: float) -> None:
    assert move([FAST], (0.3,), (1.0,), 2.0).at(time) == (1.0,)


def test_a_path_goes_through_its_keyframes() -> None:
    motion = path([FAST], (0.0,), (Keyframe(1.0, (0.5,)), Keyframe(2.0, (1.5,)), Keyframe(3.0, (1.0,))))
    assert [motion.at(time) for time in (0.0, 1.0, 2.0, 3.0)] == [(0.0,), (0.5,), (1.5,), (1.0,)]


def test_a_path_does_not_stop_at_a_keyframe_on_its_way() -> None:
    motion = path([FAST], (0.0,), (Keyframe(1.0, (0.5,)), Keyframe(2.0, (1.5,))))
    assert motion.at(1.001)[0] - motion.at(0.999)[0] == pytest.approx(0.5 * 0.002, rel=0.01)


def test_a_path_has_no_step_in_acceleration_at_a_keyframe_on_its_way() -> None:
    motion = path([FAST], (0.0,), (Keyframe(1.0, (0.5,)), Keyframe(2.0, (1.5,))))
    h = 1e-3
    for side in (-h, h):
        here, next_, after_next = (motion.at(1.0 + side * steps)[0] for steps in (0, 1, 2))
        assert (here - 2 * next_ + after_next) / h**2 == pytest.approx(0.0, abs=0.05)


def test_a_path_rests_where_it_turns_back() -> None:
    motion = path([FAST], (0.0,), (Keyframe(1.0, (0.5,)), Keyframe(2.0, (0.0,))))
    assert motion.at(1.01)[0] == pytest.approx(0.5, abs=1e-5)


def test_a_keyframe_that_comes_too_soon_delays_all_after_it() -> None:
    motion = path([SLOW], (0.0,), (Keyframe(1.0, (1.0,)), Keyframe(5.0, (1.1,))))
    assert motion.times == (0.0, 3.75, 7.75)
    assert motion.note == "slow needs 3.75 s instead of 1 s"


@pytest.mark.parametrize(
    ("start", "frames"),
    [
        ((0.0,), ()),
        ((0.0,), (Keyframe(0.0, (1.0,)),)),
        ((0.0,), (Keyframe(-1.0, (1.0,)),)),
        ((0.0,), (Keyframe(1.0, (1.0,)), Keyframe(1.0, (2.0,)))),
        ((0.0,), (Keyframe(float("nan"), (1.0,)),)),
        ((0.0,), (Keyframe(float("inf"), (1.0,)),)),
        ((0.0,), (Keyframe(1.0, (1.0, 2.0)),)),
        ((0.0, 0.0), (Keyframe(1.0, (1.0,)),)),
        ((float("nan"),), (Keyframe(1.0, (1.0,)),)),
        ((0.0,), (Keyframe(1.0, (float("inf"),)),)),
    ],
)
def test_a_path_that_makes_no_sense_is_refused(start: tuple[float, ...], frames: tuple[Keyframe, ...]) -> None:
    with pytest.raises(ValueError, match=r"keyframe|position"):
        path([FAST], start, frames)


@no_deadline
@given(start=st.tuples(angles, angles), frames=keyframes())
def test_it_never_leaves_the_interval_between_two_keyframes(
    start: tuple[float, float], frames: tuple[Keyframe, ...]
) -> None:
    motion = path([FAST, SLOW], start, frames)
    for index in range(len(motion.times) - 1):
        for step in range(21):
            time = motion.times[index] + (motion.times[index + 1] - motion.times[index]) * step / 20
            for q, a, b in zip(motion.at(time), motion.positions[index], motion.positions[index + 1], strict=True):
                assert math.isfinite(q)
                assert min(a, b) - 1e-9 <= q <= max(a, b) + 1e-9


@no_deadline
@given(start=st.tuples(angles, angles), frames=keyframes())
def test_no_joint_is_ever_faster_than_it_may_be(start: tuple[float, float], frames: tuple[Keyframe, ...]) -> None:
    motion = path([FAST, SLOW], start, frames)
    step = motion.duration / STEPS
    found = samples(motion)
    for before, after in pairwise(found):
        for a, b, limit in zip(before, after, (3.0, 0.5), strict=True):
            assert abs(b - a) <= limit * step + 1e-9


@no_deadline
@given(start=st.tuples(angles, angles), frames=keyframes())
def test_it_has_no_jump_and_no_step_in_speed(start: tuple[float, float], frames: tuple[Keyframe, ...]) -> None:
    motion = path([FAST, SLOW], start, frames)
    h = 1e-4
    for time in motion.times[1:-1]:
        for before, now, after in zip(motion.at(time - h), motion.at(time), motion.at(time + h), strict=True):
            assert abs((after - now) - (now - before)) < 0.01 * h


@no_deadline
@given(start=st.tuples(angles, angles), frames=keyframes())
def test_it_is_never_shorter_than_asked(start: tuple[float, float], frames: tuple[Keyframe, ...]) -> None:
    motion = path([FAST, SLOW], start, frames)
    assert motion.duration >= frames[-1].time - 1e-9
    assert (motion.note == "") == (motion.duration <= frames[-1].time + 1e-9)
