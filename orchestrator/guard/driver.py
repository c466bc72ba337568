"""The guard at work: owns the command writers, feeds the core with what the bus brings, and publishes what it decides.

The same class runs in virtual time and in the guard process; only who calls `run_due` differs.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import msgspec
from msgspec import structs

from orchestrator.bus.contract import READY_AFTER, Bus, BusError, Reader, Sample
from orchestrator.bus.contract import Report as BusReport
from orchestrator.guard import hands as guard_hands
from orchestrator.guard.config import GuardConfig
from orchestrator.guard.core import Core
from orchestrator.guard.events import (
    AuditState,
    BadSample,
    CallAnswered,
    Event,
    ForeignWriters,
    HandNotTold,
    Heartbeat,
    IntentAsked,
    LateFlags,
    Mismatch,
    Observation,
    RobotRebooted,
    Tick,
    WriterReady,
)
from orchestrator.guard.freshness import may_have_gone_round, went_backwards
from orchestrator.guard.modes import ACTIVE, Mode
from orchestrator.guard.observing import Read, Unbelievable, watched, watched_poses
from orchestrator.guard.order import Order
from orchestrator.guard.outputs import Joints, Output, Report, Send
from orchestrator.guard.policy import POLICIES, POSES, RPC, WRITES, Policy
from orchestrator.guard.rpc import Rpc
from orchestrator.guard.state import State
from orchestrator.guard.streams import WANTED_NO_MORE
from orchestrator.robots.drive import CannotSend, Message, Sending, calls, joint_messages, messages
from orchestrator.robots.intents import AnyIntent, HandTarget
from orchestrator.robots.profile import Profile
from orchestrator.wire.errors import WireError
from orchestrator.wire.topics import topics

POLL = 0.02
"""Seconds between two looks at stream topics, and at others that are silent."""
LOOK_AHEAD = 0.001
"""Seconds before a source would turn stale at which it is looked at: in virtual time samples come to those who look."""
SURVEY = 0.1
"""Seconds between two looks at who listens and who else writes."""
COUNTERS = {"rt/amr/state": (16, 40.0), "rt/lowstate": (32, 1000.0)}
"""Liveness counters that tell a restart by going back: their width in bits, and how often a second they count."""

Watched = tuple[str, Reader, Read]
"""A topic the guard looks at: its plain name, where its samples come in and how they are read."""


class Audit(Protocol):
    """Where every command is recorded."""

    def append(self, record: dict[str, Any]) -> None:
        """One record; raises OSError when it cannot be kept."""

    def sync(self) -> None:
        """Everything recorded so far is on the disk when this returns; raises OSError when it is not."""


class Guard:
    """One robot's guard. Events may come from several threads: one step at a time, and no disk is waited for in it."""

    def __init__(
        self,
        profile: Profile,
        config: GuardConfig,
        bus: Bus,
        audit: Audit,
        rpc: Rpc | None = None,
        latched: frozenset[str] = frozenset(),
    ) -> None:
        """`latched`: e-stops that the guard before this one has seen, and nobody has acknowledged."""
        self.profile = profile
        self.core = Core(profile, config)
        self.bus = bus
        self.state = latched_before(latched) if latched else State()
        self.on_report: Callable[[Report], None] = lambda report: None
        self.on_step: Callable[[], None] = lambda: None
        self._audit = audit
        self._rpc = rpc if profile.rpc else None
        self._topics = topics(profile.family, profile.variants, profile.prefix)
        self._writers = {name: bus.writer(self._topics[name]) for name in self.core.setting.commands}
        self._writer_of: dict[str, int] = {}
        self._orders: dict[str, Order] = {}
        self._commands = 0
        self._stops = 0
        self._stepping = threading.RLock()
        self._to_sync: list[Send] = []
        self._later: list[Event] = []
        self._poll_due = bus.clock.now()
        self._looked = self._surveyed = -math.inf
        self._streams: list[Watched] = []
        self._events: list[Watched] = []
        self._poses: list[Watched] = []
        bus.on_report(self._hear)
        self._watch()
        self._vital = [event for event in self._events if event[0] in self.core.vital]
        self._needed = {intent: self._needed_for(policy) for intent, policy in POLICIES.items()}
        if self._rpc is not None:
            self._rpc.watch(self._hear_rpc)

    def _watch(self) -> None:
        for name, read in watched(self.core.setting, self._topics).items():
            reader = self.bus.reader(self._topics[name])
            if self._topics[name].kind == "stream":
                self._streams.append((name, reader, read))
            else:
                self._events.append((name, reader, read))
                reader.on_sample(partial(self._take, name, read))
        for name, read in watched_poses(self.profile, self._topics).items():
            reader = self.bus.reader(replace(self._topics[name], kind="stream"))
            self._poses.append((name, reader, read))
        self._relied_on = tuple(name for name, _, _ in (*self._streams, *self._events))

    def look(self) -> None:
        """Take in what the bus holds already: for a guard that begins in the middle."""
        for name, reader, read in (*self._streams, *self._events):
            sample = reader.newest()
            if sample is not None:
                self._take(name, read, sample)

    @property
    def listened_to(self) -> bool:
        """Whether every command topic that somebody reads would carry a command now."""
        return all(writer.ready for writer in self._writers.values() if writer.matched)

    # In

    def _hear(self, report: BusReport) -> None:
        if report.kind == "mismatch":
            plain = next((name for name, topic in self._topics.items() if topic.name == report.topic), report.topic)
            self._later.append(Mismatch(plain, report.text))

    def _hear_rpc(self, ready: bool) -> None:
        if ready != (RPC in self.state.ready):
            self._decide(WriterReady(RPC, ready))

    def handle(self, event: Event) -> None:
        """The run or a person did something: have a look at the robot, then decide, publish and report."""
        if isinstance(event, IntentAsked):
            self._look(self._needed[type(event.intent)])
            self._poll_poses(event.intent)
        elif type(event) is not Heartbeat:
            self._look(self._events)
            self._poll_poses()
        elif self._only_beats(event):
            return
        self._decide(event)

    def _only_beats(self, event: Heartbeat) -> bool:
        """Most heartbeats bring nothing else about: nothing leaves, nothing is told, nothing is due earlier."""
        with self._stepping:
            state = None if self._later else self.core.beat(self.state, event, self.bus.clock.now())
            if state is None:
                return False
            self.state = state
            return True

    def _needed_for(self, policy: Policy) -> list[Watched]:
        """What is needed besides the vital sources, which are always looked at."""
        roles = self.core.setting.robot.roles
        needed = [roles.get(role) for role in policy.needs]
        return [event for event in self._events if event[0] in needed]

    def _decide(self, event: Event) -> None:
        with self._stepping:
            if isinstance(event, IntentAsked):
                self._see_who_listens(event.intent)
            self._step(event)
            while self._later:
                self._step(self._later.pop(0))
            to_sync, self._to_sync = self._to_sync, []
            stops, epoch = self._stops, self.state.epoch
        for output in to_sync:
            self._let_out_synced(output, stops, epoch)
        self.on_step()

    def _step(self, event: Event) -> None:
        self.state, outputs, reports = self.core.step(self.state, event, self.bus.clock.now())
        if outputs or reports:
            self._carry_out(outputs, reports)

    def _carry_out(self, outputs: list[Output], reports: list[Report]) -> None:
        self._stops += any(report.kind == "stop" for report in reports)
        stops = [output for output in outputs if output.role == "stop"]
        for output in outputs:
            self._let_out(output)
        for output in stops:
            if output.record:
                self._recorded(output)
        waiting = {output.id for output in self._to_sync}
        for report in reports:
            if report.kind != "sent" or report.id not in waiting:
                self.on_report(report)

    def _take(self, name: str, read: Read, sample: Sample) -> None:
        """One sample of a watched topic."""
        try:
            seen = read(sample.data, sample.received)
        except (Unbelievable, WireError, ArithmeticError, LookupError):  # whatever a sample is, the guard lives on
            self._decide(BadSample(name))
            return
        order = self._orders.setdefault(name, Order())
        if order.overtaken(sample):
            self._decide(LateFlags(seen.flags))
            return
        if self._restarted(name, sample, seen.counter):
            self._decide(RobotRebooted(f"{name} began anew"))
        self._decide(Observation(name, seen.facts, seen.flags, seen.counter, order.lag, seen.noisy))

    def _restarted(self, name: str, sample: Sample, counter: int | None) -> bool:
        """Another writer than before, or a counter that went back: the robot has been started again.

        After a long time in which nobody looked only the writer tells.
        """
        if name not in self._relied_on:
            return False  # it is not listened to all the time: this may be about a restart of long ago
        known = self._writer_of.get(name)
        self._writer_of[name] = sample.writer
        if known is not None and known != sample.writer:
            return True
        heard = self.state.sources.get(name)
        if heard is None or heard.counter is None or counter is None or name not in COUNTERS:
            return False
        bits, rate = COUNTERS[name]
        unseen = sample.received - heard.last
        return not may_have_gone_round(unseen, bits, rate) and went_backwards(heard.counter, counter, bits)

    def next_due(self) -> float:
        """When `run_due` must be called at the latest."""
        poll = self._poll_due if self._streams else math.inf
        return min(self.core.next_due(self.state), self._survey_due(), self._look_due(), poll)

    def run_due(self) -> None:
        """Do what time brings: look at the robot, survey the bus, let the core act."""
        now = self.bus.clock.now()
        if self._streams and now >= self._poll_due:
            self._poll_due = now + POLL
            self._poll()
        if now >= self._look_due():
            blind = now >= self._blind_at() - LOOK_AHEAD
            self._look(self._vital if self._quiet and not blind else self._events)
        if now >= self._survey_due():
            self._surveyed = now
            self._survey()
        if self.core.is_due(self.state, now):
            self._decide(Tick())
        else:
            self.on_step()

    @property
    def _quiet(self) -> bool:
        """Whether nothing is under way that relies on more than the vital sources."""
        state = self.state
        ending = (state.stop is not None and state.stop.outcome == "open") or (state.task and state.task.cancelled)
        return state.mode in ACTIVE and not state.streams and not ending and not guard_hands.moves(state)

    def _look_due(self) -> float:
        """When to look at what the guard relies on, before it turns stale."""
        if self._quiet:
            stale, blind = self.core.stale_at(self.state), self._blind_at()
            stale = stale if stale < blind else blind
        else:
            sources = self.state.sources
            stale = min([sources[name].stale_at if name in sources else -math.inf for name in self._relied_on])
        due = stale - LOOK_AHEAD
        return due if due > self._looked else self._looked + POLL  # the last look was in vain

    def _blind_at(self) -> float:
        return self.core.blind_at(self.state) if self.state.task is not None else math.inf

    def _look(self, events: list[Watched]) -> None:
        """Whoever has something newer hands it to `_take`."""
        self._looked = self.bus.clock.now()
        for _, reader, _ in events:
            reader.newest()

    def _poll(self) -> None:
        for name, reader, read in self._streams:
            sample = reader.newest()
            heard = self.state.sources.get(name)
            if sample is not None and (heard is None or sample.received > heard.last):
                self._take(name, read, sample)
        self._poll_poses()

    def _poll_poses(self, asked: AnyIntent | None = None) -> None:
        """Where the robot is on its way to a pose, once one is asked for; before that it is only known who is silent.

        A stream's sample counts as new when it is looked for first, however long it has lain there: so that is done
        all the time, but in virtual time, where samples are made for those who look, no oftener than needed.
        """
        floor = self.core.setting.config.stale.floor
        posing = bool(self.state.posing) or type(asked) in POSES
        for name, reader, read in self._poses:
            sample = reader.newest(0.0 if posing else math.inf)
            heard = self.state.sources.get(name)
            if not posing or sample is None or self.bus.clock.now() - sample.received >= floor:
                continue
            if heard is None or sample.received > heard.last:
                self._take(name, read, sample)

    def _survey_due(self) -> float:
        """Until whoever came last is ready, and as long as there are no records."""
        unsettled = self._surveyed <= self.bus.changed_at + READY_AFTER or not self.state.audit_works
        return self._surveyed + SURVEY if unsettled else math.inf

    def _see_who_listens(self, intent: AnyIntent) -> None:
        """A robot that has just been started again has other readers: a command must not rely on the last survey."""
        for name in WRITES[self.profile.family].get(type(intent), ()):
            if name in self._writers and self._writers[name].ready != (name in self.state.ready):
                self._step(WriterReady(name, name not in self.state.ready))

    def _survey(self) -> None:
        for name, writer in self._writers.items():
            if writer.ready != (name in self.state.ready):
                self._decide(WriterReady(name, writer.ready))
        foreign = self._foreign()
        if (foreign.names, foreign.topics) != (self.state.foreign, self.state.contested):
            self._decide(foreign)
        if not self.state.audit_works and self._audit_works_again():
            self._decide(AuditState(True))

    def _audit_works_again(self) -> bool:
        note = {
            "at": self.bus.clock.now(),
            "epoch": self.state.epoch,
            "role": "note",
            "cause": "records are kept again",
        }
        try:
            with self._stepping:
                self._audit.append(note)
        except OSError:
            return False
        return True

    def _foreign(self) -> ForeignWriters:
        """Who else commands the robot (not the robot itself, nobody the profile allows) or passes for it."""
        shown_by = {
            name: {endpoint.participant for endpoint in self.bus.writers(self._topics[name].name)}
            for name in self.core.setting.robot.roles.values()
        }
        robot = set().union(*shown_by.values())
        commanded: dict[str, list[str]] = {}
        for name in self._writers:
            for endpoint in self.bus.writers(self._topics[name].name):
                if endpoint.participant not in robot and endpoint.name not in self.profile.allowed_writers:
                    commanded.setdefault(endpoint.who, []).append(name)
        others = {f"{who} on {_some(names)}" for who, names in commanded.items()}
        others |= {f"another robot on {name}" for name, writers in shown_by.items() if len(writers) > 1}
        return ForeignWriters(tuple(sorted(others)), frozenset(name for names in commanded.values() for name in names))

    # Out

    def _let_out(self, output: Output) -> None:
        """Record, then publish; a stop is recorded when all of it is out, so that no disk delays it."""
        if output.role != "stop" and output.record and not self._recorded(output):
            self._report_refused(output, "the audit file takes no records")
            return
        if isinstance(output, Send) and output.sync:
            self._to_sync.append(output)
        else:
            self._publish_or_say(output)

    def _let_out_synced(self, output: Send, stops: int, epoch: int) -> None:
        """A command that must not be sent twice waits for the disk; nothing else waits meanwhile, least of all a stop.

        What happened in the meantime counts: after a stop, even one that is over, or without the lease, it stays here.
        """
        with self._stepping:
            self.state = structs.replace(self.state, syncing=True)
        synced = self._synced()
        with self._stepping:
            self.state = state = structs.replace(self.state, syncing=False)
            free = state.mode is Mode.RUNNING and state.suspect is None
            wanted = type(output.intent) not in POSES or output.id in state.under_way.values()
            if synced and free and wanted and self._stops == stops and state.epoch == epoch:
                self._publish_or_say(output)
                self.on_report(Report("sent", type(output.intent).__name__, output.id, "sent"))
                return
            self._recorded(output, withdrawn=True)
            stopped = "the robot was stopped" if wanted else WANTED_NO_MORE
            self._report_refused(output, stopped if synced else "the audit file takes no records")

    def _publish_or_say(self, output: Output) -> None:
        try:
            self._publish(output)
        except (CannotSend, WireError, BusError, OSError) as error:
            self._report_refused(output, str(error))

    def _synced(self) -> bool:
        try:
            self._audit.sync()
        except OSError:
            self._decide(AuditState(False))
            return False
        return True

    def _recorded(self, output: Output, withdrawn: bool = False) -> bool:
        record = record_of(output, self.bus.clock.now(), self.state.epoch)
        try:
            self._audit.append(record | {"role": "withdrawn"} if withdrawn else record)
        except OSError:
            self._later.append(AuditState(False))
            return False
        return True

    def _report_refused(self, output: Output, why: str) -> None:
        if isinstance(output, Send) and isinstance(output.intent, HandTarget):
            self._later.append(HandNotTold(output.intent.hand))
        text = f"{output.cause}: {why}"
        self.on_report(Report("warning" if output.role == "stop" else "refused", text, output.id, "not sent"))

    def _publish(self, output: Output) -> None:
        sending = self._sending(output)
        if isinstance(output, Joints):
            made = joint_messages(self.profile, dict(output.groups), sending)
            self._write([(name, _soften(message, output)) for name, message in made])
            return
        called = calls(self.profile, output.intent, sending) if self._by_rpc(output.intent) else []
        if called and self._rpc:
            for call in called:
                answered = partial(self._answered, output.id)
                self._rpc.call(call, stop=output.role == "stop", answered=answered)
        else:
            self._write(messages(self.profile, output.intent, sending))

    def _by_rpc(self, intent: AnyIntent) -> bool:
        """It is the better way while the robot answers, and for some the only one."""
        routes = WRITES[self.profile.family].get(type(intent), ())
        return self._rpc is not None and (RPC in self.state.ready or routes == (RPC,))

    def _answered(self, id: int, problem: str | None) -> None:  # noqa: A002
        self._decide(CallAnswered(id, problem))

    def _write(self, made: list[Message]) -> None:
        for name, message in made:
            self._writers[name].write(message)

    def _sending(self, output: Output) -> Sending:
        self._commands += 1
        setting = self.core.setting
        observed, now = self.state.observed, self.bus.clock.now()
        held = {group: hold.q for group, hold in self.state.holds.items() if now < hold.until}
        return Sending(
            command_id=self._commands % 2**32,
            timestamp=max(0, int(now * 1000)),
            valid_for=max(setting.config.timing.stream, 2.5 / setting.velocity_rate),
            joints=observed.joints | held,
            hands=self._finger_positions() if isinstance(output, Send) and type(output.intent) is HandTarget else {},
        )

    def _finger_positions(self) -> dict[str, tuple[float, ...]]:
        """Where the fingers are, or are to be, in the vendor's unit."""
        hands = self.profile.hands
        if hands is None:
            return {}
        state = self.state
        openings = {hand: guard_hands.kept(state, hand, measured) for hand, measured in state.observed.hands.items()}
        return {
            hand: tuple(c + (o - c) * part for part, c, o in zip(opening, hands.closed, hands.open))
            for hand, opening in openings.items()
        }


def latched_before(channels: frozenset[str]) -> State:
    """A guard begins where the one before it was."""
    reason = f"e-stop {', '.join(sorted(channels))}, before this guard started"
    return State(mode=Mode.ESTOPPED, reason=reason, latched=channels)


def _some(names: list[str]) -> str:
    return ", ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} other topics"


def _soften(message: Any, output: Joints) -> Any:
    """Position gains as stiff as wanted, where the message has any."""
    if output.stiffness != 1.0 or output.damping is not None:
        for motor in message.motor_cmd:
            motor.kp *= output.stiffness
            motor.kd = motor.kd if output.damping is None else output.damping
    return message


def record_of(output: Output, now: float, epoch: int) -> dict[str, Any]:
    """An output as the audit keeps it: plain values, no types of ours."""
    record = {"at": now, "epoch": epoch, "role": output.role, "id": output.id, "cause": output.cause}
    if isinstance(output, Joints):
        return record | {"joints": dict(output.groups), "stiffness": output.stiffness}
    return record | {"command": msgspec.to_builtins(output.intent)}
