"""Robots: what reading one field costs when a tree is ticked, and what a sample costs as it comes in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import cycle, repeat
from typing import Any

from benchmarks import Row, at_most, report
from orchestrator.bus.contract import Sample
from orchestrator.robots.feed import Feed
from orchestrator.robots.fields import sources
from orchestrator.robots.knowledge import Known
from orchestrator.wire.codec import codec
from tests.support.fake_robot import FakeRobot

REPEATS = 300
LOOKS = 100
"""Many short runs: on a machine with other work at least one of them is undisturbed."""
LIMIT = 2.0
"""Microseconds that reading one field in a tick may cost."""
_TURNED = [0.6, 0.0, 0.0, 0.8]
MOVED = {
    "aurora": ("base_data_pub", {"quat_wxyz": _TURNED, "pos_W": [1.0, 0.0, 0.0], "vel_B": [0.1, 0.0, 0.0]}),
    "atom": ("rt/lower/state", {"imu_state__quaternion": _TURNED}),
    "adam": ("rt/lowstate", {"imu_state__quaternion": _TURNED}),
}
"""What is measured is never twice the same."""
ROBOTS = ("gr2", "atom_w", "adam_u")


def _best(action: Callable[[], object]) -> float:
    """Microseconds a call, in the best of several runs."""
    shortest = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _ in repeat(None, LOOKS):
            action()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest / LOOKS * 1e6


class _Turning:
    """A reader that has another sample at every look, as when a tree is ticked more slowly than the robot reports."""

    def __init__(self, feed: Feed, samples: list[Sample]) -> None:
        self.feed = feed
        self.topic, self.matched, self.reject = feed.reader.topic, 1, feed.reader.reject
        self._samples: Iterator[Sample] = cycle(samples)

    def newest(self, age: float = 0.0) -> Sample:
        self.feed.sample = self.feed._looked_at = found = next(self._samples)
        return found


def _field_costs(name: str) -> dict[str, tuple[float, float]]:
    """Microseconds to read each field from a new sample, and from the one that was looked at before."""
    fake = FakeRobot(name)
    fake.run(1.2)
    reads = {field: fake.robot.field(field) for field in sources(fake.profile)}
    for field, read in reads.items():
        if not isinstance(read(), Known):
            raise RuntimeError(f"{field}: {read()}")
    again = {field: _best(read) for field, read in reads.items()}
    # A tick comes every 50 ms: slower topics show the same sample. A stream nobody has looked at has none.
    feeds = fake.robot.state._feeds.values()
    quick = [feed for feed in feeds if feed.sample is not None and (feed._life.period or 1.0) < 0.05]
    before = [feed.sample for feed in quick]
    topic, moved = MOVED[fake.profile.family]
    fake.set(topic, **moved)
    fake.silent.update(fake.writers.keys() - {feed.topic.name for feed in quick})
    fake.run(0.02)
    for feed, first in zip(quick, before):
        second = feed.look()
        assert isinstance(first, Sample) and isinstance(second, Sample) and first is not second, feed.topic.name
        turning: Any = _Turning(feed, [first, second])
        feed.reader = turning
    return {field: (_best(read), again[field]) for field, read in reads.items()}


def _field_rows(name: str) -> list[Row]:
    costs = _field_costs(name)
    fresh = sorted(cost for cost, _ in costs.values())
    dearest = max(costs, key=lambda field: costs[field][0])
    dear_again = max(costs, key=lambda field: costs[field][1])
    over = sum(cost > LIMIT for cost in fresh)
    median, unit = fresh[len(fresh) // 2], "us"
    return [
        at_most(f"{name}: read a field from a new sample, median of {len(costs)}", median, unit, LIMIT),
        at_most(f"{name}: the same, dearest ({dearest}; {over} above the limit)", fresh[-1], unit, LIMIT),
        at_most(f"{name}: from the same sample, dearest ({dear_again})", costs[dear_again][1], unit, LIMIT),
    ]


def _sample_row(name: str, topic: str) -> Row:
    """What is done with every sample of an event topic, and with one of a stream before its first field is read."""
    fake = FakeRobot(name)
    fake.run(0.5)
    feed = fake.robot.state.feed(topic)
    message = fake.messages[topic]
    data = codec(type(message)).encode(message)
    now, writer = fake.clock.now(), feed.sample.writer if feed.sample is not None else 0
    times = iter(range(round(now * 1e9), 2**62))
    cost = _best(lambda: feed._take(Sample(data, writer, next(times), now)))
    return report(f"{name}: one sample of {topic} taken in", cost, "us")


def rows() -> list[Row]:
    found = [row for name in ROBOTS for row in _field_rows(name)]
    arriving = (
        ("gr2", "aurora_state"),
        ("gr2", "base_data_pub"),
        ("atom_w", "rt/lower/state"),
        ("atom_w", "rt/amr/state"),
    )
    return found + [_sample_row(name, topic) for name, topic in (*arriving, ("adam_u", "rt/lowstate"))]
