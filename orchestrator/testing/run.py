"""One run of a mission in virtual time, in the hands of a test."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, get_args

from orchestrator.engine.builder import BuiltTree
from orchestrator.engine.events import (
    Command,
    Control,
    Event,
    GuardReport,
    NodeInfo,
    NodeStatus,
    Note,
    Prompt,
    Structure,
    Tick,
)
from orchestrator.engine.prompts import Prompts, Question
from orchestrator.engine.runner import Outcome
from orchestrator.engine.substitution import Substitutes
from orchestrator.mission.faults import hurt
from orchestrator.mission.loading import CannotRun, load_mission
from orchestrator.mission.questions import mistake_in
from orchestrator.mission.virtual import VirtualMission
from orchestrator.robots.intents import AnyIntent
from orchestrator.sim.faults import Fault, parse_fault
from orchestrator.yamlfile.findings import nearest

LONG = 3600.0
"""Virtual seconds after which a mission that does not come to its end has failed the test."""
ROUNDING = 1e-6
_NEVER_RUNNING = ' (what ends in the tick in which it starts never is: wait for "success" or "failure")'
_STATUSES = get_args(NodeStatus)
_COMMANDS = tuple(intent.__name__ for intent in get_args(AnyIntent))


class StartMission(Protocol):
    """The fixture `mission`."""

    def __call__(
        self,
        tree: str | Path,
        robot: str | None = None,
        values: Mapping[str, object] | None = None,
        faults: Sequence[str] = (),
        substitute: Mapping[str, str] | None = None,
        answers: Mapping[str, str] | None = None,
        seed: int = 0,
    ) -> MissionRun: ...


class MissionRun:
    """A mission that has been armed and waits for `until`, `wait` or `finish`.

    Time passes only in these three. Between them the test looks at the run and does to the robot what people and the
    world would do.
    """

    def __init__(
        self,
        tree: Path,
        robot: str | None = None,
        values: Mapping[str, object] | None = None,
        faults: Sequence[str] = (),
        substitute: Mapping[str, str] | None = None,
        answers: Mapping[str, str] | None = None,
        seed: int = 0,
        on_event: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self.events: list[Event] = []
        self._status: list[NodeStatus] = []
        self._nodes: list[NodeInfo] = []
        if isinstance(faults, str):
            raise TypeError(f"faults is a list: write faults=[{faults!r}]")
        _check_dictionary('values={"NAME": "VALUE"}', values)
        _check_dictionary('substitute={"NODE": "succeed"}', substitute)
        _check_dictionary('answers={"NODE": "CHOICE"}', answers)
        self._answers = dict(answers or {})
        self._on_event = on_event
        settings = {name: _as_yaml(value) for name, value in (values or {}).items()}
        stand_ins = Substitutes(substitute) if substitute else None
        loaded = load_mission(tree, robot, settings, stand_ins, "values: {}")
        self._prompts = Prompts(self._known)
        self._mission = VirtualMission(loaded, self._take, self._prompts, seed)
        if mistake := mistake_in(self._answers, self._built):
            raise CannotRun(mistake)
        for fault in faults:
            hurt(self.twin, fault)
        self._mission.mission.arm("test")
        self._began = self._mission.clock.now()
        self._turns: Iterator[None] = self._mission.mission.turns()
        with self._mission.watch():
            next(self._turns, None)

    @property
    def name(self) -> str:
        """The tree's name."""
        return self._built.tree.name

    @property
    def _built(self) -> BuiltTree:
        return self._mission.mission.built

    # Time

    @property
    def time(self) -> float:
        """Virtual seconds since the first tick."""
        return self._mission.clock.now() - self._began

    def until(self, what: str | Callable[[], bool], status: NodeStatus = "running", within: float = LONG) -> None:
        """Let time pass until a node, by name or path, has this status, or until a function says True."""
        if status not in _STATUSES:
            raise LookupError(f'no node is ever "{status}": a status is {", ".join(_STATUSES)}')
        if callable(what):
            self._pass_until(what, within, "what the test waits for")
        else:
            numbers = self._numbers(what)
            wanted = f'"{what}" is {status}' + (_NEVER_RUNNING if status == "running" else "")
            self._pass_until(lambda: any(self._status[n] == status for n in numbers), within, wanted)

    def wait(self, seconds: float) -> None:
        """Let time pass; the mission may end on the way, the robot goes on."""
        end = self._mission.clock.now() + seconds
        with self._mission.watch():
            while self._mission.clock.now() < end - ROUNDING and self._turn():
                pass
        if self._mission.clock.now() < end:
            self._mission.clock.advance(end - self._mission.clock.now())

    def finish(self, within: float = LONG) -> Outcome:
        """Let time pass until the mission has ended."""
        self._pass_until(lambda: self.outcome is not None, within, "the mission has ended")
        assert self.outcome is not None
        return self.outcome

    def _pass_until(self, reached: Callable[[], bool], within: float, wanted: str) -> None:
        latest = self._mission.clock.now() + within
        with self._mission.watch():
            while not reached():
                if self._mission.clock.now() > latest:
                    raise AssertionError(f"{within:g} s have passed and not yet: {wanted}\n{self.story()}")
                if not self._turn() and not reached():
                    raise AssertionError(f"the mission ended before {wanted}\n{self.story()}")

    def _turn(self) -> bool:
        """One turn of the runner; False after the last."""
        return next(self._turns, self) is None

    # What happens to the robot and the run

    @property
    def twin(self) -> Any:
        """The simulated robot: what people and the world can do to it differs from family to family."""
        return self._mission.twin

    def fault(self, fault: str) -> None:
        """Put a fault in now, or at the time or on the condition it names: `off:rt/amr/state+2s`, `soft@5s`.

        Times count from now.
        """
        parsed = parse_fault(fault, self.twin)
        if parsed.when is None:
            parsed = _from_now(parsed, self._mission.clock.now() - self.twin.started_at)
        hurt(self.twin, parsed)

    def answer(self, node: str, choice: str) -> None:
        """Answer the question that a node, by name or path, is asking."""
        meant = {found.number for found in self._built.find(node)}
        asking = [question for question in self._prompts.open if question.node in meant]
        if len(asking) != 1:
            what = "asks more than one question; name one of these" if asking else "asks nothing; these do"
            raise AssertionError(f'"{node}" {what}: {", ".join(self.questions) or "none"}\n{self.story()}')
        self._prompts.answer(asking[0].number, choice)

    @property
    def questions(self) -> dict[str, list[str]]:
        """The open questions: node to choices; by path where several nodes of one name ask."""
        asking = self._prompts.open
        names = Counter(question.name for question in asking)
        paths = self._built.paths
        return {each.name if names[each.name] == 1 else paths[each.node]: each.choices for each in asking}

    def abort(self, reason: str = "aborted by the operator") -> None:
        """As an operator who aborts: what runs is interrupted, `finally` is done."""
        self._mission.mission.runner.abort(reason)

    def pause(self) -> None:
        self._mission.mission.runner.pause("by the test")

    def resume(self) -> None:
        self._mission.mission.runner.resume()

    @property
    def paused(self) -> bool:
        """By the operator, or by the tree's own `pause`."""
        return self._mission.mission.runner.paused

    def _known(self, question: Question) -> str | None:
        """A node may ask several questions: what is no answer to one of them may be the answer to another."""
        known = self._answers.get(question.name)
        return known if known in question.choices else None

    # What is to be seen

    @property
    def outcome(self) -> Outcome | None:
        """How the mission ended; None while it runs."""
        return self._mission.mission.runner.outcome

    @property
    def succeeded(self) -> bool:
        return self.outcome is not None and self.outcome.status == "success"

    @property
    def reason(self) -> str:
        """Why the mission did not succeed; empty while it runs and after a success."""
        return self.outcome.reason if self.outcome else ""

    @property
    def failed_node(self) -> str:
        """The node through which the mission failed; empty if there is none."""
        return self.outcome.node.name if self.outcome and self.outcome.node else ""

    def status(self, node: str) -> NodeStatus:
        """The status of a node, by name or path; of several, the first that is not idle."""
        statuses = [self._status[number] for number in self._numbers(node)]
        return next((status for status in statuses if status != "idle"), "idle")

    @property
    def guard(self) -> str:
        """The guard's mode: armed, running, paused, stopping, estopped, fault, ..."""
        return self._mission.guard.state.mode.value

    @property
    def sent(self) -> list[str]:
        """The names of all commands the mission has given, in order."""
        return [event.intent for event in self.events if isinstance(event, Command)]

    def commands(self, intent: str) -> list[dict[str, Any]]:
        """The commands of this name, with what they asked for; a name that no command has is a mistake of the test."""
        if intent not in _COMMANDS:
            guess = nearest(intent, _COMMANDS)
            raise LookupError(f'no command is called "{intent}"' + (f': did you mean "{guess}"?' if guess else ""))
        return [event.details for event in self.events if isinstance(event, Command) and event.intent == intent]

    @property
    def published(self) -> list[dict[str, Any]]:
        """What the guard let out to the robot, stops included: its audit; `role` tells commands from stops."""
        return self._mission.audit

    @property
    def log(self) -> list[str]:
        """What the leaf Log has said."""
        return [event.text for event in self.events if isinstance(event, Note)]

    def story(self) -> str:
        """What has happened, a line each; it stands below a failed test."""
        last: dict[int, NodeStatus] = {}
        return "\n".join(line for event in self.events for line in self._lines(event, last))

    def _lines(self, event: Event, last: dict[int, NodeStatus]) -> list[str]:
        at = f"{event.at - self._began:8.2f}  "
        match event:
            case Tick(changes=changes):
                new = {n: change for n, change in changes.items() if change.status != last.get(n, "idle")}
                last.update((n, change.status) for n, change in new.items())
                told = ((self._nodes[n], change) for n, change in new.items() if change.status != "idle")
                return [f"{at}{n.name} (line {n.line}): {c.status}  {c.message}".rstrip() for n, c in told]
            case Control(action=action, reason=reason):
                return [f"{at}{action}: {reason}" if reason else f"{at}{action}"]
            case Command(intent=intent, details=details):
                return [f"{at}-> {intent} {details}"]
            case GuardReport(details=details):
                return [f"{at}guard: {details['text']}"] if details.get("text") else []
            case Note(text=text):
                return [f"{at}says: {text}"]
            case Prompt(node=node, question=question, choices=choices):
                return [f"{at}{self._nodes[node].name} asks: {question} {choices}"]
        return []

    def _take(self, event: Event) -> None:
        self.events.append(event)
        match event:
            case Structure(nodes=nodes):
                self._nodes = nodes
                self._status = ["idle"] * len(nodes)
            case Tick(changes=changes):
                for number, change in changes.items():
                    self._status[number] = change.status
        self._on_event(event)

    def _numbers(self, pattern: str) -> list[int]:
        found = [node.number for node in self._built.find(pattern)]
        if not found:
            guess = nearest(pattern, tuple(node.name for node in self._nodes))
            raise LookupError(f'no node is called "{pattern}"' + (f': did you mean "{guess}"?' if guess else ""))
        return found


def _check_dictionary(right: str, given: object) -> None:
    if not isinstance(given or {}, Mapping):
        raise TypeError(f"{right.partition('=')[0]} is a dictionary: write {right}, not {given!r}")


def _as_yaml(value: object) -> str:
    """A value as a tree would have it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_in_list, value))}]"
    return str(value)


def _in_list(value: object) -> str:
    """A list is read as YAML: there a text needs quotes, which alone it has not."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else _as_yaml(value)


def _from_now(fault: Fault, now: float) -> Fault:
    return replace(fault, at=fault.at + now)
