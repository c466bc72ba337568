"""A simulated robot: models that move in time, and the vendor's topics that show them.

The same code runs in virtual time, where a state topic is sent when it changes, made when somebody looks, and sent just
often enough to stay fresh for those who only listen; and in real time at the vendor's rates.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from orchestrator.bus.contract import Bus
from orchestrator.bus.memory import MemoryBus, MemoryWriter
from orchestrator.clock import Timer, VirtualClock
from orchestrator.robots.profile import Profile
from orchestrator.sim.lines import Action, Command, Inlet, Outlet, nothing
from orchestrator.sim.model import NEVER, ROUNDING, Model, Touchable
from orchestrator.wire.topics import topics

if TYPE_CHECKING:
    from orchestrator.sim.fault import Fault

FRESH = 0.2
"""s between two samples of an event topic in virtual time: readers that wait take it for stale after up to 0.5 s."""
FRESH_WHEN_LOOKED_AT = 0.09
"""s after which somebody who looks at an event topic gets a new sample: some take it for stale after 0.1 s."""
_BOOT_TIME = 3.0
"""s a robot is silent when it restarts."""


@dataclass(eq=False)
class Publication:
    """One state topic: how its bytes are made, and when."""

    outlet: Outlet
    period: float
    """s between two samples on the robot; NEVER for a topic that is sent on change only."""
    make: Callable[[], bytes]
    shown: Callable[[], Hashable]
    """What must be told at once when it changes."""
    last_shown: Hashable = None
    every_sample: bool = False
    """Sent at the robot's rate even in virtual time: somebody cares for single samples."""


class Twin:
    """What all simulated robots have in common. Get one from `make_twin`."""

    offers: frozenset[str] = frozenset()
    """What can happen to it besides what can to any robot: its emergency stops, a base, a battery, a fall."""
    buttons: tuple[str, ...] = ()
    """Of the operator's pad, where a topic shows them."""

    def __init__(
        self,
        profile: Profile,
        bus: Bus,
        clock: VirtualClock,
        seed: int = 0,
        full_rate: bool = False,
        connect: Callable[[str], Bus] | None = None,
        on_demand: bool = False,
    ) -> None:
        self.profile = profile
        self.bus = bus
        self.clock = clock
        self.seed = seed
        self.full_rate = full_rate
        self.on_demand = on_demand
        self.topics = topics(profile.family, profile.variants, profile.prefix)
        self.publications: dict[str, Publication] = {}
        self.inlets: dict[str, Inlet] = {}
        self.commands: dict[str, Command] = {}
        """Everything the robot can be told, by topic or method."""
        self.faults: list[Fault] = []
        """What was put in so far, whether it has begun or not."""
        self.watchers: list[Callable[[], None]] = []
        """Called when something about the robot may have changed, and every now and then."""
        self.started_at = clock.now()
        self.booted_at = clock.now()
        self._connect = bus.network.bus if isinstance(bus, MemoryBus) else connect
        self._models: tuple[Model, ...] = ()
        self._beats: dict[float, list[Publication]] = {}
        self._change: Timer | None = None
        self._next_change = NEVER
        self.advanced_to = -1.0
        """The uptime to which the models have been brought."""
        self._running = False
        self._generation = 0
        """Counts starts, so that calls planned before a stop do nothing after it."""
        self.build()

    # What a family says about its robots.

    def build(self) -> None:
        """Make the models, the publications and the commands; again at every reboot."""
        raise NotImplementedError

    def react(self) -> None:
        """Bring models in line with each other after one of them has changed."""

    def status(self) -> str:
        """One line for people."""
        raise NotImplementedError

    # Life.

    def start(self) -> None:
        """Join the bus and live."""
        if self._running:
            return
        self._running = True
        self._generation += 1
        self._connect_all()
        for publication in self.publications.values():
            self._schedule(publication)
        self.update()

    def stop(self) -> None:
        """Fall silent; what was planned does not happen any more."""
        self._running = False
        self._generation += 1
        self._beats.clear()
        if self._change is not None:
            self._change.cancel()
            self._change = None
        for publication in self.publications.values():
            publication.outlet.disconnect()
        for inlet in self.inlets.values():
            inlet.disconnect()

    def reboot(self, seconds: float = _BOOT_TIME) -> None:
        """Go silent, then come back as after power-up: counters at zero, new writers where the bus can make them."""
        self.stop()
        if self._connect is not None:
            self.bus.close()
        generation = self._generation
        self.clock.after(seconds, lambda: self._come_back(generation))

    def _come_back(self, generation: int) -> None:
        if generation != self._generation:
            return  # started or stopped by somebody meanwhile
        if self._connect is not None:
            self.bus = self._connect(self.profile.name)
        self.booted_at = self.clock.now()
        publications, commands = self.publications, self.commands
        self.publications, self.inlets, self.commands = {}, {}, {}
        self.build()
        for name, old in publications.items():
            self.publications[name].outlet.faults = old.outlet.faults
            self.publications[name].every_sample = old.every_sample
        for name, command in commands.items():
            self.commands[name].faults = command.faults
        self.start()

    def __enter__(self) -> Twin:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        return self._running

    @property
    def uptime(self) -> float:
        return self.clock.now() - self.booted_at

    # For families: models, publications and commands.

    def live(self, *models: Model) -> None:
        """These models make up the robot; they start now."""
        self._models = models
        for model in models:
            if isinstance(model, Touchable):
                model.before, model.after = self.advance, self.update

    def publish(self, name: str, rate: float, make: Callable[[], bytes], shown: Callable[[], Hashable]) -> None:
        """Show a state topic at a rate (Hz; 0: on change only)."""
        period = 1.0 / rate if rate else NEVER
        self.publications[name] = Publication(Outlet(self.topics[name]), period, make, shown)

    def take(self, name: str, execute: Action, acknowledge: Action = nothing, partly: Action | None = None) -> None:
        """Take commands from a topic; what it does when faults make it only acknowledge or only begin them."""
        partial = None if partly is None else self._stimulus(partly)
        command = Command(name, self._stimulus(execute), self._stimulus(acknowledge), partial)
        self.commands[name] = command
        self.inlets[name] = Inlet(self.topics[name], command)

    def _stimulus(self, action: Action) -> Action:
        def act(message: Any) -> None:
            self.advance()
            action(message)
            self.update()

        return act

    def foreign_bus(self, name: str) -> Bus:
        """Another program on the robot's network."""
        if self._connect is None:
            raise RuntimeError("this twin was given no way to join the network a second time")
        return self._connect(name)

    # Time.

    def advance(self) -> None:
        """Bring every model to now; their time begins when the robot boots."""
        now = self.uptime
        if now != self.advanced_to:
            self.advanced_to = now
            for model in self._models:
                model.advance(now)

    def update(self) -> None:
        """Bring the robot to now, tell what has changed, and plan the next change."""
        self.advanced_to = -1.0  # somebody may just have changed a model
        self.advance()
        self.react()
        if not self._running:
            return
        for publication in self.publications.values():
            shown = publication.shown()
            if shown != publication.last_shown:
                publication.last_shown = shown
                if not self._at_full_rate(publication):
                    publication.outlet.send(publication.make())
        self._plan_change()
        for look in tuple(self.watchers):
            look()

    def _plan_change(self) -> None:
        due = min((model.next_change() for model in self._models), default=NEVER)
        if self.watchers:
            due = min(due, self.uptime + FRESH)
        due = self.booted_at + max(due, self.uptime + ROUNDING)
        if self._change is not None:
            if due == self._next_change:
                return
            self._change.cancel()
            self._change = None
        self._next_change = due
        if due < NEVER:
            self._change = self.clock.at(due, self._changed)

    def _changed(self) -> None:
        self._change = None
        self.update()

    def _connect_all(self) -> None:
        own: dict[str, int] = {}
        for name, publication in self.publications.items():
            writer = publication.outlet.connect(self.bus)
            own[name] = writer.number
            if isinstance(writer, MemoryWriter) and publication.period < NEVER:
                fresh_for = FRESH_WHEN_LOOKED_AT if writer.topic.kind == "event" else 0.0
                writer.supply(partial(self._look, publication), fresh_for)
        for name, inlet in self.inlets.items():
            inlet.connect(self.bus, own.get(name))

    def _look(self, publication: Publication) -> bytes | None:
        """In virtual time a sample is made when somebody looks."""
        if not self._running or self._at_full_rate(publication):
            return None
        self.advance()
        return publication.make()

    def _at_full_rate(self, publication: Publication) -> bool:
        return publication.period < NEVER and (self.full_rate or publication.every_sample)

    def show_every_sample(self, name: str) -> None:
        """From now on, send this topic at the robot's rate."""
        publication = self.publications[name]
        if publication.every_sample:
            return
        for beat in self._beats.values():
            if publication in beat:
                beat.remove(publication)
        publication.every_sample = True
        if self._running:
            self._schedule(publication)

    def _schedule(self, publication: Publication) -> None:
        """Topics of the same period are sent together."""
        if self._at_full_rate(publication):
            period = publication.period
        elif self.on_demand or publication.period == NEVER or publication.outlet.topic.kind == "stream":
            return
        else:
            period = max(publication.period, FRESH)
        if period in self._beats:
            self._beats[period].append(publication)
            return
        self._beats[period] = [publication]
        generation, beat = self._generation, self._beats[period]
        self.clock.after(period, lambda: self._beat(period, beat, generation, self.clock.now()))

    def _beat(self, period: float, beat: list[Publication], generation: int, due: float) -> None:
        if generation != self._generation:
            return
        if self.clock.now() >= self._next_change or period >= FRESH:
            self.update()
        else:
            self.advance()
        for publication in beat:
            publication.outlet.send(publication.make())
        now = self.clock.now()
        following = due + period if due + period > now else now + period  # what was missed is not made up for
        self.clock.at(following, lambda: self._beat(period, beat, generation, following))
