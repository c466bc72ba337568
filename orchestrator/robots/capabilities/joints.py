"""Joint groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
AT_THE_END = 0.1
"""Radians by which a joint may seem to be beyond its range: noise, or a load that bends it."""
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

    def move(self, group: str, q: tuple[float, ...], duration: float, tolerance: float = TOLERANCE) -> Judge:
        """Bring a whole group to angles, in a time or as soon as its joints' speeds allow."""
        keyframes = (Keyframe(duration, q),)
        takes = self._time(group, keyframes)
        return _Moving(self._context, JointTarget(group, q, duration), group, keyframes, takes, tolerance)

    def play(self, group: str, keyframes: tuple[Keyframe, ...], tolerance: float = TOLERANCE) -> Judge:
        takes = self._time(group, keyframes)
        return _Playing(self._context, JointPath(group, keyframes), group, keyframes, takes, tolerance)

    def move_to(self, angles: Mapping[str, float], duration: float, group: str | None = None) -> Judge:
        """Bring single joints (of one group, if it is named) to angles; the others of their groups stay."""
        allowed = [joint.name for joint in self._context.profile.joints if group in (None, joint.group)]
        if strangers := [name for name in angles if name not in allowed]:
            return Decided(self._context, failure(Reason.UNSUPPORTED, f"no joint of {group}: {', '.join(strangers)}"))
        groups = self._with_the_others([angles])
        if isinstance(groups, Unknown):
            return Decided(self._context, unknown(groups))
        return Together(self._context, [self.move(name, q, duration) for name, (q,) in groups.items()])

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
        return Together(self._context, [self.play(group, path) for group, path in self._in_step(paths).items()])

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
            here = {joint.name: _within_range(joint, q) for joint, q in zip(joints, now.value)}
            groups[group] = [tuple(frame.get(name, q) for name, q in here.items()) for frame in frames]
        return groups

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
        group: str,
        keyframes: tuple[Keyframe, ...],
        duration: float,
        tolerance: float,
    ) -> None:
        self._q = context.state.signal(f"q.{group}")
        self._target = keyframes[-1].q
        self._start = self._q()
        self._must_stir = self._leads_away(keyframes)
        upper = context.state.has("upper.control") and topic_of(group) == UPPER
        self._control = context.state.signal("upper.control") if upper else None
        self._duration = duration
        self._tolerance = tolerance
        self._progress = Progress(max(1.0, duration / 3))  # smooth motions begin slowly
        self._since: float | None = None
        super().__init__(context, intent)

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
        return self._measure(_distance(found.value, self._target), found.received, now)

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
        return isinstance(start, Known) and any(_distance(start.value, frame.q) > NOTICEABLE for frame in keyframes)

    def _measure(self, error: float, received: float, now: float) -> Outcome:
        if error > self._tolerance:
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
    return nearest if abs(q - nearest) <= AT_THE_END else q


def _distance(q: tuple[float, ...], target: tuple[float, ...]) -> float:
    return max((abs(a - b) for a, b in zip(q, target)), default=0.0)
