"""What stands beside a node in the file."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.engine.events import Saved, Tick
from tests.engine.missions import Mission

Fly = Callable[..., Mission]


def starts(run: Mission) -> list[str]:
    return [text.removeprefix("start ") for text in run.said if text.startswith("start")]


@pytest.mark.parametrize(
    ("nodes", "status", "started"),
    [
        ("- Act: {id: a}\n  when: pad.a\n- Act: {id: b}", "success", ["b"]),
        ("- selector:\n    - Act: {id: a}\n      when: pad.a\n    - Act: {id: b}", "success", ["b"]),
        ("- selector:\n    - Act: {id: a}\n      when: pad.a", "failure", []),
        ("- parallel:\n    - Act: {id: a, ok: false}\n      when: pad.a\n    - Act: {id: b}", "success", ["b"]),
        ("- parallel:\n    - Act: {id: a}\n      when: pad.a", "success", []),
        ("- Act: {id: a}\n  when: pad.a\n  finally: [Act: {id: f}]", "success", []),
        ("- Act: {id: a}\n  unless: pad.x", "failure", []),  # not known
    ],
)
def test_a_skipped_node_is_passed_over(fly: Fly, nodes: str, status: str, started: list[str]) -> None:
    run = fly(nodes, pad__a=False)
    assert run.run().status == status
    assert starts(run) == started


@pytest.mark.parametrize(
    ("modifier", "status", "log"),
    [
        ("delay: 2 s", "success", [(2, "start a"), (3, "stop a")]),
        ("timeout: 500 ms", "failure", [(0, "start a"), (0.5, "stop a")]),
        ("while: pad.a", "failure", [(0, "start a"), (0.6, "stop a")]),
        ("until: not pad.a", "success", [(0, "start a"), (0.6, "stop a")]),
        ("result: inverted", "failure", [(0, "start a"), (1, "stop a")]),
        ("repeat: 2", "success", [(0, "start a"), (1, "stop a"), (1, "start a"), (2, "stop a")]),
        ("retry: 2", "success", [(0, "start a"), (1, "stop a")]),
    ],
)
def test_each_on_its_own(fly: Fly, modifier: str, status: str, log: list[tuple[float, str]]) -> None:
    run = fly(f"- Act: {{id: a, time: 1 s}}\n  {modifier}", pad__a=True)
    run.at(0.6, lambda: run.set("pad.a", False))
    assert run.run().status == status
    assert [text for _, text in run.log] == [text for _, text in log]
    assert [at for at, _ in run.log] == pytest.approx([at for at, _ in log], abs=0.06)


@pytest.mark.parametrize(("modifier", "status"), [("while", "failure"), ("when", "success")])
def test_a_condition_beside_a_node_is_told_with_what_was_read(fly: Fly, modifier: str, status: str) -> None:
    run = fly(f"- Act: {{id: a, time: 1 s}}\n  {modifier}: battery.level > 50 %", battery__level=40.0)
    assert run.run().status == status
    told = [change.message for tick in run.events if isinstance(tick, Tick) for change in tick.changes.values()]
    assert '"battery.level > 50 %" does not hold: battery.level is 40 %' in told


def test_retry_waits_and_counts_its_attempts(fly: Fly) -> None:
    run = fly("- Act: {id: a_$attempt, ok: false}\n  retry: {times: 2, wait: 1 s}")
    assert run.run()[:2] == ("failure", "a_3 failed")
    assert [(at, text) for at, text in run.log if text.startswith("start")] == [
        (0, "start a_1"),
        (1, "start a_2"),
        (2, "start a_3"),
    ]


def test_every_start_has_all_attempts_and_the_whole_time_again(fly: Fly) -> None:
    run = fly("- sequence:\n    - Act: {id: a, fails: 1}\n      retry: 1\n    - Wait: {time: 1 s}\n  repeat: 2")
    assert run.run().status == "success"
    slow = fly("- sequence: [Act: {id: a, time: 2 s}]\n  timeout: 3 s\n  repeat: 3")
    assert slow.run().status == "success"


def test_nothing_starts_twice_in_one_tick(fly: Fly) -> None:
    run = fly("- Act: {id: a, fails: 3}\n  retry: 3\n  repeat: 3")
    run.run()
    started = [at for at, text in run.log if text.startswith("start")]
    assert len(started) == len(set(started)) == 6


def test_for_each_goes_through_its_values_up_to_the_first_failure(fly: Fly) -> None:
    run = fly("- Act: {id: a_$n, ok: true}\n  for_each: {n: [1, 2, 3]}")
    assert run.run().status == "success"
    assert starts(run) == ["a_1", "a_2", "a_3"]


def test_cooldown_keeps_it_from_starting_again_too_soon(fly: Fly) -> None:
    run = fly("- selector:\n    - Act: {id: a}\n      cooldown: 1 s\n    - Act: {id: b}\n  repeat: 2")
    assert run.run().status == "success"
    assert starts(run) == ["a", "b"]


def test_a_result_is_saved_on_success_and_failure(fly: Fly) -> None:
    run = fly("- Act: {id: a, ok: false}\n  save: how\n  result: success\n- Log: {text: it was $how}")
    assert run.run().status == "success"
    assert b"it was broken" in run.stream()


@pytest.mark.parametrize(
    "second",
    [
        "Act: {id: b, time: 5 s}\n      timeout: 1 s",
        "Act: {id: b, time: 5 s}\n      until: pad.a",
        "Act: {id: b}\n      delay: 1 s\n      while: not pad.a",
        "Claim: {attribute: result, value: number}",
        "Ask: {question: Well?, choices: [x]}\n      timeout: 1 s",
    ],
)
def test_a_leaf_that_leaves_no_result_leaves_the_saved_value_as_it_was(fly: Fly, second: str) -> None:
    run = fly(
        f"""
- Act: {{id: a}}
  save: how
- selector:
    - {second}
      save: how
    - Log: {{text: it did not work}}
- Act: {{id: $how}}
""",
        pad__a=False,
    )
    run.at(0.9, lambda: run.set("pad.a", True))
    assert run.run().status == "success"
    assert run.said[-1] == "stop fine"


def test_a_leaf_that_does_not_start_again_does_not_save_its_old_result_again(fly: Fly) -> None:
    run = fly(
        """
        - sequence:
            - Act: {id: b, time: 1 s}
              until: pad.a
              save: how
            - Act: {id: c, ok: false}
              save: how
              result: success
            - Act: {id: "$how"}
          repeat: 2
        """,
        pad__a=False,
    )
    run.at(1.0005, lambda: run.set("pad.a", True))
    run.run()
    saved = [event.values["how"] for event in run.events if isinstance(event, Saved)]
    assert saved == ["fine", "broken", "broken"]
