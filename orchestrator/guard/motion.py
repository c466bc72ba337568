"""Where a group of joints should be at an instant, and where a new motion of it begins."""

from __future__ import annotations

from orchestrator.guard.limits import keyframes
from orchestrator.guard.state import Angles, State, Stream
from orchestrator.robots.intents import JointPath, JointTarget


def position(stream: Stream, now: float) -> Angles:
    """The angles a joint stream asks for now."""
    intent = stream.intent
    assert isinstance(intent, JointTarget | JointPath)
    elapsed = now - stream.began
    before, since = stream.start, 0.0
    for frame in keyframes(intent):
        if elapsed < frame.time:
            done = (elapsed - since) / (frame.time - since)
            return tuple(a + (b - a) * done for a, b in zip(before, frame.q))
        before, since = frame.q, frame.time
    return before


def arrived(stream: Stream, now: float) -> bool:
    intent = stream.intent
    return isinstance(intent, JointTarget | JointPath) and now - stream.began >= keyframes(intent)[-1].time


def joint_stream(state: State, group: str) -> Stream | None:
    for stream in state.streams:
        if isinstance(stream.intent, JointTarget | JointPath) and stream.intent.group == group:
            return stream
    return None


def starting_point(state: State, group: str, now: float) -> Angles:
    """A motion goes on from what is being commanded, or begins where the joints are."""
    stream = joint_stream(state, group)
    if stream is not None:
        return position(stream, now)
    hold = state.holds.get(group)
    return hold.q if hold is not None and now < hold.until else state.observed.joints.get(group, ())
