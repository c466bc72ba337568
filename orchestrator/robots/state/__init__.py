"""What a robot says about itself: its topics, as neutral values that are known or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from orchestrator.bus.contract import Bus
from orchestrator.robots.feed import Feed
from orchestrator.robots.knowledge import Known, Read, Unknown
from orchestrator.robots.profile import Profile, Range
from orchestrator.robots.reasons import Reason
from orchestrator.robots.signals import BoundSignal, Convert, Numbers
from orchestrator.robots.state import adam, atom, aurora
from orchestrator.wire.topics import topics

FAMILIES = {"aurora": aurora, "atom": atom, "adam": adam}


class State:
    """The values one robot reports, by name (the families' tables say which there are)."""

    def __init__(self, profile: Profile, bus: Bus) -> None:
        family = FAMILIES[profile.family]
        self.signals = family.signals(profile)
        self.epoch = 0
        """Goes up when the robot or one of its senders has restarted; what was asked before then is void."""
        self.restart = ""
        """What showed the last restart."""
        self._bus = bus
        self._lives = family.LIVES
        self._topics = topics(profile.family, profile.variants, profile.prefix)
        self._bound: dict[str, BoundSignal] = {}
        # All readers from the start: one that is created when it is first needed knows nothing yet.
        used = dict.fromkeys(signal.topic for signal in self.signals.values())
        self._feeds = {topic: self._make_feed(topic) for topic in used}

    def has(self, name: str) -> bool:
        return name in self.signals

    def signal(self, name: str) -> BoundSignal:
        """Reads one value: `signal()` says what it is now."""
        if name not in self._bound:
            signal = self.signals[name]
            self._bound[name] = BoundSignal(self.feed(signal.topic), signal)
        return self._bound[name]

    def reader(self, name: str, convert: Convert | None = None) -> Read:
        """Reads one value that this robot may not report at all.

        With `convert` it is read in another way: that gets what is on the wire, and must doubt what cannot be believed.
        """
        if not self.has(name):
            return lambda: Unknown(Reason.NOT_REPORTED, f"this robot does not report {name}")
        if convert is None:
            return self.signal(name)
        signal = replace(self.signals[name], convert=convert)
        return BoundSignal(self.feed(signal.topic), signal)

    def part(self, name: str, result: str, bounds: Sequence[Range] = ()) -> Read:
        """Reads what follows from several numbers: `result` is an expression in v0, v1, ... (signals.Numbers)."""
        numbers = self.signals[name].convert
        assert isinstance(numbers, Numbers), name
        return self.reader(name, numbers.giving(result, bounds))

    @property
    def is_gone(self) -> bool:
        """Whether nobody writes any of its topics any more."""
        return not any(feed.reader.matched for feed in self._feeds.values())

    def read(self, name: str) -> Known[Any] | Unknown:
        return self.signal(name)()

    def feed(self, topic: str) -> Feed:
        return self._feeds[topic]

    def _make_feed(self, topic: str) -> Feed:
        reader = self._bus.reader(self._topics[topic])
        return Feed(reader, self._bus.clock, self._lives[topic], self._restarted)

    def _restarted(self, why: str) -> None:
        self.epoch += 1
        self.restart = why
