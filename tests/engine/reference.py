"""The tree language, read aloud: a slow and plain interpreter that the engine is compared with.

A node is a generator: it yields when it is still running at the end of a tick and returns how it ended. To interrupt
it means to throw `Interrupted` into it; a node with `finally` then leaves a generator in `pending`, for whoever
interrupts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from math import inf
from typing import Any

from orchestrator.treefile import Expression, Template, Tree, TreeNode
from orchestrator.treefile.model import text_of

Steps = Generator[None, None, str]
RESULTS = {"success": ("success", "success"), "failure": ("failure", "failure"), "inverted": ("failure", "success")}


class Interrupted(BaseException):
    """Thrown into a node that must end now."""


class Unknown(Exception):
    """A value that is needed is not known."""


class Reference:
    """Runs a tree; `now` and `read` come from the world, `act` is the robot's log."""

    def __init__(
        self,
        tree: Tree,
        read: Callable[[str], Any],
        act: Callable[[str], None],
        answer: Callable[[str], str | None],
    ) -> None:
        self.tree, self.read, self.act, self.answer = tree, read, act, answer
        self.now = 0.0
        self.due = inf
        self.values: dict[str, Any] = {}
        self.attempts: dict[str, int] = {}
        self.cooled: dict[int, float] = {}
        self.results: dict[int, str] = {}
        self.pending: list[Steps] = []
        root = tree.root
        assert root is not None
        self.running = self._guards(lambda: self.node(root), [(e, False, "failure") for e in tree.require])

    def tick(self) -> str | None:
        """How the run ended, or None."""
        self.due = inf
        return _next(self.running)

    # Interruption

    def _halt(self, nodes: list[Steps]) -> None:
        for node in nodes:
            with suppress(Interrupted, StopIteration):
                node.throw(Interrupted)

    def _interrupt(self, nodes: list[Steps]) -> list[Steps]:
        outer, self.pending = self.pending, []
        self._halt(nodes)
        mine, self.pending = self.pending, outer
        return mine

    def _finish(self, cleanups: list[Steps]) -> Steps:
        while cleanups:
            try:
                while _next(cleanups[0]) is None:
                    yield
            except Interrupted:
                self.pending += cleanups
                raise
            cleanups.pop(0)
        return ""

    def _running(self, children: list[Steps]) -> Generator[None, None, None]:
        """The end of a tick in which children run."""
        try:
            yield
        except Interrupted:
            self._halt(children)
            raise

    # Nodes with their modifiers, from the outermost inwards

    def node(self, n: TreeNode) -> Steps:
        m = n.modifiers
        for expression, wanted in ((m.when, True), (m.unless, False)):
            if expression is not None:
                holds = self._evaluate(expression)
                if holds is not wanted:
                    return "failure" if holds is None else "skipped"
        if not m.finally_:
            return (yield from self._saved(n))
        try:
            end = yield from self._saved(n)
        except Interrupted:
            self.pending.append(self._finally(n, "interrupted"))
            raise
        yield from self._finish([self._finally(n, end)])
        return end

    def _finally(self, n: TreeNode, outcome: str) -> Steps:
        self.values[n.modifiers.outcome_key] = outcome
        return self._try_all(n.modifiers.finally_, self.now + 30)

    def _try_all(self, nodes: list[TreeNode], deadline: float) -> Steps:
        for n in nodes:
            child = self.node(n)
            while self.now < deadline and _next(child) is None:
                self._wake(deadline)
                yield
            if self.now >= deadline:
                self._interrupt([child])
                return ""
        return ""

    def _saved(self, n: TreeNode) -> Steps:
        m = n.modifiers
        guards = [(m.while_, False, "failure"), (m.until, True, "success")]
        end = yield from self._guards(lambda: self._cooled(n), [g for g in guards if g[0] is not None])
        if m.result is not None:
            end = RESULTS[m.result][end == "failure"]
        if m.save is not None:
            self.values[m.save] = self.results.pop(id(n), None)
        return end

    def _guards(self, inner: Callable[[], Steps], guards: list[Any]) -> Steps:
        if not guards:
            return (yield from inner())
        (expression, ends_when, ends_as), rest = guards[0], guards[1:]
        child = self._guards(inner, rest)
        since: list[float] = []
        while True:
            holds = self._held(expression, since)
            if holds is None or holds is ends_when:
                yield from self._finish(self._interrupt([child]))
                return "failure" if holds is None else ends_as
            end = _next(child)
            if end is not None:
                return end
            yield from self._running([child])

    def _held(self, expression: Expression, since: list[float]) -> bool | None:
        value: bool | None = self._evaluate(expression)
        if expression.hold is None or value is not True:
            since.clear()
            return value
        since[:] = since or [self.now]
        if self.now >= since[0] + expression.hold:
            return True
        self._wake(since[0] + expression.hold)
        return False

    def _cooled(self, n: TreeNode) -> Steps:
        if n.modifiers.cooldown is None:
            return (yield from self._confirmed(n))
        if self.now < self.cooled.get(id(n), -inf):
            return "failure"
        try:
            return (yield from self._confirmed(n))
        finally:
            self.cooled[id(n)] = self.now + n.modifiers.cooldown

    def _confirmed(self, n: TreeNode) -> Steps:
        m = n.modifiers
        if m.confirm is not None:
            while (answer := self.answer(self._value(m.confirm))) is None:
                yield
            if answer == "no":
                return "failure"
        if m.delay is not None:
            yield from self._until(self.now + m.delay)
        return (yield from self._rounds(n))

    def _until(self, time: float) -> Generator[None, None, None]:
        while self.now < time:
            self._wake(time)
            yield

    def _rounds(self, n: TreeNode) -> Steps:
        repeat, done = n.modifiers.repeat, 0
        while True:
            end = yield from self._for_each(n)
            done += 1
            if end != "success" or repeat is None or done == repeat:
                return end
            if isinstance(repeat, Expression):
                holds = self._evaluate(repeat)
                if holds is not False:
                    return "success" if holds else "failure"
            self._wake(self.now)
            yield

    def _for_each(self, n: TreeNode) -> Steps:
        if n.modifiers.for_each is None:
            return (yield from self._attempts(n))
        key, values = n.modifiers.for_each
        for index, value in enumerate(values):
            if index:
                self._wake(self.now)
                yield
            self.values[key] = value
            end = yield from self._attempts(n)
            if end != "success":
                return end
        return "success"

    def _attempts(self, n: TreeNode) -> Steps:
        m = n.modifiers
        for attempt in range(1, (m.retry or 0) + 2):
            if attempt > 1:
                again_at = self.now + (m.retry_wait or 0)
                self._wake(again_at)
                yield
                yield from self._until(again_at)
            self.values[m.attempt_key] = attempt
            end = yield from self._limited(n)
            if end != "failure":
                return end
        return "failure"

    def _limited(self, n: TreeNode) -> Steps:
        limit = n.modifiers.timeout
        if limit is None and n.leaf is not None:
            limit = n.leaf.timeout
        if limit is None:
            return (yield from self._kind(n))
        child, deadline = self._kind(n), self.now + limit
        while True:
            end = _next(child)
            if end is not None:
                return end
            if self.now >= deadline:
                yield from self._finish(self._interrupt([child]))
                return "failure"
            self._wake(deadline)
            yield from self._running([child])

    # Kinds

    def _kind(self, n: TreeNode) -> Steps:
        name = n.kind if n.leaf is None else n.leaf.name
        memory = "" if n.memory else "reactive_"
        steps: Steps = getattr(self, f"_{memory}{name.lower()}")(n)
        return (yield from steps)

    def _sequence(self, n: TreeNode) -> Steps:
        for child in n.children:
            if (yield from self.node(child)) == "failure":
                return "failure"
        return "success"

    def _selector(self, n: TreeNode) -> Steps:
        for child in n.children:
            if (yield from self.node(child)) == "success":
                return "success"
        return "failure"

    def _reactive_sequence(self, n: TreeNode) -> Steps:
        last = self.node(n.children[-1])
        while True:
            if "failure" in (_next(self.node(child)) for child in n.children[:-1]):
                yield from self._finish(self._interrupt([last]))
                return "failure"
            end = _next(last)
            if end is not None:
                return "failure" if end == "failure" else "success"
            yield from self._running([last])

    def _reactive_selector(self, n: TreeNode) -> Steps:
        index, running = len(n.children), None
        while True:
            for i, child in enumerate(n.children):
                if running is not None and i < index:
                    if not self._would_run(child):
                        continue
                    began = self.now
                    yield from self._finish(self._interrupt([running]))
                    running = None
                    if child.kind == "check":
                        return "success"
                    if self.now > began:
                        break  # begin again, because time has passed
                if running is None:
                    index, running = i, self.node(child)
                end = _next(running)
                if end == "success":
                    return end
                if end is None:
                    yield from self._running([running])
                    break
                running = None
            else:
                return "failure"

    def _would_run(self, n: TreeNode) -> bool:
        """Whether the looks with which it begins let it run."""
        for child in n.children if n.kind == "sequence" else [n]:
            if child.kind != "check":
                break
            end = _next(self.node(child))
            if end == "failure" or (end == "skipped" and child is n):
                return False
        return True

    def _parallel(self, n: TreeNode) -> Steps:
        children, ends = [self.node(child) for child in n.children], {}
        while True:
            for child in children:
                if child not in ends and (end := _next(child)) is not None:
                    ends[child] = end
            counted = [end for end in ends.values() if end != "skipped"]
            total = len(children) - (len(ends) - len(counted))
            needed = _number(n.succeed, total)
            allowed = total - needed + 1 if n.fail is None else _number(n.fail, total)
            failed, succeeded = counted.count("failure"), counted.count("success")
            verdict = "success" if not total or succeeded >= needed else None
            if total and (failed >= allowed or (len(counted) == total and succeeded < needed)):
                verdict = "failure"
            running = [child for child in children if child not in ends]
            if verdict is not None:
                yield from self._finish(self._interrupt(running))
                return verdict
            yield from self._running(running)

    def _if(self, n: TreeNode) -> Steps:
        assert n.condition is not None
        holds = self._evaluate(n.condition)
        if holds is None:
            return "failure"
        for child in n.children if holds else n.otherwise or []:
            if (yield from self.node(child)) == "failure":
                return "failure"
        return "success"

    def _check(self, n: TreeNode) -> Steps:
        assert n.condition is not None
        return "success" if self._evaluate(n.condition) else "failure"
        yield

    def _wait_for(self, n: TreeNode) -> Steps:
        since: list[float] = []
        assert n.condition is not None
        while not self._held(n.condition, since):
            yield
        return "success"

    def _act(self, n: TreeNode) -> Steps:
        try:
            name, until = self._value(n.values["id"]), self.now + self._value(n.values["time"])
        except Unknown:
            return "failure"
        self.act(f"start {name}")
        try:
            while self.now < until:
                yield
            self.attempts[name] = self.attempts.get(name, 0) + 1
            good = n.values["ok"] and self.attempts[name] > n.values["fails"]
            self.results[id(n)] = "fine" if good else "broken"
            return "success" if good else "failure"
        finally:
            self.act(f"stop {name}")

    def _wait(self, n: TreeNode) -> Steps:
        yield from self._until(self.now + n.values["time"])
        return "success"

    def _set(self, n: TreeNode) -> Steps:
        found = {key: self._evaluate(expression) for key, expression in n.sets.items()}
        if None in found.values():
            return "failure"
        self.values.update(found)
        return "success"
        yield

    def _evaluate(self, expression: Expression) -> Any:
        return expression.evaluate(self.read, self.values)

    def _value(self, value: Any) -> Any:
        if isinstance(value, Template):
            parts = [p if isinstance(p, str) else (self.values.get(p[0]), p[1]) for p in value.parts]
            if any(part[0] is None for part in parts if isinstance(part, tuple)):
                raise Unknown
            return "".join(part if isinstance(part, str) else text_of(*part) for part in parts)
        return self._evaluate(value) if isinstance(value, Expression) else value

    def _wake(self, time: float) -> None:
        self.due = min(self.due, time)


def _next(node: Steps) -> str | None:
    try:
        next(node)
    except StopIteration as end:
        return str(end.value)
    return None


def _number(rule: str | int, total: int) -> int:
    return {"all": total, "any": 1}.get(str(rule)) or int(rule) if total else 0
