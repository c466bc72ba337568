"""When a topic can be believed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.bus.contract import Sample
from orchestrator.bus.reading import Intake
from orchestrator.clock import VirtualClock
from orchestrator.robots.feed import Feed, Life
from orchestrator.robots.knowledge import Unknown
from orchestrator.robots.reasons import Reason
from orchestrator.robots.state.atom import LIVES
from orchestrator.wire.codec import codec
from orchestrator.wire.topics import ADAM, ATOM, AURORA, Topic
from tests.support.fake_robot import blank

TICK = Life(0.01, heartbeat=("tick",), counter="tick", wraps=2**32)


class Source:
    """One writer's samples, made by hand."""

    def __init__(self, topic: Topic, life: Life) -> None:
        self.clock = VirtualClock(100.0)
        self.reader = Intake(topic, lambda report: None)
        self.restarts: list[str] = []
        self.feed = Feed(self.reader, self.clock, life, self.restarts.append)
        self.message: Any = blank(topic.type)

    def send(self, after: float = 0.01, written: float | None = None, writer: int = 1, **fields: Any) -> None:
        self.clock.advance(after)
        for name, value in fields.items():
            setattr(self.message, name, value)
        now = self.clock.now()
        data = codec(self.reader.topic.type).encode(self.message)
        self.reader.accept(Sample(data, writer, round((written if written is not None else now) * 1e9), now))

    def reason(self) -> Reason | None:
        found = self.feed.look()
        return found.reason if isinstance(found, Unknown) else None


def ticking() -> Source:
    source = Source(ADAM["rt/lowstate"], TICK)
    for tick in range(1, 30):
        source.send(tick=tick)
    return source


def test_before_the_first_sample_nothing_is_known() -> None:
    assert Source(ADAM["rt/lowstate"], TICK).reason() is Reason.NO_SAMPLE


@pytest.mark.parametrize(
    ("period", "limit"), [(0.001, 0.1), (0.01, 0.1), (0.025, 0.125), (0.05, 0.25), (0.2, 0.5), (1.0, 2.5)]
)
def test_a_topic_is_stale_after_five_periods_within_bounds(period: float, limit: float) -> None:
    source = Source(ADAM["rt/lowstate"], Life(period))
    for _ in range(30):
        source.send(after=period)
    source.clock.advance(limit - 0.001)
    assert source.reason() is None
    source.clock.advance(0.002)
    assert source.reason() is Reason.STALE


def test_a_topic_slower_than_documented_is_given_more_time_but_never_more_than_half_a_second() -> None:
    source = Source(ADAM["rt/lowstate"], Life(0.001))
    for _ in range(60):
        source.send(after=0.06)
    source.clock.advance(0.28)
    assert source.reason() is None
    for _ in range(60):
        source.send(after=0.4)
    source.clock.advance(0.51)
    assert source.reason() is Reason.STALE


def test_an_undocumented_topic_counts_while_its_writer_is_there_until_it_proves_periodic() -> None:
    source = Source(ATOM["rt/emergency/state"], Life(None))
    source.reader.matched = 1
    source.send()
    source.clock.advance(60)
    assert source.reason() is None
    source.reader.matched = 0
    assert source.reason() is Reason.STALE
    source.reader.matched = 1
    for _ in range(80):
        source.send(after=0.1)
    source.clock.advance(0.6)
    assert source.reason() is Reason.STALE


def test_a_heartbeat_that_stands_still_is_frozen() -> None:
    source = ticking()
    for _ in range(29):
        source.send()
    assert source.reason() is None
    for _ in range(3):
        source.send()
    assert source.reason() is Reason.FROZEN
    source.send(tick=500)
    assert source.reason() is None


def test_a_heartbeat_that_is_always_zero_is_not_filled_and_proves_nothing() -> None:
    source = Source(ADAM["rt/lowstate"], TICK)
    for _ in range(100):
        source.send(tick=0)
    assert source.reason() is None


def test_measured_numbers_that_never_change_are_frozen() -> None:
    source = Source(ATOM["rt/lower/state"], Life(0.01, noisy=True))
    for _ in range(99):
        source.send()
    assert source.reason() is None
    for _ in range(5):
        source.send()
    assert source.reason() is Reason.FROZEN


def test_a_stream_is_judged_by_the_samples_somebody_looked_at() -> None:
    life = Life(0.002, heartbeat=("header.stamp.sec", "header.stamp.nanosec"), counter="header.stamp.sec")
    source = Source(AURORA["base_data_pub"], life)
    source.message.header.stamp.nanosec = 5
    source.send()
    assert source.reason() is None
    source.send(after=10.0)
    assert source.reason() is Reason.FROZEN
    source.message.header.stamp.sec = 10  # whole seconds later: the rest is the same
    source.send(after=10.0)
    assert source.reason() is None


def test_a_counter_that_goes_back_is_a_restart() -> None:
    source = ticking()
    source.send(tick=3)
    assert source.restarts == ["tick on rt/lowstate went back"]
    assert source.reason() is None


@given(start=st.integers(1, 2**32 - 1), step=st.integers(1, 2**31 - 1))
def test_a_counter_may_wrap(start: int, step: int) -> None:
    source = Source(ADAM["rt/lowstate"], TICK)
    source.send(tick=start)
    source.send(tick=(start + step) % 2**32)
    assert not source.restarts


@given(start=st.integers(1, 2**32 - 1), step=st.integers(1, 2**31 - 1))
def test_a_counter_that_goes_back_is_noticed_across_the_wrap(start: int, step: int) -> None:
    source = Source(ADAM["rt/lowstate"], TICK)
    source.send(tick=start)
    source.send(tick=(start - step) % 2**32)
    assert len(source.restarts) == 1


def base_after(gap: float, heartbeat: int, writer: int = 1) -> Source:
    """A base that counted to 1000, and is looked at again after so many seconds."""
    source = Source(ATOM["rt/amr/state"], LIVES["rt/amr/state"])
    source.message.basic_status.heartbeat = 1000
    source.send()
    source.message.basic_status.heartbeat = heartbeat
    source.send(after=gap, writer=writer)
    return source


@pytest.mark.parametrize("minutes", [14, 20, 25, 27, 41])
def test_a_counter_that_may_have_gone_half_round_unseen_is_no_restart(minutes: int) -> None:
    source = base_after(minutes * 60.0, (1000 + minutes * 60 * 40) % 2**16)
    assert not source.restarts
    assert source.reason() is None


def test_a_counter_that_goes_back_is_a_restart_after_minutes_of_silence_too() -> None:
    assert base_after(400.0, 12).restarts == ["basic_status.heartbeat on rt/amr/state went back"]


def test_another_writer_is_a_restart_however_long_nobody_looked() -> None:
    assert base_after(1200.0, 1000, writer=2).restarts == ["rt/amr/state comes from another writer"]


def test_another_writer_is_a_restart() -> None:
    source = ticking()
    source.send(tick=50, writer=2)
    assert source.restarts == ["rt/lowstate comes from another writer"]


def test_a_sample_overtaken_by_a_later_one_is_dropped() -> None:
    source = ticking()
    newest = source.feed.sample
    source.send(tick=7, written=source.clock.now() - 0.05)
    assert source.feed.sample is newest
    assert not source.restarts


def test_a_writer_whose_clock_was_set_back_has_restarted() -> None:
    source = ticking()
    source.send(tick=60, written=20.0)
    assert source.restarts == ["the time of the writer of rt/lowstate went back"]
    for tick in range(61, 70):
        source.send(tick=tick, written=20.0 + tick / 100)
    assert source.reason() is None


def test_samples_that_take_longer_than_before_are_late() -> None:
    source = ticking()
    source.send(tick=60, written=source.clock.now() + 0.01 - 0.2)
    assert source.feed.sample is not None
    assert source.reason() is None
    source.send(tick=61, after=0.3, written=source.clock.now())
    assert source.reason() is Reason.LATE


def test_two_clocks_that_drift_apart_slowly_are_not_lateness() -> None:
    source = Source(ADAM["rt/lowstate"], Life(1.0))
    drift = 0.0
    for tick in range(10_000):
        drift += 5e-5
        source.send(after=1.0, tick=tick, written=source.clock.now() + 1.0 - drift)
    assert source.reason() is None
