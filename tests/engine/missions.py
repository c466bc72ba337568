"""Small missions in virtual time: files written in tests, leaves that do as told, a robot that notes everything."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, nan
from pathlib import Path
from typing import Any

from py_trees.common import Status as PyTreesStatus

import behaviours
from orchestrator.bus.memory import MemoryBus, MemoryNetwork
from orchestrator.clock import VirtualClock
from orchestrator.engine import BuiltTree, Outcome, Prompts, Runner, StopRun, Substitutes, build
from orchestrator.engine.checkpoint import Checkpoint, restore
from orchestrator.engine.events import End, Event, Tick, to_json
from orchestrator.leaf import By, Catalogue, Duration, Leaf, Status, leaves_of
from orchestrator.robots.facts import Field
from orchestrator.treefile import Surroundings, Tree, check_file
from tests.treefile.stand_in import ATOM_W
from tests.treefile.stand_in import FIELDS as ROBOT_FIELDS

_PARTS = {part: part for part in ("base", "head", "upper")}


class Act(Leaf, uses=By("part", _PARTS), result=("fine", "broken"), timeout=None):
    """Act for a time, then succeed or fail.

    - Act: {id: a, time: 1 s, ok: true}
    """

    id: str
    time: Duration = 0.0
    ok: bool = True
    fails: int = 0  # the first so many attempts fail
    part: str | None = None

    def start(self) -> None:
        self.robot.note(f"start {self.id}")
        self._until = self.robot.clock.now() + self.time

    def step(self) -> Status:
        if self.robot.clock.now() < self._until:
            return Status.RUNNING
        self.robot.attempts[self.id] = self.robot.attempts.get(self.id, 0) + 1
        good = self.ok and self.robot.attempts[self.id] > self.fails
        self.result = "fine" if good else "broken"
        return Status.SUCCESS if good else self.fail(f"{self.id} failed")

    def stop(self) -> None:
        self.robot.note(f"stop {self.id}")

    def pause(self) -> None:
        self.robot.note(f"pause {self.id}")
        self._left = self._until - self.robot.clock.now()

    def resume(self) -> None:
        self.robot.note(f"resume {self.id}")
        self._until = self.robot.clock.now() + self._left


class Stubborn(Act, resumable=False, timeout=None):
    """Act, but without being able to go on after a pause.

    - Stubborn: {id: a, time: 1 s}
    """

    id: str
    time: Duration = 0.0


class Sworn(Act, resumable=False, timeout=None):
    """Act, and note whether a person has agreed to it.

    - Sworn: {id: a, time: 1 s}
    """

    id: str
    time: Duration = 0.0
    fails: int = 0

    def start(self) -> None:
        super().start()
        self.robot.note(f"{self.id} is {'agreed' if self.confirmed else 'not agreed'}")

    def stop(self) -> None:
        """Says nothing."""


class Look(Leaf, looks=True, instant=True, timeout=1.0):
    """Only look.

    - Look: {ok: true}
    """

    ok: bool = True

    def step(self) -> Status:
        return Status.SUCCESS if self.ok else self.fail("it looks bad")


class Talk(Leaf, timeout=None):
    """Say a line at each step, or how much of a time has passed.

    - Talk: {lines: [drives, stops]}
    """

    lines: list[str]
    time: Duration = 0.0

    def start(self) -> None:
        self._started_at = self.robot.clock.now()
        self._left = list(self.lines)

    def step(self) -> Status:
        passed = self.robot.clock.now() - self._started_at
        if not self.lines:
            self.progress = passed / self.time
        elif self._left:
            self.message = self._left.pop(0)
            return Status.RUNNING
        return Status.RUNNING if passed < self.time else Status.SUCCESS


class Unshown(Exception):
    """What can't even be told."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class Odd(Leaf, timeout=None):
    """Misbehave.

    - Odd: {how: none}
    """

    how: str

    def start(self) -> None:
        self.robot.note("start odd")
        if self.how == "start":
            raise RuntimeError("no start")
        self._leave("start")
        if self.how == "over":
            raise StopRun("the robot is gone")
        self._block("block start")

    def _block(self, how: str, seconds: float = 0.2) -> None:
        if self.how == how:
            self.robot.clock.advance(seconds)  # type: ignore[attr-defined]

    def _leave(self, method: str) -> None:
        if self.how == f"exit {method}":
            sys.exit(0)
        if self.how == f"interrupt {method}":
            raise KeyboardInterrupt

    def step(self) -> Any:
        self._leave("step")
        if self.how == "step":
            raise RuntimeError("no step")
        if self.how == "progress":
            self.progress = float("nan")
            return Status.RUNNING
        self._block("block")
        self._block("block a little", 0.06)
        if self.how == "unshown":
            raise Unshown
        if self.how == "no text":
            raise RuntimeError("no file \udcff")
        running = dict.fromkeys(("running", "pause", "pause and stop"), Status.RUNNING)
        return {
            "none": None,
            "true": True,
            "return unshown": Unshown(),
            "py_trees": PyTreesStatus.SUCCESS,
            **running,
        }.get(self.how, Status.SUCCESS)

    def pause(self) -> None:
        self.robot.note("pause odd")
        if self.how.startswith("pause"):
            raise RuntimeError("no pause")

    def stop(self) -> None:
        self.robot.note("stop odd")
        self._block("block stop")
        if self.how in ("stop", "pause and stop"):
            raise RuntimeError("no stop")
        self._leave("stop")
        if self.how == "edit":
            self.robot.edit()


class Claim(Leaf, result=("fine",), timeout=None):
    """Run for a while with an attribute that is not what it must be, or end with it.

    - Claim: {attribute: rate, value: fast}
    """

    attribute: str
    value: str

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        setattr(self, self.attribute, CLAIMS.get(self.value, self.value))

    def step(self) -> Status:
        if self.attribute == "message" and self.value == "unshown":
            return Status.FAILURE
        return Status.SUCCESS if self.attribute in ("result", "reason") else Status.RUNNING

    def stop(self) -> None:
        self.robot.note("stop claim")


CLAIMS: dict[str, Any] = {
    "nan": nan,
    "zero": 0,
    "minus": -5.0,
    "infinite": inf,
    "object": object(),
    "number": 5,
    "unshown": Unshown(),
    "half a text": "half \udcff",
}

_LEAVES = (Act, Stubborn, Sworn, Look, Talk, Odd, Claim)
CATALOGUE = Catalogue([*leaves_of(behaviours), *(leaf.declaration for leaf in _LEAVES)])
FIELDS = {
    **ROBOT_FIELDS,
    **{name: Field(name, "bool", "pad", event=True) for name in ("pad.x", "pad.y")},
}


class Fields:
    """Values of fields; a change wakes the bus."""

    def __init__(self, bus: MemoryBus) -> None:
        self._bus = bus
        self._values: dict[str, Any] = {}
        self.watched: set[str] = set()

    def __setitem__(self, name: str, value: Any) -> None:
        self._values[name] = value
        if name in self.watched:
            self._bus.wake()

    def read(self, name: str) -> Any:
        return self._values.get(name)

    def why(self, name: str) -> str:
        return f"{name} has not been reported yet"

    def watch(self, name: str) -> None:
        self.watched.add(name)


class Robot:
    """Notes what leaves do, and when."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.log: list[tuple[float, str]] = []
        self.attempts: dict[str, int] = {}
        self.edit: Callable[[], object] = lambda: None

    def note(self, text: str) -> None:
        self.log.append((round(self.clock.now(), 6), text))

    @property
    def said(self) -> list[str]:
        return [text for _, text in self.log]


@dataclass
class Mission:
    """A mission ready to run; plan what happens with `at`."""

    built: BuiltTree
    runner: Runner
    clock: VirtualClock
    fields: Fields
    robot: Robot
    prompts: Prompts
    events: list[Event]
    beats: list[float] = field(default_factory=list)

    def at(self, time: float, action: Callable[[], object]) -> None:
        def happen() -> None:
            action()

        self.clock.at(time, happen)

    def set(self, field: str, value: Any) -> None:
        self.fields[field] = value

    def run(self) -> Outcome:
        return self.runner.run()

    @property
    def said(self) -> list[str]:
        return self.robot.said

    @property
    def log(self) -> list[tuple[float, str]]:
        return self.robot.log

    @property
    def end(self) -> End:
        last = self.events[-1]
        assert isinstance(last, End)
        return last

    def statuses(self) -> dict[str, str]:
        """The last status of every node that was told of, by name."""
        told: dict[str, str] = {}
        for event in self.events:
            if isinstance(event, Tick):
                for number, change in event.changes.items():
                    told[self.built.structure[number].name] = change.status
        return told

    def stream(self) -> bytes:
        return b"\n".join(to_json(event) for event in self.events)


def checked(path: Path) -> Tree:
    surroundings = Surroundings(CATALOGUE, FIELDS, robot=ATOM_W)
    result = check_file(path, surroundings)
    assert result.ok, result.findings.render()
    return result.tree


def mission(folder: Path, text: str, **options: Any) -> Mission:
    """A mission from nodes or a whole file; fields by name with `__` for the dot."""
    if not text.lstrip().startswith("tree:"):
        text = "tree: t\nroot:\n" + "".join(f"  {line}\n" for line in text.strip("\n").splitlines())
    path = folder / "main.yaml"
    path.write_text(text)
    return mission_of(checked(path), **options)


def mission_of(
    tree: Tree,
    answers: Any = lambda question: None,
    substitutes: Substitutes | None = None,
    restored: Checkpoint | None = None,
    start: float = 0.0,
    **fields: Any,
) -> Mission:
    clock = VirtualClock(start)
    bus = MemoryNetwork(clock).bus("run")
    values = Fields(bus)
    for name, value in fields.items():
        values[name.replace("__", ".")] = value
    robot, prompts = Robot(clock), Prompts(answers)
    events: list[Event] = []
    beats: list[float] = []
    built = build(tree, CATALOGUE, robot, values, clock, prompts, substitutes)
    if restored is not None:
        restore(built, restored)
    runner = Runner(built, bus, lambda: beats.append(clock.now()), events.append)
    return Mission(built, runner, clock, values, robot, prompts, events, beats)
