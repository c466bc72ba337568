"""The runner: when it ticks, what the operator may do, how a run ends."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.events import Control, Note, Tick, from_json, to_json
from orchestrator.engine.nodes.composites import Parallel
from tests.engine.missions import Mission
from tests.engine.random_files import RandomFile
from tests.engine.test_checkpoint import flight
from tests.engine.test_reference import checked

Fly = Callable[..., Mission]


def test_a_simple_mission(fly: Fly) -> None:
    run = fly(
        """
        - check: battery.level > 20 %
        - Act: {id: a, time: 2 s}
          timeout: 5 s
        - selector:
            - Act: {id: b, time: 10 s}
              timeout: 1 s
              retry: {times: 1, wait: 500 ms}
            - Act: {id: c}
        - wait_for: pad.a
        """,
        battery__level=80.0,
    )
    run.at(20, lambda: run.set("pad.a", True))
    assert run.run() == ("success", "", None, "")
    assert run.log == [
        (0, "start a"),
        (2, "stop a"),
        (2, "start b"),
        (3, "stop b"),
        (3.5, "start b"),
        (4.5, "stop b"),
        (4.5, "start c"),
        (4.5, "stop c"),
    ]
    assert run.clock.now() == 20


def test_a_watched_field_causes_a_tick_at_once_and_silence_one_every_50_ms(fly: Fly) -> None:
    run = fly("- wait_for: pad.a")
    run.at(0.12, lambda: run.set("pad.a", True))
    run.run()
    assert [round(beat, 6) for beat in run.beats] == [0, 0.05, 0.1, 0.12]


def test_a_run_can_be_taken_turn_by_turn(fly: Fly) -> None:
    run = fly("- wait_for: pad.a")
    turns = run.runner.turns()
    for _ in range(3):
        next(turns)
    assert round(run.clock.now(), 6) == 0.1
    assert run.runner.outcome is None
    run.set("pad.a", True)
    assert list(turns) == []
    assert run.runner.outcome == ("success", "", None, "")


def test_ticks_are_at_least_a_millisecond_apart(fly: Fly) -> None:
    run = fly("- wait_for: pad.a")
    for step in range(100):
        run.at(0.1 + step * 1e-5, lambda: run.set("pad.b", True))
    run.fields.watched.add("pad.b")
    run.at(0.2, lambda: run.set("pad.a", True))
    run.run()
    assert min(later - beat for beat, later in zip(run.beats, run.beats[1:])) >= 0.001 - 1e-9


def test_a_tick_that_takes_too_long_is_counted_and_not_made_up_for(fly: Fly) -> None:
    run = fly("- Wait: {time: 1 s}\n- Log: {text: done}")
    slow = iter([0.3])
    run.runner._heartbeat = lambda: run.clock.advance(next(slow, 0))
    run.run()
    assert run.runner.overruns == 1
    assert run.runner.ticks <= 1 + 15


def notes(run: Mission) -> list[tuple[float, str]]:
    return [(round(event.at, 1), event.text) for event in run.events if isinstance(event, Note)]


def test_a_tick_that_takes_too_long_is_told_of_and_three_in_a_row_are_an_alarm(fly: Fly) -> None:
    run = fly("- Wait: {time: 1 s}\n- Log: {text: done}")
    slow = iter([0.06, 0.06, 0, 0.07, 0.08, 0.06, 0.06])
    run.runner._heartbeat = lambda: run.clock.advance(next(slow, 0))
    run.run()
    warning, alarm, done = notes(run)
    assert warning == (0.1, "a tick took 0.06 s, and no leaf most of it; it may take 0.05 s")
    assert alarm[1].startswith("ALARM: 3 ticks in a row took longer than 0.05 s")
    assert done[1] == "done"
    assert run.runner.overruns == 6


def test_ticks_that_always_take_too_long_make_no_flood(fly: Fly) -> None:
    run = fly("- Odd: {how: block a little}\n  repeat: 1000")
    assert run.run().status == "success"
    assert run.runner.overruns == 1000
    found = notes(run)
    assert {text[:5] for _, text in found} == {"Odd b", "ALARM"}
    assert len(found) <= 2 * (run.clock.now() / 10 + 1)


def test_the_slowest_leaf_of_a_tick_is_named_and_not_the_last(fly: Fly) -> None:
    run = fly("- parallel:\n    - Odd: {how: block}\n      name: slow\n    - Odd: {how: block a little}")
    run.run()
    assert [text.split()[0] for _, text in notes(run)] == ["slow"]


def test_the_same_mission_gives_the_same_bytes(fly: Fly) -> None:
    def stream() -> bytes:
        run = fly(
            """
            - parallel:
                - Act: {id: a, time: 1 s, fails: 1}
                  retry: 2
                - Ask: {question: Go on?, choices: [yes, no]}
                  save: choice
            - Log: {text: The answer is $choice}
            """
        )
        run.at(0.7, lambda: run.prompts.answer(1, "yes"))
        run.run()
        return run.stream()

    first = stream()
    assert first == stream()
    assert b"The answer is yes" in first


# Pause


def test_a_pause_holds_the_leaves_and_all_timers(fly: Fly) -> None:
    run = fly("- Act: {id: a, time: 2 s}\n  timeout: 3 s\n- Wait: {time: 1 s}")
    run.at(1, run.runner.pause)
    run.at(11, run.runner.resume)
    assert run.run().status == "success"
    assert run.log == [(0, "start a"), (1, "pause a"), (11, "resume a"), (12, "stop a")]
    assert round(run.clock.now(), 6) == 13


def test_the_heartbeat_goes_on_during_a_pause(fly: Fly) -> None:
    run = fly("- Wait: {time: 1 s}")
    run.at(0.5, run.runner.pause)
    run.at(10.5, run.runner.resume)
    run.run()
    assert max(later - beat for beat, later in zip(run.beats, run.beats[1:])) < 0.0511


def test_a_leaf_that_cannot_go_on_after_a_pause_fails(fly: Fly) -> None:
    run = fly("- Stubborn: {id: a, time: 2 s}")
    run.at(1, run.runner.pause)
    run.at(5, run.runner.resume)
    assert run.run()[:2] == ("failure", "not_resumable")
    assert run.said == ["start a", "pause a", "stop a"]


@pytest.mark.parametrize(
    ("how", "also"), [("pause", ""), ("pause and stop", "; stop of Odd raised RuntimeError: no stop (")]
)
def test_a_leaf_that_cannot_be_paused_is_stopped_at_once_and_told_of(fly: Fly, how: str, also: str) -> None:
    run = fly(f"- Odd: {{how: {how}}}\n  timeout: 9 s")
    run.at(1, run.runner.pause)
    run.at(5, run.runner.resume)
    reason = run.run().reason
    assert reason.startswith("pause of Odd raised RuntimeError: no pause (")
    assert also in reason
    assert run.log == [(0, "start odd"), (1, "pause odd"), (1, "stop odd")]
    assert notes(run) == [(1, reason)]


PAUSED = """
tree: t
require: [battery.level > 20 %]
pause: {when: pad.b, until: pad.a}
root:
  Act: {id: a, time: 2 s}
"""


def test_the_file_may_say_when_to_pause(fly: Fly) -> None:
    run = fly(PAUSED, battery__level=50.0, pad__a=True, pad__b=False)
    run.at(1, lambda: run.set("pad.b", True))
    run.at(1.2, lambda: run.set("pad.b", False))
    run.at(2, lambda: run.set("pad.a", False))  # it was down all the time: that is no wish to go on
    run.at(3.02, lambda: run.set("pad.a", True))
    assert run.run().status == "success"
    assert run.log[:3] == [(0, "start a"), (1, "pause a"), (3.02, "resume a")]


def test_what_is_required_is_required_during_a_pause_too(fly: Fly) -> None:
    run = fly(PAUSED, battery__level=50.0, pad__a=False, pad__b=False)
    run.at(1, run.runner.pause)
    run.at(2, lambda: run.set("battery.level", 10.0))
    assert run.run()[:2] == ("failure", '"battery.level > 20 %" does not hold: battery.level is 10 %')
    assert run.log == [(0, "start a"), (1, "pause a"), (2, "stop a")]


def test_what_a_used_file_requires_is_required_during_a_pause_while_that_file_runs(fly: Fly, tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(
        "tree: part\nrequire: [battery.level > 20 %]\nroot:\n  Act: {id: a, time: 2 s}\n"
    )
    run = fly("- use: part.yaml\n- Act: {id: b, time: 2 s}\n", battery__level=50.0)
    run.at(1, run.runner.pause)
    run.at(2, lambda: run.set("battery.level", 10.0))
    assert run.run()[:2] == ("failure", '"battery.level > 20 %" does not hold: battery.level is 10 %')
    assert run.log == [(0, "start a"), (1, "pause a"), (2, "stop a")]
    run = fly("- use: part.yaml\n- Act: {id: b, time: 2 s}\n", battery__level=50.0)
    run.at(3, run.runner.pause)
    run.at(4, lambda: run.set("battery.level", 10.0))  # that file is over
    run.at(5, run.runner.resume)
    assert run.run().status == "success"


def test_what_follows_from_a_requirement_broken_during_a_pause_waits_until_a_person_goes_on(
    fly: Fly, tmp_path: Path
) -> None:
    (tmp_path / "part.yaml").write_text(
        "tree: part\nrequire: [battery.level > 20 %]\nroot:\n  Act: {id: a, time: 9 s}\n  finally: [Act: {id: f}]\n"
    )
    run = fly(
        """
        - parallel:
            - selector:
                - use: part.yaml
                - Act: {id: b}
            - Act: {id: c, time: 2 s}
        """,
        battery__level=50.0,
    )
    run.at(1.02, run.runner.pause)
    run.at(2.02, lambda: run.set("battery.level", 10.0))
    run.at(5.02, run.runner.resume)
    assert run.run().status == "success"
    assert run.log[2:5] == [(1.02, "pause a"), (1.02, "pause c"), (2.02, "stop a")]
    assert run.said[5:10] == ["start f", "stop f", "start b", "stop b", "resume c"]
    assert {at for at, _ in run.log[5:10]} == {5.021}


def test_a_finally_that_runs_because_of_what_is_required_can_be_paused(fly: Fly) -> None:
    run = fly(PAUSED + "  finally: [Act: {id: f, time: 2 s}]\n", battery__level=50.0, pad__a=False, pad__b=False)
    run.at(1, lambda: run.set("battery.level", 10.0))
    run.at(2, run.runner.pause)
    run.at(5, run.runner.resume)
    run.run()
    assert run.said == ["start a", "stop a", "start f", "pause f", "resume f", "stop f"]
    assert [at for at, _ in run.log] == pytest.approx([0, 1, 1, 2, 5, 6], abs=0.06)


@pytest.mark.parametrize(
    ("nodes", "status"),
    [
        ("- Act: {id: a, time: 2 s}\n  while: pad.a", "failure"),
        ("- Act: {id: a, time: 2 s}\n  until: not pad.a", "success"),
        ("- sequence:\n    - check: pad.a\n    - Act: {id: a, time: 2 s}\n  memory: false", "failure"),
        ("- selector:\n    - check: not pad.a\n    - Act: {id: a, time: 2 s}\n  memory: false", "success"),
        ("- parallel:\n    - Act: {id: a, time: 2 s}\n    - Wait: {time: 2 s}\n      while: pad.a", "failure"),
        ("- Act: {id: a, time: 2 s}\n  timeout: 1 s", "failure"),
        ("- sequence: [Act: {id: a, time: 2 s}]\n  timeout: 1 s", "failure"),
    ],
)
def test_nothing_moves_again_after_a_pause_before_all_conditions_and_times_were_looked_at(
    fly: Fly, nodes: str, status: str
) -> None:
    run = fly(nodes, pad__a=True)
    run.at(1, run.runner.pause)
    run.at(2, lambda: run.set("pad.a", False))
    run.at(5, run.runner.resume)
    assert run.run().status == status
    assert run.said == ["start a", "pause a", "stop a"]


BOTH = """
tree: t
pause: {{when: pad.b, until: pad.a for 100 ms}}
root:
  {leaf}: {{id: a, time: 2 s}}
"""


@pytest.mark.parametrize("leaf", ["Act", "Stubborn"])
def test_what_pauses_a_run_keeps_it_paused_whoever_wants_to_go_on(fly: Fly, leaf: str) -> None:
    run = fly(BOTH.format(leaf=leaf), pad__a=True, pad__b=False)
    run.at(1, lambda: run.set("pad.b", True))
    run.at(3, run.runner.resume)
    run.at(4, lambda: run.set("pad.b", False))
    assert run.run().status == ("success" if leaf == "Act" else "failure")
    assert run.said == ["start a", "pause a", *(["resume a"] if leaf == "Act" else []), "stop a"]
    assert run.log[2][0] == pytest.approx(4, abs=0.06)
    assert [event.text for event in run.events if isinstance(event, Note)] == ['still paused: "pad.b" holds']


@pytest.mark.parametrize("way_out", ["resume", "abort", "require", "stop"])
def test_the_robot_is_held_after_the_leaves_and_released_before_them(fly: Fly, way_out: str) -> None:
    run = fly(PAUSED, battery__level=50.0, pad__a=False, pad__b=False)
    run.runner._hold = lambda on: run.robot.note("hold" if on else "release")
    run.at(1, run.runner.pause)
    ways = {
        "resume": run.runner.resume,
        "abort": run.runner.abort,
        "require": lambda: run.set("battery.level", 10.0),
        "stop": lambda: run.runner.stop("guard"),
    }
    run.at(2, ways[way_out])
    run.run()
    after = {"resume": ["release", "resume a", "stop a"], "stop": []}.get(way_out, ["release", "stop a"])
    assert run.said == ["start a", "pause a", "hold", *after]


def test_a_run_may_begin_paused(fly: Fly) -> None:
    run = fly("- Act: {id: a}")
    run.runner.pause("look first")
    run.at(3, run.runner.resume)
    assert run.run().status == "success"
    assert run.log[0] == (3, "start a")
    paused, resumed = (event for event in run.events if isinstance(event, Control))
    assert (paused.action, paused.reason, resumed.action, resumed.at) == ("paused", "look first", "resumed", 3)


def test_a_step_that_ends_the_run_does_not_pause_it(fly: Fly) -> None:
    run = fly("- Act: {id: a, time: 1 s}")
    run.at(0.5, run.runner.step)
    assert run.run().status == "success"
    assert not any(isinstance(event, Control) for event in run.events)


def test_progress_is_no_step(fly: Fly) -> None:
    run = fly("- Talk: {lines: [], time: 1 s}\n- Act: {id: a, time: 1 s}")
    run.at(0.1, run.runner.step)
    run.at(5, run.runner.resume)
    assert run.run().status == "success"
    assert [event.at for event in run.events if isinstance(event, Control)] == pytest.approx([1, 5], abs=0.051)


def test_operators_in_other_threads_lose_nothing(fly: Fly) -> None:
    run = fly("- Act: {id: a}\n  repeat: 40\n  name: round")
    commands = (run.runner.pause, run.runner.resume, run.runner.step, lambda: run.runner.break_at("round"))

    def operate(seed: int) -> None:
        for number in range(60):
            commands[(number * 7 + seed) % 4]()

    threads = [threading.Thread(target=operate, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    turns = run.runner.turns()
    while any(thread.is_alive() for thread in threads):
        next(turns, None)
    run.runner.no_break_at()
    run.runner.resume()
    for _ in turns:
        pass
    assert run.end.status == "success"
    assert run.said.count("start a") == run.said.count("stop a") == 40


def test_a_step_goes_on_to_the_next_change(fly: Fly) -> None:
    run = fly("- Act: {id: a, time: 1 s}\n- Act: {id: b, time: 1 s}\n- Act: {id: c, time: 1 s}")
    run.at(0.5, run.runner.pause)
    run.at(10, run.runner.step)
    run.at(20, run.runner.step)
    run.at(30, run.runner.resume)
    run.run()
    assert [(time, text) for time, text in run.log if text.startswith(("start", "stop"))] == [
        (0, "start a"),
        (10.5, "stop a"),
        (10.5, "start b"),
        (21, "stop b"),
        (21, "start c"),
        (31, "stop c"),
    ]


# The end

WITH_FINALLY = """
- selector:
    - sequence:
        - Act: {id: a, time: 5 s}
      finally:
        - Act: {id: inner_$outcome, time: 1 s}
    - Act: {id: other}
  retry: 3
  finally:
    - Act: {id: outer_$outcome, ok: false}
    - Act: {id: last}
"""


def test_abort_is_the_orderly_way_out(fly: Fly) -> None:
    run = fly(WITH_FINALLY)
    run.at(1, run.runner.abort)
    assert run.run()[:2] == ("aborted", "aborted by the operator")
    assert run.log == [
        (0, "start a"),
        (1, "stop a"),
        (1, "start inner_interrupted"),
        (2, "stop inner_interrupted"),
        (2, "start outer_interrupted"),
        (2, "stop outer_interrupted"),
        (2, "start last"),
        (2, "stop last"),
    ]


def test_an_abort_can_be_paused_and_goes_on(fly: Fly) -> None:
    run = fly("- Act: {id: a, time: 9 s}\n  finally: [Act: {id: f, time: 2 s}]")
    run.runner._hold = lambda on: run.robot.note("hold" if on else "release")
    run.at(1, run.runner.abort)
    run.at(2, run.runner.pause)
    run.at(50, run.runner.resume)  # longer than a `finally` may take
    assert run.run().status == "aborted"
    assert run.said == ["start a", "stop a", "start f", "pause f", "hold", "release", "resume f", "stop f"]
    assert [at for at, _ in run.log] == pytest.approx([0, 1, 1, 2, 2, 50, 50, 51], abs=0.06)
    assert [event.action for event in run.events if isinstance(event, Control)] == ["aborting", "paused", "resumed"]


def test_an_abort_can_be_taken_step_by_step(fly: Fly) -> None:
    run = fly("- Act: {id: a, time: 9 s}\n  finally: [Act: {id: f, time: 1 s}, Act: {id: g, time: 1 s}]")
    run.at(1, run.runner.abort)
    run.at(1.5, run.runner.step)
    run.at(9, run.runner.resume)
    assert run.run().status == "aborted"
    assert run.said[2:] == ["start f", "stop f", "start g", "pause g", "resume g", "stop g"]
    assert [at for at, _ in run.log[3:]] == pytest.approx([2, 2, 2, 9, 10], abs=0.06)


@pytest.mark.parametrize("pressed_at", [0.5, 2])
def test_what_the_file_says_of_a_pause_holds_during_an_abort(fly: Fly, pressed_at: float) -> None:
    run = fly(PAUSED + "  finally: [Act: {id: f, time: 2 s}]\n", battery__level=50.0, pad__a=False, pad__b=False)
    run.at(pressed_at, lambda: run.set("pad.b", True))
    run.at(1, run.runner.abort)
    run.at(3, lambda: run.set("battery.level", 10.0))  # nothing is required of a tree that was aborted
    run.at(4, run.runner.resume)
    run.at(5, lambda: run.set("pad.b", False))
    run.at(6, lambda: run.set("pad.a", True))
    assert run.run().status == "aborted"
    assert [at for at, text in run.log if text == "stop a"] == [1]
    assert [at for at, text in run.log if text in ("start f", "resume f")][-1] == pytest.approx(6, abs=0.06)
    assert run.clock.now() == pytest.approx(6 + 2 - max(0, pressed_at - 1), abs=0.06)


def test_an_abort_after_which_nothing_is_left_to_do_needs_nobody_to_go_on(fly: Fly) -> None:
    run = fly(PAUSED, battery__level=50.0, pad__a=False, pad__b=False)
    run.at(1, lambda: run.set("pad.b", True))
    run.at(2, run.runner.abort)
    assert run.run().status == "aborted"
    assert run.clock.now() == 2
    told = [event.action for event in run.events if isinstance(event, Control)]
    assert told == ["paused", "aborting", "resumed"]


def test_a_file_used_in_a_finally_is_interrupted_during_a_pause_of_an_abort_too(fly: Fly, tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(
        "tree: part\nrequire: [battery.level > 20 %]\nroot:\n  Act: {id: f, time: 9 s}\n"
    )
    run = fly("- Act: {id: a, time: 9 s}\n  finally: [use: part.yaml, Act: {id: g}]", battery__level=50.0)
    run.at(1, run.runner.abort)
    run.at(2, run.runner.pause)
    run.at(3, lambda: run.set("battery.level", 10.0))
    run.at(5, run.runner.resume)
    assert run.run().status == "aborted"
    assert run.said == ["start a", "stop a", "start f", "pause f", "stop f", "start g", "stop g"]
    assert [at for at, _ in run.log] == pytest.approx([0, 1, 1, 2, 3, 5, 5], abs=0.06)


def test_the_ticks_of_an_abort_are_counted(fly: Fly) -> None:
    run = fly(WITH_FINALLY)
    run.at(1, run.runner.abort)
    run.run()
    numbers = [event.tick for event in run.events if isinstance(event, Tick)]
    assert run.end.ticks == run.runner.ticks == numbers[-1]
    assert len(set(numbers)) == len(numbers)
    assert numbers[-1] == pytest.approx(2 / 0.05, abs=3)


def test_after_a_stop_nothing_is_sent_and_what_was_skipped_is_listed(fly: Fly) -> None:
    run = fly(WITH_FINALLY)
    run.at(1, lambda: run.runner.stop("the emergency stop is pressed"))
    assert run.run()[:2] == ("stopped", "the emergency stop is pressed")
    assert run.said == ["start a"]
    assert run.end.skipped == [
        "the end of Act on line 5",
        "finally of sequence on line 4",
        "finally of selector on line 3",
    ]


def test_a_stop_during_finally_ends_that_too(fly: Fly) -> None:
    run = fly(WITH_FINALLY)
    run.at(1, run.runner.abort)
    run.at(1.5, lambda: run.runner.stop("guard"))
    run.run()
    assert run.said == ["start a", "stop a", "start inner_interrupted"]
    assert run.end.skipped == [
        "the end of Act on line 7",
        "finally of sequence on line 4",
        "finally of selector on line 3",
    ]


def test_a_leaf_or_the_heartbeat_may_find_that_the_run_is_over(fly: Fly) -> None:
    run = fly("- selector:\n    - Odd: {how: over}\n    - Act: {id: other}\n  finally: [Act: {id: f}]")
    assert run.run()[:2] == ("stopped", "the robot is gone")
    assert run.said == ["start odd"]


def test_the_outcome_names_the_node_that_failed_and_its_line(fly: Fly) -> None:
    run = fly("- Act: {id: a}\n- selector:\n    - Act: {id: b, ok: false}\n    - Act: {id: c, ok: false}")
    outcome = run.run()
    assert (outcome.status, outcome.reason) == ("failure", "c failed")
    assert outcome.node is not None
    assert outcome.node.line == 6
    assert outcome.place.endswith("main.yaml:6:9")


def test_every_event_can_be_read_back(fly: Fly) -> None:
    run = fly("- Set: {x: battery.level}\n- Act: {id: a}\n  when: pad.a", battery__level=5.0, pad__a=False)
    run.run()
    assert [from_json(to_json(event)) for event in run.events] == run.events
    assert [type(event).__name__ for event in run.events] == ["Structure", "Saved", "Tick", "End"]
    assert run.statuses() == {"sequence": "success", "Set": "success", "Act": "skipped"}


@pytest.mark.parametrize("way_out", ["abort", "stop", "pause"])
def test_every_started_leaf_is_stopped_exactly_once_whatever_happens(way_out: str, tmp_path: Path) -> None:
    for seed in range(60):
        file = RandomFile(seed)
        tree = checked(tmp_path / "main.yaml", file)
        if tree is None:
            continue
        run = flight(tree, file)
        at = 0.02 + seed % 7 * 0.3
        run.at(at, partial(getattr(run.runner, way_out), "enough"))
        if way_out == "pause":
            run.at(at + 5, run.runner.resume)
        outcome = run.run()
        starts = Counter(text.removeprefix("start ") for text in run.said if text.startswith("start "))
        stops = Counter(text.removeprefix("stop ") for text in run.said if text.startswith("stop "))
        left = [text for text in run.end.skipped if text.startswith("the end of")]
        assert (starts - stops).total() == len(left)
        assert not stops - starts
        assert not left or outcome.status == "stopped"
        assert not any(node.status is Status.RUNNING for node in run.built.root.iterate())


def test_what_is_required_ends_a_run_though_the_button_for_a_pause_is_held_down(fly: Fly) -> None:
    run = fly(PAUSED, battery__level=50.0, pad__a=False, pad__b=False)
    run.at(1, lambda: run.set("pad.b", True))
    run.at(2, lambda: run.set("battery.level", 10.0))
    assert run.run()[:2] == ("failure", '"battery.level > 20 %" does not hold: battery.level is 10 %')
    assert run.log == [(0, "start a"), (1, "pause a"), (2, "stop a")]


@pytest.mark.parametrize("way_out", ["abort", "require"])
def test_a_finally_that_was_paused_goes_on_when_all_else_is_interrupted(fly: Fly, way_out: str) -> None:
    run = fly(
        """
        tree: t
        require: [battery.level > 20 %]
        root:
          parallel:
            - Act: {id: a, time: 9 s}
            - check: battery.level > 1 %
              finally: [Act: {id: f, time: 2 s}]
        """.replace("\n        ", "\n"),
        battery__level=50.0,
    )
    run.at(1, run.runner.pause)
    ways = {"abort": run.runner.abort, "require": lambda: run.set("battery.level", 10.0)}
    run.at(6, ways[way_out])
    run.run()
    assert run.said == ["start a", "start f", "pause a", "pause f", "stop a", "resume f", "stop f"]
    assert [at for at, _ in run.log][4:] == pytest.approx([6, 6, 7], abs=0.06)


EDITED = """
- parallel:
    - sequence:
        - Odd: {how: edit}
        - Act: {id: a, time: 1 s}
    - Act: {id: b, time: 9 s}
"""


@pytest.mark.parametrize(
    ("path", "name", "line"), [("t/sequence/parallel", "parallel", 3), ("*/sequence", "sequence", 4)]
)
def test_a_tree_that_a_leaf_edits_while_it_runs_is_not_run_on(fly: Fly, path: str, name: str, line: int) -> None:
    run = fly(EDITED)
    node = run.built.shown[run.built.find(path)[-1].number]
    run.robot.edit = lambda: node.children.append(run.built.shown[-1])
    outcome = run.run()
    assert outcome.status == "stopped"
    assert outcome.reason.startswith(f"the tree was changed while it ran: {name} has other children than in the file")
    assert f"main.yaml:{line}:" in outcome.reason
    assert run.runner.ticks <= 2


def node_at(run: Mission, path: str) -> Behaviour:
    return run.built.shown[run.built.find(path)[-1].number]


@pytest.mark.parametrize(
    ("path", "line", "edit"),
    [
        ("t/sequence/parallel", 3, lambda node, root: setattr(node, "children", node.children[:1])),
        ("t/sequence/parallel", 3, lambda node, root: setattr(node, "children", node.children[::-1])),
        ("t/sequence/parallel", 3, lambda node, root: node.children.clear()),
        ("t/sequence/parallel", 3, lambda node, root: node.children.append(root)),
        ("*/sequence", 4, lambda node, root: node.children.append(root)),
        ("*/Odd", 5, lambda node, root: node.children.append(root)),
        ("*/Odd", 5, lambda node, root: setattr(node, "children", [root])),
    ],
)
def test_however_it_is_edited_that_is_found_and_what_was_left_running_is_listed(
    fly: Fly, path: str, line: int, edit: Callable[[Behaviour, Behaviour], object]
) -> None:
    run = fly(EDITED)
    run.robot.edit = lambda: edit(node_at(run, path), run.built.root)
    outcome = run.run()
    assert outcome.status == "stopped"
    assert f"main.yaml:{line}:" in outcome.reason
    texts = Counter(text.split()[0] for text in run.said)
    assert texts["start"] == texts["stop"] + len(run.end.skipped)
    assert not any(node.status is Status.RUNNING for node in run.built.root.iterate())


@pytest.mark.parametrize("modifier", ["", "  timeout: 99 s"])
def test_an_edit_is_found_though_nothing_else_happens(fly: Fly, modifier: str) -> None:
    run = fly(f"- parallel:\n    - Act: {{id: a, time: 9 s}}\n    - Act: {{id: b, time: 9 s}}\n{modifier}")
    (parallel,) = (node for node in run.built.root.iterate() if isinstance(node, Parallel))
    run.at(1, lambda: setattr(parallel, "children", parallel.children[:1]))
    assert "parallel has other children than in the file" in run.run().reason
    assert run.clock.now() == pytest.approx(1, abs=0.06)


def test_an_edit_in_the_tick_that_ends_the_run_is_found(fly: Fly) -> None:
    run = fly("- Odd: {how: edit}")
    run.robot.edit = lambda: run.built.root.children.clear()
    assert run.run().reason.startswith("the tree was changed while it ran: sequence")


def test_a_circle_in_what_is_interrupted_is_found(fly: Fly) -> None:
    run = fly(
        """
        - parallel:
            - sequence:
                - Wait: {time: 1 s}
                - Odd: {how: edit}
                - Act: {id: a, time: 9 s}
            - Wait: {time: 1 s}
              result: failure
        """
    )
    run.robot.edit = lambda: node_at(run, "parallel").children.append(run.built.root)
    assert run.run().reason.startswith("the tree was changed while it ran: parallel")


def test_nothing_starts_twice_in_a_tick_and_every_start_is_stopped_though_leaves_raise(tmp_path: Path) -> None:
    for seed in range(120):
        file = RandomFile(seed, mishaps=True)
        tree = checked(tmp_path / "main.yaml", file)
        if tree is None:
            continue
        run = flight(tree, file)
        run.run()
        started = Counter(entry for entry in run.log if entry[1].startswith("start a"))
        assert max(started.values(), default=1) == 1, file.text
        texts = Counter(text.split()[0] for text in run.said)
        left = sum(text.startswith("the end of") for text in run.end.skipped)
        assert texts["start"] == texts["stop"] + left, file.text
