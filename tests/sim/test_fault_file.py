"""Faults from a file: the same as from text, and every mistake at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.bus import Sample
from orchestrator.sim.fault_file import FaultFileError, inject_file
from orchestrator.wire import dobot_atom
from tests.support.lab import Lab

AMR = "rt/amr/state"


def written(folder: Path, text: str) -> Path:
    path = folder / "faults.yaml"
    path.write_text(text)
    return path


def test_every_way_to_say_when_and_how(tmp_path: Path) -> None:
    lab = Lab("atom_w")
    inject_file(
        lab.twin,
        written(
            tmp_path,
            """\
description: the base is silent for a while, then somebody presses the button
faults:
  - {fault: off, target: rt/amr/state, at: 3 s, for: 2 s}
  - {fault: wrong, target: rt/lower/state.fsm_id, with: {value: 77}}
  - fault: hard
    when: rt/amr/state.navigation_status=RUNNING
""",
        ),
    )
    samples: list[Sample] = []
    lab.readers[AMR].on_sample(samples.append)
    lab.wait(6.0)
    assert not [sample for sample in samples if 3.001 < sample.received < 5.0]
    assert [sample for sample in samples if sample.received > 5.0]
    assert lab.see("rt/lower/state").fsm_id == 77
    assert not lab.see("rt/emergency/state").hard_emergency_triggered
    lab.tell("rt/set/fsm/id", id=2, wait=1.7)
    lab.tell("rt/amr/cmd", command_type=dobot_atom.AMRCommandType.MOVE_TO_TAG, target_id=12, wait=1.0)
    assert lab.see("rt/emergency/state").hard_emergency_triggered


@pytest.mark.parametrize(
    ("row", "place", "message"),
    [
        ("{fault: of, target: rt/amr/state}", "2:13", "no fault 'of'; did you mean off?"),
        ("{fault: off, target: rt/amr/stat}", "2:26", "did you mean rt/amr/state?"),
        ("{fault: off, target: rt/amr/state, at: 3}", "2:44", "unit"),
        ("{fault: off, target: rt/amr/state, at: 3 s, when: rt/amr/state.task_id=1}", "2:5", "not both"),
        ("{fault: slow, target: rt/amr/state, with: {facto: 3}}", "2:55", "did you mean factor?"),
        (
            "{fault: slow, target: rt/amr/state, with: {factor: many}}",
            "2:56",
            "factor is a whole number from 1 to 1000000000",
        ),
        (
            "{fault: slow, target: rt/amr/state, with: {factor: 0}}",
            "2:56",
            "factor is a whole number from 1 to 1000000000, not 0",
        ),
        (
            "{fault: wrong, target: rt/amr/state.position, with: {value: abc}}",
            "2:65",
            "position is a number of 32 bits, not 'abc'",
        ),
        ("{fault: motor_error, target: head_yaw, with: {code: 99999999}}", "2:57", "from 1 to 65535, not 99999999"),
        ("{fault: off, target: rt/amr/state.position}", "2:26", "takes a whole state topic"),
        ("{fault: hard, when: rt/amr/state.navigation_status=RUNING}", "2:25", "did you mean RUNNING?"),
        ("{fault: battery, with: {base: 3}}", "2:35", "base is true or false"),
        ("{fault: hard, when: rt/amr/state.nonsense=1}", "2:25", "nonsense"),
        ("{fault: hard, when: rt/amr/state}", "2:25", "is not a condition"),
        ("{fault: hard, target: rt/amr/state}", "2:27", "takes no target"),
        ("{fault: hard, for: 0 s}", "2:24", "hard: it must last longer than 0 s"),
        ("{fault: security}", "2:13", "atom_w has no e-stop called security"),
        ("{fault: hard, dureation: 2 s}", "2:19", "dureation"),
        ("off:rt/amr/state", "2:5", "fault"),
    ],
)
def test_a_mistake_is_shown_where_it_is_and_nothing_is_put_in(
    tmp_path: Path, row: str, place: str, message: str
) -> None:
    lab = Lab("atom_w")
    text = f"faults:\n  - {row}\n  - {{fault: hard}}\n"
    with pytest.raises(FaultFileError) as caught:
        inject_file(lab.twin, written(tmp_path, text))
    first = str(caught.value).splitlines()[0]
    assert first.startswith(f"{tmp_path}/faults.yaml:{place}: error: ")
    assert message in first
    lab.wait(1.0)
    assert not lab.see("rt/emergency/state").hard_emergency_triggered


def test_every_mistake_is_shown_at_once(tmp_path: Path) -> None:
    with pytest.raises(FaultFileError) as caught:
        inject_file(Lab("atom_w").twin, written(tmp_path, "faults:\n  - {fault: of}\n  - {fault: har}\n"))
    assert str(caught.value).count(": error: ") == 2


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(FaultFileError, match=r"nowhere\.yaml"):
        inject_file(Lab("atom_w").twin, tmp_path / "nowhere.yaml")
