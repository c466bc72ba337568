"""Where a group of joints should be at an instant, and where a new motion of it begins."""

from __future__ import annotations

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
    measured = state.observed.joints.get(group)
    stream, hold = joint_stream(state, group), state.holds.get(group)
    commanded = None
    if stream is not None and stream.motion is not None:
        commanded = stream.motion.at(now - stream.began)
    elif hold is not None and now < hold.until:
        commanded = hold.q
    if measured is None or commanded is None or len(measured) != len(commanded):
        return measured
    return commanded if all(abs(a - b) <= step for a, b in zip(commanded, measured)) else measured
