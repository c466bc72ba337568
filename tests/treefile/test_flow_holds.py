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
CHANGING = (
    *("until: emergency.any", "while: not emergency.any", "unless: emergency.any", "timeout: 5 s", "retry: 2"),
    *("repeat: 2", "repeat: forever", "repeat: {until: emergency.any}"),
    *("result: success", "result: failure", "result: inverted"),
)


@dataclass(frozen=True)
class Words:
    """What trees for a robot are made of."""

    robot: RobotFacts
    ready: tuple[str, ...]  # ways to bring the robot where the last leaf is allowed
    last: str
    leaves: tuple[str, ...]
    looks: tuple[str, ...]
    conditions: tuple[str, ...]
    at_the_end: str

    @property
    def modifiers(self) -> list[str]:
        about_modes = [f"{word}: {text}" for word in ("when", "unless", "while", "until") for text in self.conditions]
        return [*CHANGING, *about_modes, f"finally: [{self.at_the_end}]"]


STANDING = Words(
    GR2,
    ready=("- SetFsm: {state: pd_stand}", "- check: fsm.state == pd_stand"),
    last="- StandPose: {height: 0 cm}",
    leaves=(
        "SetFsm: {state: pd_stand}",
        "SetFsm: {state: walk}",
        "SetFsm: {state: $s}\n  for_each: {s: [walk, pd_stand]}",
        "sequence:\n    - SetFsm: {state: walk}\n    - SetFsm: {state: pd_stand}",
        "Wait: {time: 1 s}\n  repeat: forever\n  finally: [SetFsm: {state: walk}]",
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
    ready=(
        "- SetFsm: {state: ready}\n- SwitchUpperControl: {enabled: true}",
        "- check: upper.control == true and fsm.state == ready",
    ),
    last="- MoveJoints: {pose: home}",
    leaves=(
        "SetFsm: {state: ready}",
        "SetFsm: {state: $s}\n  for_each: {s: [damping, ready]}",
        "SetFsm: {state: $s}\n  for_each: {s: [walk, ready]}",
        "SwitchUpperControl: {enabled: true}",
        "SwitchUpperControl: {enabled: false}",
        "SwitchUpperControl: {enabled: $e}\n  for_each: {e: [false, true]}",
        "SwitchUpperControl: {enabled: emergency.any}",
        "sequence:\n    - SwitchUpperControl: {enabled: false}\n    - SwitchUpperControl: {enabled: true}",
        "Wait: {time: 1 s}\n  repeat: forever\n  finally: [SwitchUpperControl: {enabled: false}]",
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


@dataclass
class Writing:
    """Writes trees by chance; a node is lines of YAML, the first with its dash."""

    chance: random.Random
    words: Words

    def likely(self, probability: float) -> bool:
        return self.chance.random() < probability

    def tree(self) -> str:
        """Something happens between a state that is known and a leaf that needs it, or else anything."""
        middle = [self.node(self.chance.randint(1, 3)) for _ in range(self.chance.randint(1, 2))]
        if self.likely(0.5):
            ended = self.chance.choice([[], ["  timeout: 5 s"], ["  until: emergency.any"]])
            middle = [[*below("- sequence:", middle), "  result: success", *ended]]
        first = self.chance.choice(self.words.ready) if self.likely(0.7) else "- Log: {text: begin}"
        lines = [*first.split("\n"), *(line for node in middle for line in node), self.words.last]
        return "tree: t\nroot:\n" + "".join(f"  {line}\n" for line in lines)

    def node(self, depth: int) -> list[str]:
        kinds = [self.leaf, self.leaf, self.several, self.choice, self.anew] if depth else [self.leaf]
        lines = self.chance.choice(kinds)(depth - 1)
        given = {line.split(":")[0] for line in lines if line.startswith("  ") and line[2] != " "}
        for _ in range(self.chance.choice((0, 0, 1, 2))):
            modifier = f"  {self.chance.choice(self.words.modifiers)}"
            if modifier.split(":")[0] not in given:
                given.add(modifier.split(":")[0])
                lines.append(modifier)
        return lines

    def leaf(self, depth: int) -> list[str]:
        return f"- {self.chance.choice(self.words.leaves)}".split("\n")

    def several(self, depth: int) -> list[str]:
        kind = self.chance.choice(("sequence", "selector", "parallel"))
        lines = below(f"- {kind}:", [self.node(depth) for _ in range(self.chance.randint(1, 3))])
        return [*lines, "  succeed: any"] if kind == "parallel" and self.likely(0.5) else lines

    def choice(self, depth: int) -> list[str]:
        condition = self.chance.choice(self.words.conditions)
        return [f"- if: {condition}", *below("  then:", [self.node(depth)]), *below("  else:", [self.node(depth)])]

    def anew(self, depth: int) -> list[str]:
        """Without memory."""
        looks = [[f"- {self.chance.choice(self.words.looks)}"] for _ in range(self.chance.randint(1, 2))]
        kind = self.chance.choice(("sequence", "selector"))
        if kind == "selector" and self.likely(0.3):
            looks[-1] = below("- sequence:", [looks[-1], self.node(depth)])
        return [*below(f"- {kind}:", [*looks, self.node(depth)]), "  memory: false"]


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
        if not declared.instant and self.likely(0.1):
            raise Interrupted
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
            value = change if isinstance(change, str) else given[change.param]
            if isinstance(change, By) and change.table is not None:
                value = change.table.get(value)
            if value is not None:
                self.modes[mode] = value


@pytest.mark.parametrize("words", [STANDING, REACHING], ids=lambda words: words.robot.name)
@pytest.mark.parametrize("seed", range(5))
def test_what_is_found_is_what_happens(tmp_path: Path, words: Words, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(400):
        text = Writing(chance, words).tree()
        played(tmp_path / "t.yaml", text, words.robot, chance)


def played(path: Path, text: str, robot: RobotFacts, chance: random.Random) -> None:
    path.write_text(text)
    checked = check_file(path, Surroundings(CATALOGUE, FIELDS, robot=robot))
    found = {finding.place.line: finding for finding in checked.findings.sorted()}
    assert checked.tree.root is not None
    if any(finding.code == "collision" for finding in found.values()):
        return  # what two branches do to each other is not played
    possible = ModeSpace(robot).values
    for _ in range(20):
        play = Play(chance, robot, {mode: chance.choice(values) for mode, values in possible.items()})
        with suppress(TimeoutError, Interrupted):
            play.node(checked.tree.root)
        for line, allowed in play.starts.items():
            code = found[line].code if line in found else ""
            assert code or allowed == {True}, f"line {line} nothing was found\n{text}"
            assert code != "never-allowed" or True not in allowed, f"line {line} an error was found\n{text}"
        assert play.read_unsaved <= found.keys(), f"{play.read_unsaved} read what nobody saved\n{text}"
        never = {line for line, finding in found.items() if finding.code == "never-runs"}
        assert play.ran.isdisjoint(never), f"{never} never runs\n{text}"
