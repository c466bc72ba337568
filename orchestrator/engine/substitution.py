"""Stand-ins for nodes, in tests and rehearsals: "succeed after 2 s", "fail twice then succeed", "ask me".

A file of them maps names of nodes, or paths with `*`, to what happens instead:

    MoveToTag: succeed after 2 s
    deliver_box/*/close the hand on the box: fail twice then succeed
    Ask: ask me
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from py_trees.common import Status

from orchestrator.engine.asking import Asked
from orchestrator.engine.breakpoints import fits
from orchestrator.engine.nodes.flow import Flow
from orchestrator.engine.run import Run
from orchestrator.yamlfile import DURATION, Findings, Mistake, Text, load, map_of

RUNNING, SUCCESS, FAILURE = Status.RUNNING, Status.SUCCESS, Status.FAILURE

_PART = re.compile(r"(succeed|fail)(?: (once|twice|[0-9]{1,18} times))?(?: after (.+?))?")
_TIMES = {"once": 1, "twice": 2}
ASK = "ask me"


@dataclass(frozen=True, slots=True)
class Act:
    """What a stand-in does so many times."""

    status: Status
    delay: float
    times: int


Script = tuple[Act, ...]
"""One act after the other, the last for ever; none: a person is asked."""


def parse_script(text: str) -> Script:
    """What an operator writes; raises a Mistake."""
    if text == ASK:
        return ()
    return tuple(_parse_act(part, text) for part in text.split(" then "))


def _parse_act(part: str, text: str) -> Act:
    match = _PART.fullmatch(part)
    if match is None:
        wanted = '"succeed after 2 s", "fail twice then succeed" or "ask me"'
        raise Mistake("not-a-stand-in", f'"{text}" is not understood: write something like {wanted}')
    verb, times, delay = match.groups()
    count = _TIMES.get(times) or (int(times.split()[0]) if times else 1)
    if count < 1:
        raise Mistake("not-a-stand-in", f'"{part}" never happens: write 1 time or more')
    return Act(SUCCESS if verb == "succeed" else FAILURE, DURATION.parse(delay) if delay else 0.0, count)


class _ScriptText(Text):
    """A stand-in in a file: kept as text, but only if it is understood."""

    def parse(self, text: str) -> str:
        parse_script(text)
        return text


class Substitutes:
    """Stand-ins by pattern. The first pattern that fits a node's name or path counts."""

    def __init__(self, rules: Mapping[str, str]) -> None:
        self._rules = {pattern: parse_script(text) for pattern, text in rules.items()}
        self.used: set[str] = set()

    def find(self, name: str, path: str) -> Script | None:
        for pattern, script in self._rules.items():
            if fits(pattern, name, path):
                self.used.add(pattern)
                return script
        return None

    @property
    def unused(self) -> list[str]:
        """Patterns that fitted no node: after building, probably mistakes."""
        return [pattern for pattern in self._rules if pattern not in self.used]


def load_substitutes(path: Path, findings: Findings) -> Substitutes | None:
    rules = load(path, map_of(_ScriptText()), findings)
    return None if rules is None else Substitutes(rules)


class StandIn(Flow):
    """Takes the place of a node and does as it is told."""

    CHOICES: ClassVar[list[str]] = ["succeed", "fail"]

    def __init__(self, name: str, run: Run, script: Script, looks: bool, results: list[str]) -> None:
        super().__init__(name, run)
        self.looks = looks  # as what it stands for
        self._results = results  # what the node may leave, the best first
        self.result: str | None = None
        self._script = script
        self._asked = Asked(run, self)
        self.until: float | None = None
        self.attempt = 0

    def initialise(self) -> None:
        super().initialise()
        self.until = self.result = None
        self.attempt += 1

    def terminate(self, new_status: Status) -> None:
        self._asked.withdraw()

    def advance(self) -> Status:
        if not self._script:
            answer = self._asked.answer(lambda: f"What does {self.name} do?", lambda: self.CHOICES)
            return RUNNING if answer is None else self._end(SUCCESS if answer == self.CHOICES[0] else FAILURE)
        act = self._act()
        now = self.run.clock.now()
        if self.until is None:
            self.until = now + act.delay
        if now < self.until:
            self.run.wake_at(self.until)
            return RUNNING
        return self._end(act.status)

    def _act(self) -> Act:
        """What it does in this attempt; the last act goes on for ever."""
        done = 0
        for act in self._script:
            done += act.times
            if self.attempt <= done:
                break
        return act

    def _end(self, status: Status) -> Status:
        if self._results:
            self.result = self._results[0 if status is SUCCESS else -1]
        return status if status is SUCCESS else self.run.fail(self, f"the stand-in of {self.name} fails")
