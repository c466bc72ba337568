"""The rules every command passes, in their one fixed order.

A rule has a name, one sentence and a pure check that gives None or the reason for a refusal. All rules must agree, so a
further rule can only take away permission. Stops of the guard and of people do not come here at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.guard.config import Condition, GuardConfig, RobotRules
from orchestrator.guard.freshness import NEVER_HEARD
from orchestrator.guard.limits import all_finite, beyond_limits, out_of_reach, too_sudden
from orchestrator.guard.modes import Mode
from orchestrator.guard.motion import starting_point
from orchestrator.guard.policy import POLICIES, WRITES, Policy
from orchestrator.guard.state import REMOTE_MODE, TERMINAL, Base, State
from orchestrator.robots.intents import AnyIntent, ClearErrors, JointPath, JointTarget, ResumeTask, SetFsm
from orchestrator.robots.profile import Profile


@dataclass(frozen=True, slots=True)
class Ask:
    """One command that wants to leave, with everything a rule may look at."""

    intent: AnyIntent
    epoch: int
    now: float
    state: State
    profile: Profile
    config: GuardConfig
    robot: RobotRules
    policy: Policy


Check = Callable[[Ask], str | None]


@dataclass(frozen=True)
class Rule:
    name: str
    check: Check

    @property
    def sentence(self) -> str:
        return (self.check.__doc__ or "").strip()


@dataclass(frozen=True)
class Refusal:
    rule: str
    text: str


def lease(ask: Ask) -> str | None:
    """Only the run that holds the lease, with its newest epoch, may command."""
    state = ask.state
    if state.run is None:
        return "nobody holds the lease"
    return None if ask.epoch == state.epoch else f"epoch {ask.epoch} is over, now it is {state.epoch}"


def mode(ask: Ask) -> str | None:
    """Commands pass while running; what only calms passes while paused or stopping as well."""
    state = ask.state
    if state.mode is Mode.RUNNING and not state.choice_due and state.suspect is None:
        return None
    if ask.policy.calms and state.mode in CALMING:
        return None
    reason = state.reason if state.suspect is None else f"{state.suspect.why}, or by an e-stop"
    return f"the robot is {state.mode.value}" + (f": {reason}" if reason else "")


CALMING = frozenset({Mode.RUNNING, Mode.PAUSED, Mode.STOPPING, Mode.FAULT, Mode.ESTOPPED})


def latch(ask: Ask) -> str | None:
    """Every e-stop channel is known and clear, and none has triggered since the robot was armed."""
    state = ask.state
    if state.latched:
        return f"e-stop latched: {', '.join(sorted(state.latched))}"
    for channel in ask.robot.channels:
        if state.flags.get(channel) is None:
            return f"e-stop channel {channel} is not known"
        if state.flags[channel]:
            return f"e-stop channel {channel} is triggered"
    return None


def fresh(ask: Ask) -> str | None:
    """Every topic the command relies on has been heard lately, and is alive."""
    for role in ("emergency", "fsm", *ask.policy.needs):
        if problem := staleness(ask.state, role, ask.now, ask.config, ask.robot):
            return f"{role} ({ask.robot.roles[role]}) is {problem}"
    return None


def staleness(state: State, role: str, now: float, config: GuardConfig, robot: RobotRules) -> str | None:
    """Why a role cannot be relied on; None for roles the robot does not have."""
    source = robot.roles.get(role)
    if source is None:
        return None
    problem = topic_problem(state, source, now, config)
    if role == "emergency" and robot.emergency == "on_change" and problem in ("stale", "frozen"):
        return None
    return problem


def topic_problem(state: State, topic: str, now: float, config: GuardConfig) -> str | None:
    """Why what a topic says cannot be relied on."""
    return state.sources.get(topic, NEVER_HEARD).problem(now, config.stale)


def possible(ask: Ask) -> str | None:
    """The robot has a way to be told so, and the guard file permits it in some state."""
    kind = type(ask.intent)
    if kind in WRITES[ask.profile.family] and kind.__name__ in ask.robot.permit:
        return None
    return f"{ask.profile.name} cannot be told {kind.__name__}"


def writer_ready(ask: Ask) -> str | None:
    """The robot listens to the topic the command is written to."""
    routes = WRITES[ask.profile.family].get(type(ask.intent), ())
    if any(route in ask.state.ready for route in routes):
        return None
    return f"nobody has been listening to {' or '.join(routes)} for long enough"


def permitted(ask: Ask) -> str | None:
    """Dangerous kinds of command are switched on in the guard file, and the robot is not read-only."""
    if ask.profile.read_only:
        return f"{ask.profile.name} is read-only"
    permission = ask.policy.permission
    if permission and not getattr(ask.config.allow, permission):
        return f"allow.{permission} is off in the guard file"
    if isinstance(ask.intent, SetFsm) and not ask.config.allow.drop:
        before = _name(ask.state.observed.fsm, ask.profile.fsm)
        why = ask.robot.drops(ask.intent.state, (before,))
        return f"{why}, and allow.drop is off in the guard file" if why else None
    return None


def interlock(ask: Ask) -> str | None:
    """The robot is observed in a state in which the command is legal."""
    return _trouble(ask) or out_of_place(ask)


def out_of_place(ask: Ask) -> str | None:
    """Why the state in which the robot is observed is none for this command."""
    problems = [_unmet(condition, ask) for condition in ask.robot.permit.get(type(ask.intent).__name__, ())]
    return None if None in problems else "; or ".join(filter(None, problems)) or "it is never legal"


def _trouble(ask: Ask) -> str | None:
    """Motors that report errors or are off let nothing pass but what mends them."""
    seen = ask.state.observed
    if isinstance(ask.intent, ClearErrors) and not seen.errors:
        return "there is nothing to clear"
    if not (seen.errors or seen.off) or type(ask.intent).__name__ in ask.config.despite.errors:
        return None
    return "; ".join((seen.off | seen.errors).values())


def _unmet(condition: Condition, ask: Ask) -> str | None:
    seen, profile = ask.state.observed, ask.profile
    named = (
        ("fsm", condition.fsm, profile.fsm, seen.fsm),
        ("upper_fsm", condition.upper_fsm, profile.upper_fsm, seen.upper_fsm),
        ("velocity_source", condition.velocity_source, profile.velocity_sources, seen.velocity_source),
    )
    for what, names, numbers, value in named:
        if names is not None and value not in [numbers.get(name, -1) for name in names]:
            return f"{what} must be {' or '.join(names)}, it is {_name(value, numbers)}"
    switches = (
        ("upper_control", condition.upper_control, seen.upper_control),
        ("override", condition.override, seen.override),
    )
    for what, wanted, switch in switches:
        if wanted is not None and switch is not wanted:
            return f"{what} must be {_on_off(wanted)}, it is {_on_off(switch)}"
    if condition.base is not None and not base_is(condition.base, seen.base, ask.state):
        return f"the base must be {condition.base}, it is {_base_text(seen.base)}"
    return None


def _name(value: int | None, numbers: dict[str, int]) -> str:
    if value is None:
        return "not known"
    return next((name for name, number in numbers.items() if number == value), str(value))


def _on_off(switch: bool | None) -> str:
    return {True: "on", False: "off", None: "not known"}[switch]


def _base_text(base: Base | None) -> str:
    return f"{base.device}, {base.navigation}, work mode {base.work_mode}" if base else "not known"


def base_is(wanted: str, base: Base | None, state: State) -> bool:
    """Whether a wheeled base is idle, paused by us, or in our remote session."""
    if base is None:
        return False
    if wanted == "remote":
        return base.work_mode == REMOTE_MODE and state.remote is not None and not state.remote.ended
    if base.work_mode != 0:
        return False
    if wanted == "paused":
        return base.navigation == "paused"
    return base.device == "devidle" and base.navigation in TERMINAL


def charge(ask: Ask) -> str | None:
    """With a battery that is low no new motion begins."""
    if ask.state.charge.level == "good" or type(ask.intent).__name__ in ask.config.despite.low_battery:
        return None
    return f"the battery is {ask.state.charge.level}"


def finite(ask: Ask) -> str | None:
    """Every number is finite; NaN and infinities are refused before anything is compared."""
    return None if all_finite(ask.intent) else "a number in it is not finite"


def limits(ask: Ask) -> str | None:
    """Every number is within the limits of this robot."""
    problem = beyond_limits(ask.intent, ask.profile, ask.config, ask.robot)
    return problem or out_of_reach(ask.intent, ask.profile, ask.state.observed.reach)


def continuity(ask: Ask) -> str | None:
    """A joint motion begins where the joints are."""
    intent = ask.intent
    if not isinstance(intent, JointTarget | JointPath):
        return None
    measured = ask.state.observed.joints.get(intent.group)
    step = ask.config.limits.first_step
    start = starting_point(ask.state, intent.group, ask.now, step)
    if measured is None or start is None:
        return f"where {intent.group} is now is not known"
    return too_sudden(intent.group, start, measured, ask.profile, step)


def rate(ask: Ask) -> str | None:
    """No more commands in a second than the guard file allows."""
    recent = len(ask.state.within_a_second(ask.now))
    return None if recent < ask.config.limits.commands else f"{recent} commands within a second"


def one_outstanding(ask: Ask) -> str | None:
    """The base has one task at a time: it would queue a second one; errors are cleared once unless confirmed."""
    if isinstance(ask.intent, ClearErrors) and ask.state.cleared and not ask.intent.confirmed:
        return "errors were cleared since the robot was armed; again only when a person has confirmed it"
    if not ask.policy.task and not isinstance(ask.intent, ResumeTask):
        return None
    task = ask.state.task
    if ask.policy.task and task is not None and not task.given_up:
        return f"task {task.id} is not over"
    if isinstance(ask.intent, ResumeTask) and not ask.state.paused_task:
        return "the task was not paused by us"
    return None


def dry_run(ask: Ask) -> str | None:
    """In a dry run nothing leaves."""
    return "dry run" if ask.config.dry_run else None


def audit(ask: Ask) -> str | None:
    """What cannot be recorded is not done."""
    return None if ask.state.audit_works else "the audit file takes no records"


RULES: tuple[Rule, ...] = tuple(
    Rule(check.__name__, check)
    for check in (
        lease, mode, latch, fresh, possible, writer_ready, permitted, interlock, charge, finite, limits, continuity,
        rate, one_outstanding, dry_run, audit,
    )
)  # fmt: skip

CALMING_RULES: tuple[Rule, ...] = tuple(rule for rule in RULES if rule.name in ("lease", "mode", "possible", "dry_run"))
"""All that may hold up a command of the run that only ends something."""


def first_refusal(ask: Ask, rules: tuple[Rule, ...]) -> Refusal | None:
    for rule in rules:
        if text := rule.check(ask):
            return Refusal(rule.name, text)
    return None


def ask_for(
    intent: AnyIntent, epoch: int, now: float, state: State, profile: Profile, config: GuardConfig, robot: RobotRules
) -> Ask:
    return Ask(intent, epoch, now, state, profile, config, robot, POLICIES[type(intent)])
