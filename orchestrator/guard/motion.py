"""Where a group of joints should be at an instant, and where a new motion of it begins."""

from __future__ import annotations

from bisect import bisect

from orchestrator.guard.state import Angles, State, Stream
from orchestrator.robots.intents import AnyIntent, JointPath, JointTarget, Keyframe
from orchestrator.robots.motion import Motion, path
from orchestrator.robots.profile import Profile


def plan(intent: AnyIntent, start: Angles, profile: Profile) -> Motion | None:
    """The motion a joint intent asks for; None for other intents."""
    match intent:
        case JointTarget(group, q, duration):
            return path(profile.group(group), start, (Keyframe(duration, q),))
        case JointPath(group, keyframes):
            return path(profile.group(group), start, keyframes)
    return None


def joint_stream(state: State, group: str) -> Stream | None:
    for stream in state.streams:
        if isinstance(stream.intent, JointTarget | JointPath) and stream.intent.group == group:
            return stream
    return None


def starting_point(state: State, group: str, now: float, step: float) -> Angles | None:
    """A motion goes on from what is being commanded, unless the joints are further than a step away from that."""
    measured, told = state.observed.joints.get(group), commanded(state, group, now)
    if measured is None or told is None or len(measured) != len(told):
        return measured
    return told if all(abs(a - b) <= step for a, b in zip(told, measured)) else measured


def commanded(state: State, group: str, now: float) -> Angles | None:
    """Where a group is told to be now, if it is told anything."""
    stream, hold = joint_stream(state, group), state.holds.get(group)
    if stream is not None and stream.motion is not None:
        return stream.motion.at(now - stream.began)
    return hold.q if hold is not None and now < hold.until else None


def furthest_off(motion: Motion, time: float, late: float, q: Angles, tolerance: float) -> tuple[int, float] | None:
    """Which joint is further off than a tolerance, and how far; None if none is.

    A joint that is late is where its motion had it a little earlier: it is off if it is far from all of that.
    """
    wanted = motion.at(time)
    for a, b in zip(q, wanted):
        if not abs(a - b) <= tolerance:
            break
    else:
        return None  # as nearly always
    passed = motion.positions[bisect(motion.times, time - late) : bisect(motion.times, time)]
    places = zip(motion.at(time - late), *passed, wanted)
    distances = [max(min(been) - here, here - max(been)) for here, been in zip(q, places)]
    worst = max(range(len(distances)), key=distances.__getitem__)
    return (worst, distances[worst]) if distances[worst] > tolerance else None
