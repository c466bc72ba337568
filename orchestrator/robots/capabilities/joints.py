"""Joint groups."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from orchestrator.robots.capabilities.progress import Progress
from orchestrator.robots.families import AURORA_GROUPS
from orchestrator.robots.intents import EnableMotors, JointPath, JointTarget, Keyframe, MoveHand
from orchestrator.robots.judging import ACCEPT, Context, Decided, Judge, Settling, Together, no_reaction
from orchestrator.robots.knowledge import Known, Read, Unknown
from orchestrator.robots.motion import Motion, path, slowest
from orchestrator.robots.motion_file import BadMotion, read_motion
from orchestrator.robots.outcome import SUCCESS, Outcome, failure, running, unknown
from orchestrator.robots.profile import Joint
from orchestrator.robots.reasons import Reason
from orchestrator.robots.state.atom import UPPER, topic_of
from orchestrator.robots.state.aurora import MOTION_ERROR, MOTION_MOVE

TOLERANCE = 0.05
"""Radians from the target that count as there."""
SETTLED = 0.1
BENT = 0.1
"""Radians by which a joint may seem to be elsewhere than it is told to be, also beyond its range: a load, or noise."""
STIRRED, NOTICEABLE = 0.01, 0.03
"""Radians by which a joint has moved at all, and the way (rad) from which on that must be seen."""
PLACE_TOLERANCE = 0.02
"""Metres from the wanted place that count as there."""
MOVE_STARTS = 0.2
"""A robot that plans by itself still reports its old rest for so long (docs/state.md)."""


class Joints:
    """Angles in radians, in the profile's joint order."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._last: dict[str, _Moving] = {}
        """The newest motion of each group."""

    def position(self, group: str) -> Known[tuple[float, ...]] | Unknown:
        return self._context.state.read(f"q.{group}")

    def distance(self, pose: Mapping[str, tuple[float, ...]]) -> Known[float] | Unknown:
        """How far the joint that is furthest away is from a pose, given by groups."""
        furthest, oldest = 0.0, float("inf")
        for group, wanted in pose.items():
            q = self.position(group)
            if isinstance(q, Unknown):
                return q
            furthest = max(furthest, _distance(q.value, wanted))
            oldest = min(oldest, q.received)
        return Known(furthest, oldest)

    def move(self, group: str, q: tuple[float, ...], duration: float, stay: Collection[str] = ()) -> Judge:
        """Bring a whole group to angles, in a time or as soon as its joints' speeds allow; some may just `stay`."""
        keyframes = (Keyframe(duration, q),)
        return self._begin(_Moving, JointTarget(group, q, duration), keyframes, stay)

    def play(self, group: str, keyframes: tuple[Keyframe, ...], stay: Collection[str] = ()) -> Judge:
        return self._begin(_Playing, JointPath(group, keyframes), keyframes, stay)

    def _begin(
        self,
        kind: type[_Moving],
        intent: JointTarget | JointPath,
        keyframes: tuple[Keyframe, ...],
        stay: Collection[str],
    ) -> Judge:
        takes = self._time(intent.group, keyframes)
        moving = self._last[intent.group] = kind(self._context, intent, keyframes, takes, stay)
        return moving

    def move_to(self, angles: Mapping[str, float], duration: float, group: str | None = None) -> Judge:
        """Bring single joints (of one group, if it is named) to angles; the others of their groups stay."""
        allowed = [joint.name for joint in self._context.profile.joints if group in (None, joint.group)]
        if strangers := [name for name in angles if name not in allowed]:
            return Decided(self._context, failure(Reason.UNSUPPORTED, f"no joint of {group}: {', '.join(strangers)}"))
        groups = self._with_the_others([angles])
        if isinstance(groups, Unknown):
            return Decided(self._context, unknown(groups))
        stay = self._others(angles)
        return Together(self._context, [self.move(name, q, duration, stay) for name, (q,) in groups.items()])

    def move_to_pose(self, pose: str, duration: float, only: str | None = None) -> Judge:
        """Bring all groups of a pose to its angles, or only one of them."""
        groups = {name: q for name, q in self._context.profile.poses[pose].items() if only in (None, name)}
        if not groups:
            return Decided(self._context, failure(Reason.UNSUPPORTED, f"{pose} says nothing about {only}"))
        return Together(self._context, [self.move(group, q, duration) for group, q in groups.items()])

    def play_file(self, file: Path, speed: float) -> Judge:
        """Play a motion from a file, at a fraction of its speed."""
        try:
            motion = read_motion(file, self._context.profile)
        except BadMotion as problem:
            return Decided(self._context, failure(Reason.BAD_FILE, str(problem)))
        groups = self._with_the_others([frame.angles for frame in motion])
        if isinstance(groups, Unknown):
            return Decided(self._context, unknown(groups))
        times = [frame.time / speed for frame in motion]
        paths = {group: tuple(map(Keyframe, times, positions)) for group, positions in groups.items()}
        stay = self._others(motion[0].angles)
        return Together(self._context, [self.play(group, path, stay) for group, path in self._in_step(paths).items()])

    def _others(self, moved: Collection[str]) -> frozenset[str]:
        return frozenset(joint.name for joint in self._context.profile.joints if joint.name not in moved)

    def _in_step(self, paths: Mapping[str, tuple[Keyframe, ...]]) -> Mapping[str, tuple[Keyframe, ...]]:
        """What is too fast for one group makes the others wait for it; its own time the guard gives it, and says so."""
        motions = [self._planned(group, keyframes) for group, keyframes in paths.items()]
        planned = [motion for motion in motions if motion is not None]
        if len(planned) < len(motions):
            return paths
        longest = slowest(planned)
        return {
            group: _waiting(keyframes, motion.spans, longest)
            for (group, keyframes), motion in zip(paths.items(), planned)
        }

    def _with_the_others(self, frames: Sequence[Mapping[str, float]]) -> dict[str, list[tuple[float, ...]]] | Unknown:
        """Positions of whole groups, from angles of some of their joints; the rest stays where it is."""
        profile, moved = self._context.profile, frames[0].keys()
        groups: dict[str, list[tuple[float, ...]]] = {}
        for group in profile.groups:
            joints = profile.group(group)
            if not any(joint.name in moved for joint in joints):
                continue
            now = self.position(group)
            if isinstance(now, Unknown):
                return now
            here = dict(zip((joint.name for joint in joints), self._where_it_stays(group, now.value)))
            groups[group] = [tuple(frame.get(name, q) for name, q in here.items()) for frame in frames]
        return groups

    def _where_it_stays(self, group: str, now: tuple[float, ...]) -> tuple[float, ...]:
        """A load bends joints: told to be where they seem to be, they would sink a little each time."""
        last = self._last.get(group)
        told = now if last is None else last.still_told(now)
        return tuple(
            _within_range(joint, wanted if abs(wanted - q) <= BENT else q)
            for joint, wanted, q in zip(self._context.profile.group(group), told, now)
        )

    def _time(self, group: str, keyframes: tuple[Keyframe, ...]) -> float:
        planned = self._planned(group, keyframes)
        return keyframes[-1].time if planned is None else planned.duration

    def _planned(self, group: str, keyframes: tuple[Keyframe, ...]) -> Motion | None:
        """How it goes at the joints' highest speeds: what is asked for may be too fast."""
        now = self.position(group)
        if isinstance(now, Unknown) or len(now.value) != len(keyframes[-1].q):
            return None  # the guard will refuse it
        return path(self._context.profile.group(group), now.value, keyframes)

    def move_hand(self, hand: str, place: tuple[float, float, float], straight: bool, speed: float) -> Judge:
        """Let the robot plan and drive a hand to a place (m) before its body, where it can (GR-2, GR-3).

        The hand keeps the direction it points to.
        """
        arm = f"{hand}_arm"
        read = self._context.state.signal(f"end.{arm}")
        now = read()
        if isinstance(now, Unknown):
            return Decided(self._context, unknown(now))
        qx, qy, qz, qw = now.value[3:]
        return _PlannedMove(self._context, MoveHand(arm, (*place, qx, qy, qz, qw), straight, speed), read)

    def enable_motors(self, enabled: bool) -> Judge:
        wanted = EnableMotors((enabled,) * len(self._context.profile.joints))
        read = self._context.state.signal("motors.enabled")
        return Settling(self._context, wanted, read, lambda on: all(x is enabled for x in on))


class _Moving(Judge):
    """Done when the whole way has been sent and every joint is near its target; stuck when the error stops falling.

    Joints that have not stirred are nowhere, however near their target is.
    """

    def __init__(
        self,
        context: Context,
        intent: JointTarget | JointPath,
        keyframes: tuple[Keyframe, ...],
        duration: float,
        stay: Collection[str],
    ) -> None:
        group = intent.group
        self._q = context.state.signal(f"q.{group}")
        self.target = keyframes[-1].q
        self._leeway = tuple(BENT if joint.name in stay else 0.0 for joint in context.profile.group(group))
        self._start = self._q()
        self._must_stir = self._leads_away(keyframes)
        upper = context.state.has("upper.control") and topic_of(group) == UPPER
        self._control = context.state.signal("upper.control") if upper else None
        self._duration = duration
        self._progress = Progress(max(1.0, duration / 3))  # smooth motions begin slowly
        self._since: float | None = None
        self._moved_otherwise = context.moved_otherwise
        super().__init__(context, intent)

    def still_told(self, now: tuple[float, ...]) -> tuple[float, ...]:
        """Where it told joints to be that have arrived there or only stayed; where others are now.

        All of it is void once something else has moved the joints or let them go.
        """
        context, arrived = self.context, self._verdict is not None and self._verdict.status == "success"
        if (self._moved_otherwise, self.epoch) != (context.moved_otherwise, context.state.epoch):
            return now
        return tuple(told if arrived or stays else q for told, stays, q in zip(self.target, self._leeway, now))

    def judge(self, now: float) -> Outcome:
        found = self.evidence(self._q)
        if isinstance(found, Unknown):
            return unknown(found)
        control = self._control() if self._control is not None else None
        if isinstance(control, Known) and not control.value:
            return failure(Reason.CONTROL_LOST, "the robot has taken back its upper body")
        if found is None:
            return running()
        if isinstance(self._start, Known) and _distance(found.value, self._start.value) > STIRRED:
            self._must_stir = False  # it has
        return self._measure(self._distance(found.value, self.target), found.received, now)

    def _common(self) -> Outcome | None:
        """A motion that was not followed was not accepted, or got no further."""
        found, receipt = super()._common(), self.receipt
        if found is None or found.reason != Reason.ENDED or receipt is None or not receipt.not_followed:
            return found
        if self._must_stir:
            return no_reaction(self.context.profile, f"no joint has moved; {receipt.reason}")
        return failure(Reason.NO_PROGRESS, receipt.reason)

    def _leads_away(self, keyframes: tuple[Keyframe, ...]) -> bool:
        start = self._start
        return isinstance(start, Known) and any(
            self._distance(start.value, frame.q) > NOTICEABLE for frame in keyframes
        )

    def _distance(self, q: tuple[float, ...], target: tuple[float, ...]) -> float:
        """How far the joint that is furthest away is from where it is to be; those that stay may be bent."""
        return max((abs(a - b) - leeway for a, b, leeway in zip(q, target, self._leeway)), default=0.0)

    def _measure(self, error: float, received: float, now: float) -> Outcome:
        if error > TOLERANCE:
            self._since = None
            if self._progress.stalled(error, now):
                return self._stuck(error)
            return running(self._progress.done(error))
        played = received - self.sent_at
        if played < self._duration:
            return running(0.95 * played / self._duration)
        if self._since is None:
            self._since = received
        if received - self._since < SETTLED:
            return running(0.95)
        return self._stuck(error) if self._must_stir else SUCCESS

    def _stuck(self, error: float) -> Outcome:
        if self._must_stir:
            return no_reaction(self.context.profile, "no joint has moved")
        return failure(Reason.NO_PROGRESS, f"{error:.2f} rad from the target")


class _Playing(_Moving):
    """A path may pass its end on the way: nothing is measured before its time."""

    def _measure(self, error: float, received: float, now: float) -> Outcome:
        played = received - self.sent_at
        if played < self._duration:
            return running(0.95 * played / self._duration)
        return super()._measure(error, received, now)


class _PlannedMove(Judge):
    """Done when the arm no longer reports that it moves and the hand is where it should be."""

    def __init__(self, context: Context, intent: MoveHand, place: Read) -> None:
        self._motion = context.state.signal("motion")
        self._group = list(AURORA_GROUPS).index(intent.arm)
        self._place = place
        self._intent = intent
        self._moved_at: float | None = None
        super().__init__(context, intent)

    def judge(self, now: float) -> Outcome:
        found, place = self._motion(), self.evidence(self._place)
        if isinstance(found, Unknown):
            return unknown(found)
        if isinstance(place, Unknown):
            return unknown(place)
        state = found.value[self._group]
        if state == MOTION_ERROR:
            return failure(Reason.FAILED, "the arm reports a motion error")
        if state == MOTION_MOVE:
            self._moved_at = found.received if found.received > self.sent_at else None
            return running()
        if place is None or found.received < self.sent_at + MOVE_STARTS:
            return running()
        away = math.dist(place.value[:3], self._intent.pose[:3])
        if away <= PLACE_TOLERANCE:
            return SUCCESS
        if now - (self._moved_at or self.sent_at) <= ACCEPT:
            return running()
        if self._moved_at is None:
            return failure(Reason.NOT_ACCEPTED, "the arm did not move")
        return failure(Reason.NO_PROGRESS, f"the hand stopped {100 * away:.0f} cm from the place")


def _waiting(keyframes: Sequence[Keyframe], spans: Sequence[float], longest: Sequence[float]) -> tuple[Keyframe, ...]:
    """The same way, but longer in those parts in which others need longer."""
    time, asked, waiting = 0.0, 0.0, []
    for keyframe, span, most in zip(keyframes, spans, longest):
        waits = span < most and not math.isclose(span, most)
        time += most if waits else keyframe.time - asked
        asked = keyframe.time
        waiting.append(Keyframe(time, keyframe.q))
    return tuple(waiting)


def _within_range(joint: Joint, q: float) -> float:
    """Where a joint that is to stay is told to be; one that is far beyond its range is for the guard to refuse."""
    nearest = min(max(q, joint.position.low), joint.position.high)
    return nearest if abs(q - nearest) <= BENT else q


def _distance(q: tuple[float, ...], target: tuple[float, ...]) -> float:
    return max((abs(a - b) for a, b in zip(q, target)), default=0.0)
