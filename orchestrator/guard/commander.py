"""A commander with the guard in the same process: for virtual time, where nothing can hang or die by itself."""

from __future__ import annotations

from orchestrator.clock import Timer, VirtualClock
from orchestrator.guard.driver import Guard
from orchestrator.guard.events import Heartbeat, IntentAsked, RunBegan, RunConnected, RunEnded, StreamEnded
from orchestrator.guard.outputs import Report
from orchestrator.guard.receipts import Receipts
from orchestrator.robots.commander import Receipt
from orchestrator.robots.intents import AnyIntent


class InProcessCommander:
    """Sends a run's intents to a guard on the same virtual clock, and keeps that guard going."""

    def __init__(self, guard: Guard, clock: VirtualClock, run: str = "run") -> None:
        self.guard = guard
        self.reports: list[Report] = []
        self._clock = clock
        self._timer: Timer | None = None
        self._receipts = Receipts()
        guard.on_report = self._take
        guard.on_step = self._plan
        guard.handle(RunConnected(run))
        self.epoch = guard.state.epoch

    def send(self, intent: AnyIntent) -> Receipt:
        number, receipt = self._receipts.open(intent)
        self.guard.handle(IntentAsked(self.epoch, number, intent))
        return receipt

    def end(self, receipt: Receipt) -> None:
        number = self._receipts.release(receipt)
        if number is not None:
            self.guard.handle(StreamEnded(self.epoch, number))

    def begin(self) -> None:
        """The mission starts: the robot must be armed."""
        self.guard.handle(RunBegan(self.epoch))

    def heartbeat(self) -> None:
        """A tick is finished; streams that are not ended go on."""
        self.guard.handle(Heartbeat(self.epoch, self._receipts.streams))

    def finish(self) -> None:
        """The mission is over."""
        self.guard.handle(RunEnded(self.epoch))

    def _take(self, report: Report) -> None:
        self.reports.append(report)
        self._receipts.take(report, self._clock.now())

    def _plan(self) -> None:
        """Have the guard called when it next wants to be."""
        due = self.guard.next_due()
        if self._timer is not None and self._timer.action is not None and self._timer.due <= due:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._clock.at(due, self._run_due)

    def _run_due(self) -> None:
        self._timer = None
        self.guard.run_due()
