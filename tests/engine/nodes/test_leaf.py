"""A leaf is started, stepped and stopped exactly once, however it behaves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.engine.events import Note
from tests.engine.missions import Mission, Odd

Fly = Callable[..., Mission]


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("start", "start of Odd raised RuntimeError: no start"),
        ("step", "step of Odd raised RuntimeError: no step"),
        ("stop", "stop of Odd raised RuntimeError: no stop"),
        ("none", "Odd.step returned None instead of a Status"),
        ("true", "Odd.step returned True instead of a Status"),
        ("py_trees", "Odd.step returned py_trees' Status.SUCCESS instead of a Status of orchestrator.leaf"),
        ("unshown", "step of Odd raised Unshown: <Unshown that cannot be shown>"),
        ("return unshown", "Odd.step returned <Unshown that cannot be shown> instead of a Status"),
        ("no text", "step of Odd raised RuntimeError: no file \\udcff"),
        ("exit start", "start of Odd raised SystemExit: 0"),
        ("exit step", "step of Odd raised SystemExit: 0"),
        ("exit stop", "stop of Odd raised SystemExit: 0"),
    ],
)
def test_a_leaf_that_misbehaves_fails_with_its_line_and_is_stopped_once(fly: Fly, how: str, reason: str) -> None:
    run = fly(f"- Odd: {{how: {how}}}")
    outcome = run.run()
    assert outcome.status == "failure"
    assert outcome.reason.startswith(reason)
    assert "main.yaml:3:5" in outcome.reason
    assert run.said == ["start odd", "stop odd"]


@pytest.mark.parametrize("method", ["start", "step", "stop"])
def test_a_leaf_that_raises_is_told_with_the_line_in_its_own_file(fly: Fly, method: str) -> None:
    told = re.search(r"main.yaml:3:5; (.*):(\d+)\)", fly(f"- Odd: {{how: {method}}}").run().reason)
    assert told is not None
    own = Path(inspect.getfile(Odd))
    assert told[1] == own.name
    assert "raise" in own.read_text().splitlines()[int(told[2]) - 1]


@pytest.mark.parametrize("method", ["start", "step", "stop"])
def test_a_leaf_that_wants_to_leave_ends_as_one_that_fails(fly: Fly, method: str) -> None:
    run = fly(
        f"- parallel:\n    - Odd: {{how: exit {method}}}\n    - Act: {{id: a, time: 9 s}}\n  finally: [Act: {{id: f}}]"
    )
    assert run.run().status == "failure"
    assert run.said == ["start odd", "stop odd", "start a", "stop a", "start f", "stop f"]
    assert run.end.status == "failure"


@pytest.mark.parametrize("method", ["start", "step", "stop"])
def test_a_person_who_interrupts_python_itself_is_not_held_up(fly: Fly, method: str) -> None:
    """In a run on a robot Ctrl-C has a handler of its own; where it has none, as in virtual time, it ends it all."""
    with pytest.raises(KeyboardInterrupt):
        fly(f"- Odd: {{how: interrupt {method}}}").run()


@pytest.mark.parametrize(
    ("attribute", "value", "problem"),
    [
        ("rate", "fast", "rate of Claim is 'fast'"),
        ("rate", "zero", "rate of Claim is 0"),
        ("rate", "minus", "rate of Claim is -5.0"),
        ("rate", "nan", "rate of Claim is nan"),
        ("rate", "infinite", "rate of Claim is inf"),
        ("same_until", "later", "same_until of Claim is 'later'"),
        ("same_until", "nan", "same_until of Claim is nan"),
        ("progress", "half", "progress of Claim is 'half'"),
        ("progress", "nan", "progress of Claim is nan"),
        ("result", "object", "result of Claim is <object"),
        ("reason", "object", "reason of Claim is <object"),
        ("message", "number", "message of Claim is 5"),
        ("message", "unshown", "message of Claim is <Unshown that cannot be shown>"),
        ("rate", "unshown", "rate of Claim is <Unshown that cannot be shown>"),
    ],
)
def test_an_attribute_that_is_not_what_it_must_be_fails_the_leaf_with_its_line(
    fly: Fly, attribute: str, value: str, problem: str
) -> None:
    run = fly(f"- Claim: {{attribute: {attribute}, value: {value}}}\n  save: x")
    outcome = run.run()
    assert outcome.status == "failure"
    assert outcome.reason.startswith(problem)
    assert "main.yaml:3:5" in outcome.reason
    assert run.said in (["stop claim"], [])  # one with a wrong rate is not started
    run.stream()


@pytest.mark.parametrize(
    ("attribute", "modifier", "status"),
    [("result", "save: x", "success"), ("reason", "note: y", "success"), ("message", "timeout: 1 s", "failure")],
)
def test_half_a_character_in_what_a_leaf_says_ends_nothing(
    fly: Fly, attribute: str, modifier: str, status: str
) -> None:
    """As in the name of a file that is no text."""
    run = fly(f"- Claim: {{attribute: {attribute}, value: half a text}}\n  {modifier}")
    assert run.run().status == status
    assert b"half \\\\udcff" in run.stream()


def test_a_leaf_that_blocks_is_named(fly: Fly) -> None:
    run = fly("- Act: {id: a}\n- Odd: {how: block}\n- Act: {id: b}")
    assert run.run().status == "success"
    notes = [event for event in run.events if isinstance(event, Note)]
    assert [note.node for note in notes] == [2]
    assert run.runner.overruns == 1


def test_a_stop_that_raises_does_not_keep_others_from_being_stopped(fly: Fly) -> None:
    run = fly("- parallel:\n    - Odd: {how: stop}\n    - Act: {id: a, time: 9 s}\n  timeout: 1 s\n  result: success")
    assert run.run().status == "success"
    assert run.said == ["start odd", "stop odd", "start a", "stop a"]


@pytest.mark.parametrize("how", ["block start", "block", "block stop"])
def test_wherever_it_blocks_it_is_named_with_its_line(fly: Fly, how: str) -> None:
    run = fly(f"- Odd: {{how: {how}}}")
    assert run.run().status == "success"
    (note,) = (event for event in run.events if isinstance(event, Note))
    assert note.text.startswith("Odd blocked the run")
    assert "main.yaml:3:5" in note.text


def test_a_leaf_whose_part_of_the_robot_is_taken_is_stopped_first_and_fails(fly: Fly) -> None:
    run = fly(
        """
        - parallel:
            - Act: {id: a, time: 9 s, part: base}
            - sequence:
                - Wait: {time: 1 s}
                - Act: {id: b, time: 1 s, part: $part}
                  for_each: {part: [base]}
        """
    )
    assert run.run()[:2] == ("failure", "Act took its base")
    assert run.log[:3] == [(0, "start a"), (1, "stop a"), (1, "start b")]
