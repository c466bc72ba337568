"""Coverage of missions: what was exercised and what never."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.engine.checkpoint import Checkpoint, take
from orchestrator.engine.prompts import Prompts
from orchestrator.mission.coverage import Coverage
from orchestrator.mission.loading import load_mission
from orchestrator.mission.virtual import VirtualMission

TREE = """
tree: x
robot: gr2
root:
  selector:
    - sequence:
        - check: battery.level > 200 %
        - Log: {text: never said}
    - Wait: {time: 10 s}
      name: too long
      timeout: 1 s
    - Log: {text: the way out}
"""


def cover(tree: Path, coverage: Coverage) -> None:
    VirtualMission(load_mission(tree), coverage.recorder(), Prompts()).run()


def write(folder: Path, text: str) -> Path:
    file = folder / "tree.yaml"
    file.write_text(text)
    return file


def test_nodes_are_counted_with_their_outcomes(tmp_path: Path) -> None:
    coverage = Coverage()
    tree = write(tmp_path, TREE.replace("check: battery.level > 200 %", "check: fsm.state == walk"))
    cover(tree, coverage)
    cover(tree, coverage)
    told = {node.name: (node.started, node.success, node.failure) for node in coverage.nodes.values()}
    assert told["selector"] == (2, 2, 0)
    assert told["sequence"] == (2, 0, 2)
    assert told["too long"] == (2, 0, 2)


def test_what_never_ran_is_pointed_out(tmp_path: Path) -> None:
    coverage = Coverage()
    tree = write(tmp_path, TREE.replace("check: battery.level > 200 %", "check: fsm.state == walk"))
    cover(tree, coverage)
    lines = coverage.render().splitlines()
    assert lines[0] == f"{tree}: 5 of 6 nodes ran"
    assert [line for line in lines if "never ran" in line] == [lines[5]]
    assert lines[5].endswith("      8      Log  <- never ran")


def test_a_node_with_a_name_of_two_lines_is_one_line_as_deep_as_any_other(tmp_path: Path) -> None:
    coverage = Coverage()
    cover(write(tmp_path, 'tree: x\nrobot: gr2\nroot:\n  - Log: {text: a}\n    name: "two\\nlines"\n'), coverage)
    *_, last = coverage.render().splitlines()
    assert last.endswith("      4    two lines")


def test_every_use_of_a_subtree_counts_for_itself(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text("tree: part\nroot:\n  - Wait: {time: 1 s}\n")
    coverage = Coverage()
    cover(
        write(tmp_path, "tree: x\nrobot: gr2\nroot:\n  - use: part.yaml\n  - use: part.yaml\n    name: again\n"),
        coverage,
    )
    waits = [place for place, node in coverage.nodes.items() if node.name == "Wait"]
    assert len(waits) == 2
    assert "Wait  (part.yaml)" in coverage.render()


PART = "tree: part\nroot:\n  - check: fsm.state != walk\n"
IN_LINES = "\n  selector:\n    - use: part.yaml\n    - use: part.yaml\n"
IN_ONE = " {selector: [use: part.yaml, use: part.yaml]}\n"


@pytest.mark.parametrize("root", [IN_LINES, IN_ONE])
def test_a_fallback_that_never_ran_does_not_count_for_what_it_would_replace(root: str, tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(PART)
    tree = write(tmp_path, f"tree: x\nrobot: gr2\nroot:{root}")
    coverage, other = Coverage(), Coverage()
    cover(tree, coverage)
    cover(tree, coverage)
    cover(tree, other)
    coverage.merge(Coverage.from_builtins(other.to_builtins()))
    assert started(coverage, "use") == started(coverage, "check") == [3, 0]
    assert coverage.render().endswith("check  <- never ran  (part.yaml)")


def test_equal_nodes_on_one_line_count_for_themselves(tmp_path: Path) -> None:
    coverage = Coverage()
    nodes = ", ".join(["check: fsm.state != walk"] * 3)
    cover(write(tmp_path, f"tree: x\nrobot: gr2\nroot: {{selector: [{nodes}]}}\n"), coverage)
    assert started(coverage, "check") == [1, 0, 0]


def test_a_use_is_the_same_one_where_another_cannot_run(tmp_path: Path) -> None:
    """What is left out on one robot has no children there."""
    (tmp_path / "part.yaml").write_text("tree: part\nroot:\n  - Wait: {time: 1 s}\n")
    coverage = Coverage()
    for robot in ("gr2", "atom"):
        text = (
            f"tree: x\nrobot: {robot}\nroot:\n  - use: part.yaml\n    when: robot.family == atom\n  - use: part.yaml\n"
        )
        cover(write(tmp_path, text), coverage)
    assert sorted(started(coverage, "Wait")) == [1, 2]


def started(coverage: Coverage, name: str) -> list[int]:
    return [node.started for node in coverage.nodes.values() if node.name == name]


def test_a_run_that_goes_on_with_another_counts_what_it_does_itself(tmp_path: Path) -> None:
    tree = load_mission(write(tmp_path, "tree: x\nrobot: gr2\nroot:\n  - Log: {text: a}\n  - Wait: {time: 9 s}\n"))
    coverage, kept = Coverage(), Coverage()
    first = VirtualMission(tree, coverage.recorder(), Prompts())
    first.clock.after(3.0, lambda: first.mission.runner.between_ticks(lambda: states.append(take(first.mission.built))))
    states: list[Checkpoint] = []
    first.run()
    second = VirtualMission(tree, kept.recorder(), Prompts())
    second.mission.start_from(states[0])
    second.run()
    assert (started(coverage, "Log"), started(coverage, "Wait")) == ([1], [1])
    assert (started(kept, "Log"), started(kept, "Wait")) == ([0], [1])


def test_coverage_of_several_processes_is_put_together(tmp_path: Path) -> None:
    tree = write(tmp_path, "tree: x\nrobot: gr2\nroot:\n  - Wait: {time: 1 s}\n")
    whole, part = Coverage(), Coverage()
    cover(tree, whole)
    cover(tree, part)
    whole.merge(Coverage.from_builtins(part.to_builtins()))
    whole.merge(Coverage())
    assert {node.success for node in whole.nodes.values()} == {2}
