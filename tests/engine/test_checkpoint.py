"""A run that goes on in another process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from orchestrator.engine import Substitutes
from orchestrator.engine.checkpoint import (
    VERSION,
    Checkpoint,
    Keeper,
    WrongCheckpoint,
    from_json,
    restore,
    take,
    to_json,
)
from orchestrator.engine.events import Prompt
from orchestrator.treefile import Tree
from tests.engine.missions import FIELDS, Mission, mission_of
from tests.engine.random_files import RandomFile
from tests.engine.test_reference import LONGEST, answer, checked

Fly = Callable[..., Mission]


def cut_off(run: Mission, at: float) -> Checkpoint:
    """The state of a mission at a time, as it comes back from a disk."""
    kept: list[bytes] = []
    run.at(at, lambda: kept.append(to_json(take(run.built))))
    run.at(at, lambda: run.runner.stop("killed"))
    run.run()
    return from_json(kept[0])


MISSION = """
- Act: {id: a}
  save: how
- Act: {id: b, time: 1 s, fails: 2}
  retry: {times: 2, wait: 4 s}
- parallel:
    - Act: {id: c}
    - Wait: {time: 10 s}
- Act: {id: d $how}
"""


def test_a_restored_run_goes_on_with_the_next_leaf_and_the_time_that_was_left(fly: Fly) -> None:
    state = cut_off(fly(MISSION), 13.02)  # b: 0 to 1, 5 to 6, 10 to 11; c at 11, the wait until 21
    run = fly(MISSION, restored=state, start=500.0)
    assert run.run().status == "success"
    assert run.said == ["start d fine", "stop d fine"]
    assert run.clock.now() == pytest.approx(500 + 21 - 13.02, abs=0.06)


def test_attempts_that_were_made_are_not_made_again(fly: Fly) -> None:
    state = cut_off(fly(MISSION), 7.02)
    run = fly(MISSION, restored=state)
    assert run.run().reason == "b failed"  # this robot lets b fail twice, and one attempt was left
    assert run.said == ["start b", "stop b"]


def test_a_leaf_that_was_running_is_started_again_if_it_can_be_resumed(fly: Fly) -> None:
    text = "- Act: {id: a}\n- Act: {id: b, time: 2 s}"
    run = fly(text, restored=cut_off(fly(text), 1.02))
    assert run.run().status == "success"
    assert run.said == ["start b", "stop b"]


@pytest.mark.parametrize(
    ("choice", "status", "said"),
    [("start again", "success", 2), ("treat as done", "success", 0), ("fail", "failure", 0)],
)
def test_otherwise_a_person_decides(fly: Fly, choice: str, status: str, said: int) -> None:
    text = "- Stubborn: {id: a, time: 2 s}"
    run = fly(text, restored=cut_off(fly(text), 1.02))
    run.at(3.02, lambda: run.prompts.answer(1, choice))
    assert run.run().status == status
    assert len(run.said) == said


def test_a_leaf_that_a_breakpoint_held_up_was_not_cut_off(fly: Fly) -> None:
    text = "- Stubborn: {id: a, time: 2 s}"
    held = fly(text)
    held.runner.break_at("Stubborn")
    run = fly(text, restored=cut_off(held, 1.02))
    assert run.run().status == "success"
    assert run.said == ["start a", "stop a"]


def test_a_leaf_that_was_cut_off_twice_is_asked_for_twice(fly: Fly) -> None:
    text = "- Stubborn: {id: a, time: 2 s}"
    again = fly(text, restored=cut_off(fly(text), 1.02))
    run = fly(text, restored=cut_off(again, 1.02))  # before anybody has answered
    run.at(3.02, lambda: run.prompts.answer(1, "treat as done"))
    assert run.run().status == "success"
    assert run.said == []


ROUNDS = "- Sworn: {id: a, time: 2 s}\n  confirm: Sure?\n  repeat: 3"


@pytest.mark.parametrize(
    ("at", "choice", "said"),
    [
        (1.02, "start again", ["a is agreed", "a is not agreed", "a is not agreed"]),
        (1.02, "treat as done", ["a is not agreed", "a is not agreed"]),
        (3.02, "start again", ["a is not agreed", "a is not agreed"]),
    ],
)
def test_a_leaf_that_was_cut_off_is_still_at_the_start_that_was_agreed_to(
    fly: Fly, at: float, choice: str, said: list[str]
) -> None:
    state = cut_off(fly(ROUNDS, answers=lambda question: "yes"), at)
    run = fly(ROUNDS, restored=state, answers=lambda question: choice)
    assert run.run().status == "success"
    assert [text for text in run.said if " is " in text] == said


def test_an_agreement_that_was_not_used_yet_is_kept(fly: Fly) -> None:
    text = ROUNDS + "\n  delay: 5 s"
    run = fly(text, restored=cut_off(fly(text, answers=lambda question: "yes"), 1.02))
    assert run.run().status == "success"
    assert [text for text in run.said if " is " in text] == ["a is agreed", "a is not agreed", "a is not agreed"]


def test_a_leaf_that_must_not_be_done_twice_is_asked_for_though_it_could_be_resumed(fly: Fly) -> None:
    text = "- Act: {id: a, time: 2 s}\n  save: how"
    first = fly(text)

    def ask_for_something_that_is_done_once() -> None:
        assert first.built.run.acting is not None
        first.built.run.acting.unrepeatable = True

    first.at(0.52, ask_for_something_that_is_done_once)
    run = fly(text, restored=cut_off(first, 1.02))
    run.at(3.02, lambda: run.runner.stop("nobody answered"))
    run.run()
    assert run.said == []
    asked = [(event.question, event.choices) for event in run.events if isinstance(event, Prompt)]
    assert asked == [("Act was cut off. Start it again?", ["start again", "fail"])]  # its result only it can know


def test_a_finally_that_was_running_goes_on(fly: Fly) -> None:
    text = (
        "- sequence:\n    - Wait: {time: 9 s}\n  timeout: 1 s\n  finally:\n    - Act: {id: f}\n    - Wait: {time: 5 s}"
    )
    run = fly(text, restored=cut_off(fly(text), 3.02))
    assert run.run().status == "failure"
    assert run.said == []
    assert run.clock.now() == pytest.approx(1 + 5 - 3.02, abs=0.01)


@pytest.mark.parametrize(
    ("text", "difference"),
    [
        ("- Act: {id: a}\n- Act: {id: b}", "the tree was edited"),
        ("- Wait: {time: 1 s}\n- Act: {id: b}", "'id': 'a'.* stood where .*'id': 'b'.* stands now"),
        ("- Wait: {time: 1 s}\n- Act: {id: a}\n- Act: {id: a}", "had 3 nodes and has 4 now"),
        ("tree: other\nroot:\n  - Act: {id: a}\n", 'of the tree "t"; this one is "other"'),
    ],
)
def test_a_checkpoint_of_another_tree_is_refused_with_the_difference(fly: Fly, text: str, difference: str) -> None:
    state = take(fly("- Wait: {time: 1 s}\n- Act: {id: a}").built)
    with pytest.raises(WrongCheckpoint, match=difference):
        restore(fly(text).built, state)


BEFORE = """
- sequence:
    - Act: {id: a}
    - Wait: {time: 9 s}
- parallel:
    - Act: {id: b}
      save: how
    - Act: {id: c}
  succeed: any
- if: pad.a
  then: [Act: {id: d}]
"""


@pytest.mark.parametrize(
    ("part", "other", "difference"),
    [
        ("    - Wait: {time: 9 s}", "- Wait: {time: 9 s}", '"child of 1: Wait.* stood where "child of 0: Wait'),
        ("  then: [Act: {id: d}]", "  then: [Log: {text: x}]\n  else: [Act: {id: d}]", "then of 7: Act.* stood where"),
        ("  succeed: any", "  succeed: 2", "succeed=any.* stood where .*succeed=2"),
        ("  succeed: any", "  fail: all", "succeed=any.* stood where .*fail=all"),
        ("      save: how", "      confirm: Sure?", "save=.* stood where .*confirm=Sure?"),
        ("      save: how", "      finally: [Log: {text: x}]", "save=.* stood where"),
        ("      save: how", "      save: other", "save=.*how.* stood where .*other"),
    ],
)
def test_an_edit_that_leaves_the_nodes_in_their_order_is_found_too(
    fly: Fly, part: str, other: str, difference: str
) -> None:
    state = take(fly(BEFORE, pad__a=True).built)
    with pytest.raises(WrongCheckpoint, match=difference):
        restore(fly(BEFORE.replace(part, other), pad__a=True).built, state)


REACTIVE = """
- selector:
    - check: pad.a
    - Act: {id: a}
"""


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        (REACTIVE + "  memory: false", REACTIVE, "memory=false"),
        ("tree: t\nrequire: [pad.a]\nroot: [Act: {id: a}]\n", "tree: t\nroot: [Act: {id: a}]\n", "require=.*pad.a"),
    ],
)
def test_another_memory_or_requirement_makes_another_tree(fly: Fly, before: str, after: str, difference: str) -> None:
    state = take(fly(before).built)
    with pytest.raises(WrongCheckpoint, match=difference):
        restore(fly(after).built, state)


def test_a_checkpoint_with_other_stand_ins_is_refused(fly: Fly) -> None:
    text = "- Act: {id: a}"
    state = take(fly(text, substitutes=Substitutes({"Act": "succeed"})).built)
    with pytest.raises(WrongCheckpoint, match="stand-in"):
        restore(fly(text).built, state)


@pytest.mark.parametrize(
    ("part", "nonsense"),
    [
        (b'"status":"RUNNING"', b'"status":"WALKING"'),
        (b'"current":1', b'"current":17'),
        (b'"current":1', b'"current":"x"'),
        (b'"until":', b'"until":"x","x":'),
    ],
)
def test_a_checkpoint_that_cannot_be_is_refused(fly: Fly, part: bytes, nonsense: bytes) -> None:
    text = "- Act: {id: a}\n- Wait: {time: 9 s}"
    data = to_json(cut_off(fly(text), 1.02))
    assert part in data
    with pytest.raises(WrongCheckpoint):
        restore(fly(text).built, from_json(data.replace(part, nonsense)))


EVERYTHING = """
- parallel:
    - if: pad.a
      then: [Act: {id: a, time: 9 s}]
      for_each: {x: [1, 2]}
      repeat: 3
      retry: 2
    - Wait: {time: 9 s}
      when: pad.a
    - sequence: [Wait: {time: 9 s}]
      timeout: 1 s
      finally: [Wait: {time: 5 s}]
    - sequence:
        - Wait: {time: 9 s}
          finally: [Wait: {time: 5 s}]
      timeout: 1 s
    - selector:
        - check: not pad.a
        - Wait: {time: 9 s}
      memory: false
"""


@pytest.mark.parametrize(
    ("kept", "nonsense"),
    [
        ('"branch":0', '"branch":99'),
        ('"branch":0', '"branch":{}'),
        ('"done":0', '"done":1e300'),
        ('"done":0', '"done":-1'),
        ('"done":0,"values":[1,2]', '"done":3,"values":[1,2]'),
        ('"values":[1,2]', '"values":null'),
        ('"values":[1,2]', '"values":[{}]'),
        ('"held_up":false', '"held_up":0'),
        ('"attempt":1', '"attempt":0'),
        ('"skipped":false', '"skipped":"no"'),
        ('"length":9.0', '"length":0'),
        ('"length":9.0', '"long":9.0'),
        ('"at":0', '"at":2'),
        ('"running":1', '"running":2'),
        ('"unrepeatable":false', '"unrepeatable":{"at":5}'),
        ('"unrepeatable":false', '"result":null'),
        ('"result":null', '"result":7'),
        ('"open":true', '"open":null'),
        ('"ended":"FAILURE"', '"ended":"RUNNING"'),
        ('"current":0', '"current":null'),
        ('"current":0', '"current":-1'),
        ('"cleanups":[', '"cleanups":[0,'),
        ('"cleanups":[', '"cleanups":[999,'),
    ],
)
def test_what_a_node_can_never_keep_is_refused(fly: Fly, kept: str, nonsense: str) -> None:
    text = to_json(cut_off(fly(EVERYTHING, pad__a=True), 1.52)).decode()
    assert kept in text
    restore(fly(EVERYTHING, pad__a=True).built, from_json(text.encode()))
    with pytest.raises(WrongCheckpoint, match=r"cannot be|not a checkpoint"):
        restore(fly(EVERYTHING, pad__a=True).built, from_json(text.replace(kept, nonsense, 1).encode()))


def test_a_checkpoint_of_another_version_is_refused(fly: Fly) -> None:
    run = fly("- Act: {id: a}")
    state = to_json(take(run.built)).replace(b'"version":%d' % VERSION, b'"version":99')
    with pytest.raises(WrongCheckpoint, match="version 99"):
        restore(run.built, from_json(state))
    with pytest.raises(WrongCheckpoint, match="not a checkpoint"):
        from_json(b"[]")


def flight(tree: Tree, file: RandomFile, since: float = 0.0, **options: Any) -> Mission:
    fields: dict[str, Any] = dict(file.start)
    fields.update({name: value for time, name, value in file.changes if time <= since})
    named: dict[str, Any] = {name.replace(".", "__"): value for name, value in fields.items()}
    run = mission_of(tree, answer, **options, **named)
    run.fields.watched.update(FIELDS)
    for time, name, value in file.changes:
        if time > since:
            run.at(time, partial(run.fields.__setitem__, name, value))
    run.at(LONGEST, lambda: run.runner.stop("too long"))
    return run


def kept_states(run: Mission) -> list[tuple[bytes, dict[str, int]]]:
    """What will be kept after every tick."""
    states: list[tuple[bytes, dict[str, int]]] = []
    keeper = Keeper(run.built)
    beat = run.runner._heartbeat

    def beat_and_keep() -> None:
        beat()
        states.append((keeper.take_json(), dict(run.robot.attempts)))

    run.runner._heartbeat = beat_and_keep
    return states


def test_random_missions_go_on_after_any_tick_as_if_nothing_had_happened(tmp_path: Path) -> None:
    compared = 0
    for seed in range(60):
        file = RandomFile(seed, act_times=("0 s",))  # no leaf is ever cut off: all that follows must be the same
        tree = checked(tmp_path / "main.yaml", file)
        if tree is None:
            continue
        whole = flight(tree, file)
        states = kept_states(whole)
        outcome = whole.run()
        times = whole.beats
        for tick in range(0, len(times) - 1, max(1, len(times) // 6)):
            data, attempts = states[tick]
            rest = flight(tree, file, times[tick + 1], restored=from_json(data), start=times[tick])
            rest.robot.attempts = attempts
            rest.clock.advance(times[tick + 1] - times[tick])
            expected = [entry for entry in whole.log if entry[0] >= round(times[tick + 1], 6)]
            assert (rest.run().status, rest.log) == (outcome.status, expected), f"seed {seed}, tick {tick}\n{file.text}"
            compared += 1
    assert compared > 80
