"""Coverage of missions: what was exercised and what never."""

from __future__ import annotations

from pathlib import Path

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


def test_coverage_of_several_processes_is_put_together(tmp_path: Path) -> None:
    tree = write(tmp_path, "tree: x\nrobot: gr2\nroot:\n  - Wait: {time: 1 s}\n")
    whole, part = Coverage(), Coverage()
    cover(tree, whole)
    cover(tree, part)
    whole.merge(Coverage.from_builtins(part.to_builtins()))
    whole.merge(Coverage())
    assert {node.success for node in whole.nodes.values()} == {2}
