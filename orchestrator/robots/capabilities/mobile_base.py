"""The wheeled base: tasks, remote drive, maps."""

from __future__ import annotations

import math
from typing import Any

from orchestrator.bus.contract import Sample
from orchestrator.robots import intents
from orchestrator.robots.capabilities.base_task import (
    ACTIVE,
    BLOCKED_AT_MOST,
    CONFIRM_WITHIN,
    LEAST_MOVE,
    LEAST_TURN,
    TASK_MODE,
    Report,
    Task,
)
from orchestrator.robots.capabilities.measuring import turned, way
from orchestrator.robots.intents import AnyIntent
from orchestrator.robots.judging import READBACK, Context, Decided, Judge, Sent, Settling, Together
from orchestrator.robots.knowledge import Known, Read, Unknown
from orchestrator.robots.outcome import RUNNING, SUCCESS, Outcome, failure, running, unknown
from orchestrator.robots.reasons import Reason
from orchestrator.robots.signals import BoundSignal, Several
from orchestrator.robots.state.atom import AMR

REMOTE_MODE = 3
CANCEL_WITHIN = 10.0
RESEND_AFTER, RESENDS = 0.2, 3
"""A task that goes on although it was cancelled or paused is told again: the base takes it only while the task runs."""
DEAF = ("queuing", "waiting_confirm")
"""What a base says while it would not take a cancel. One that works on a task and says that it is over is told."""
GETS_GOING = 0.5
"""Seconds in which a base that was told a velocity may not drive yet."""
ENOUGH = 0.9
"""Of the way that a velocity leads to after that: a base that did less was held up."""
LATE_START = 5.2
"""Seconds for which a task that was called off before the base took it may still begin.

The guard lets no other task pass until it gives up such a one: `timing.explained` (5 s) after it was sent.
"""

_STATES = ("device", "navigation", "task", "mode", "blocked", "obstacle", "errors")


class MobileBase:
    """One task at a time; a new one waits until the base is free."""

    def __init__(self, context: Context) -> None:
        self._context = context
        state = context.state
        self._read = {part: state.signal(f"amr.{part}") for part in (*_STATES, "position")}
        for part in ("device", "navigation", "task", "mode"):
            self._read[part].watch()
        self._remote = state.reader("amr.mode", lambda mode: mode == REMOTE_MODE)
        self._feed = state.feed(AMR)
        together = Several(AMR, "", parts=tuple(state.signals[f"amr.{part}"] for part in _STATES))
        self._states = BoundSignal(self._feed, together)
        self._feed.on_sample(self._notice)
        self._sample: Sample | None = None
        self._known: Known[Report] | Unknown = Unknown(Reason.NO_SAMPLE, "")
        """What the sample that was looked at last says."""
        self._task: Task | None = None
        self._calling_off: _CallingOff | None = None

    # What it says

    def status(self) -> Known[str] | Unknown:
        """The state of navigation: idle, queuing, running, completed, failed, paused, canceled, ..."""
        return self._read["navigation"]()

    def device(self) -> Known[str] | Unknown:
        return self._read["device"]()

    def position(self) -> Known[tuple[float, float, float]] | Unknown:
        """x and y in metres, heading in radians, on the base's map."""
        return self._read["position"]()

    def blocked(self) -> Known[bool] | Unknown:
        return self._read["blocked"]()

    def remote(self) -> Known[bool] | Unknown:
        """Whether it is in a remote session, in which it takes no tasks."""
        return self._remote()

    def report(self) -> Known[Report] | Unknown:
        sample = self._feed.look(closely=False)
        return sample if isinstance(sample, Unknown) else self._report_of(sample)

    # Tasks

    def move_to_tag(self, tag: int, heading: float | None, give_up_blocked: float = BLOCKED_AT_MOST) -> Task:
        return Task(self, self._context, intents.MoveToTag(tag, heading), give_up_blocked)

    def rotate(self, angle: float) -> Judge:
        base = self._context.profile.base
        if base is None or not base.rotate:
            return Decided(self._context, failure(Reason.UNSUPPORTED, "the base cannot turn on the spot by command"))
        if abs(angle) > math.pi:
            why = "more than half a turn cannot be told from less by where the base faces"
            return Decided(self._context, failure(Reason.REFUSED, why))
        return Task(self, self._context, intents.RotateBase(angle))

    def cancel(self) -> Judge:
        """Cancel whatever the base drives to and wait until it has stopped; nothing is sent when it does nothing."""
        return _Cancelling(self, self._context)

    def pause(self) -> Judge:
        found = self.report()
        waits = self._task is not None and self._task.under_way
        if isinstance(found, Known) and found.value.at_rest and not waits:
            return Decided(self._context, failure(Reason.REFUSED, "nothing is under way that could be paused"))
        self._hold(True)
        return _Pausing(self._context, self._read["navigation"])

    def resume(self) -> Judge:
        self._hold(False)
        return self._settle(intents.ResumeTask(), "navigation", "running", "completed")  # little may be left of the way

    def _hold(self, held: bool) -> None:
        if self._task is not None:
            self._task.held = held

    # Remote drive

    def start_remote(self) -> Judge:
        """Open a remote session; on some bases a person must press a key."""
        return _Remote(self._context, self._read["mode"], self._read["navigation"], self._needs_key())

    def _needs_key(self) -> bool:
        base = self._context.profile.base
        return base is not None and base.confirm_key

    def drive(self, linear: float, angular: float) -> Judge:
        return _Driving(self._context, intents.DriveBase(linear, angular), self._read["mode"])

    def stop_remote(self) -> Judge:
        return self._settle(intents.StopRemote(), "mode", TASK_MODE)

    def drive_for(self, linear: float, angular: float, time: float, confirmed: bool = False) -> Judge:
        """Drive for a time in a remote session that is opened for it, and closed whatever happens.

        A person agrees to it: with the key on the base, or where it needs none before it is asked for (`confirmed`).
        """
        if not confirmed and not self._needs_key():
            return Decided(
                self._context,
                failure(Reason.CONFIRMATION, "this base has no key: a person must agree to each start (add confirm)"),
            )
        return _Session(self, self._context, intents.DriveBase(linear, angular), time)

    # Settings and maps: the base reports nothing about them

    def set_speed(self, speed: float, acceleration: float | None = None, deceleration: float | None = None) -> Judge:
        """How fast it drives its tasks (m/s), and how it gains and loses speed; it turns in proportion."""
        base = self._context.profile.base
        assert base is not None
        turn = min(base.turning_like(speed), base.angular)  # rounding must not carry it beyond its limit
        wanted: list[AnyIntent] = [intents.SetBaseSpeed(speed, turn)]
        if acceleration is not None:
            wanted.append(intents.SetBaseAcceleration(acceleration, base.turning_like(acceleration)))
        if deceleration is not None:
            wanted.append(intents.SetBaseDeceleration(deceleration, base.turning_like(deceleration)))
        return Together(self._context, [Sent(self._context, intent) for intent in wanted])

    def subscribe_laser(self, enabled: bool) -> Judge:
        return Sent(self._context, intents.SubscribeLaser(enabled))

    def start_mapping(self) -> Judge:
        return Sent(self._context, intents.StartMapping())

    def save_map(self) -> Judge:
        return Sent(self._context, intents.SaveMap())

    def stop_mapping(self) -> Judge:
        return Sent(self._context, intents.StopMapping())

    # Between tasks and the base

    def free(self, report: Report) -> bool:
        """Whether a new task would start at once, with none of ours still on its way."""
        return report.idle and self._calling_off is None

    def follow(self, task: Task) -> None:
        self._task = task

    def call_off(self, task: Task | None) -> None:
        """Cancel a task as soon as the base can take it: it does so only while it runs."""
        if task is not None and (task is not self._task or not task.may_run):
            return
        if task is None and self._task is not None:
            self._task.called_off()
        self._task = None
        self._calling_off = self._calling_off or _CallingOff(self._context, task is None or task.was_seen)
        found = self.report()
        if isinstance(found, Known):
            self._call_off_now(found.value)
        else:  # it may be driving all the same; until it is heard again the guard repeats this
            self._context.commander.send(intents.CancelTask())

    @property
    def calling_off(self) -> bool:
        return self._calling_off is not None

    def _notice(self, sample: Sample) -> None:
        if self._task is None and self._calling_off is None:
            return
        found = self._report_of(sample)
        if isinstance(found, Unknown):
            return
        if self._task is not None:
            self._task.see(found.value)
        self._call_off_now(found.value)

    def _call_off_now(self, report: Report) -> None:
        if self._calling_off is not None and self._calling_off.over(report):
            self._calling_off = None

    def _report_of(self, sample: Sample) -> Known[Report] | Unknown:
        if sample is not self._sample:
            self._sample, self._known = sample, self._made_from(sample)
        return self._known

    def _made_from(self, sample: Sample) -> Known[Report] | Unknown:
        states, place = self._states.of(sample), self._read["position"].of(sample)
        if isinstance(states, Unknown):
            return states
        device, navigation, task, mode, blocked, obstacle, errors = states.value
        position = place.value if isinstance(place, Known) else None
        report = Report(sample.received, device, navigation, task, mode, blocked or obstacle, errors, position)
        return Known(report, sample.received)

    def _settle(self, intent: AnyIntent, part: str, *wanted: object) -> Judge:
        return Settling(self._context, intent, self._read[part], lambda reported: reported in wanted)


class _CallingOff:
    """Sends CancelTask while a task runs, until it has stopped; waits while it is queued or has not begun.

    A paused task cannot be cancelled, and whoever resumes it later would not expect it: it goes on for an instant, if
    the pause was ours (the guard knows), and is cancelled then.
    """

    def __init__(self, context: Context, seen: bool) -> None:
        self._context = context
        self._since = context.clock.now()
        self._status = ""
        self._sent = 0
        self._last = -math.inf
        self._seen = seen

    def over(self, report: Report) -> bool:
        if report.navigation not in ACTIVE and report.device != "tasking":
            # Idle: the task has stopped. If it was never seen at work, it may still be on its way to the base.
            return self._seen or report.received - self._since > LATE_START
        self._seen = True
        if report.navigation != self._status:
            self._status, self._sent, self._last = report.navigation, 0, -math.inf
        due = self._sent <= RESENDS and report.received - self._last >= RESEND_AFTER
        if due and report.navigation not in DEAF:
            resume = report.navigation == "paused" and self._sent % 2
            self._sent += 1
            self._last = report.received
            self._context.commander.send(intents.ResumeTask() if resume else intents.CancelTask())
        return False


class _Cancelling(Judge):
    """Done when the base does nothing any more."""

    def __init__(self, base: MobileBase, context: Context) -> None:
        super().__init__(context, None)
        self._base = base
        found = base.report()
        if isinstance(found, Unknown) or found.value.navigation in ACTIVE or found.value.device == "tasking":
            base.call_off(None)

    def judge(self, now: float) -> Outcome:
        found = self._base.report()
        if isinstance(found, Unknown):
            return unknown(found)
        if found.value.navigation not in ACTIVE and found.value.device != "tasking" and not self._base.calling_off:
            return SUCCESS
        if now - self.created > CANCEL_WITHIN and found.value.navigation != "queuing":
            return failure(Reason.NOT_ACCEPTED, f"the base is still {found.value.navigation}")
        return RUNNING


class _Pausing(Settling):
    """A pause that was lost, or came before the task ran, is asked for again."""

    def __init__(self, context: Context, navigation: Read) -> None:
        super().__init__(context, intents.PauseTask(), navigation, lambda reported: reported == "paused")
        self._told = self.asked
        self._repeats = RESENDS

    def judge(self, now: float) -> Outcome:
        found = self.evidence(self._read)
        status = found.value if isinstance(found, Known) else ""
        if status == "paused":
            self._repeats = 0  # whoever lets it go on now is not fought
        elif status == "running" and self._repeats and now - self._told >= RESEND_AFTER:
            self._told, self._repeats = now, self._repeats - 1
            self.context.commander.send(intents.PauseTask())
        return super().judge(now)


class _Remote(Settling):
    """Opening a remote session: given up, it is closed again, because the base takes no tasks until then."""

    def __init__(self, context: Context, mode: Read, navigation: Read, key: bool) -> None:
        self._key = key
        self._navigation = navigation
        self._asked_for_key = False
        within = CONFIRM_WITHIN if key else READBACK
        super().__init__(context, intents.StartRemote(), mode, lambda found: found == REMOTE_MODE, within)

    def judge(self, now: float) -> Outcome:
        asks = self.evidence(self._navigation)
        self._asked_for_key |= isinstance(asks, Known) and asks.value == "waiting_confirm"
        outcome = super().judge(now)
        return running(None, Reason.CONFIRMATION) if self._key and outcome == RUNNING else outcome

    def _gave_up(self, found: Known[Any] | Unknown | None, unchanged: bool) -> Outcome:
        if self._key and unchanged:
            within = f"within {self._within:g} s"
            if self._asked_for_key:
                return failure(Reason.CONFIRMATION, f"nobody pressed the key on the base {within}")
            return failure(Reason.NOT_ACCEPTED, f"the base neither asked for its key nor opened the session {within}")
        return super()._gave_up(found, unchanged)

    def cancel(self) -> None:
        if self._verdict is None or self._verdict.status == "failure":
            self.context.commander.send(intents.StopRemote())
        super().cancel()


class _Session(Judge):
    """A remote session: opened, driven for a time, closed. Done if the base was seen to drive as it was told."""

    def __init__(self, base: MobileBase, context: Context, velocity: intents.DriveBase, time: float) -> None:
        super().__init__(context, None)
        self._base = base
        self._velocity = velocity
        self._time = time
        self._driven = _Driven(velocity, time)
        self._opening = base.start_remote()
        self._driving: Judge | None = None
        self._closing: Judge | None = None

    def judge(self, now: float) -> Outcome:
        if self._closing is not None:
            closed = self._closing.outcome()
            short = self._driven.short() if closed.status == "success" else ""
            return failure(Reason.NO_PROGRESS, short) if short else closed
        report = self._base.report()
        if isinstance(report, Unknown):
            return unknown(report)
        if report.value.out_of_order:
            return failure(Reason.FAILED, report.value.out_of_order)
        if self._driving is None:
            opened = self._opening.outcome()
            if opened.status != "success":
                return opened
            self._driven.look(report.value)  # where it begins
            self._driving = self._base.drive(self._velocity.linear, self._velocity.angular)
        return self._drive(self._driving, report.value, now)

    def _drive(self, driving: Judge, report: Report, now: float) -> Outcome:
        outcome = driving.outcome()
        if outcome.over:
            return outcome
        if report.received > driving.sent_at:
            self._driven.look(report)
        since = now - driving.sent_at
        if since >= self._time:
            self._close()
        return running(max(since, 0.0) / self._time)

    def cancel(self) -> None:
        if self._driving is None:
            self._opening.cancel()
        elif self._closing is None or self._closing.outcome().status == "failure":
            self._close()
        super().cancel()

    def _close(self) -> None:
        """The guard ends a session with zero velocity; only then nobody asks for the old one any more."""
        assert self._driving is not None
        self._closing = self._base.stop_remote()
        self._driving.cancel()


class _Driven:
    """How far the base has driven and turned by its own reports, of what a velocity would lead to."""

    def __init__(self, velocity: intents.DriveBase, time: float) -> None:
        self._told = abs(velocity.linear) * time, math.degrees(abs(velocity.angular) * time)
        self._expected = ENOUGH * max(time - GETS_GOING, 0.0) / time
        self._way, self._turn = way(), turned(math.copysign(1.0, velocity.angular))
        self._done = 0.0, 0.0
        self._blocked = False

    def look(self, report: Report) -> None:
        self._blocked = report.blocked
        if report.position is not None:
            self._done = self._way(report.position), math.degrees(self._turn(report.position[2]))

    def short(self) -> str:
        """What is missing; empty if nothing is, or if there was too little to do to be told from noise."""
        parts = zip(self._done, self._told, (LEAST_MOVE, math.degrees(LEAST_TURN)), ("m", "deg"))
        for done, told, least, unit in parts:
            if told >= 2 * least and done < max(self._expected * told, least):
                why = ": something is in its way" if self._blocked else ""
                return f"the base did {done:.2g} of {told:.2g} {unit}{why}"
        return ""


class _Driving(Judge):
    """Drives until it is cancelled; fails when the session ends."""

    def __init__(self, context: Context, intent: intents.DriveBase, mode: Read) -> None:
        self._mode = mode
        super().__init__(context, intent)

    def judge(self, now: float) -> Outcome:
        found = self._mode()
        if isinstance(found, Unknown):
            return unknown(found)
        if found.value != REMOTE_MODE:
            return failure(Reason.CONTROL_LOST, "the remote session has ended")
        return RUNNING
