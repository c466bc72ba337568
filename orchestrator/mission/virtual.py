"""A mission in virtual time: the same tree, robot rooms, guard and twin, all in this process and in no time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from orchestrator.bus.memory import MemoryBus, MemoryNetwork
from orchestrator.clock import VirtualClock
from orchestrator.engine.events import Event
from orchestrator.engine.prompts import Prompts
from orchestrator.engine.runner import Outcome
from orchestrator.guard.commander import InProcessCommander
from orchestrator.guard.config import load_guard_config
from orchestrator.guard.driver import Guard
from orchestrator.guard.link import Person, event_of
from orchestrator.guard.outputs import Report
from orchestrator.guard.rpc import TIMEOUT, Answered, no_answer, refusal_in
from orchestrator.mission.hanging import Interrupt
from orchestrator.mission.loading import Loaded
from orchestrator.mission.mission import Mission
from orchestrator.mission.recording import Recorder
from orchestrator.robots.drive import RpcCall
from orchestrator.sim import make_twin
from orchestrator.sim.twin import Twin


class VirtualMission:
    """A mission on a simulated robot in virtual time; it arms itself, as nothing real can move.

    `prepare` does something to the robot before the mission starts, such as giving it faults.
    """

    def __init__(
        self,
        loaded: Loaded,
        on_event: Callable[[Event], None] = lambda event: None,
        prompts: Prompts | None = None,
        seed: int = 0,
        prepare: Callable[[Twin], None] = lambda twin: None,
        person: str | None = None,
        watched: bool = False,
        recorder: Recorder | None = None,
    ) -> None:
        self.clock = VirtualClock()
        self.network = network = MemoryNetwork(self.clock)
        self.twin = make_twin(loaded.profile, network.bus(loaded.profile.name), self.clock, seed, on_demand=True)
        self.twin.start()
        put_objects(self.twin)
        prepare(self.twin)
        if recorder is not None:
            recorder.counts_from(self.clock.now())
        self.audit: list[dict[str, Any]] = []
        rpc = TwinRpc(self.twin, self.clock) if loaded.profile.rpc else None
        self.guard = Guard(loaded.profile, load_guard_config(), network.bus("guard"), _Kept(self.audit), rpc)
        bus, prompts = network.bus("run"), prompts or Prompts()
        link = _InProcessLink(self.guard, bus)
        self.mission = Mission(loaded, bus, link, prompts, on_event, person, watched, recorder)

    def run(self) -> Outcome:
        self.mission.arm("simulation")
        with self.watch():
            return self.mission.run()

    def watch(self) -> Interrupt:
        """While time passes in it, a leaf that does not come back ends the run."""
        return Interrupt(self.mission)


class TwinRpc:
    """The JSON-RPC of a simulated robot in the same process; it answers at once unless a fault has it otherwise."""

    def __init__(self, twin: Twin, clock: VirtualClock) -> None:
        self._twin = twin
        self._clock = clock

    def call(self, call: RpcCall, stop: bool, answered: Answered) -> None:
        given_up = self._clock.after(TIMEOUT, lambda: answered(no_answer(call)))

        def take(answer: dict[str, Any]) -> None:
            given_up.cancel()
            self._clock.after(0.0, lambda: answered(refusal_in(call, answer)))

        self._twin.rpc.call(call.method, call.params, take)  # type: ignore[attr-defined]

    def watch(self, tell: Callable[[bool], None]) -> None:
        tell(True)


def put_objects(twin: Twin) -> None:
    """Something to grasp is there whenever a simulated hand closes, unless somebody takes it away."""
    if twin.profile.hands is not None:
        for side in twin.profile.hands.order:
            twin.hand(side).object = True  # type: ignore[attr-defined]


class _Kept:
    """An audit that stays in memory."""

    def __init__(self, records: list[dict[str, Any]]) -> None:
        self._records = records

    def append(self, record: dict[str, Any]) -> None:
        self._records.append(record)

    def sync(self) -> None:
        pass


class _InProcessLink(InProcessCommander):
    """The way to a guard in this process."""

    def __init__(self, guard: Guard, bus: MemoryBus) -> None:
        self.on_report: Callable[[Report], None] = lambda report: None
        self._bus = bus
        super().__init__(guard, bus.clock)
        self.mode = guard.state.mode.value

    def act(self, act: str, who: str) -> None:
        self.guard.handle(event_of(Person(act=act, who=who), self.epoch))  # type: ignore[arg-type]

    def _take(self, report: Report) -> None:
        super()._take(report)
        self._bus.news = True
        self.on_report(report)
