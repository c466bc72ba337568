"""What is known about one robot: its joints, limits, states, hands, base and wire, in SI units.

Profiles are read from `config/robots/*.yaml`; this is what they become. Vendor differences that are data live here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

Family = Literal["aurora", "atom", "adam"]


@dataclass(frozen=True)
class Range:
    """From `low` to `high`, both included."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether the value is inside; never for NaN."""
        return self.low <= value <= self.high

    def nearest(self, value: float) -> float:
        """The value, or the end it is beyond."""
        return min(max(value, self.low), self.high)


@dataclass(frozen=True)
class Joint:
    """One joint, in the robot's own order."""

    name: str
    group: str
    position: Range
    velocity: float | None
    """Highest speed, rad/s: the vendor's, or the one the profile sets where the vendor names none."""
    torque: float | None
    kp: float | None
    kd: float | None
    """Gains the vendor uses; None where the robot does not take gains with its commands."""


@dataclass(frozen=True)
class Hands:
    """Both hands; positions in the vendor's unit, one value per finger in the vendor's order."""

    fingers: tuple[str, ...]
    unit: Literal["rad", "count"]
    open: tuple[float, ...]
    closed: tuple[float, ...]
    order: tuple[str, ...]
    """Which hand comes first on the wire."""
    kp: float | None
    kd: float | None
    tau: float | None = None
    """Torque sent with every command, Nm; None where the hand takes none."""


@dataclass(frozen=True)
class VelocityLimits:
    vx: Range
    vy: Range
    yaw: Range


@dataclass(frozen=True)
class StandPoseLimits:
    dz: Range
    pitch: Range
    yaw: Range
    stable_level: int
    """From this level on the robot stands and takes stand-pose commands."""

    def nearest(self, pose: tuple[float, ...]) -> tuple[float, float, float]:
        """What a body in this pose is told to stay there: what it reports may lie a little outside."""
        dz, pitch, yaw = pose
        return self.dz.nearest(dz), self.pitch.nearest(pitch), self.yaw.nearest(yaw)


@dataclass(frozen=True)
class Reach:
    """Where a hand may be sent, in metres from the origin of the body's frame."""

    forward: Range
    left: Range
    up: Range


CAUTIOUS_REACH = Reach(forward=Range(-0.2, 0.6), left=Range(-0.6, 0.6), up=Range(-0.4, 0.6))
"""For a robot whose profile names none: within an arm's length of a grown-up humanoid in every direction."""


SLOWEST_TASK = 0.05
"""m/s."""
TASK_ACCELERATION = (0.05, 2.0)
"""m/s per second: the vendor's range for gaining speed and for losing it."""


@dataclass(frozen=True)
class Base:
    """A wheeled base."""

    tags: dict[str, int]
    linear: float
    """Highest speed, m/s."""
    angular: float
    rotate: bool
    """Whether it can turn on the spot by command (Huarui bases cannot)."""
    confirm_key: bool
    """Whether a person must press a key on the base before remote drive."""

    @property
    def task_speed(self) -> Range:
        """At which it may be told to drive its tasks, m/s: one that could not move would never arrive."""
        return Range(min(SLOWEST_TASK, self.linear), self.linear)

    @property
    def task_acceleration(self) -> Range:
        """At which it may be told to gain and lose speed."""
        return Range(*TASK_ACCELERATION)

    def turning_like(self, linear: float) -> float:
        """How it turns in proportion to how it drives."""
        return linear * self.angular / self.linear


@dataclass(frozen=True)
class Unconfirmed:
    """A fact the vendor has not confirmed, or sources disagree on; shown by `orchestrator robots NAME`."""

    what: str
    note: str


@dataclass(frozen=True)
class Profile:
    """Everything the program knows about one robot."""

    name: str
    family: Family
    vendor: str
    model: str
    read_only: bool
    """True where the vendor's documents contradict each other on joint order: state is read, nothing is commanded."""

    domain: int
    prefix: str
    interface: str | None
    variants: tuple[str, ...]
    """Firmware generations that differ from the default (see wire/topics.py)."""
    rpc: str | None
    """host:port of the vendor's JSON-RPC, where capabilities use it."""
    allowed_writers: tuple[str, ...]
    """Programs that may write command topics beside us without it being an intervention."""

    joints: tuple[Joint, ...]
    command_rate: float
    """How often joint commands must be sent while a group moves or holds, Hz."""
    fsm: dict[str, int]
    upper_fsm: dict[str, int]
    velocity_sources: dict[str, int]
    velocity: VelocityLimits | None
    stand_pose: StandPoseLimits | None
    hands: Hands | None
    base: Base | None
    poses: dict[str, dict[str, tuple[float, ...]]]
    """Named poses: angles by joint group."""
    urdf: str | None
    """Path of the file for kinematics."""
    capabilities: frozenset[str]
    unconfirmed: tuple[Unconfirmed, ...] = field(default=())
    read_only_groups: tuple[str, ...] = ()
    """Joint groups that are read but never commanded."""
    move_command: bool = False
    """Whether the robot itself plans arm movements to cartesian poses (Aurora's MoveCommand)."""
    reach: Reach = CAUTIOUS_REACH
    """Of those movements."""

    def group(self, name: str) -> tuple[Joint, ...]:
        """The joints of a group, in order; none where there is no such group."""
        return self._joints_of.get(name, ())

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(self._joints_of)

    @cached_property
    def _joints_of(self) -> dict[str, tuple[Joint, ...]]:
        names = dict.fromkeys(joint.group for joint in self.joints)
        return {name: tuple(joint for joint in self.joints if joint.group == name) for name in names}
