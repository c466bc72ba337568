"""What must hold before a robot is armed, each line with its evidence."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.guard.rules import staleness
from orchestrator.guard.state import TERMINAL, State
from orchestrator.guard.turn import Setting


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
        _emergency(setting, state, now),
        _alone(state),
        _listening(setting, state),
        _fsm(setting, state),
        _health(setting, state),
        _base(setting, state),
        _battery(setting, state),
        Line("audit", None if state.audit_works else "the audit file takes no records", "audit file"),
        Line("commands", "the profile is read-only" if setting.profile.read_only else None, setting.profile.name),
    ]


def _freshness(setting: Setting, state: State, now: float) -> list[Line]:
    lines = []
    for role, source in setting.robot.roles.items():
        problem = staleness(state, role, now, setting.config, setting.robot)
        heard = state.sources.get(source)
        evidence = f"{source}, heard {1000 * (now - heard.last):.0f} ms ago" if heard else f"{source}, never heard"
        lines.append(Line(f"fresh {role}", problem, evidence))
    return lines


def _emergency(setting: Setting, state: State, now: float) -> Line:
    flags = {channel: state.flags.get(channel) for channel in setting.robot.channels}
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
    return Line("listening", problem, f"all but {', '.join(missing)}" if missing else "every command topic")


def _fsm(setting: Setting, state: State) -> Line:
    if "fsm" not in setting.robot.roles:
        return Line("state", None, "this robot does not tell its state")
    value = state.observed.fsm
    name = next((name for name, number in setting.profile.fsm.items() if number == value), None)
    return Line("state", None if name else f"the robot's state {value} is not in the profile", str(name or value))


def _health(setting: Setting, state: State) -> Line:
    if "nodes" not in setting.robot.roles:
        return Line("motors", None, "this robot does not tell")
    return Line("motors", state.observed.unhealthy, state.observed.unhealthy or "no errors")


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
    level = state.observed.battery
    low = level is not None and level < setting.config.limits.battery
    return Line("battery", "too low" if low else None, "not known" if level is None else f"{level:.0f} %")
