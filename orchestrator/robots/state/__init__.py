"""What a robot says about itself: its topics, as neutral values that are known or not."""

from __future__ import annotations

from typing import Any

from orchestrator.bus.contract import Bus
from orchestrator.robots.feed import Feed
from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.profile import Profile
from orchestrator.robots.signals import BoundSignal
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
        self._feeds: dict[str, Feed] = {}
        self._bound: dict[str, BoundSignal] = {}

    def has(self, name: str) -> bool:
        return name in self.signals

    def signal(self, name: str) -> BoundSignal:
        """Reads one value: `signal()` says what it is now."""
        if name not in self._bound:
            signal = self.signals[name]
            self._bound[name] = BoundSignal(self.feed(signal.topic), signal)
        return self._bound[name]

    def read(self, name: str) -> Known[Any] | Unknown:
        return self.signal(name)()

    def feed(self, topic: str) -> Feed:
        if topic not in self._feeds:
            reader = self._bus.reader(self._topics[topic])
            self._feeds[topic] = Feed(reader, self._bus.clock, self._lives[topic], self._restarted)
        return self._feeds[topic]

    def _restarted(self, why: str) -> None:
        self.epoch += 1
        self.restart = why
