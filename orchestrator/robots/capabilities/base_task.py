"""Judging a task of the wheeled base from its reports.

The base reports levels, not events: COMPLETED of the last task stays until the next one runs, tasks queue up behind
each other, and nothing in a report names our command. So an end counts only if it is fresh: the base was seen at work
on a task after our command left.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.robots.capabilities.body import turn_between
from orchestrator.robots.intents import MoveToTag, PauseTask, ResumeTask, RotateBase
from orchestrator.robots.judging import ACCEPT, Context, Judge
from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.outcome import SUCCESS, Outcome, failure, running, unknown
from orchestrator.robots.reasons import Reason

if TYPE_CHECKING:
    from orchestrator.robots.capabilities.mobile_base import MobileBase

FREE_WITHIN = 6.5
"""Seconds a new task waits for the base to become free: longer than one that was called off may begin late."""
RUNNING_WITHIN = 5.0
"""Seconds from accepted to running."""
QUEUE_AT_MOST = 30.0
CONFIRM_WITHIN = 60.0
BLOCKED_AT_MOST = 60.0
BLOCKED_GAP = 0.5
"""A block that goes away for less than this has not gone away."""
PROGRESS_WITHIN = 10.0
FACES_WITHIN = math.radians(5)
"""How far from where a turn should lead the base may face after it."""
LEAST_MOVE, LEAST_TURN = 0.05, math.radians(3)
"""What counts as progress, m and rad."""
AGAIN_AFTER = 0.2
"""Seconds after which a pause without effect is asked for again."""
QUICK_END = 1.0
"""An end without a visible run counts after so long: parts of a report may lag behind each other."""

ACTIVE = frozenset({"queuing", "running", "paused", "waiting_confirm"})
"""Statuses of a task that is not over."""
_BAD_DEVICE = frozenset({"error", "offline", "upgrade", "init", "charging"})
_ENDS = {
    "failed": Reason.FAILED,
    "canceled": Reason.CANCELLED_BY_OTHER,
    "stopped": Reason.CANCELLED_BY_OTHER,
}
TASK_MODE = 0


class Report(NamedTuple):
    """What the base says at one instant."""

    received: float
    device: str
    navigation: str
    task: int
    mode: int
    blocked: bool
    errors: tuple[int, ...]
    position: tuple[float, ...] | None

    @property
    def idle(self) -> bool:
        """Whether it would start a new task at once."""
        return self.device == "devidle" and self.navigation not in ACTIVE and self.mode == TASK_MODE

    @property
    def at_rest(self) -> bool:
        """Whether it works on no task."""
        return self.navigation not in ACTIVE and self.device != "tasking"

    @property
    def out_of_order(self) -> str:
        """What is wrong with the base itself; empty if nothing is."""
        codes = f", error codes {list(self.errors)}" if self.errors else ""
        return f"the base is {self.device}{codes}" if codes or self.device in _BAD_DEVICE else ""


class Task(Judge):
    """A drive to a tag, or a turn, from the command to its fresh end."""

    def __init__(
        self,
        base: MobileBase,
        context: Context,
        wanted: MoveToTag | RotateBase,
        give_up_blocked: float = BLOCKED_AT_MOST,
    ) -> None:
        super().__init__(context, None)
        self._base = base
        self._wanted = wanted
        self._give_up_blocked = give_up_blocked
        self.cancelled = False
        self.held = False
        """Another node of the run has asked for a pause, and it is that node's to end."""
        self._stays_paused = False
        self._reports: deque[Report] = deque(maxlen=4096)
        self._before: Report | None = None
        self._seen = _Seen()
        self._travel = _Travel()
        self._outcome: Outcome | None = None
        self._pausing: PauseTask | ResumeTask | None = None
        self._pausing_sent = -math.inf
        self._paused = -math.inf
        """When it was last told to pause, by us or by the guard."""
        self._send_when_free()

    @property
    def may_run(self) -> bool:
        """Whether the base has it, or may still get it."""
        return self.receipt is not None and self.receipt.state != "refused"

    @property
    def under_way(self) -> bool:
        """Whether it has been given to the base and not been judged yet."""
        return self.may_run and self._verdict is None

    @property
    def was_seen(self) -> bool:
        """Whether the base was seen to take it."""
        return self._seen.accepted is not None

    def see(self, report: Report) -> None:
        """Take in a report; it is judged at the next look, when it is known whether the command had left before it."""
        if self._verdict is None:
            self._reports.append(report)
            self._pause_or_resume(report)

    def pause(self) -> None:
        """Stand until `resume`. What has not begun yet is paused as soon as it does; what another node holds, stays."""
        found = self._base.report()
        self._stays_paused = self.held and isinstance(found, Known) and found.value.navigation == "paused"
        self._paused = self.context.clock.now()
        self._ask_for(PauseTask())

    def resume(self) -> None:
        self.created = self._seen.navigation_since = self.context.clock.now()
        self._ask_for(None if self._stays_paused else ResumeTask())

    def _ask_for(self, wanted: PauseTask | ResumeTask | None) -> None:
        self._pausing, self._pausing_sent = wanted, -math.inf
        found = self._base.report()
        if isinstance(found, Known):
            self._pause_or_resume(found.value)

    def _pause_or_resume(self, report: Report) -> None:
        """The base takes a pause only while it runs, and goes on only from a pause: ask again until it has done so."""
        wanted = self._pausing
        if wanted is None or self.receipt is None:
            return
        if isinstance(wanted, ResumeTask) and report.navigation == "running" and self._keeps_running(report):
            self._pausing = None
        takes = "running" if isinstance(wanted, PauseTask) else "paused"
        if report.navigation == takes and report.received - self._pausing_sent >= AGAIN_AFTER:
            self._pausing_sent = report.received
            self._paused = report.received if isinstance(wanted, PauseTask) else self._paused
            self.context.commander.send(wanted)

    def _keeps_running(self, report: Report) -> bool:
        """Whether a base that runs goes on doing so: it may only just have been told to pause, and pause yet."""
        told_to = self._pausing_sent > -math.inf
        return told_to or self.held or report.received - self._paused > ACCEPT

    def judge(self, now: float) -> Outcome:
        if self.receipt is None:
            return self._waiting(now)
        latest = self._base.report()
        if isinstance(latest, Unknown):
            return unknown(latest)
        while self._reports and self._outcome is None:
            report = self._reports.popleft()
            if report.received < self.sent_at:
                self._before = report
            elif report.received > self.sent_at:  # at the same instant: neither before nor evidence
                self._outcome = self._follow(report)
        return self._outcome or self._limits(now)

    def cancel(self) -> None:
        if not self.cancelled and (self._verdict is None or self._verdict.status == "failure"):
            self.cancelled = True
            self._base.call_off(self)
        super().cancel()

    def called_off(self) -> None:
        """Another node of the run has cancelled it."""
        self.cancelled = True
        if self._verdict is None:
            self._verdict = failure(Reason.CANCELLED, "by another node of this run")

    def _waiting(self, now: float) -> Outcome:
        found = self._base.report()
        if isinstance(found, Unknown):
            return unknown(found)
        if self._send_when_free():
            return running(0.0)
        if now - self.created > FREE_WITHIN:
            return failure(Reason.BUSY, f"{found.value.device}, {found.value.navigation}, mode {found.value.mode}")
        return running(0.0, Reason.BUSY)

    def _send_when_free(self) -> bool:
        found = self._base.report()
        if isinstance(found, Unknown) or not self._base.free(found.value):
            return False
        self._before = found.value
        self.asked = self.context.clock.now()
        self.receipt = self.context.commander.send(self._wanted)
        self._base.follow(self)
        return True

    def _follow(self, report: Report) -> Outcome | None:
        """What one report newer than the command says; None: it goes on."""
        if report.mode != TASK_MODE:
            return failure(Reason.CANCELLED_BY_OTHER, f"the base was switched to mode {report.mode}")
        if report.out_of_order:
            return failure(Reason.FAILED, report.out_of_order)
        self._seen.look(report, self._before)
        if not self._seen.fresh(report):
            return None
        if report.navigation == "completed":
            return self._completed(report)
        if report.navigation in _ENDS:
            return failure(_ENDS[report.navigation], f"the base reports {report.navigation}")
        if report.navigation not in ACTIVE and self._seen.quiet_for(report) >= QUICK_END:
            return failure(Reason.FAILED, f"the task ended without a result: {report.navigation}")
        self._travel.look(report)
        return None

    def _completed(self, report: Report) -> Outcome | None:
        """A turn is done when the base faces where it should, by its own report; that part of it may lag behind."""
        off = self._off_course(report)
        if off <= FACES_WITHIN:
            return SUCCESS
        if self._seen.quiet_for(report) < QUICK_END:
            return None
        text = f"the base says that it has turned, but faces {math.degrees(off):.0f} deg from where it should"
        return failure(Reason.NO_PROGRESS, text)

    def _off_course(self, report: Report) -> float:
        """How far it faces from where a turn should have led (rad); 0 where nothing says that."""
        before, after = self._before.position if self._before else None, report.position
        if not isinstance(self._wanted, RotateBase) or before is None or after is None:
            return 0.0
        return abs(turn_between(before[2] + self._wanted.angle, after[2]))

    def _limits(self, now: float) -> Outcome:
        """Time limits of whatever it is doing."""
        seen = self._seen
        if seen.accepted is None:
            late = now - self.sent_at > ACCEPT
            return failure(Reason.NOT_ACCEPTED) if late else running(0.0)
        if seen.navigation != "running":
            waiting, limit = _WAITS.get(seen.navigation, (None, RUNNING_WITHIN))
            if limit is not None and now - seen.navigation_since > limit:
                return failure(waiting or Reason.NO_PROGRESS, f"for {now - seen.navigation_since:.0f} s")
            if waiting is Reason.PAUSED and not self.held and self._pausing is None:
                return Outcome("running", waiting, "the task was paused by another hand")
            return running(None, waiting)
        travel = self._travel
        if (blocked := travel.blocked_for(now)) > 0:
            if blocked > self._give_up_blocked:
                return failure(Reason.BLOCKED, f"for {blocked:.0f} s")
            return running(None, Reason.BLOCKED)
        if (still := travel.still_for(now)) > PROGRESS_WITHIN:
            return failure(Reason.NO_PROGRESS, f"the base has not moved for {still:.0f} s")
        until = now if travel.blocked else now + PROGRESS_WITHIN - still
        return Outcome("running", text=f"{travel.driven:.1f} m driven", until=until)


_WAITS: dict[str, tuple[Reason | None, float | None]] = {
    "queuing": (Reason.QUEUED, QUEUE_AT_MOST),
    "paused": (Reason.PAUSED, None),  # by somebody else: it is theirs to resume
    "waiting_confirm": (Reason.CONFIRMATION, CONFIRM_WITHIN),
}


class _Seen:
    """Which signs of our task have been seen since the command left."""

    def __init__(self) -> None:
        self.accepted: float | None = None
        self.navigation = ""
        self.navigation_since = 0.0
        self._at_work = False
        self._new_task = False
        self._tasking: float | None = None

    def look(self, report: Report, before: Report | None) -> None:
        if report.navigation != self.navigation:
            self.navigation, self.navigation_since = report.navigation, report.received
        self._at_work |= report.navigation in ACTIVE
        if report.device == "tasking":
            self._tasking = report.received
        self._new_task |= before is not None and report.task != before.task
        if self.accepted is None and (self._at_work or self._tasking is not None or self._new_task):
            self.accepted = report.received
            self.navigation_since = report.received

    def fresh(self, report: Report) -> bool:
        """Whether an end reported now can be that of our task."""
        if self._at_work:
            return True
        if self.accepted is None:
            return False
        quiet_since = max(self.accepted, self.navigation_since, self._tasking or 0.0)
        return report.received - quiet_since >= QUICK_END

    def quiet_for(self, report: Report) -> float:
        return report.received - self.navigation_since


class _Travel:
    """How the base gets on."""

    def __init__(self) -> None:
        self.driven = 0.0
        self._place: tuple[float, ...] | None = None
        self._moved = float("inf")
        self._blocked: float | None = None
        self._last_blocked = -math.inf

    def look(self, report: Report) -> None:
        if report.navigation != "running":
            self._moved = report.received  # waiting is not standing still
            self._blocked = None
            return
        if self._moved == math.inf or self._has_moved(report.position):
            self._add_way(report.position)
            self._moved = report.received
            self._place = report.position
            self._blocked = None
        self._look_for_block(report)

    def _add_way(self, position: tuple[float, ...] | None) -> None:
        if self._place is not None and position is not None:
            self.driven += math.dist(self._place[:2], position[:2])

    def _look_for_block(self, report: Report) -> None:
        if report.blocked:
            self._last_blocked = report.received
            if self._blocked is None:
                self._blocked = report.received
        elif self._blocked is not None and report.received - self._last_blocked > BLOCKED_GAP:
            self._blocked = None
            self._moved = report.received  # the way is free: time to move begins again

    @property
    def blocked(self) -> bool:
        return self._blocked is not None

    def still_for(self, now: float) -> float:
        return now - self._moved

    def blocked_for(self, now: float) -> float:
        return now - self._blocked if self._blocked is not None else 0.0

    def _has_moved(self, position: tuple[float, ...] | None) -> bool:
        if position is None:
            return False
        return self._place is None or has_moved(self._place, position)


def has_moved(before: tuple[float, ...], now: tuple[float, ...]) -> bool:
    """Whether two positions (x, y, heading) differ by more than noise."""
    moved = math.dist(before[:2], now[:2]) >= LEAST_MOVE
    return moved or abs(turn_between(before[2], now[2])) >= LEAST_TURN
