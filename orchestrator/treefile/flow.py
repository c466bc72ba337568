"""What can happen along the tree: which modes are possible at each node, what never runs, never ends or collides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from orchestrator.leaf import MODES, By, Declaration
from orchestrator.robots.facts import RobotFacts
from orchestrator.treefile.durations import least_time
from orchestrator.treefile.leaf_facts import alternative_text
from orchestrator.treefile.model import NO_MODIFIERS, NOT_CONSTANT, Expression, Template, Tree, TreeNode
from orchestrator.treefile.modes import CALLED, SHOWN_BY, ModeSpace
from orchestrator.treefile.modifiers import never_runs
from orchestrator.treefile.outcomes import (
    INDEX,
    MISTAKE,
    NOBODY,
    Outcome,
    State,
    both,
    either,
    joined,
    parallel_can_fail,
    parallel_can_succeed,
)
from orchestrator.treefile.resources import Resources, below, line_of
from orchestrator.treefile.values import words_of
from orchestrator.yamlfile import Findings

LONGEST_FINALLY = 30.0

Ways = tuple[State | None, State | None, State]  # after success, after failure, in between
Changes = tuple[tuple[str, str | By], ...]


def follow(tree: Tree, findings: Findings) -> None:
    """Walk through a checked tree once and report what cannot work."""
    assert tree.root is not None
    _Walk(tree.robot, findings).start(tree.root, tree.require)


class _Plan(NamedTuple):
    """What a leaf requires and changes on this robot."""

    allowed: int
    changes: Changes
    through: Changes


class _Walk:
    """One walk through one tree."""

    def __init__(self, robot: RobotFacts | None, findings: Findings) -> None:
        self._robot = robot
        self._findings = findings
        self._space = ModeSpace(robot) if robot is not None else None
        self._plans: dict[str, _Plan | None] = {}
        self._set: dict[int, frozenset[tuple[str, str]]] = {}
        self._resources = Resources(robot, findings)
        self._bounded = 0  # nodes above that end what takes too long

    def start(self, root: TreeNode, require: list[Expression]) -> None:
        at = State(self._space.at_start() if self._space else 1, NOBODY)
        self.visit(root, self._all_told(at, require))

    # Nodes with their modifiers

    def visit(self, node: TreeNode, at: State) -> Outcome:
        modifiers = node.modifiers
        if modifiers is NO_MODIFIERS:
            return _KINDS[node.kind](self, node, at)
        if never_runs(modifiers):
            return Outcome(None, None, at, at)
        skipped: State | None = None
        before = at
        for condition, wanted in ((modifiers.when, True), (modifiers.unless, False)):
            if condition is not None and condition.const is NOT_CONSTANT:
                skipped = either(skipped, self._unless_told(at, condition, not wanted))
                at = self._told(at, condition, wanted)
        success, failure, during = self._guarded(node, at)
        if modifiers.result == "success":
            success, failure = either(success, failure), None
        elif modifiers.result == "failure":
            success, failure = None, either(success, failure)
        elif modifiers.result == "inverted":
            success, failure = failure, success
        if modifiers.finally_:
            success, failure, during = self._finally(modifiers.finally_, success, failure, during)
        if skipped is not None:
            failure = either(failure, before)  # an unknown field fails it
        return Outcome(success, failure, during, skipped)

    def _guarded(self, node: TreeNode, before: State) -> Ways:
        """What is inside of `result`: looked at before the start and all the time, and ended by what is not known."""
        modifiers = node.modifiers
        at = self._told(before, modifiers.while_, True)
        inner = self._rounds(node, at)
        success, failure, during = inner.success, inner.failure, both(both(inner.during, at), before)
        if modifiers.timeout is not None or modifiers.while_ is not None or not _is_constant(modifiers.until):
            failure = either(failure, during)
        if modifiers.until is not None:
            success = either(success, during)
        if modifiers.confirm is not None or modifiers.cooldown is not None or isinstance(modifiers.delay, Expression):
            failure = either(failure, before)
        if isinstance(modifiers.cooldown, Expression):
            failure = either(failure, success)
        return success, failure, during

    def _rounds(self, node: TreeNode, at: State) -> Outcome:
        """Attempts and rounds: each begins with what the ones before have left."""
        modifiers = node.modifiers
        repeat = modifiers.repeat
        start = at
        if modifiers.retry is not None or repeat is not None or modifiers.for_each is not None:
            start = self._widened(at, node, self._sets_inside(node))
        ends = modifiers.timeout is not None or modifiers.while_ is not None or modifiers.until is not None
        self._bounded += ends
        outcome = _KINDS[node.kind](self, node, start)
        self._bounded -= ends
        if modifiers.for_each is not None:
            outcome = _over_a_list(outcome, modifiers.for_each[1], at)
        if repeat is None or isinstance(repeat, int):
            return outcome
        if outcome.failure is None and not self._core_takes_time(node):
            message = "this repeats without taking any time: put a Wait into each round, or let it fail"
            self._findings.error(node, "spins", message)
        if repeat == "forever" or (isinstance(repeat, Expression) and repeat.const is False):
            return outcome._replace(success=None)
        return outcome._replace(failure=either(outcome.failure, outcome.success))  # an unknown field fails it

    def _finally(self, nodes: list[TreeNode], success: State | None, failure: State | None, during: State) -> Ways:
        at = both(both(during, success), failure)
        self._check_short(nodes)
        self._bounded += 1
        for node in nodes:
            outcome = self.visit(node, at)
            at = both(both(outcome.during, outcome.success), outcome.failure)
            pairs = self._sets(node)
            if pairs:
                success = self._widened(success, node, pairs) if success else None
                failure = self._widened(failure, node, pairs) if failure else None
                during = self._widened(during, node, pairs)  # after an interruption it is done, too
        self._bounded -= 1
        return success, failure, during

    def _check_short(self, nodes: list[TreeNode]) -> None:
        total = 0.0
        for node in nodes:
            total += least_time(node)
            if total > LONGEST_FINALLY:
                message = (
                    f"finally takes at most {LONGEST_FINALLY:g} s, then it is stopped: with this it takes {total:g} s"
                )
                self._findings.error(node, "finally-too-long", message)
                return

    # Kinds

    def _sequence(self, node: TreeNode, at: State) -> Outcome:
        if node.memory:
            return self._chain(node.children, at)
        outcome = self._chain(node.children, self._each_tick(node, at))
        return outcome._replace(failure=either(outcome.failure, outcome.during))

    def _each_tick(self, node: TreeNode, at: State) -> State:
        """Where a sequence or selector without memory may begin.

        A look interrupts whatever runs behind it. If the look itself takes time, or something comes after it that
        does, that begins with whatever was interrupted has left, and so does what comes after it.
        """
        instant = all(child.kind == "check" or (child.leaf and child.leaf.instant) for child in node.children[:-1])
        return at if instant else self._widened(at, node, self._sets_inside(node))

    def _chain(self, children: Iterable[TreeNode], at: State) -> Outcome:
        failure: State | None = None
        during = at
        now: State | None = at
        before: TreeNode | None = None
        for child in children:
            if now is None:
                self._report_never(child, before, "succeeds")
                break
            outcome = self.visit(child, now)
            failure = either(failure, outcome.failure)
            if outcome.during is not during:
                during = both(during, outcome.during)
            now = either(outcome.success, outcome.skipped)
            before = child
        return Outcome(now, failure, both(during, now))

    def _selector(self, node: TreeNode, at: State) -> Outcome:
        if node.memory:
            return self._alternatives(node.children, at)
        outcome = self._alternatives(node.children, self._each_tick(node, at))
        return outcome._replace(success=either(outcome.success, outcome.during))

    def _alternatives(self, children: Iterable[TreeNode], at: State) -> Outcome:
        success: State | None = None
        during = at
        now: State | None = at
        before: TreeNode | None = None
        for child in children:
            if now is None:
                self._report_never(child, before, "fails")
                break
            outcome = self.visit(child, now)
            success = either(success, outcome.success)
            during = both(during, outcome.during)
            now = either(outcome.failure, outcome.skipped)
            before = child
        return Outcome(success, now, both(during, success))

    def _report_never(self, child: TreeNode, before: TreeNode | None, does: str) -> None:
        line = f" on {line_of(before, child)}" if before is not None else ""
        what = before.title if before is not None else "what comes before it"
        self._findings.error(child, "never-runs", f"this never runs, because {what}{line} never {does}")

    def _parallel(self, node: TreeNode, at: State) -> Outcome:
        self._resources.check(node)
        children = node.children
        loose = node.succeed != "all" or node.fail not in (None, "all")
        self._bounded += loose
        outcomes = []
        during = at
        setters = self._setters(children)
        for child in children:
            start = at
            for pair, nodes in setters.items():
                other = next((node for node in nodes if node is not child), None)
                if other is not None:
                    start = self._widened(start, other, (pair,))
            outcome = self.visit(child, start)
            outcomes.append(outcome)
            during = both(during, outcome.during)
        self._bounded -= loose
        after = during if node.succeed != "all" else self._after_parallel(children, outcomes, during)
        success = after if parallel_can_succeed(node, outcomes) else None
        failure = during if parallel_can_fail(node, outcomes) else None
        return Outcome(success, failure, during)

    def _setters(self, children: list[TreeNode]) -> dict[tuple[str, str], list[TreeNode]]:
        """For each change that branches make, the last two that do: one of them is another than a given branch."""
        found: dict[tuple[str, str], list[TreeNode]] = {}
        for child in children:
            for pair in self._sets(child):
                found[pair] = [child, *found.get(pair, ())][:2]
        return found

    def _after_parallel(self, children: list[TreeNode], outcomes: list[Outcome], during: State) -> State:
        """After the success of all: what each has brought about, if no two of them set the same mode."""
        sets = [{mode for mode, _ in self._sets(child)} for child in children]
        every = set().union(*sets)
        if self._space is None or sum(map(len, sets)) != len(every):
            return during
        modes, causes = during
        for outcome, own in zip(outcomes, sets):
            ended = either(outcome.success, outcome.skipped)
            if ended is not None:  # what a branch has seen of a mode that another one sets may be over
                modes &= self._space.anything_in(ended.modes, every - own)
        return State(modes, causes) if modes else during

    def _if(self, node: TreeNode, at: State) -> Outcome:
        condition = node.condition
        const = condition.const if condition else NOT_CONSTANT
        yes = Outcome(None, None, at) if const is False else self._chain(node.children, self._told(at, condition, True))
        if const is True:
            return yes
        at_else = self._unless_told(at, condition, False)
        no = self._chain(node.otherwise, at_else) if node.otherwise else Outcome(at_else, None, at_else)
        failure = either(yes.failure, no.failure)
        if const is NOT_CONSTANT:
            failure = either(failure, at)  # an unknown field fails it
        return Outcome(either(yes.success, no.success), failure, both(yes.during, no.during))

    def _use(self, node: TreeNode, at: State) -> Outcome:
        if not node.children or self._findings.is_incomplete(node.file or ""):
            return self._mistake(node, at)
        outcome = self._chain(node.children, self._all_told(at, node.require))
        failure = outcome.failure
        if node.require:
            failure = either(failure, both(outcome.during, at))
        if node.passed:
            failure = either(failure, at)  # what is not known cannot be passed
        return outcome._replace(failure=failure, during=both(outcome.during, at))

    def _mistake(self, node: TreeNode, at: State) -> Outcome:
        """Whatever was meant here could have set everything."""
        after = State(self._space.everything if self._space else 1, ((MISTAKE,),) * len(MODES))
        return Outcome(after, after, after)

    def _check(self, node: TreeNode, at: State) -> Outcome:
        return Outcome(self._told(at, node.condition, True), at, at)  # what is not known fails, too

    def _wait_for(self, node: TreeNode, at: State) -> Outcome:
        if not self._bounded:
            message = "this can wait for ever: add a timeout"
            self._findings.warning(node, "no-timeout", message)
        return Outcome(self._told(at, node.condition, True), at, at)

    def _leaf(self, node: TreeNode, at: State) -> Outcome:
        declared = node.leaf
        assert declared is not None
        if declared.timeout is None and declared.fails and not declared.asks and not self._bounded:
            message = f"{declared.name} can take for ever: add a timeout"
            self._findings.warning(node, "no-timeout", message)
        plan = self._plan(declared)
        fails = declared.fails or any(not _is_constant(value) for value in node.values.values())
        if plan is None:
            return Outcome(at, at if fails else None, at)
        allowed = self._allowed(node, declared, plan, at)
        assert self._space is not None
        node.fsm_before = tuple(dict.fromkeys((*node.fsm_before, *self._space.possible(allowed.modes, "fsm"))))
        after = self._changed(node, plan.changes, allowed)
        during = both(at, after)  # refused, it leaves everything as it was
        if plan.through:
            during = both(during, self._changed(node, plan.through, allowed))
        return Outcome(after, during if fails else None, during)

    # Modes

    def _plan(self, declared: Declaration) -> _Plan | None:
        """What a leaf means for the modes; None when nothing."""
        found = self._plans.get(declared.name, False)
        if found is not False:
            assert not isinstance(found, bool)
            return found
        plan = None
        if self._space is not None and self._robot is not None:
            family = self._robot.family
            requires = declared.requires.get(family)
            changes = tuple(declared.changes.get(family, {}).items())
            through = tuple(declared.through.get(family, {}).items())
            if requires or changes or through:
                modes_only = [option for option in requires or () if option.keys() <= INDEX.keys()]
                allowed = self._space.meets(modes_only) if requires else self._space.everything
                plan = _Plan(allowed, changes, through)
        self._plans[declared.name] = plan
        return plan

    def _allowed(self, node: TreeNode, declared: Declaration, plan: _Plan, at: State) -> State:
        modes = at.modes & plan.allowed
        if modes == at.modes:
            return at
        modes |= at.modes & self._allowed_by_values(node, declared, all)
        if modes == at.modes:
            return at
        modes |= at.modes & self._allowed_by_values(node, declared, any)
        if any(MISTAKE in nodes for nodes in at.causes):
            return State(modes or at.modes, at.causes)
        if modes:
            message = self._why_not(node, declared, at, "it may be")
            self._findings.warning(node, "may-not-be-allowed", message)
            return State(modes, at.causes)
        self._findings.error(node, "never-allowed", self._why_not(node, declared, at, "it is"))
        return at

    def _allowed_by_values(
        self, node: TreeNode, declared: Declaration, quantity: Callable[[Iterable[bool]], bool]
    ) -> int:
        """Combinations that are allowed because a parameter has a certain value: all or any of those it may have."""
        assert self._space is not None and self._robot is not None
        allowed = 0
        for option in declared.requires[self._robot.family]:
            values = [word for word in option if word not in INDEX]
            if values and all(quantity(v in option[word] for v in self._possible(node, word)) for word in values):
                allowed |= self._space.meets([{word: option[word] for word in option if word in INDEX}])
        return allowed

    def _why_not(self, node: TreeNode, declared: Declaration, at: State, verb: str) -> str:
        assert self._space is not None and self._robot is not None
        options = [option for option in declared.requires[self._robot.family] if option.keys() <= INDEX.keys()]
        best = min(options, key=lambda option: len(self._wrong_modes(option, at)))
        said = []
        for mode in self._wrong_modes(best, at) or list(best):
            wanted = " or ".join(best[mode])
            other = [value for value in self._space.possible(at.modes, mode) if value not in best[mode]]
            shown = " or ".join(other) if len(other) <= 3 else "anything"
            here = f"here {verb} {shown}, {self._set_by(node, at, mode, other)}"
            said.append((f"{CALLED[mode]} {wanted}", here))
        needs = "; ".join(said[0]) if len(said) == 1 else " and ".join(f"{what} ({here})" for what, here in said)
        others = "".join(f"; or else {alternative_text(option)}" for option in options if option is not best)
        return f"{declared.name} needs {needs}{others}"

    def _set_by(self, node: TreeNode, at: State, mode: str, values: list[str]) -> str:
        """Where a mode got one of the values."""
        causes = at.causes[INDEX[mode]]
        pairs = {(mode, value) for value in values}
        for cause in reversed(causes):
            if not pairs.isdisjoint(self._sets(cause)):
                return f"set on {line_of(self._leaf_that_sets(cause, pairs), node)}"
        return "as not every way here has set it" if causes else "as nothing before has set it"

    def _leaf_that_sets(self, node: TreeNode, pairs: set[tuple[str, str]]) -> TreeNode:
        for child in below(node):
            if not pairs.isdisjoint(self._sets(child)):
                return self._leaf_that_sets(child, pairs)
        return node

    def _wrong_modes(self, option: Mapping[str, tuple[str, ...]], at: State) -> list[str]:
        assert self._space is not None
        return [m for m, allowed in option.items() if set(self._space.possible(at.modes, m)) - set(allowed)]

    def _changed(self, node: TreeNode, changes: Changes, at: State) -> State:
        assert self._space is not None
        ways = self._ways(node, changes)
        modes, causes = 0, at.causes
        for way in ways:
            changed = at.modes
            for mode, value in way.items():
                changed = self._space.changed(changed, mode, value)
            modes |= changed
        for mode, change in changes:
            setting = sum(mode in way for way in ways)
            if setting:
                index = INDEX[mode]
                hidden = isinstance(change, By) and change.param not in node.values
                new = (MISTAKE if hidden else node,)
                here = new if setting == len(ways) else joined(causes[index], new)
                causes = (*causes[:index], here, *causes[index + 1 :])
        return State(modes, causes)

    def _ways(self, node: TreeNode, changes: Changes) -> list[dict[str, str]]:
        """What a leaf sets modes to: one way if its parameters are known, else one for each value they may have.

        A mode that is left as it is does not appear.
        """
        params = {change.param: None for _, change in changes if isinstance(change, By)}
        ways = []
        for values in product(*(self._possible(node, param) for param in params)):
            given = dict(zip(params, values))
            ways.append({mode: value for mode, change in changes if (value := _set_to(change, given)) is not None})
        return ways

    def _possible(self, node: TreeNode, param: str) -> Sequence[Any]:
        """The values a parameter may have."""
        value = node.values.get(param, NOT_CONSTANT)
        if value is not NOT_CONSTANT and not isinstance(value, Expression):
            return (value,)
        if isinstance(value, Expression) and value.possible:
            return value.possible
        assert node.leaf is not None
        wanted = node.leaf.params[param].type
        return (True, False) if wanted.kind == "bool" else words_of(wanted, self._robot) or ()

    def _told(self, at: State, condition: Expression | None, truth: bool) -> State:
        """What is possible once a condition has been seen: it is believed, even where the tree says otherwise."""
        if condition is None or self._space is None or condition.made.kind == "any":
            return at
        told = self._space.told_by(condition.made, truth)
        modes = at.modes & told
        if not modes:
            seen = [SHOWN_BY[field] for field in condition.fields if field in SHOWN_BY]
            modes = self._space.anything_in(at.modes, seen) & told or told or at.modes
        return at if modes == at.modes else State(modes, at.causes)

    def _all_told(self, at: State, conditions: list[Expression]) -> State:
        for condition in conditions:
            at = self._told(at, condition, True)
        return at

    def _unless_told(self, at: State, condition: Expression | None, truth: bool) -> State:
        """The same for the way that is not taken as long as the tree is right: there the tree is believed."""
        if condition is None or self._space is None or condition.made.kind == "any":
            return at
        modes = at.modes & self._space.told_by(condition.made, truth)
        return at if modes in (0, at.modes) else State(modes, at.causes)

    def _widened(self, at: State, node: TreeNode, pairs: Iterable[tuple[str, str]]) -> State:
        """The state if changes below a node may or may not have happened."""
        if self._space is None:
            return at
        modes, causes = at
        for mode, value in pairs:
            modes |= self._space.changed(modes, mode, value)
            index = INDEX[mode]
            causes = (*causes[:index], joined(causes[index], (node,)), *causes[index + 1 :])
        return at if modes == at.modes else State(modes, causes)

    def _sets(self, node: TreeNode) -> frozenset[tuple[str, str]]:
        """All modes with values that anything below a node may set."""
        found = self._set.get(id(node))
        if found is None:
            pairs = self._sets_inside(node)
            for child in node.modifiers.finally_:
                pairs |= self._sets(child)
            found = self._set[id(node)] = frozenset(pairs)
        return found

    def _sets_inside(self, node: TreeNode) -> set[tuple[str, str]]:
        """The same without `finally`, which is no part of a round or an attempt."""
        pairs: set[tuple[str, str]] = set()
        if node.leaf is not None:
            plan = self._plan(node.leaf)
            for way in (*self._ways(node, plan.changes), *self._ways(node, plan.through)) if plan else ():
                pairs.update(way.items())
        for child in (*node.children, *(node.otherwise or ())):
            if not child.dead:
                pairs |= self._sets(child)
        return pairs

    # Time

    def _takes_time(self, node: TreeNode) -> bool:
        modifiers = node.modifiers
        if modifiers.delay is not None or modifiers.confirm is not None:
            return True
        return self._core_takes_time(node) or any(self._takes_time(child) for child in modifiers.finally_)

    def _core_takes_time(self, node: TreeNode) -> bool:
        """Whether a round of a node may take time: what stands outside of `repeat` does not count."""
        if node.kind == "wait_for" or node.modifiers.retry_wait is not None:
            return True
        if node.leaf is not None:
            return not node.leaf.instant
        return any(self._takes_time(child) for child in (*node.children, *(node.otherwise or ())) if not child.dead)


def _is_constant(value: Any) -> bool:
    """Whether a value is known before the run, so that nothing can fail because it is not."""
    if isinstance(value, Expression):
        return value.const is not NOT_CONSTANT
    return not isinstance(value, Template)


def _over_a_list(outcome: Outcome, values: Any, at: State) -> Outcome:
    """A round per value: with an empty list there is none."""
    if isinstance(values, Expression):
        return outcome._replace(success=either(outcome.success, at), failure=either(outcome.failure, at))
    return outcome if values else Outcome(at, None, at)


def _set_to(change: str | By, given: Mapping[str, Any]) -> str | None:
    """What a mode is set to by values of parameters; None when it stays as it is."""
    if isinstance(change, str):
        return change
    value = given[change.param]
    return value if change.table is None else change.table.get(value)


_KINDS: dict[str, Callable[[_Walk, TreeNode, State], Outcome]] = {
    "sequence": _Walk._sequence,
    "selector": _Walk._selector,
    "parallel": _Walk._parallel,
    "if": _Walk._if,
    "use": _Walk._use,
    "check": _Walk._check,
    "wait_for": _Walk._wait_for,
    "leaf": _Walk._leaf,
    "mistake": _Walk._mistake,
}
