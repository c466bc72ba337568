"""What must hold before a robot is armed, each line with its evidence."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.guard.policy import RPC
from orchestrator.guard.rules import staleness
from orchestrator.guard.state import TERMINAL, State
from orchestrator.guard.turn import Setting
from orchestrator.guard.watching import LEVELS
from orchestrator.robots.intents import ClearErrors, EnableMotors
from orchestrator.robots.models import beyond_limits, fitting, misfit

NO_ERRORS = "no errors"
"""The evidence for motors that are well."""
UNTIL_CLEARED = "nothing moves until this is cleared"
"""Stands in the evidence for motors with errors that a person may clear."""


@dataclass(frozen=True)
class Line:
    name: str
    problem: str | None
    evidence: str

    @property
    def ok(self) -> bool:
        return self.problem is None


def preflight(setting: Setting, state: State, now: float) -> list[Line]:
    """Every line, good or bad, in the order in which a person would look."""
    return [
        *_freshness(setting, state, now),
        _model(setting, state),
        _emergency(setting, state, now),
        _alone(state),
        _listening(setting, state),
        _types(state),
        _fsm(setting, state),
        _health(setting, state),
        _motors(setting, state),
        _base(setting, state),
        _battery(setting, state),
        Line("audit", None if state.audit_works else "the audit file takes no records", setting.audit),
        Line("priority", None, setting.priority),
        Line("commands", "the profile is read-only" if setting.profile.read_only else None, setting.profile.name),
    ]


def _freshness(setting: Setting, state: State, now: float) -> list[Line]:
    lines = []
    for role, source in setting.robot.roles.items():
        if role == "hands" and setting.profile.hands is None:  # others of its family may have some
            continue
        problem = staleness(state, role, now, setting.config, setting.robot)
        heard = state.sources.get(source)
        evidence = f"{source}, heard {1000 * (now - heard.last):.0f} ms ago" if heard else f"{source}, never heard"
        lines.append(Line(f"fresh {role}", problem, evidence))
    return lines


def _model(setting: Setting, state: State) -> Line:
    """Whether this is the robot of the profile: its joints end where the profile says, and nowhere else."""
    profile, seen = setting.profile, state.observed
    if seen.stranger is not None:
        why = misfit(profile, seen.stranger)
        return Line("model", f"{why}; {fitting(profile.family, seen.stranger)}", f"not {profile.name}")
    commanded = {group: q for group, q in seen.joints.items() if group not in profile.read_only_groups}
    far = beyond_limits(profile, commanded)
    problem = f"{far}: another model, or a joint to bring back by hand" if far else None
    return Line("model", problem, f"as {profile.name}")


def _emergency(setting: Setting, state: State, now: float) -> Line:
    flags = dict.fromkeys(setting.robot.channels) | state.flags
    evidence = ", ".join(f"{channel} {_shown(flag)}" for channel, flag in flags.items())
    problem = None
    if None in flags.values():
        problem = "an e-stop channel is not known"
    elif any(state.flags.values()):
        problem = "an e-stop is triggered"
    elif now - state.clear_since < setting.config.timing.clear:
        problem = f"e-stop clear for less than {setting.config.timing.clear:g} s"
    return Line("e-stop", problem, evidence)


def _shown(flag: bool | None) -> str:
    return {True: "triggered", False: "clear", None: "not known"}[flag]


def _alone(state: State) -> Line:
    others = ", ".join(state.foreign)
    return Line("alone", f"commanded by {others} as well" if others else None, others or "no other writer")


def _listening(setting: Setting, state: State) -> Line:
    """Only what this robot cannot do without; a single command on a topic nobody reads is refused when it comes."""
    missing = [topic for topic in setting.commands if topic not in state.ready]
    problem = f"nobody listens to {', '.join(missing)}" if len(missing) == len(setting.commands) else None
    deaf = [*missing, "JSON-RPC"] if setting.uses_rpc and RPC not in state.ready else missing
    return Line("listening", problem, f"all but {', '.join(deaf)}" if deaf else "every command topic")


def _fsm(setting: Setting, state: State) -> Line:
    if "fsm" not in setting.robot.roles:
        return Line("state", None, "this robot does not tell its state")
    value = state.observed.fsm
    name = next((name for name, number in setting.profile.fsm.items() if number == value), None)
    return Line("state", None if name else f"the robot's state {value} is not in the profile", str(name or value))


def _types(state: State) -> Line:
    wrong = "; ".join(state.mismatched.values())
    return Line("types", wrong or None, wrong or "every type fits")


def _health(setting: Setting, state: State) -> Line:
    if "nodes" not in setting.robot.roles:
        return Line("nodes", None, "this robot does not tell")
    return Line("nodes", state.observed.unhealthy, state.observed.unhealthy or "all operational")


def _motors(setting: Setting, state: State) -> Line:
    """Errors that can be cleared do not forbid arming: until they are, the rule of interlocks lets nothing move.

    Nor do motors that are off: a tree may enable them, and until then nothing moves either.
    """
    seen = state.observed
    errors = "; ".join(seen.errors.values())
    off = "; ".join(text for group, text in seen.off.items() if group not in seen.errors)
    if not setting.takes(ClearErrors):
        found = "; ".join(filter(None, (off, errors)))
        return Line("motors", found or None, found or NO_ERRORS)
    cleared = f"{errors}; {UNTIL_CLEARED}" if errors else ""
    enabled = f"{_off(setting)} ({off})" if off else ""
    return Line("motors", None, "; ".join(filter(None, (cleared, enabled))) or NO_ERRORS)


def _off(setting: Setting) -> str:
    """What a person must know before arming a robot whose motors are off: arming does not enable them."""
    told = "they are off, and nothing moves until they are enabled"
    if not setting.takes(EnableMotors):
        return told
    allowed = setting.config.allow.motors
    return f"{told}: EnableMotors {'does that' if allowed else 'needs allow.motors in the guard file'}"


def _base(setting: Setting, state: State) -> Line:
    if setting.profile.base is None:
        return Line("base", None, "no base")
    base = state.observed.base
    if base is None:
        return Line("base", "not known", "no sample")
    idle = base.device == "devidle" and base.navigation in TERMINAL and base.work_mode == 0
    evidence = f"{base.device}, {base.navigation}, work mode {base.work_mode}"
    return Line("base", None if idle else "the base is not idle", evidence)


def _battery(setting: Setting, state: State) -> Line:
    powers = {"body": state.observed.power, "base": state.observed.base_power}
    shown = ", ".join(f"{name} {power.level} %" for name, power in powers.items() if power is not None)
    level = max(state.charge.level, state.charge.seen, key=LEVELS.index)
    return Line("battery", f"{level}: {shown}" if level != "good" else None, shown or "this robot does not tell")
