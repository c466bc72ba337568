"""What a mission may ask of a robot: vendor-neutral goals in SI units, never bytes or topics.

Intents travel from the run to the guard over a local socket, so they are msgspec structs. No field has a default: a
value that nobody chose must not move a robot.
"""

from __future__ import annotations

import msgspec


class Intent(msgspec.Struct, frozen=True, tag=True, tag_field="intent"):
    """A goal for the robot."""


class Stream(Intent, frozen=True):
    """A goal that holds only as long as its sender keeps renewing it."""


# Whole body


class SetFsm(Intent, frozen=True):
    """Bring the whole-body state machine to a state, by the profile's name for it."""

    state: str


class SetUpperFsm(Intent, frozen=True):
    state: str


class SwitchUpperControl(Intent, frozen=True):
    enabled: bool


class SetVelocitySource(Intent, frozen=True):
    source: str


class Velocity(Stream, frozen=True):
    """Walk: metres and radians per second in the robot's own frame."""

    vx: float
    vy: float
    yaw: float


class StandPose(Intent, frozen=True):
    """Shift height (m), pitch and yaw (rad) of a standing robot."""

    dz: float
    pitch: float
    yaw: float


# Joints and hands


class JointTarget(Stream, frozen=True):
    """Bring one joint group to these angles (rad) within `duration` seconds, then hold them."""

    group: str
    q: tuple[float, ...]
    duration: float


class Keyframe(msgspec.Struct, frozen=True):
    """A group's angles at a time after the start of the motion."""

    time: float
    q: tuple[float, ...]


class JointPath(Stream, frozen=True):
    """Move one joint group through keyframes, then hold the last."""

    group: str
    keyframes: tuple[Keyframe, ...]


class MoveHand(Intent, frozen=True):
    """Bring an end effector to a pose (x y z qx qy qz qw) in the base frame, at a fraction of full speed."""

    arm: str
    pose: tuple[float, float, float, float, float, float, float]
    straight: bool
    speed: float


class HandTarget(Intent, frozen=True):
    """Bring one hand's fingers to positions from 0 (closed) to 1 (open), in the profile's finger order."""

    hand: str
    opening: tuple[float, ...]


class SetGains(Intent, frozen=True):
    group: str
    kp: tuple[float, ...]
    kd: tuple[float, ...]


class EnableMotors(Intent, frozen=True):
    """Switch motors on or off, all of the profile's joints in order."""

    enabled: tuple[bool, ...]


class ClearErrors(Intent, frozen=True):
    confirmed: bool = False
    """Whether a person has agreed to it: only then may it come a second time."""


# Mobile base


class MoveToTag(Intent, frozen=True):
    """Drive to a floor tag; heading in rad, None leaves it open."""

    tag: int
    heading: float | None


class CancelTask(Intent, frozen=True):
    pass


class PauseTask(Intent, frozen=True):
    pass


class ResumeTask(Intent, frozen=True):
    pass


class RotateBase(Intent, frozen=True):
    """Turn on the spot by an angle relative to now (rad)."""

    angle: float


class SetBaseSpeed(Intent, frozen=True):
    linear: float
    angular: float


class SetBaseAcceleration(Intent, frozen=True):
    linear: float
    angular: float


class SetBaseDeceleration(Intent, frozen=True):
    linear: float
    angular: float


class StartRemote(Intent, frozen=True):
    pass


class DriveBase(Stream, frozen=True):
    """Remote drive: m/s and rad/s. The base latches the last value, so the guard ends it with zero and StopRemote."""

    linear: float
    angular: float


class StopRemote(Intent, frozen=True):
    pass


class SubscribeLaser(Intent, frozen=True):
    enabled: bool


class StartMapping(Intent, frozen=True):
    pass


class SaveMap(Intent, frozen=True):
    pass


class StopMapping(Intent, frozen=True):
    pass


AnyIntent = (
    SetFsm
    | SetUpperFsm
    | SwitchUpperControl
    | SetVelocitySource
    | Velocity
    | StandPose
    | JointTarget
    | JointPath
    | MoveHand
    | HandTarget
    | SetGains
    | EnableMotors
    | ClearErrors
    | MoveToTag
    | CancelTask
    | PauseTask
    | ResumeTask
    | RotateBase
    | SetBaseSpeed
    | SetBaseAcceleration
    | SetBaseDeceleration
    | StartRemote
    | DriveBase
    | StopRemote
    | SubscribeLaser
    | StartMapping
    | SaveMap
    | StopMapping
)
