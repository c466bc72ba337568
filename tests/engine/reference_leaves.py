"""What the reference interpreter is made of: steps, values, time, leaves. The language itself is in reference.py."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Any

from orchestrator.treefile import Expression, Template, TreeNode
from orchestrator.treefile.model import text_of

Steps = Generator[None, None, str]


class Interrupted(BaseException):
    """Thrown into a node that must end now."""


class Unknown(Exception):
    """A value that is needed is not known."""


@dataclass(eq=False)
class Acting:
    """A leaf that was started and not stopped."""

    name: str
    resumable: bool
    until: float  # by the clock of the robot, which goes on in a pause
    left: float = 0.0
    lost: bool = False


@dataclass(eq=False)
class Asked:
    """A question that waits for its answer."""

    text: str
    answer: str | None = None


class Leaves:
    """`read` comes from the world, `act` is the robot's log.

    `known` answers a question at once or not; those that are `open` wait for a person.
    """

    def __init__(
        self, read: Callable[[str], Any], act: Callable[[str], None], known: Callable[[str], str | None]
    ) -> None:
        self.read, self.act, self.known = read, act, known
        self.now = 0.0  # of the run, which stands still in a pause
        self.world = 0.0
        self.due = inf
        self.values: dict[str, Any] = {}
        self.attempts: dict[str, int] = {}
        self.results: dict[int, str | None] = {}
        self.acting: list[Acting] = []
        self.held: list[Acting] = []  # by a pause
        self.open: list[Asked] = []
        self.pending: list[Steps] = []  # what interrupted nodes still have to do
        self.frozen = False  # a tick during a pause: nothing with an effect starts

    def _when_thawed(self, start: Callable[[], Steps]) -> Steps:
        while self.frozen:
            yield
        return (yield from start())

    def _interrupt(self, nodes: list[Steps]) -> Steps:
        """Stop them at once, then wait for what they still have to do."""
        outer, self.pending = self.pending, []
        halt(nodes)
        mine, self.pending = self.pending, outer
        return self._finish(mine)

    def _finish(self, cleanups: list[Steps]) -> Steps:
        while cleanups:
            try:
                while tick(cleanups[0]) is None:
                    yield
            except Interrupted:
                self.pending += cleanups
                raise
            cleanups.pop(0)
        return ""

    def _race(
        self, children: list[Steps], before: Callable[[], str | None], after: Callable[[list[str]], str | None]
    ) -> Steps:
        """Tick children until there is a verdict, before a tick or by those that ended; interrupt the others."""
        ends: dict[Steps, str] = {}
        while True:
            verdict = before()
            if verdict is None:
                for child in children:
                    if child not in ends and (end := tick(child)) is not None:
                        ends[child] = end
                verdict = after(list(ends.values()))
            running = [child for child in children if child not in ends]
            if verdict is not None:
                yield from self._interrupt(running)
                return verdict
            try:
                yield
            except Interrupted:
                halt(running)
                raise

    def _act(self, n: TreeNode) -> Steps:
        try:
            name, until = self._value(n.values["id"]), self.world + self._value(n.values["time"])
        except Unknown:
            return "failure"
        acting = Acting(name, n.leaf is not None and n.leaf.resumable, until)
        self.acting.append(acting)
        self.act(f"start {name}")
        try:
            while self.world < acting.until or acting in self.held:
                yield
                if acting.lost:
                    return "failure"
            self.attempts[name] = self.attempts.get(name, 0) + 1
            good = n.values.get("ok", True) and self.attempts[name] > n.values.get("fails", 0)
            self.results[id(n)] = "fine" if good else "broken"
            return "success" if good else "failure"
        finally:
            self.acting.remove(acting)
            self.act(f"stop {name}")

    _stubborn = _act

    def _look(self, n: TreeNode) -> Steps:
        return at_once(self._value(n.values["ok"]) is True)

    def _pause(self) -> None:
        self.held = list(self.acting)
        for leaf in self.held:
            leaf.left = leaf.until - self.world
            self.act(f"pause {leaf.name}")

    def _resume(self) -> None:
        for leaf in self.held:
            if leaf in self.acting:
                leaf.lost, leaf.until = not leaf.resumable, self.world + leaf.left
                if leaf.resumable:
                    self.act(f"resume {leaf.name}")
        self.held = []

    def _wait(self, n: TreeNode) -> Steps:
        yield from self._until(self.now + n.values["time"])
        return "success"

    def _log(self, n: TreeNode) -> Steps:
        try:
            self.act(f"log {self._value(n.values['text'])}")
        except Unknown:
            return at_once(False)
        return at_once(True)

    def _set(self, n: TreeNode) -> Steps:
        found = {key: self._evaluate(expression) for key, expression in n.sets.items()}
        if None not in found.values():
            self.values.update(found)
        return at_once(None not in found.values())

    def _ask(self, n: TreeNode) -> Steps:
        self.results[id(n)] = answer = yield from self._answer(self._value(n.values["question"]))
        return "failure" if answer in n.values["fail_on"] else "success"

    def _answer(self, text: str) -> Steps:
        question = Asked(text, self.known(text))
        self.open.append(question)
        self.act(f"ask {text}")
        try:
            while question.answer is None:
                yield
        finally:
            self.open.remove(question)
        return question.answer

    # Values and times

    def _evaluate(self, expression: Any) -> Any:
        return expression.evaluate(self.read, self.values)

    def _held(self, expression: Any, since: list[float], now: float) -> bool | None:
        value: bool | None = self._evaluate(expression)
        if expression.hold is None or value is not True:
            since.clear()
            return value
        since[:] = since or [now]
        self._wake(since[0] + expression.hold if now < since[0] + expression.hold else inf)
        return bool(now >= since[0] + expression.hold)

    def _value(self, value: Any) -> Any:
        if isinstance(value, Template):
            parts = [p if isinstance(p, str) else (self.values.get(p[0]), p[1]) for p in value.parts]
            if any(part[0] is None for part in parts if isinstance(part, tuple)):
                raise Unknown
            return "".join(part if isinstance(part, str) else text_of(*part) for part in parts)
        return self._evaluate(value) if isinstance(value, Expression) else value

    def _until(self, time: float) -> Generator[None, None, None]:
        while self.now < time:
            self._wake(time)
            yield

    def _new_tick(self, wait: float = 0.0) -> Generator[None, None, None]:
        time = self.now + wait
        self._wake(time)
        yield
        yield from self._until(time)

    def _wake(self, time: float) -> None:
        self.due = min(self.due, time)


def at_once(good: bool) -> Steps:
    return "success" if good else "failure"
    yield


def halt(nodes: list[Steps]) -> None:
    for node in nodes:
        with suppress(Interrupted, StopIteration):
            node.throw(Interrupted)


def never() -> None:
    return None


def first(ends: list[str]) -> str | None:
    return ends[0] if ends else None


def tick(node: Steps) -> str | None:
    try:
        next(node)
    except StopIteration as end:
        return str(end.value)
    return None
