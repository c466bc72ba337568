"""A mission from preflight to its end, whatever the time and whatever the robot."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Protocol

import msgspec

from orchestrator.bus.contract import Bus
from orchestrator.engine.builder import build
from orchestrator.engine.events import Command, Event, GuardReport
from orchestrator.engine.prompts import Prompts
from orchestrator.engine.runner import Outcome, Runner
from orchestrator.guard.outputs import Report
from orchestrator.mission.fields import RobotFields
from orchestrator.mission.loading import CannotRun, Loaded
from orchestrator.robots.commander import Receipt
from orchestrator.robots.intents import AnyIntent
from orchestrator.robots.robot import Robot
from orchestrator.yamlfile.findings import nearest

PREFLIGHT_TIME = 15.0
"""Seconds a robot has to show that it can be armed."""
_ENDS_THE_RUN = frozenset({"estopped", "fault", "intervened", "offline"})
_STOPPED = frozenset({"stopping", "disarmed"})
"""Modes that end a run which has begun."""


class NotArmed(Exception):
    """Preflight found a reason not to move; one line per reason."""


class GuardLink(Protocol):
    """The way to the guard: in this process, or through its socket."""

    on_report: Callable[[Report], None]

    def send(self, intent: AnyIntent) -> Receipt: ...

    def end(self, receipt: Receipt) -> None: ...

    def begin(self) -> None: ...

    def heartbeat(self) -> None: ...

    def finish(self) -> None: ...

    def act(self, act: str, who: str) -> None: ...


class Mission:
    """One run of one tree."""

    def __init__(
        self, loaded: Loaded, bus: Bus, link: GuardLink, prompts: Prompts, on_event: Callable[[Event], None]
    ) -> None:
        self._bus = bus
        self._link = link
        self._telling = threading.Lock()
        self._on_event = on_event
        self._preflight: dict[str, tuple[bool, str]] = {}
        self._mode = ""
        self._refused = ""
        self._running = False
        link.on_report = self._take
        self.robot = Robot(loaded.profile, bus, _Telling(link, self._tell_command))
        fields = RobotFields(self.robot)
        stand_ins = loaded.substitutes
        self.built = build(loaded.tree, loaded.catalogue, self.robot, fields, bus.clock, prompts, stand_ins)
        if stand_ins is not None and stand_ins.unused:
            raise CannotRun(_nothing_fits(stand_ins.unused, tuple(node.name for node in self.built.structure)))
        self.runner = Runner(self.built, bus, heartbeat=link.heartbeat, on_event=self._tell)

    def arm(self, who: str) -> None:
        """Preflight until it is clean, then arm. Raises NotArmed with every line that is not good."""
        until = self._bus.clock.now() + PREFLIGHT_TIME
        self._pass_time(0.5)
        while self._mode != "armed":
            self._preflight.clear()
            self._link.act("preflight", who)
            self._pass_time(0.2)
            if self._preflight and all(good for good, _ in self._preflight.values()):
                self._link.act("arm", who)
                self._pass_time(0.2)
            elif self._bus.clock.now() > until:
                bad = [text for good, text in self._preflight.values() if not good]
                raise NotArmed("\n".join(bad) or self._refused or "the guard does not answer")

    def run(self) -> Outcome:
        """From the first tick to the last; the robot must be armed."""
        for _ in self.turns():
            pass
        assert self.runner.outcome is not None
        return self.runner.outcome

    def turns(self) -> Iterator[None]:
        """As `run`, turn by turn."""
        self._link.begin()
        self._running = True
        yield from self.runner.turns()
        self._running = False
        self._link.finish()

    def _pass_time(self, seconds: float) -> None:
        until = self._bus.clock.now() + seconds
        while (left := until - self._bus.clock.now()) > 1e-9:
            self._bus.wait(min(left, 0.05))
            self._link.heartbeat()

    def _take(self, report: Report) -> None:
        """From the guard, perhaps in another thread."""
        if report.kind == "preflight":
            name = report.text.partition(":")[0]
            self._preflight[name] = (report.value == "ok", report.text)
        elif report.kind == "refused" and not report.id:
            self._refused = report.text
        elif report.kind == "mode":
            self._mode = report.value
            if report.value in _ENDS_THE_RUN or (self._running and report.value in _STOPPED):
                self.runner.stop(report.text)
        if report.kind not in ("preflight", "sent"):
            at = self._bus.clock.now()
            self._tell(GuardReport(at=at, report=report.kind, details=msgspec.to_builtins(report)))

    def _tell_command(self, intent: AnyIntent) -> None:
        details = msgspec.to_builtins(intent)
        self._tell(Command(at=self._bus.clock.now(), intent=details.pop("intent"), details=details))

    def _tell(self, event: Event) -> None:
        """One event after the other, whichever thread it comes from."""
        with self._telling:
            self._on_event(event)


def _nothing_fits(patterns: list[str], names: tuple[str, ...]) -> str:
    guesses = ((pattern, nearest(pattern, names)) for pattern in patterns)
    return "\n".join(
        f'no node is called "{pattern}"' + (f': did you mean "{guess}"?' if guess else "") for pattern, guess in guesses
    )


class _Telling:
    """A commander that tells what it is asked for."""

    def __init__(self, link: GuardLink, tell: Callable[[AnyIntent], None]) -> None:
        self._link = link
        self._tell = tell

    def send(self, intent: AnyIntent) -> Receipt:
        self._tell(intent)
        return self._link.send(intent)

    def end(self, receipt: Receipt) -> None:
        self._link.end(receipt)
