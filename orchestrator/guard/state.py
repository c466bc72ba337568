"""What the guard knows at one instant. It never changes: every event makes a new one."""

from __future__ import annotations

import math
from bisect import bisect_right

import msgspec

from orchestrator.guard.freshness import Freshness
from orchestrator.guard.modes import Mode
from orchestrator.robots.intents import AnyIntent, MoveHand, StandPose
from orchestrator.robots.models import Shown
from orchestrator.robots.motion import Motion

Angles = tuple[float, ...]
NEVER = -math.inf


class Base(msgspec.Struct, frozen=True):
    """What a wheeled base says about itself, in the vendor's words in lower case."""

    device: str
    navigation: str
    work_mode: int
    task: int


class Power(msgspec.Struct, frozen=True):
    """What a battery says about itself."""

    level: int
    """Percent."""
    low: bool = False
    """Whether it calls itself low."""
    alarms: int = 0
    """Bits of the vendor's."""


TERMINAL = frozenset({"completed", "failed", "canceled", "idle", "stopped"})
REMOTE_MODE = 3


class Observed(msgspec.Struct, frozen=True):
    """The robot as it shows itself; None: not known."""

    fsm: int | None = None
    upper_fsm: int | None = None
    upper_control: bool | None = None
    velocity_source: int | None = None
    override: bool | None = None
    base: Base | None = None
    joints: dict[str, Angles] = {}
    stranger: Shown | None = None
    """What the robot shows of its model where that is not what the profile says."""
    hands: dict[str, Angles] = {}
    stand: Angles | None = None
    """Height, pitch and yaw of the body; like `reach`, looked at only while a command for it may be under way."""
    reach: dict[str, Angles] = {}
    """Pose of the hand at the end of each arm."""
    speed: float | None = None
    """How fast it moves, in the unit of the guard file's `still`."""
    unhealthy: str | None = "not known"
    """What is wrong with nodes and buses; None: nothing."""
    errors: dict[str, str] = {}
    """Joint groups with a motor that reports an error."""
    off: dict[str, str] = {}
    """Joint groups with a motor that is switched off."""
    power: Power | None = None
    base_power: Power | None = None
    pad: bool = False
    """Whether somebody is moving a stick."""


class Stream(msgspec.Struct, frozen=True):
    """A goal that is being sent again and again."""

    id: int
    intent: AnyIntent
    began: float
    renewed: float
    due: float
    motion: Motion | None
    """Joints: where they should be, by the time since it began."""
    answered: bool = False
    """Whether the robot has said that it takes it, where it says so."""
    off_since: float = math.inf
    """Joints: since when they are not where they should be."""


class Pending(msgspec.Struct, frozen=True):
    """A command for which there is no evidence yet."""

    id: int
    intent: AnyIntent
    sent: float
    due: float
    sends: int
    settles: float = -math.inf
    """Until then the robot may still follow an older one that this one replaces, whatever it shows."""


class Task(msgspec.Struct, frozen=True):
    """What the base is doing for us."""

    id: int
    sent: float
    task_before: int
    accepted: bool = False
    cancelled: str = ""
    """Why, once it is."""
    cancels: int = 0
    """How often the base has been told since it could take it."""
    cancel_due: float = math.inf
    """When it is told again, if it drives on."""
    given_up: bool = False
    """The base never showed it, and others may follow."""
    behind: bool = False
    """One that was given up went before: the base may run both."""
    cancelled_blindly: float = -math.inf
    """When it was last cancelled because the base had fallen silent."""
    to_go_on: str = ""
    """"told": the run has resumed it; "paused again": and paused it before the base showed that it goes on."""


class Remote(msgspec.Struct, frozen=True):
    """A remote session of the base that we have opened; kept after its end until the base is seen to be out of it."""

    since: float
    ended: str = ""
    """Why, once the base has been told."""
    ended_at: float = math.inf
    end_due: float = math.inf
    """When it is told again, unless it shows by then that it is out of it."""


class Hold(msgspec.Struct, frozen=True):
    """Angles (or finger openings) that are sent again and again until a time."""

    q: Angles
    until: float


class Told(msgspec.Struct, frozen=True):
    """What a hand was told last, and where its fingers were then; None: not known."""

    at: float
    start: Angles | None
    target: Angles
    void: bool = False
    """Whether the hand may do something else by now, or was never told."""


class Rest(msgspec.Struct, frozen=True):
    """Where the fingers of a hand are and have stayed, at least as far as they were seen."""

    q: Angles
    since: float
    seen: float


class Stopping(msgspec.Struct, frozen=True):
    """A stop under way, or the last one."""

    profile: str
    cause: str
    began: float
    joints: bool
    """Whether joints are held; after a hard e-stop they are left alone, their power is likely off."""
    velocity_until: float
    velocity_due: float
    orderly: bool
    """Whether nothing went wrong: the run ended, or a person disarmed the robot."""
    stage: str
    """hold, ramp, limp, parked or dropped."""
    stage_began: float
    poses: tuple[AnyIntent, ...]
    """Where the robot was on its way to poses it drives to by itself."""
    check_due: float
    repeats: int
    still_since: float
    outcome: str
    """open, stopped, unverified or ineffective."""


class Rearming(msgspec.Struct, frozen=True):
    """How far a person has come on the way from a latched mode to armed."""

    step: str
    """none, acknowledged or checked."""
    since: float
    back_to: Mode
    """Where a pause that is too long leads back to."""


class Charge(msgspec.Struct, frozen=True):
    """How full the batteries are: good, low or critical."""

    level: str
    """What counts."""
    seen: str
    """What the batteries say now; it counts once it has lasted."""
    since: float


class Suspect(msgspec.Struct, frozen=True):
    """The robot let go by itself: either an e-stop whose flag is on its way, or somebody else."""

    why: str
    since: float


class State(msgspec.Struct, frozen=True):
    mode: Mode = Mode.OFFLINE
    reason: str = "no robot yet"

    # The robot
    observed: Observed = Observed()
    sources: dict[str, Freshness] = {}
    ready: frozenset[str] = frozenset()
    foreign: tuple[str, ...] = ()
    contested: frozenset[str] = frozenset()
    """Command topics that somebody else writes as well."""
    pad_samples: int = 0
    robot_epoch: int = 0
    audit_works: bool = True
    syncing: bool = False
    """Whether a command of the run waits for the disk, and the run is not heard meanwhile."""
    mismatched: dict[str, str] = {}
    """Topics on which the robot speaks another type, and how."""
    charge: Charge = Charge("good", "good", math.inf)
    suspect: Suspect | None = None
    disagree_since: float = math.inf
    """Since when two channels of one e-stop differ; -inf: reported."""
    cleared: bool = False
    """Whether the run has cleared errors since the robot was armed."""

    # Emergency stop
    flags: dict[str, bool] = {}
    """The newest value of each channel."""
    latched: frozenset[str] = frozenset()
    """Channels that have triggered since the robot was last armed."""
    clear_since: float = math.inf
    rearming: Rearming = Rearming("none", NEVER, Mode.DISARMED)
    choice_due: bool = False
    """Armed after an e-stop, and nobody has said yet what becomes of the mission."""

    # The run
    epoch: int = 0
    run: str | None = None
    began: bool = False
    heartbeat: float = NEVER

    # What we do
    streams: tuple[Stream, ...] = ()
    pending: tuple[Pending, ...] = ()
    zero_due: float = math.inf
    """When the zero that ended a velocity is sent again."""
    zeros: int = 0
    """How often it still is."""
    task: Task | None = None
    paused_task: bool = False
    remote: Remote | None = None
    under_way: dict[str, int] = {}
    """The newest command to each hand and for each pose, and the one that opened the remote session: a stop takes back
    what it does."""
    posing: dict[str, StandPose | MoveHand] = {}
    """The newest of these since arming, by what it moves."""
    unwanted: frozenset[str] = frozenset()
    """Those of them that nobody wants any more, and that end as soon as the robot shows where it is."""
    moved: frozenset[str] = frozenset()
    """What we have moved since arming: joint groups, hands and kinds of stream."""
    holds: dict[str, Hold] = {}
    """Joint groups that are held."""
    hand_holds: dict[str, Hold] = {}
    told: dict[str, Told] = {}
    resting: dict[str, Rest] = {}
    frame_due: float = math.inf
    """When the next frame of joint angles is due."""
    stop: Stopping | None = None
    recent: tuple[float, ...] = ()
    """When the last commands were let through."""
    wanted: dict[str, int | bool] = {}
    """What we last asked for and have not seen yet: fsm, upper_fsm, velocity_source, upper_control."""
    reached: dict[str, int | bool] = {}
    """What we asked for and have seen."""
    asked: dict[str, float] = {}
    """When we last asked for each of these."""

    def within_a_second(self, now: float) -> tuple[float, ...]:
        """The commands let through since then, oldest first."""
        return self.recent[bisect_right(self.recent, now - 1.0) :]
