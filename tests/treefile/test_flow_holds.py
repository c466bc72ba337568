"""The flow analysis against what really happens: random trees are played with random outcomes.

Where nothing is found a leaf must always be allowed and a name always be saved; where an error is found a leaf must
never be allowed; what "never runs" must not run.
"""

import random
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.treefile import Surroundings, TreeNode, check_file
from tests.treefile.conftest import CATALOGUE
from tests.treefile.stand_in import FIELDS, GR2

STATES = ("default", "pd_stand", "walk")

leaves = st.sampled_from(
    [
        *(f"SetFsm: {{state: {state}}}" for state in STATES[1:]),
        "StandPose: {height: 1 cm}",
        "StandPose: {height: 2 cm}",
        "check: fsm.state == pd_stand",
        "check: fsm.state != walk",
        "check: emergency.any",
        "WaitForFsm: {state: walk}",
        "Log: {text: hello}",
        "Set: {seen: errors.count}",
        "Set: {seen: errors.count}",
        "check: $seen == 1",
    ]
)
modifiers = st.lists(
    st.sampled_from(
        [
            "when: fsm.state == pd_stand",
            "unless: emergency.any",
            "result: success",
            "result: failure",
            "result: inverted",
            "retry: 2",
            "repeat: 2",
            "until: emergency.any",
            "while: not emergency.any",
            "finally: [SetFsm: {state: walk}]",
            "repeat: forever",
        ]
    ),
    max_size=2,
    unique_by=lambda modifier: modifier.split(":")[0],
)


@st.composite
def nodes(draw: st.DrawFn, depth: int = 3) -> list[str]:
    """One node as lines of YAML, beginning with its dash."""
    kind = draw(st.sampled_from(["leaf", "leaf", "sequence", "selector", "if"])) if depth else "leaf"
    if kind == "leaf":
        lines = [f"- {draw(leaves)}"]
    elif kind == "if":
        lines = ["- if: fsm.state == walk", "  then:"]
        lines += [f"    {line}" for line in draw(nodes(depth=depth - 1))]
        lines += ["  else:", *(f"    {line}" for line in draw(nodes(depth=depth - 1)))]
    else:
        children = draw(st.lists(nodes(depth=depth - 1), min_size=1, max_size=3))
        lines = [f"- {kind}:", *(f"    {line}" for child in children for line in child)]
    return lines + [f"  {modifier}" for modifier in draw(modifiers)]


class Interrupted(Exception):
    """A `while` or `until` ended something that was running."""


@dataclass
class Play:
    """Runs a tree in no time: what the leaves do, and when conditions turn, is left to chance."""

    chance: random.Random
    fsm: str
    starts: dict[int, set[str]] = field(default_factory=dict)  # line of a StandPose to the states it was started in
    ran: set[int] = field(default_factory=set)
    saved: bool = False
    read_unsaved: set[int] = field(default_factory=set)  # lines that read a name nobody had saved
    steps: int = 0

    def holds(self, text: str) -> bool:
        if text == "emergency.any" or text == "not emergency.any":
            return self.chance.random() < 0.5
        return (self.fsm == text.split()[-1]) is ("==" in text)

    def node(self, node: TreeNode) -> str:
        m = node.modifiers
        if (m.when and not self.holds(m.when.text)) or (m.unless and self.holds(m.unless.text)):
            return "skipped"
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
        if m.while_ is None and m.until is None:
            return self.rounds(node)
        try:
            if self.chance.random() < 0.3:
                raise Interrupted
            return self.rounds(node)
        except Interrupted:
            return "failure" if m.until is None or (m.while_ is not None and self.chance.random() < 0.5) else "success"

    def rounds(self, node: TreeNode) -> str:
        m = node.modifiers
        if m.repeat is None:
            return self.attempts(node)
        while_rounds = m.repeat if isinstance(m.repeat, int) else 10**6
        for _ in range(while_rounds):
            if self.attempts(node) == "failure":
                return "failure"
        return "success"

    def attempts(self, node: TreeNode) -> str:
        result = "failure"
        for _ in range(1 + (node.modifiers.retry or 0)):
            result = self.kind(node)
            if result == "success":
                break
        return result

    def kind(self, node: TreeNode) -> str:
        self.steps += 1
        self.ran.add(node.place.line)
        if self.steps > 300:
            raise TimeoutError
        if node.kind in ("sequence", "selector"):
            return self.children(node.children, "failure" if node.kind == "sequence" else "success")
        if node.kind == "if":
            assert node.condition is not None
            chosen = node.children if self.holds(node.condition.text) else node.otherwise or []
            return self.children(chosen, "failure")
        if node.kind == "check":
            assert node.condition is not None
            if "$" in node.condition.text:
                return self.reads(node)
            return "success" if self.holds(node.condition.text) else "failure"
        return self.leaf(node)

    def reads(self, node: TreeNode) -> str:
        if not self.saved:
            self.read_unsaved.add(node.place.line)
        return "success" if self.chance.random() < 0.5 else "failure"

    def children(self, children: list[TreeNode], ends: str) -> str:
        for child in children:
            if self.node(child) == ends:
                return ends
        return "success" if ends == "failure" else "failure"

    def leaf(self, node: TreeNode) -> str:
        assert node.leaf is not None
        name = node.leaf.name
        result = "success" if self.chance.random() < 0.7 else "failure"
        if name == "Log":
            return "success"
        if name == "Set":
            self.saved = self.saved or result == "success"
            return result
        if name == "WaitForFsm":
            return "success" if self.fsm == node.values["state"] else "failure"
        if name == "StandPose":
            self.starts.setdefault(node.place.line, set()).add(self.fsm)
            result = result if self.fsm == "pd_stand" else "failure"
        elif result == "success" or self.chance.random() < 0.5:
            self.fsm = node.values["state"]
        if self.chance.random() < 0.1:
            raise Interrupted
        return result


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(written=st.lists(nodes(), min_size=1, max_size=4), seed=st.integers(0, 2**32))
def test_what_is_found_is_what_happens(tmp_path: Path, written: list[list[str]], seed: int) -> None:
    path = tmp_path / "t.yaml"
    text = "tree: t\nroot:\n" + "".join(f"  {line}\n" for node in written for line in node)
    path.write_text(text)
    checked = check_file(path, Surroundings(CATALOGUE, FIELDS, robot=GR2))
    found = {finding.place.line: finding for finding in checked.findings.sorted()}
    assert checked.tree.root is not None
    chance = random.Random(seed)
    for _ in range(40):
        play = Play(chance, chance.choice(STATES))
        with suppress(TimeoutError, Interrupted):
            play.node(checked.tree.root)
        for line, states in play.starts.items():
            finding = found.get(line)
            code = finding.code if finding else ""
            if code == "":
                assert states == {"pd_stand"}, f"line {line} nothing was found\n{text}"
            if code == "never-allowed":
                assert "pd_stand" not in states, f"line {line} an error was found\n{text}"
        assert play.read_unsaved <= found.keys(), f"{play.read_unsaved} read what nobody saved\n{text}"
        never = {line for line, finding in found.items() if finding.code == "never-runs"}
        assert play.ran.isdisjoint(never), f"{never} never runs\n{text}"
