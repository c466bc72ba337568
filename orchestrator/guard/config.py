"""What may be configured about the guard, read from its own file; a mistake there is a reason not to start."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.data import own_path
from orchestrator.guard.freshness import FreshnessLimits
from orchestrator.robots import intents
from orchestrator.robots.profile import Profile
from orchestrator.yamlfile import (
    BOOL,
    TEXT,
    Findings,
    Integer,
    Number,
    OneOf,
    Quantity,
    Type,
    list_of,
    load,
    map_of,
    optional,
    record,
    required,
)


class GuardConfigError(Exception):
    """The guard file is wrong; the text has every mistake with its line and column."""


@dataclass(frozen=True)
class Permissions:
    """What is dangerous enough to be off unless somebody switches it on."""

    remote_drive: bool
    low_level: bool
    drop: bool
    gains: bool
    motors: bool
    maps: bool
    base_settings: bool


@dataclass(frozen=True)
class Timing:
    heartbeat: float
    stream: float
    clear: float
    rearm: float
    resend: float
    resends: int
    evidence: float
    accept: float
    explained: float
    confirm: float
    cause: float
    disagree: float
    follow: float


@dataclass(frozen=True)
class Limits:
    first_step: float
    follow: float
    gain: float
    commands: int
    tilt: float


@dataclass(frozen=True)
class Battery:
    """When a battery, of the body or of the base, keeps the robot from moving."""

    low: float
    critical: float
    hysteresis: float
    lasting: float
    ignored_alarms: tuple[int, ...]


@dataclass(frozen=True)
class Despite:
    """Intents that pass although something is wrong."""

    errors: tuple[str, ...]
    low_battery: tuple[str, ...]


@dataclass(frozen=True)
class Stopping:
    velocity_rate: float
    velocity_for: float
    check_after: float
    repeats: int
    repeat_every: float
    still_for: float
    ramp: float
    limp_over: float
    escalate: str


@dataclass(frozen=True)
class Answers:
    """Which stop profile answers which fault."""

    run_ended: str
    run_gone: str
    run_hung: str
    stale: str
    unhealthy: str
    battery: str


@dataclass(frozen=True)
class Condition:
    """One way a command is legal: everything that is given here must be observed."""

    fsm: tuple[str, ...] | None
    upper_fsm: tuple[str, ...] | None
    velocity_source: tuple[str, ...] | None
    upper_control: bool | None
    override: bool | None
    base: str | None


@dataclass(frozen=True)
class Hold:
    """How joints are held: at their measured angles, `rate` times a second, for a time or (None) without end."""

    duration: float | None
    rate: float
    always_zero_velocity: bool
    whole: bool
    """Whether one message carries every group, so that those at rest are held as well."""


@dataclass(frozen=True)
class Park:
    """What follows HOLD: a state of the FSM (only when it is in one of `from_fsm`), or a rest pose and then limp."""

    from_fsm: tuple[str, ...]
    fsm: str | None
    release_upper: bool
    rest: str | None


@dataclass(frozen=True)
class Drop:
    fsm: str | None
    damping: float | None


@dataclass(frozen=True)
class RobotRules:
    """What differs from robot to robot."""

    roles: dict[str, str]
    """Which topic tells what: emergency, fsm, joints, hands, nodes, base, motion."""
    emergency: str
    """periodic: the e-stop topic must stay fresh; on_change: it must have been heard once."""
    channels: tuple[str, ...]
    """Every e-stop channel; each must be known before anything moves."""
    pairs: tuple[tuple[str, ...], ...]
    """Channels that show the same button and must agree."""
    still: float
    """Up to this speed the robot counts as standing still (m/s of body or base, else rad/s of the fastest joint)."""
    legs: tuple[str, ...]
    hold: Hold
    park: Park
    drop: Drop
    limp: tuple[str, ...]
    """States in which the robot carries nothing: asking for one needs the `drop` permission."""
    hanging: tuple[str, ...]
    """States in which nothing balances it: from one in which it stands they need that permission too."""
    permit: dict[str, tuple[Condition, ...]]
    """By intent: the conditions under which it is legal. What is not listed is never legal."""

    def drops(self, state: str, before: Collection[str]) -> str | None:
        """Why the robot falls when it goes to a state, whichever of the others it is in; None if it need not."""
        if state in self.limp:
            return f"in {state} the robot falls"
        stands = before and not {*self.limp, *self.hanging} & {*before}
        if state in self.hanging and stands:
            return f"in {state} nothing balances the robot, which stands (in {' or '.join(before)})"
        return None


@dataclass(frozen=True)
class GuardConfig:
    dry_run: bool
    allow: Permissions
    timing: Timing
    stale: FreshnessLimits
    limits: Limits
    battery: Battery
    despite: Despite
    stop: Stopping
    on: Answers
    robots: dict[str, RobotRules]


_TIME = Quantity("duration", lower=0.001, upper=600)
_RATE = Quantity("frequency", lower=1, upper=1000)
_PERCENT = Quantity("percent", lower=0, upper=100)
_PROFILE = OneOf("hold", "park", "drop")
ROLES = ("emergency", "fsm", "joints", "hands", "nodes", "base", "motion")
INTENTS = tuple(cls.__name__ for cls in intents.AnyIntent.__args__)


def _battery(**keys: Any) -> Battery:
    return Battery(**keys | {"ignored_alarms": tuple(keys["ignored_alarms"])})


def _despite(**keys: Any) -> Despite:
    return Despite(*(tuple(keys[name]) for name in Despite.__annotations__))


def _hold(**keys: Any) -> Hold:
    return Hold(keys["for"], keys["rate"], keys["always_zero_velocity"], keys["whole"])


def _park(**keys: Any) -> Park:
    return Park(tuple(keys["from"] or ()), keys["fsm"], keys["release_upper"], keys["rest"])


def _condition(**keys: Any) -> Condition:
    values: dict[str, Any] = {key: tuple(each) if isinstance(each, list) else each for key, each in keys.items()}
    return Condition(**values)


def _robot(**keys: Any) -> RobotRules:
    keys["permit"] = {name: tuple(conditions) for name, conditions in keys["permit"].items()}
    keys["pairs"] = tuple(tuple(pair) for pair in keys["pairs"] or ())
    for name in ("channels", "legs", "limp", "hanging"):
        keys[name] = tuple(keys[name] or ())
    return RobotRules(**keys)


def _known(what: str, names: Iterable[str], valid: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        if name not in valid:
            yield f"there is no {what} {name}; there are {', '.join(valid)}"


def _check_robot(robot: RobotRules) -> Iterator[str]:
    yield from _known("role", robot.roles, ROLES)
    yield from _known("intent", robot.permit, INTENTS)
    if "emergency" not in robot.roles:
        yield "the role emergency is missing: without an e-stop source nothing may move"
    for pair in robot.pairs:
        yield from _known("channel", pair, robot.channels)
        if len(pair) != 2:
            yield f"a pair has two channels, not {len(pair)}"


_WORDS = list_of(TEXT)
_CONDITION = record(
    _condition,
    {
        "fsm": optional(_WORDS),
        "upper_fsm": optional(_WORDS),
        "velocity_source": optional(_WORDS),
        "upper_control": optional(BOOL),
        "override": optional(BOOL),
        "base": optional(OneOf("idle", "paused", "remote")),
    },
    name="condition",
)
_ROBOT: Type[RobotRules] = record(
    _robot,
    {
        "roles": required(map_of(TEXT)),
        "emergency": required(OneOf("periodic", "on_change")),
        "channels": required(list_of(TEXT, at_least=1)),
        "pairs": optional(list_of(_WORDS)),
        "still": required(Number(lower=0.001, upper=1)),
        "legs": required(_WORDS),
        "hold": required(
            record(
                _hold,
                {
                    "for": optional(_TIME),
                    "rate": required(_RATE),
                    "always_zero_velocity": optional(BOOL, False),
                    "whole": optional(BOOL, False),
                },
                name="hold",
            )
        ),
        "park": required(
            record(
                _park,
                {
                    "from": optional(_WORDS),
                    "fsm": optional(TEXT),
                    "release_upper": optional(BOOL, False),
                    "rest": optional(TEXT),
                },
                name="park",
            )
        ),
        "drop": required(record(Drop, {"fsm": optional(TEXT), "damping": optional(Number(lower=0, upper=100))})),
        "limp": required(_WORDS),
        "hanging": optional(_WORDS),
        "permit": required(map_of(list_of(_CONDITION, at_least=1))),
    },
    check=_check_robot,
    name="robot",
)
_TIMING = {name: required(_TIME) for name in Timing.__annotations__ if name not in ("resends", "follow")}
_FOLLOW, _FOLLOW_LATE = 0.3, 0.2
"""How far (rad) and how late (s) joints may be at the most, and where a guard file does not say."""
GUARD: Type[GuardConfig] = record(
    GuardConfig,
    {
        "dry_run": required(BOOL),
        "allow": required(record(Permissions, {name: required(BOOL) for name in Permissions.__annotations__})),
        "timing": required(
            record(
                Timing,
                _TIMING
                | {
                    "resends": required(Integer(1, 10)),
                    "follow": optional(Quantity("duration", lower=0.05, upper=_FOLLOW_LATE), _FOLLOW_LATE),
                },
            )
        ),
        "stale": required(
            record(
                FreshnessLimits,
                {
                    "factor": required(Number(lower=1, upper=100)),
                    "floor": required(_TIME),
                    "cap": required(_TIME),
                    "frozen": required(_TIME),
                    "identical": required(_TIME),
                    "late": required(_TIME),
                    "bad_samples": required(Integer(0, 100)),
                },
                name="stale",
            )
        ),
        "limits": required(
            record(
                Limits,
                {
                    "first_step": required(Quantity("angle", lower=0, upper=1)),
                    "follow": optional(Quantity("angle", lower=0.05, upper=_FOLLOW), _FOLLOW),
                    "gain": required(Number(lower=0, upper=10)),
                    "commands": required(Integer(1, 1000)),
                    "tilt": required(Quantity("angle", lower=0.1, upper=1.5)),
                },
            )
        ),
        "battery": required(
            record(
                _battery,
                {
                    "low": required(_PERCENT),
                    "critical": required(_PERCENT),
                    "hysteresis": required(_PERCENT),
                    "lasting": required(_TIME),
                    "ignored_alarms": required(list_of(Integer(0, 31))),
                },
                name="battery",
            )
        ),
        "despite": required(
            record(_despite, {name: required(_WORDS) for name in Despite.__annotations__}, name="despite")
        ),
        "stop": required(
            record(
                Stopping,
                {
                    "velocity_rate": required(_RATE),
                    "velocity_for": required(_TIME),
                    "check_after": required(_TIME),
                    "repeats": required(Integer(0, 10)),
                    "repeat_every": required(_TIME),
                    "still_for": required(_TIME),
                    "ramp": required(Quantity("angular speed", lower=0.01, upper=1)),
                    "limp_over": required(_TIME),
                    "escalate": required(OneOf("none", "park", "drop")),
                },
                name="stop",
            )
        ),
        "on": required(record(Answers, {name: required(_PROFILE) for name in Answers.__annotations__}, name="on")),
        "robots": required(map_of(_ROBOT)),
    },
    check=lambda config: _check_guard(config),
    name="guard file",
)


def _check_guard(config: GuardConfig) -> Iterator[str]:
    answers = vars(config.on).values()
    if not config.allow.drop and ("drop" in answers or config.stop.escalate == "drop"):
        yield "a stop is set to drop, but allow.drop is false"
    if config.stale.floor > config.stale.cap:
        yield "stale.floor is above stale.cap"
    if config.battery.critical > config.battery.low:
        yield "battery.critical is above battery.low"
    yield from _known("intent", (*config.despite.errors, *config.despite.low_battery), INTENTS)


def load_guard_config(path: Path | None = None) -> GuardConfig:
    """The guard file, ./config/guard.yaml if there is one; or GuardConfigError with everything wrong in it."""
    findings = Findings()
    config = load(path or own_path("config/guard.yaml"), GUARD, findings)
    if config is None:
        raise GuardConfigError(findings.render())
    return config


def rules_for(config: GuardConfig, profile: Profile) -> RobotRules:
    """The part of the guard file that is about this robot; refused when it names what the robot does not have."""
    kind = f"{profile.family}_w" if profile.base else profile.family
    if kind not in config.robots:
        raise GuardConfigError(f"the guard file has no robot {kind}: add it under robots")
    rules = config.robots[kind]
    mistakes = list(_unknown_states(rules, profile))
    if mistakes:
        raise GuardConfigError(f"guard file, robot {kind}, does not fit {profile.name}: " + "; ".join(mistakes))
    return rules


def _unknown_states(rules: RobotRules, profile: Profile) -> Iterator[str]:
    possible = {name: each for name, each in rules.permit.items() if name != "MoveHand" or profile.move_command}
    conditions = [condition for each in possible.values() for condition in each]
    states = [
        *rules.park.from_fsm,
        *rules.limp,
        *rules.hanging,
        *(name for each in conditions for name in each.fsm or ()),
    ]
    states += [name for name in (rules.park.fsm, rules.drop.fsm) if name]
    yield from _known("state", dict.fromkeys(states), tuple(profile.fsm))
    upper = dict.fromkeys(name for each in conditions for name in each.upper_fsm or ())
    yield from _known("upper-body state", upper, tuple(profile.upper_fsm))
    sources = dict.fromkeys(name for each in conditions for name in each.velocity_source or ())
    yield from _known("velocity source", sources, tuple(profile.velocity_sources))
