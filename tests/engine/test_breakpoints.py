"""Breakpoints: by name, path or number, before and during the run, on any kind of node."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.engine.events import Control
from tests.engine.missions import Mission
from tests.engine.test_checkpoint import cut_off

Fly = Callable[..., Mission]

TREE = """
- Act: {id: a, time: 1 s}
- sequence:
    - Act: {id: b, time: 1 s}
      name: grasp the box
    - Act: {id: c}
"""


def controls(run: Mission) -> list[tuple[float, str, str, int | None]]:
    """With times to a tenth of a second: leaves end with a tick."""
    found = [event for event in run.events if isinstance(event, Control)]
    return [(round(event.at, 1), event.action, event.reason, event.node) for event in found]


@pytest.mark.parametrize("pattern", ["grasp*", "t/*/grasp the box", 3])
def test_a_breakpoint_is_a_name_a_path_or_a_number(fly: Fly, pattern: str | int) -> None:
    run = fly(TREE)
    assert [node.name for node in run.runner.break_at(pattern)] == ["grasp the box"]
    run.at(5, run.runner.resume)
    assert run.run().status == "success"
    assert controls(run) == [
        (0, "breakpoint", "", 3),
        (1, "paused", "breakpoint at grasp the box", 3),
        (5, "resumed", "", None),
    ]
    assert [at for at, text in run.log if text == "start b"] == [5]


@pytest.mark.parametrize("pattern", ["nobody", "t/nobody/*", 99, -1])
def test_a_breakpoint_that_means_no_node_is_noticed_by_its_caller(fly: Fly, pattern: str | int) -> None:
    run = fly(TREE)
    assert run.runner.break_at(pattern) == []
    assert run.run().status == "success"
    assert controls(run) == []


def test_breakpoints_come_and_go_during_the_run(fly: Fly) -> None:
    run = fly(TREE + "- Act: {id: d}\n  name: last")
    run.at(0.5, lambda: run.runner.break_at("*"))
    run.at(0.6, lambda: run.runner.no_break_at("last"))
    run.at(5, run.runner.resume)
    run.at(6.5, run.runner.no_break_at)
    run.at(7, run.runner.resume)
    run.run()
    paused = [(at, node) for at, action, _, node in controls(run) if action == "paused"]
    assert paused == [(1, 3), (6.1, 4)]  # the sequence and its first child are one moment
    assert sum(action == "no_breakpoint" for _, action, _, _ in controls(run)) == len(run.built.structure)


@pytest.mark.parametrize(
    "node", ["check: pad.a", "wait_for: pad.a", "Wait: {time: 1 s}", "Log: {text: x}", "Set: {x: 1}", "Look:"]
)
def test_every_kind_of_node_may_be_one(fly: Fly, node: str) -> None:
    run = fly(f"- Act: {{id: a}}\n- {node}\n  name: here\n- Act: {{id: b}}", pad__a=True)
    run.runner.break_at("here")
    run.at(5, run.runner.resume)
    assert run.run().status == "success"
    assert [at for at, action, _, _ in controls(run) if action == "paused"] == [0]
    assert next(at for at, text in run.log if text == "start b") >= 5


@pytest.mark.parametrize(
    "node",
    [
        "if: pad.a\n  then: [Act: {id: yes}]\n  else: [Act: {id: no}]",
        "Act: {id: yes}\n  when: pad.a",
        "Act: {id: yes}\n  unless: not pad.a",
        "Act: {id: yes}\n  while: pad.a",
        "Act: {id: yes}\n  until: not pad.a",
        "Act: {id: yes}\n  for_each: {x: [1]}\n  when: pad.a",
        "sequence: [Act: {id: yes}]\n  when: pad.a",
    ],
)
@pytest.mark.parametrize("killed", [False, True])
def test_it_is_held_up_before_it_decides_anything(fly: Fly, node: str, killed: bool) -> None:
    text = f"- {node}\n  name: here"
    run = fly(text, pad__a=False)
    run.runner.break_at("here")
    if killed:
        run = fly(text, pad__a=True, restored=cut_off(run, 1.02))
    run.at(2, lambda: run.set("pad.a", True))
    run.at(5, run.runner.resume)
    assert run.run().status == "success"
    assert run.said == ["start yes", "stop yes"]


def test_a_delay_begins_after_the_breakpoint(fly: Fly) -> None:
    run = fly("- Act: {id: a}\n  delay: 2 s")
    run.runner.break_at("Act")
    run.at(5, run.runner.resume)
    run.run()
    assert run.log[0] == (7, "start a")


def test_what_would_start_in_the_same_tick_waits_too(fly: Fly) -> None:
    run = fly("- parallel:\n    - Act: {id: a}\n      name: here\n    - Act: {id: b}")
    run.runner.break_at("here")
    run.at(5, run.runner.resume)
    run.run()
    assert {at for at, text in run.log if text.startswith("start")} == {5}


REACTIVE = """
- {kind}:
    - check: pad.a
      name: here
    - Act: {{id: a, time: 1 s}}
  memory: false
"""


@pytest.mark.parametrize(("kind", "holds"), [("sequence", True), ("selector", False)])
def test_a_look_held_up_again_and_again_interrupts_nothing(fly: Fly, kind: str, holds: bool) -> None:
    run = fly(REACTIVE.format(kind=kind), pad__a=holds)
    run.at(0.5, lambda: run.runner.break_at("here"))
    for at in (2, 3):
        run.at(at, run.runner.resume)
    run.at(3.5, run.runner.no_break_at)
    run.at(4, run.runner.resume)
    assert run.run().status == "success"
    assert [text for text in run.said if text.startswith("st")] == ["start a", "stop a"]
    assert sum(action == "paused" for _, action, _, _ in controls(run)) == 3


@pytest.mark.parametrize(
    ("leaf", "start"),
    [("Stubborn: {id: a, time: 1 s}", "start a"), ("Odd: {how: pause}\n      timeout: 1 s", "start odd")],
)
def test_a_leaf_that_could_not_go_on_once_starts_again_after_a_breakpoint(fly: Fly, leaf: str, start: str) -> None:
    run = fly(f"- sequence:\n    - {leaf}\n      name: here\n  retry: 1")
    run.at(0.3, lambda: run.runner.break_at("here"))
    run.at(0.4, run.runner.pause)
    for at in (0.5, 2):
        run.at(at, run.runner.resume)
    run.run()
    assert [at for at, text in run.log if text == start] == [0, 2]


def test_a_leaf_that_was_interrupted_before_it_could_fail_starts_again_after_a_breakpoint(fly: Fly) -> None:
    run = fly(
        """
        - sequence:
            - sequence:
                - Odd: {how: pause}
                  name: here
              until: pad.a
            - Wait: {time: 1 s}
          repeat: 2
        """,
        pad__a=False,
    )
    run.at(0.3, lambda: run.runner.break_at("here"))
    run.at(0.4, run.runner.pause)
    run.at(0.5, lambda: run.set("pad.a", True))
    run.at(0.6, run.runner.resume)
    run.at(1, lambda: run.set("pad.a", False))
    run.at(3, run.runner.resume)
    run.at(4, run.runner.abort)
    run.run()
    assert [at for at, text in run.log if text == "start odd"] == [0, 3]


def test_an_abort_passes_all_breakpoints(fly: Fly) -> None:
    run = fly("- Act: {id: a, time: 9 s}\n  finally: [Act: {id: f}]")
    run.runner.break_at("*")
    run.at(1, run.runner.resume)
    run.at(2, run.runner.abort)
    assert run.run().status == "aborted"
    assert run.said[-2:] == ["start f", "stop f"]
    assert run.clock.now() < 2.1


@pytest.mark.parametrize("way_out", ["abort", "stop"])
@pytest.mark.parametrize("killed", [False, True])
def test_a_node_that_a_breakpoint_holds_up_has_nothing_to_be_done_afterwards(
    fly: Fly, way_out: str, killed: bool
) -> None:
    text = "- sequence: [Act: {id: a}]\n  name: here\n  finally: [Act: {id: f}]"
    run = fly(text)
    run.runner.break_at("here")
    if killed:
        run = fly(text, restored=cut_off(run, 1.02))
        run.runner.pause()
    run.at(2, lambda: getattr(run.runner, way_out)("enough"))
    run.run()
    assert (run.said, run.end.skipped) == ([], [])


def test_what_it_holds_up_is_done_with_what_comes_afterwards_when_the_run_goes_on(fly: Fly) -> None:
    run = fly("- sequence: [Act: {id: a, time: 2 s}]\n  name: here\n  finally: [Act: {id: f}]")
    run.runner.break_at("here")
    run.at(2, run.runner.resume)
    run.at(3, run.runner.abort)
    run.run()
    assert run.said == ["start a", "stop a", "start f", "stop f"]


def test_nothing_is_broken_by_a_breakpoint_on_every_node(fly: Fly) -> None:
    run = fly(TREE)
    run.runner.break_at("*")
    for at in range(2, 40, 2):
        run.at(at, run.runner.resume)
    assert run.run().status == "success"
    assert [text for text in run.said if text.startswith("st")] == [
        *("start a", "stop a", "start b", "stop b", "start c", "stop c")
    ]
