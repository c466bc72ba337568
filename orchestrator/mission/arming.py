"""From a robot that must not move to one that may: acknowledge, clear errors, preflight, arm.

On a real robot, and after every latch, each step is the act of a person. In simulation the first arming needs nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from orchestrator.clock import Clock
from orchestrator.guard.modes import LATCHING
from orchestrator.guard.outputs import Report
from orchestrator.guard.policy import WRITES
from orchestrator.guard.preflight import NO_ERRORS, UNTIL_CLEARED
from orchestrator.robots.intents import ClearErrors
from orchestrator.robots.profile import Profile

PREFLIGHT_TIME = 15.0
"""Seconds a robot has to show that it can be armed."""
LATCHED = frozenset(mode.value for mode in LATCHING)

ACKNOWLEDGE, CLEAR, AGAIN, ARM, ABORT = "acknowledge", "clear errors", "look again", "arm", "abort"

ADVICE = {
    "fresh": "is the robot on, and on this network? orchestrator doctor --robot NAME says who is there",
    "model": "take the profile of this robot; orchestrator doctor --robot NAME compares",
    "e-stop": "release the emergency stop",
    "alone": "end the other program: two commanders fight each other",
    "listening": "the robot's controller does not listen: start it; orchestrator doctor --robot NAME says what fits",
    "types": "the robot's firmware is another than the profile says: orchestrator doctor --robot NAME compares",
    "state": "bring the robot into a state that its profile names",
    "nodes": "clear the errors; a node that stays lost needs the robot's own service",
    "motors": "clear the errors; if they come back, look at the motors",
    "base": "wait until the base has ended its task, or end it there",
    "battery": "charge it",
    "audit": "make room on the disk: no command leaves without a record",
    "priority": "let the guard have real-time priority: it stops sooner when the machine is busy",
    "commands": "the profile says read_only: this robot is only watched",
}
"""What a person can do about a line of preflight, by its first word."""


def advice(line: str) -> str:
    """What to do about a line of preflight with this name."""
    return ADVICE[line.split()[0]]


class NotArmed(Exception):
    """There is a reason not to move; a line each."""


class Declined(Exception):
    """A person has decided against it."""


class Acts(Protocol):
    """The way on which a person's acts reach the guard."""

    def act(self, act: str, who: str) -> None: ...


@dataclass
class Told:
    """What the guard has told last."""

    mode: str = ""
    reason: str = ""
    refused: str = ""
    estopped: bool = False
    """Whether it was, since it was armed last: then a person chooses what becomes of the mission."""
    preflight: dict[str, tuple[bool, str]] = field(default_factory=dict)
    """By name: whether it is good, and the whole line. The guard's reports come in another thread."""

    def take(self, report: Report) -> None:
        if report.kind == "preflight":
            self.preflight[report.text.partition(":")[0]] = (report.value == "ok", report.text)
        elif report.kind == "refused" and not report.id:
            self.refused = report.text
        elif report.kind == "mode":
            self.estopped = report.value == "estopped" or (self.estopped and self.mode != "armed")
            self.mode, self.reason = report.value, report.text

    @property
    def clearable(self) -> bool:
        """Whether there are errors that the guard would clear now: motors that are only off are not cleared."""
        nodes, motors = (self.preflight.get(name, (True, "")) for name in ("nodes", "motors"))
        return self.mode == "disarmed" and (not nodes[0] or UNTIL_CLEARED in motors[1])

    @property
    def motors(self) -> str:
        """What is to be said about motors before anybody arms; empty if they are well."""
        _, text = self.preflight.get("motors", (True, NO_ERRORS))
        return "" if text.endswith(NO_ERRORS) else text

    @property
    def problems(self) -> list[str]:
        """Every line of preflight that is not good, and what to do about it."""
        bad = [(name, text) for name, (good, text) in list(self.preflight.items()) if not good]
        return [f"{text} ({advice(name)})" for name, text in bad]


class Arming:
    """One robot's way to armed. `ask` puts a question to a person; None: nobody is asked."""

    def __init__(
        self,
        profile: Profile,
        acts: Acts,
        told: Told,
        clock: Clock,
        pass_time: Callable[[float], None],
        show_preflight: Callable[[], None],
    ) -> None:
        self._profile = profile
        self._acts = acts
        self._told = told
        self._clock = clock
        self._pass_time = pass_time
        self._show_preflight = show_preflight

    def arm(self, who: str, ask: Callable[[str, list[str]], str] | None) -> None:
        """Until it is armed. Raises NotArmed with every reason, or Declined."""
        self._pass_time(0.5)
        while self._told.mode != "armed":
            if self._told.mode in LATCHED:
                self._acknowledge(who, ask)
            elif self._is_clean(who):
                self._act(self._agree(ask), who)
            else:
                self._mend(who, ask)

    def _act(self, act: str, who: str) -> None:
        self._told.refused = ""
        self._acts.act(act, who)
        self._pass_time(0.2)

    def _acknowledge(self, who: str, ask: Callable[[str, list[str]], str] | None) -> None:
        if ask is None:
            raise NotArmed(f"{self._told.reason}: a person must acknowledge that at a terminal")
        _answer(ask, " - ".join(part for part in (self._told.reason, self._told.refused) if part), [ACKNOWLEDGE])
        self._act("acknowledge", who)

    def _is_clean(self, who: str) -> bool:
        """Look until every line is good, for a while; the lines of the last look are shown."""
        until = self._clock.now() + PREFLIGHT_TIME
        clean = False
        while not clean and self._clock.now() <= until and self._told.mode not in LATCHED:
            self._told.preflight.clear()
            self._act("preflight", who)
            clean = bool(self._told.preflight) and not self._told.problems
        self._show_preflight()
        return clean

    def _agree(self, ask: Callable[[str, list[str]], str] | None) -> str:
        """Arm, or clear errors before that."""
        if ask is None:
            return "arm"
        question = f"Arm {self._profile.name}? Keep the hardware emergency stop in your hand."
        if self._told.motors:
            question = f"{self._told.motors}. {question}"
        return "clear_errors" if _answer(ask, question, self._clearing([ARM])) == CLEAR else "arm"

    def _clearing(self, choices: list[str]) -> list[str]:
        can = ClearErrors in WRITES[self._profile.family] and self._told.clearable
        return [CLEAR, *choices] if can else choices

    def _mend(self, who: str, ask: Callable[[str, list[str]], str] | None) -> None:
        if self._told.mode in LATCHED:
            return
        problems = self._told.problems or [self._told.refused or self._told.reason or "the guard does not answer"]
        if ask is None:
            raise NotArmed("\n".join(problems))
        if _answer(ask, "; ".join(problems), self._clearing([AGAIN])) == CLEAR:
            self._act("clear_errors", who)


def _answer(ask: Callable[[str, list[str]], str], question: str, choices: list[str]) -> str:
    answer = ask(question, [*choices, ABORT])
    if answer == ABORT:
        raise Declined(question)
    return answer
