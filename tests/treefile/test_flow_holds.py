"""The flow analysis against what really happens: random trees are played with random outcomes.

Where nothing is found a leaf must always be allowed and a name always be saved; where an error is found a leaf must
never be allowed; what "never runs" must not run.
"""

import random
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.leaf import By
from orchestrator.robots.facts import RobotFacts
from orchestrator.treefile import Expression, Surroundings, TreeNode, check_file
from orchestrator.treefile.modes import SHOWN_BY, ModeSpace
from tests.treefile.conftest import CATALOGUE
from tests.treefile.stand_in import ATOM_W, FIELDS, GR2

EVERYWHERE = (
    "check: emergency.any",
    "Log: {text: hello}",
    "Set: {seen: errors.count}",
    "Set: {seen: errors.count}",
    "check: $seen == 1",
)
CHANGING = ["until: emergency.any", "while: not emergency.any", "timeout: 5 s", "retry: 2", "repeat: 2"]


@dataclass(frozen=True)
class Words:
    """What trees for a robot are made of."""

    robot: RobotFacts
    leaves: tuple[str, ...]
    looks: tuple[str, ...]
    conditions: tuple[str, ...]
    at_the_end: str

    def modifiers(self) -> st.SearchStrategy[list[str]]:
        about_modes = [f"{word}: {text}" for word in ("when", "unless", "while", "until") for text in self.conditions]
        every = [
            *(*CHANGING, *about_modes, "unless: emergency.any", "repeat: forever", "repeat: {until: emergency.any}"),
            *("result: success", "result: failure", "result: inverted", f"finally: [{self.at_the_end}]"),
        ]
        return st.lists(st.sampled_from(every), max_size=2, unique_by=lambda modifier: modifier.split(":")[0])


STANDING = Words(
    GR2,
    leaves=(
        "SetFsm: {state: pd_stand}",
        "SetFsm: {state: walk}",
        "SetFsm: {state: $s}\n  for_each: {s: [walk, pd_stand]}",
        "StandPose: {height: 1 cm}",
        "StandPose: {height: 2 cm}",
        "check: fsm.state == pd_stand",
        "check: fsm.state != walk",
        "WaitForFsm: {state: walk}",
        *EVERYWHERE,
    ),
    looks=("check: emergency.any", "check: fsm.state == pd_stand", "CheckEmergency:", "WaitStable:"),
    conditions=("fsm.state == pd_stand",),
    at_the_end="SetFsm: {state: walk}",
)
REACHING = Words(
    ATOM_W,
    leaves=(
        "SetFsm: {state: ready}",
        "SetFsm: {state: $s}\n  for_each: {s: [damping, ready]}",
        "SetFsm: {state: $s}\n  for_each: {s: [walk, ready]}",
        "SwitchUpperControl: {enabled: true}",
        "SwitchUpperControl: {enabled: false}",
        "SwitchUpperControl: {enabled: $e}\n  for_each: {e: [false, true]}",
        "SwitchUpperControl: {enabled: emergency.any}",
        "MoveJoints: {pose: home}",
        "MoveJoints: {pose: home}",
        "check: upper.control == true",
        "check: upper.control != true",
        "check: upper.control and fsm.state == ready",
        *EVERYWHERE,
    ),
    looks=("check: emergency.any", "check: upper.control == false", "CheckEmergency:", "WaitForFsm: {state: ready}"),
    conditions=("upper.control", "fsm.state == ready"),
    at_the_end="SwitchUpperControl: {enabled: false}",
)


def below(word: str, nodes: Iterable[list[str]]) -> list[str]:
    return [word, *(f"    {line}" for node in nodes for line in node)]


@st.composite
def nodes(draw: st.DrawFn, words: Words, depth: int = 3) -> list[str]:
    """One node as lines of YAML, beginning with its dash."""
    kinds = ["leaf", "leaf", "sequence", "selector", "if", "parallel", "anew"]
    kind = draw(st.sampled_from(kinds)) if depth else "leaf"
    inner = nodes(words, depth=depth - 1)
    extra = draw(words.modifiers())
    if kind == "leaf":
        lines = f"- {draw(st.sampled_from(words.leaves))}".split("\n")
    elif kind == "if":
        lines = below(f"- if: {draw(st.sampled_from(words.conditions))}", [])
        lines += [*below("  then:", [draw(inner)]), *below("  else:", [draw(inner)])]
    elif kind == "anew":
        lines = draw(without_memory(words, inner))
    else:
        lines = below(f"- {kind}:", draw(st.lists(inner, min_size=1, max_size=3)))
        if kind == "parallel" and draw(st.booleans()):
            lines.append("  succeed: any")
    given_already = {line.split(":")[0].strip() for line in lines if line.startswith("  ") and line[2] != " "}
    return lines + [f"  {modifier}" for modifier in extra if modifier.split(":")[0] not in given_already]


@st.composite
def without_memory(draw: st.DrawFn, words: Words, inner: st.SearchStrategy[list[str]]) -> list[str]:
    looks = [[f"- {draw(st.sampled_from(words.looks))}"] for _ in range(draw(st.integers(1, 2)))]
    kind = draw(st.sampled_from(["sequence", "selector"]))
    if kind == "selector" and draw(st.booleans()):
        looks[-1] = below("- sequence:", [looks[-1], draw(inner)])
    return [*below(f"- {kind}:", [*looks, draw(inner)]), "  memory: false"]


class Interrupted(Exception):
    """Something above ends what is running."""


@dataclass
class Play:
    """Runs a tree in no time: what the leaves do, and when conditions turn or are unknown, is left to chance."""

    chance: random.Random
    robot: RobotFacts
    modes: dict[str, str]
    starts: dict[int, set[bool]] = field(default_factory=dict)  # line of a leaf to whether it was allowed when started
    ran: set[int] = field(default_factory=set)
    values: dict[str, Any] = field(default_factory=dict)  # of for_each
    saved: bool = False
    read_unsaved: set[int] = field(default_factory=set)  # lines that read a name nobody had saved
    steps: int = 0

    def likely(self, probability: float) -> bool:
        return self.chance.random() < probability

    def read(self, name: str) -> Any:
        """What the robot reports; nothing at times."""
        if self.likely(0.1):
            return None
        if name not in SHOWN_BY:
            return self.likely(0.5)
        shown = self.modes[SHOWN_BY[name]]
        return shown == "on" if name == "upper.control" else shown

    def holds(self, condition: Expression) -> bool | None:
        value: bool | None = condition.evaluate(self.read, self.values)
        return value

    def node(self, node: TreeNode) -> str:
        m = node.modifiers
        for condition, wanted in ((m.when, True), (m.unless, False)):
            holds = wanted if condition is None else self.holds(condition)
            if holds is not wanted:
                return "failure" if holds is None else "skipped"
        try:
            result = self.guarded(node)
        finally:
            for last in m.finally_:
                self.node(last)
        if m.result == "inverted":
            return {"success": "failure", "failure": "success"}[result]
        return m.result or result

    def guarded(self, node: TreeNode) -> str:
        m = node.modifiers
        for condition, goes_on, ends_as in ((m.while_, True, "failure"), (m.until, False, "success")):
            holds = goes_on if condition is None else self.holds(condition)
            if holds is not goes_on:
                return "failure" if holds is None else ends_as
        try:
            return self.rounds(node)
        except Interrupted:
            if (m.while_ is None and m.until is None) or self.likely(0.3):
                raise
            return "failure" if m.until is None or self.likely(0.4) else "success"

    def rounds(self, node: TreeNode) -> str:
        m = node.modifiers
        if m.repeat is None:
            return self.each(node)
        for _ in range(m.repeat if isinstance(m.repeat, int) else 10**6):
            if self.each(node) == "failure":
                return "failure"
            holds = self.holds(m.repeat) if isinstance(m.repeat, Expression) else False
            if holds is not False:
                return "failure" if holds is None else "success"
        return "success"

    def each(self, node: TreeNode) -> str:
        if node.modifiers.for_each is None:
            return self.attempts(node)
        key, values = node.modifiers.for_each
        for value in values:
            self.values[key] = value
            if self.attempts(node) == "failure":
                return "failure"
        return "success"

    def attempts(self, node: TreeNode) -> str:
        result = "failure"
        for _ in range(1 + (node.modifiers.retry or 0)):
            result = self.in_time(node)
            if result == "success":
                break
        return result

    def in_time(self, node: TreeNode) -> str:
        try:
            return self.kind(node)
        except Interrupted:
            if node.modifiers.timeout is None or self.likely(0.3):
                raise
            return "failure"

    def kind(self, node: TreeNode) -> str:
        self.steps += 1
        self.ran.add(node.place.line)
        if self.steps > 300:
            raise TimeoutError
        if node.kind in ("sequence", "selector"):
            ends = "failure" if node.kind == "sequence" else "success"
            return self.children(node.children, ends) if node.memory else self.anew(node, ends)
        if node.kind == "parallel":
            return self.parallel(node)
        if node.kind == "if":
            assert node.condition is not None
            holds = self.holds(node.condition)
            return (
                "failure"
                if holds is None
                else self.children(node.children if holds else node.otherwise or [], "failure")
            )
        if node.kind == "check":
            assert node.condition is not None
            if "$" in node.condition.text:
                return self.reads(node)
            return "success" if self.holds(node.condition) else "failure"
        return self.leaf(node)

    def reads(self, node: TreeNode) -> str:
        if not self.saved:
            self.read_unsaved.add(node.place.line)
        return "success" if self.likely(0.5) else "failure"

    def children(self, children: Sequence[TreeNode], ends: str) -> str:
        for child in children:
            if self.node(child) == ends:
                return ends
        return "success" if ends == "failure" else "failure"

    def anew(self, node: TreeNode, ends: str) -> str:
        """A look ends what runs behind it; one that takes time lets it begin anew."""
        takes_time = any(child.kind == "sequence" or (child.leaf and not child.leaf.instant) for child in node.children)
        while True:
            try:
                return self.children(node.children, ends)
            except Interrupted:
                if self.likely(0.3):
                    raise
                if not takes_time or self.likely(0.5):
                    return ends

    def parallel(self, node: TreeNode) -> str:
        """One branch after the other, in any order; what decides ends the others on their way."""
        decides = {"all": "failure", "any": "success"}[str(node.succeed)]
        results: set[str] = set()
        for child in self.chance.sample(node.children, len(node.children)):
            if decides not in results:
                results.add(self.node(child))
            elif self.likely(0.5):
                with suppress(Interrupted):
                    self.node(child)
        results.discard("skipped")
        if decides in results or not results:
            return decides if results else "success"
        return "success" if decides == "failure" else "failure"

    def leaf(self, node: TreeNode) -> str:
        assert node.leaf is not None
        declared = node.leaf
        given = {
            name: value.evaluate(self.read, self.values) if isinstance(value, Expression) else value
            for name, value in node.values.items()
        }
        if not declared.fails:
            return "success"
        result = "success" if self.likely(0.7) else "failure"
        if declared.name == "Set":
            self.saved = self.saved or result == "success"
            return result
        if declared.name == "WaitForFsm":
            result = "success" if self.modes["fsm"] == given["state"] else "failure"
        elif None in (given.get("state", ""), given.get("enabled", "")) or not self.allowed(node, given):
            result = "failure"
        elif result == "success" or self.likely(0.5):
            self.change(node, given)
        if self.likely(0.1):
            raise Interrupted
        return result

    def allowed(self, node: TreeNode, given: dict[str, Any]) -> bool:
        assert node.leaf is not None
        options = node.leaf.requires.get(self.robot.family, ())
        now = {**given, **self.modes}
        allowed = not options or any(all(now[word] in values for word, values in o.items()) for o in options)
        self.starts.setdefault(node.place.line, set()).add(allowed)
        return allowed

    def change(self, node: TreeNode, given: dict[str, Any]) -> None:
        assert node.leaf is not None
        for mode, change in node.leaf.changes.get(self.robot.family, {}).items():
            value = change
            if isinstance(change, By):
                value = given[change.param] if change.table is None else change.table.get(given[change.param])
            if value is not None:
                self.modes[mode] = value


@pytest.mark.parametrize("words", [STANDING, REACHING], ids=lambda words: words.robot.name)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_what_is_found_is_what_happens(tmp_path: Path, words: Words, data: st.DataObject, seed: int) -> None:
    written = data.draw(st.lists(nodes(words), min_size=1, max_size=4))
    path = tmp_path / "t.yaml"
    text = "tree: t\nroot:\n" + "".join(f"  {line}\n" for node in written for line in node)
    path.write_text(text)
    checked = check_file(path, Surroundings(CATALOGUE, FIELDS, robot=words.robot))
    found = {finding.place.line: finding for finding in checked.findings.sorted()}
    assert checked.tree.root is not None
    if any(finding.code == "collision" for finding in found.values()):
        return  # what two branches do to each other is not played
    chance = random.Random(seed)
    possible = ModeSpace(words.robot).values
    for _ in range(40):
        play = Play(chance, words.robot, {mode: chance.choice(values) for mode, values in possible.items()})
        with suppress(TimeoutError, Interrupted):
            play.node(checked.tree.root)
        for line, allowed in play.starts.items():
            code = found[line].code if line in found else ""
            assert code or allowed == {True}, f"line {line} nothing was found\n{text}"
            assert code != "never-allowed" or True not in allowed, f"line {line} an error was found\n{text}"
        assert play.read_unsaved <= found.keys(), f"{play.read_unsaved} read what nobody saved\n{text}"
        never = {line for line, finding in found.items() if finding.code == "never-runs"}
        assert play.ran.isdisjoint(never), f"{never} never runs\n{text}"
