"""Fresh, stale, frozen, late, bad: what a source is after a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.guard.freshness import Freshness, FreshnessLimits, may_have_gone_round, went_backwards

LIMITS = FreshnessLimits(factor=5, floor=0.1, cap=0.5, frozen=0.3, identical=1.0, late=0.25, bad_samples=3)


def heard(period: float, count: int = 20, counter: bool = False, lag: float | None = None) -> tuple[Freshness, float]:
    """A source that has spoken regularly, and when it last did."""
    freshness, now = Freshness(), 10.0
    for number in range(count):
        now = 10.0 + number * period
        freshness = freshness.seen(now, number if counter else None, lag, LIMITS)
    return freshness, now


def test_never_heard_is_unknown() -> None:
    assert Freshness().problem(10.0, LIMITS) == "unknown"


@pytest.mark.parametrize(("period", "limit"), [(0.001, 0.1), (0.02, 0.1), (0.05, 0.25), (0.1, 0.5), (0.2, 0.5)])
def test_stale_after_five_periods_but_between_100_and_500_ms(period: float, limit: float) -> None:
    freshness, now = heard(period)
    assert freshness.problem(now + limit - 0.001, LIMITS) is None
    assert freshness.problem(now + limit + 0.001, LIMITS) == "stale"
    assert freshness.stale_at == pytest.approx(now + limit)


def test_one_sample_alone_is_good_for_the_longest_time() -> None:
    freshness, now = heard(0.1, count=1)
    assert freshness.problem(now + 0.49, LIMITS) is None


def test_a_burst_does_not_make_the_usual_pause_stale() -> None:
    freshness, now = heard(0.05)
    for number in range(100):
        freshness = freshness.seen(now + number * 0.001, None, None, LIMITS)
    assert freshness.problem(now + 0.1 + 0.2, LIMITS) is None


def test_frozen_when_the_counter_stands_still() -> None:
    freshness, now = heard(0.02, counter=True)
    for number in range(1, 30):
        later = now + number * 0.02
        freshness = freshness.seen(later, freshness.counter, None, LIMITS)
        assert (freshness.problem(later, LIMITS) == "frozen") == (later - now >= 0.3)


def test_late_when_held_up_on_the_way() -> None:
    freshness, now = heard(0.02, lag=0.001)
    assert freshness.seen(now + 0.02, None, 0.2, LIMITS).problem(now + 0.02, LIMITS) is None
    assert freshness.seen(now + 0.02, None, 0.26, LIMITS).problem(now + 0.02, LIMITS) == "late"


def test_clocks_that_drift_apart_do_not_make_samples_late() -> None:
    freshness, now = Freshness(), 10.0
    for number in range(10_000):
        now = 10.0 + number
        freshness = freshness.seen(now, None, number * 100e-6, LIMITS)
    assert not freshness.late


def test_bad_after_more_than_three_bad_samples_in_a_second() -> None:
    freshness, now = heard(0.02)
    for number in range(4):
        assert freshness.problem(now + number * 0.01, LIMITS) is None
        freshness = freshness.spoilt(now + number * 0.01, LIMITS)
    assert freshness.problem(now + 0.04, LIMITS) == "bad"
    assert freshness.seen(now + 1.2, None, None, LIMITS).problem(now + 1.2, LIMITS) is None


@given(st.integers(0, 2**16 - 1), st.integers(1, 2**15 - 1))
def test_a_wrapping_counter_that_goes_forward_is_no_restart(old: int, step: int) -> None:
    assert not went_backwards(old, (old + step) % 2**16, 16)
    assert went_backwards((old + step) % 2**16, old, 16)


def test_a_counter_that_stands_still_is_no_restart() -> None:
    assert not went_backwards(7, 7, 16)


@pytest.mark.parametrize(("gap", "may"), [(0.025, False), (409.0, False), (410.0, True), (1200.0, True)])
def test_after_a_long_gap_a_counter_may_have_gone_half_round(gap: float, may: bool) -> None:
    assert may_have_gone_round(gap, 16, 40.0) is may


def test_a_counter_of_32_bits_tells_a_restart_after_days() -> None:
    assert not may_have_gone_round(12 * 86_400.0, 32, 1000.0)


@given(st.floats(0, 1e6), st.floats(1e-3, 1.0))
def test_a_source_is_stale_at_the_very_instant_it_is_due(last: float, longest: float) -> None:
    """Otherwise the guard would look again and again without time passing."""
    source = Freshness().seen(last, None, None, LIMITS).seen(last + longest, None, None, LIMITS)
    assert source.problem(source.stale_at, LIMITS) == "stale"
