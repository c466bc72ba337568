"""Leaves that walk."""

from math import hypot
from typing import Annotated

from orchestrator.leaf import (
    Angle,
    AngularSpeed,
    Between,
    By,
    Command,
    Duration,
    Judge,
    Length,
    Limit,
    Requirements,
    Speed,
    VelocitySource,
)

_WALKING: Requirements = {
    "aurora": {"fsm": ("walk",), "velocity_source": ("navigation",)},
    "atom": {"fsm": ("walk", "balance")},
}


class SetVelocitySource(
    Command,
    needs="velocity",
    uses="base legs",
    families=("aurora",),
    changes={"aurora": {"velocity_source": By("source")}},
    resumable=False,
    timeout=5.0,
):
    """Say whose velocity commands the robot follows; ours are called navigation.

    - SetVelocitySource: {source: navigation}
    """

    source: VelocitySource

    def command(self) -> Judge:
        return self.robot.velocity.set_source(self.source)


class Walk(
    Command,
    needs="velocity",
    uses="base legs",
    families=("aurora", "atom"),
    requires=_WALKING,
    one_of=("time", "distance", "heading"),
    timeout=60.0,
    reads={"distance": "body.x", "heading": "body.yaw"},
):
    """Walk with a velocity for a time, or until a distance or a change of heading has been covered, then stand.

    - Walk: {forward: 0.3 m/s, distance: 2 m}
    - Walk: {turn: -30 deg/s, heading: -90 deg}

    The velocities say which way: `distance` is the length that is walked, also backwards or sideways; `heading` is how
    far it turns from where it faces, positive to the left like `turn`. A walk for a `time` must be seen to set out, by
    5 cm and by 0.05 rad as far as both are asked for. What could not bring twice as much after the first half second is
    not seen: it succeeds when the time is over, and its message says so. An Atom reports no place: that holds there for
    every walk straight on, and a distance is refused by `check`.
    """

    forward: Annotated[Speed, Limit("walk.forward")] = 0.0
    left: Annotated[Speed, Limit("walk.left")] = 0.0
    turn: Annotated[AngularSpeed, Limit("walk.turn")] = 0.0
    time: Annotated[Duration, Between(0.1, 600)] | None = None
    distance: Annotated[Length, Between(0.01, 100)] | None = None
    heading: Angle | None = None

    def mistake(self) -> tuple[str, str] | None:
        walks = bool(self.forward or self.left)
        if self.distance is not None and not walks:
            return "distance", "a distance needs a velocity: forward or left"
        if self.heading is not None and not self.turn:
            return "heading", "a heading needs a velocity: turn"
        if self.heading == 0:
            return "heading", "a change of heading by nothing is no turn"
        if self.heading is not None and self.heading * self.turn < 0:
            return "heading", "heading and turn go opposite ways: both are positive to the left"
        if self.time is not None and not walks and not self.turn:
            return "time", "there is no velocity: forward, left or turn"
        return None

    def takes(self) -> float:
        if self.mistake() is not None:
            return 0.0
        if self.distance is not None:
            return self.distance / hypot(self.forward, self.left)
        if self.heading is not None:
            return self.heading / self.turn
        return self.time or 0.0

    def start(self) -> None:
        self._left = 1.0
        super().start()

    def command(self) -> Judge:
        self.progress = None  # of what is left nothing is done yet
        time, distance, heading = (
            None if goal is None else goal * self._left for goal in (self.time, self.distance, self.heading)
        )
        return self.robot.velocity.walk(self.forward, self.left, self.turn, time, distance, heading)

    def pause(self) -> None:
        self._left *= 1 - (self.progress or 0.0)
        self.stop()

    def resume(self) -> None:
        super().start()


class Stop(Command, needs="velocity", uses="base legs", families=("aurora", "atom"), requires=_WALKING, timeout=10.0):
    """Stop walking and wait until the robot stands still.

    - Stop

    An Atom reports no speed: there all that is seen is that it does not turn.
    """

    def command(self) -> Judge:
        return self.robot.velocity.stop()
