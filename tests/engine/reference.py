"""The tree language, read aloud: a slow and plain interpreter that the engine is compared with.

A node is a generator: it yields when it is still running at the end of a tick and returns how it ended. To interrupt
it means to throw `Interrupted` into it; it then leaves its `finally` in `pending`, for whoever interrupts.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from math import inf
from typing import Any

from orchestrator.treefile import Expression, Tree, TreeNode
from tests.engine.reference_leaves import Interrupted, Leaves, Steps, Unknown, at_once, first, never, tick

RESULTS = {"success": ("success", "success"), "failure": ("failure", "failure"), "inverted": ("failure", "success")}


class Reference(Leaves):
    """Runs a tree turn by turn."""

    def __init__(self, tree: Tree, *world: Any) -> None:
        super().__init__(*world)
        self.tree = tree
        self.lost = 0.0  # by pauses
        self.paused_at: float | None = None
        self.may_resume = False
        self.pressed: list[float] = []  # since when the file's `pause` holds
        self.released: list[float] = []
        self.cooled: dict[int, float] = {}
        self.required = list(tree.require)
        self.required_of_used: list[list[Any]] = []
        root = tree.root
        assert root is not None
        self.running = self._requiring(lambda: self.node(root), self.required)

    def tick(self, world: float) -> str | None:
        """One turn at this time: how the run ended, or None."""
        self.due, self.world = inf, world
        if self.paused_at is not None and not self._goes_on(world):
            return self._interrupt_used()
        self.now = world - self.lost
        if self._pressed() and self._hold_all(self.required):
            self.paused_at, self.due, self.may_resume, self.released = world, inf, False, []
            self._pause()
            return None
        end = tick(self.running)
        self._resume()  # only now that everything was looked at
        return end

    def _pressed(self) -> bool | None:
        return self._held(self.tree.pause[0], self.pressed, self.now) if self.tree.pause else None

    def _hold_all(self, required: list[Any]) -> bool:
        return all(self._evaluate(expression) is True for expression in required)

    def _goes_on(self, world: float) -> bool:
        """Whether a pause is over: what is required does not hold, or a person wants it, anew."""
        assert self.tree.pause is not None and self.paused_at is not None
        pressed = self._pressed()
        self.due = inf
        if self._hold_all(self.required):
            holds = self._held(self.tree.pause[1], self.released, world)
            if holds is not True or not self.may_resume or pressed:
                self.may_resume |= holds is False
                return False
        self.lost, self.paused_at = self.lost + world - self.paused_at, None
        return True

    def _interrupt_used(self) -> str | None:
        """During a pause: a used file whose requirement is broken ends at once, and nothing starts."""
        if all(map(self._hold_all, self.required_of_used)):
            return None
        due, self.frozen = self.due, True
        end = tick(self.running)
        self.due, self.frozen = due, False
        return end

    def node(self, n: TreeNode) -> Steps:
        """A node with its modifiers; what follows goes from the outermost inwards, then come the kinds."""
        m = n.modifiers
        for expression, wanted in ((m.when, True), (m.unless, False)):
            holds = wanted if expression is None else self._evaluate(expression)
            if holds is not wanted:
                return "failure" if holds is None else "skipped"
        try:
            end = yield from self._with_result(n)
        except Interrupted:
            self.pending.append(self._finally(n, "interrupted"))
            raise
        yield from self._finish([self._finally(n, end)])
        return end

    def _finally(self, n: TreeNode, outcome: str) -> Steps:
        self.values[n.modifiers.outcome_key] = outcome
        return self._try_all(n.modifiers.finally_, self.now + 30)

    def _try_all(self, nodes: list[TreeNode], deadline: float) -> Steps:
        for child in map(self.node, nodes):
            while self.now < deadline and tick(child) is None:
                self._wake(deadline)
                yield
            if self.now >= deadline:
                self._interrupt([child])
                break
        return ""

    def _with_result(self, n: TreeNode) -> Steps:
        m = n.modifiers
        self.results.pop(id(n), None)
        guards = [(m.while_, False, "failure"), (m.until, True, "success")]
        end = yield from self._guarded(lambda: self._begun(n), [g for g in guards if g[0] is not None])
        end = RESULTS[m.result][end == "failure"] if m.result else end
        if m.save is not None and id(n) in self.results:
            self.values[m.save] = self.results[id(n)]
        return end

    def _guarded(self, inner: Callable[[], Steps], guards: list[Any], required: list[Any] | None = None) -> Steps:
        if not guards:
            return (yield from inner())
        expression, ends_when, ends_as = guards[0]
        since: list[float] = []

        def look() -> str | None:
            holds = self._held(expression, since, self.now)
            if holds is not None and holds is not ends_when:
                return None
            if required:
                required.clear()  # it is not required any more
            return "failure" if holds is None else str(ends_as)

        return (yield from self._race([self._guarded(inner, guards[1:], required)], look, first))

    def _requiring(self, inner: Callable[[], Steps], required: list[Any]) -> Steps:
        return self._guarded(inner, [(e, False, "failure") for e in required], required)

    def _begun(self, n: TreeNode) -> Steps:
        m = n.modifiers
        if self.now < self.cooled.get(id(n), -inf):
            return "failure"
        try:
            if m.confirm is not None:
                agreed = yield from self._when_thawed(lambda: self._answer(self._value(m.confirm)))
                if agreed == "no":
                    return "failure"
            if m.delay is not None:
                yield from self._until(self.now + m.delay)
            return (yield from self._rounds(n))
        finally:
            if m.cooldown is not None:
                self.cooled[id(n)] = self.now + m.cooldown

    def _rounds(self, n: TreeNode) -> Steps:
        m, rounds = n.modifiers, 0
        key, values = m.for_each or ("", [None])
        while True:
            for index, value in enumerate(values):
                if index:
                    yield from self._new_tick()
                self.values[key] = value
                if (yield from self._attempts(n)) != "success":
                    return "failure"
            rounds += 1
            holds = self._evaluate(m.repeat) if isinstance(m.repeat, Expression) else rounds == (m.repeat or 1)
            if holds is not False:
                return "success" if holds else "failure"
            yield from self._new_tick()

    def _attempts(self, n: TreeNode) -> Steps:
        m = n.modifiers
        for attempt in range(1, (m.retry or 0) + 2):
            if attempt > 1:
                yield from self._new_tick(m.retry_wait or 0.0)
            self.values[m.attempt_key] = attempt
            end = yield from self._limited(n)
            if end != "failure":
                break
        return end

    def _limited(self, n: TreeNode) -> Steps:
        self.results.pop(id(n), None)
        limit = n.leaf.timeout if n.modifiers.timeout is None and n.leaf else n.modifiers.timeout
        deadline = self.now + (inf if limit is None else limit)

        def late(ends: list[str]) -> str | None:
            if ends or self.now >= deadline:
                return ends[0] if ends else "failure"
            self._wake(deadline)
            return None

        name = n.kind if n.leaf is None else n.leaf.name
        kind = getattr(self, f"_{'' if n.memory else 'reactive_'}{name.lower()}")
        end = yield from self._race([kind(n) if n.leaf is None else self._when_thawed(lambda: kind(n))], never, late)
        return "success" if end == "skipped" else end

    def _in_order(self, nodes: list[TreeNode], ends: str, otherwise: str) -> Steps:
        for child in nodes:
            if (yield from self.node(child)) == ends:
                return ends
        return otherwise

    def _sequence(self, n: TreeNode) -> Steps:
        return self._in_order(n.children, "failure", "success")

    def _selector(self, n: TreeNode) -> Steps:
        return self._in_order(n.children, "success", "failure")

    def _reactive_sequence(self, n: TreeNode) -> Steps:
        *looks, last = n.children

        def look() -> str | None:
            return "failure" if any(tick(self.node(child)) == "failure" for child in looks) else None

        return self._race([self.node(last)], look, first)

    def _reactive_selector(self, n: TreeNode) -> Steps:
        """One in front of the running child that would run takes its place, after the other's end."""
        at = 0
        while at < len(n.children):
            looks: list[tuple[float, TreeNode | None]] = []  # the first tick of a child comes without a look

            def look(front: list[TreeNode] = n.children[:at], looks: list[Any] = looks) -> str | None:
                winner = next((child for child in front if self._would_run(child)), None) if looks else None
                looks.append((self.now, winner))
                return "taken" if winner else None

            end = yield from self._race([self.node(n.children[at])], look, first)
            began, winner = looks[-1]
            if end == "success" or (winner and winner.only_looks):
                return "success"
            at = n.children.index(winner) if winner and self.now == began else 0 if winner else at + 1
        return "failure"

    def _would_run(self, n: TreeNode) -> bool:
        """Whether the looks with which it begins let it run."""
        nodes = n.children if n.kind == "sequence" else [n]
        ends = [tick(self.node(look)) for look in takewhile(lambda child: child.only_looks, nodes)]
        return "failure" not in ends and not (n.only_looks and "skipped" in ends)

    def _parallel(self, n: TreeNode) -> Steps:
        children = [self.node(child) for child in n.children]
        return self._race(children, never, lambda ends: _verdict(n, ends, len(children)))

    def _if(self, n: TreeNode) -> Steps:
        holds = self._evaluate(n.condition)
        if holds is None:
            return at_once(False)
        return self._in_order(n.children if holds else n.otherwise or [], "failure", "success")

    def _use(self, n: TreeNode) -> Steps:
        try:
            self.values.update({key: self._value(value) for key, value in n.passed.items()})
        except Unknown:
            return at_once(False)
        return self._used(n, list(n.require))

    def _used(self, n: TreeNode, required: list[Any]) -> Steps:
        self.required_of_used.append(required)
        try:
            return (yield from self._requiring(lambda: self.node(n.children[0]), required))
        finally:
            self.required_of_used.remove(required)

    def _check(self, n: TreeNode) -> Steps:
        return at_once(self._evaluate(n.condition) is True)

    def _wait_for(self, n: TreeNode) -> Steps:
        since: list[float] = []
        while not self._held(n.condition, since, self.now):
            yield
        return "success"


def _verdict(n: TreeNode, ends: list[str], children: int) -> str | None:
    """What a parallel's rules say."""
    failed, succeeded, total = ends.count("failure"), ends.count("success"), children - ends.count("skipped")
    if not total:
        return "success"
    needed = _number(n.succeed, total)
    allowed = total - needed + 1 if n.fail is None else _number(n.fail, total)
    if failed >= allowed or (failed + succeeded == total and succeeded < needed):
        return "failure"
    return "success" if succeeded >= needed else None


def _number(rule: str | int, total: int) -> int:
    return {"all": total, "any": 1}.get(str(rule)) or int(rule)
