"""A twin in virtual time and somebody who watches and commands it over the bus, as a program would."""

from __future__ import annotations

from typing import Any

from orchestrator.bus.memory import MemoryNetwork
from orchestrator.clock import VirtualClock
from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import load_profile
from orchestrator.sim import make_twin
from orchestrator.sim.template import blank
from orchestrator.wire.codec import codec


class Lab:
    """One robot on one network; `twin` is the robot, the rest is the other side."""

    def __init__(self, robot: str | Profile, seed: int = 0, full_rate: bool = False, on_demand: bool = False) -> None:
        self.clock = VirtualClock()
        self.network = MemoryNetwork(self.clock)
        profile = load_profile(robot) if isinstance(robot, str) else robot
        bus = self.network.bus("robot")
        self.twin: Any = make_twin(profile, bus, self.clock, seed, full_rate, on_demand=on_demand)
        self.twin.start()
        self.bus = self.network.bus("run")
        self.topics = self.twin.topics
        self.readers = {name: self.bus.reader(topic) for name, topic in self.topics.items() if topic.kind != "command"}
        self.writers = {name: self.bus.writer(topic) for name, topic in self.topics.items() if topic.kind == "command"}
        self.wait(0.3)

    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    def see(self, topic: str) -> Any:
        """The newest message of a topic."""
        sample = self.readers[topic].newest()
        assert sample is not None, f"nothing has come on {topic}"
        return codec(self.topics[topic].type).decode(sample.data)

    def tell(self, topic: str, wait: float = 0.0, **fields: Any) -> None:
        """Send a command; fields that are not named are zero."""
        message = blank(self.topics[topic].type)
        for name, value in fields.items():
            setattr(message, name, value)
        self.writers[topic].write(message)
        self.wait(wait)

    def history(self, topic: str, field: str) -> list[Any]:
        """From now on, the different values of a field in the order in which they come."""
        values: list[Any] = []
        read = codec(self.topics[topic].type).field(field)

        def note(sample: Any) -> None:
            value = read(sample.data)
            if not values or values[-1] != value:
                values.append(value)

        self.readers[topic].on_sample(note)
        return values
