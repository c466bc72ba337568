"""Nodes that only look."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.engine.events import Tick
from tests.engine.missions import Mission

Fly = Callable[..., Mission]


def test_a_check_ends_at_once_and_says_what_does_not_hold(fly: Fly) -> None:
    assert fly("- check: pad.a", pad__a=True).run().status == "success"
    assert fly("- check: pad.a", pad__a=False).run()[:2] == ("failure", '"pad.a" does not hold')


def test_what_does_not_hold_is_told_with_what_was_read(fly: Fly) -> None:
    condition = "pad.a and pad.b and battery.level > 90 %"
    run = fly(f"- check: {condition}", pad__a=True, pad__b=False, battery__level=80.0)
    read = "pad.a is true, pad.b is false, battery.level is 80 %"
    assert run.run()[:2] == ("failure", f'"{condition}" does not hold: {read}')


@pytest.mark.parametrize(
    ("condition", "read"),
    [
        ("$attempt == 3", ": $attempt is 2"),
        ("$side == left", ": $side is right"),
        ("$level > $limit", ": $level is 80 %, $limit is 90 %"),
        ("$level > 90 % and battery.level > $level", ": $level is 80 %, battery.level is 50 %"),
        ("not $done", ": $done is true"),
        ("not ($done or $side == left)", ": $done is true, $side is right"),
        ("$off", ""),
    ],
)
def test_what_does_not_hold_is_told_with_the_values_that_were_read(fly: Fly, condition: str, read: str) -> None:
    run = fly(
        "tree: t\nparams:\n  limit: {type: percent, default: 90 %}\nroot:\n"
        "  - Set: {level: battery.level, done: pad.a, off: pad.b}\n"
        "  - Ask: {question: Which?, choices: [left, right]}\n    save: side\n"
        "  - Wait: {time: 1 s}\n"
        f"  - check: {condition}\n    retry: 1\n",
        answers=lambda question: "right",
        battery__level=80.0,
        pad__a=True,
        pad__b=False,
    )
    run.at(0.5, lambda: run.set("battery.level", 50.0))
    assert run.run().reason == f'"{condition}" does not hold{read}'


def test_what_is_not_known_beside_what_decides_is_told_as_such(fly: Fly) -> None:
    reason = '"pad.a and pad.b" does not hold: pad.a is false, pad.b has not been reported yet'
    assert fly("- check: pad.a and pad.b", pad__a=False).run().reason == reason


@pytest.mark.parametrize(
    ("condition", "values", "why"),
    [
        ("pad.a", {"pad__a": False}, '"pad.a" does not hold'),
        ("pad.a for 5 s", {"pad__a": True}, '"pad.a for 5 s" does not hold: pad.a is true'),
        (
            "battery.level < 20 %",
            {"battery__level": 30.0},
            '"battery.level < 20 %" does not hold: battery.level is 30 %',
        ),
        ("pad.a", {}, '"pad.a" is not known: pad.a has not been reported yet'),
    ],
)
def test_a_wait_that_took_too_long_says_what_it_waited_for(
    fly: Fly, condition: str, values: dict[str, object], why: str
) -> None:
    run = fly(f"- wait_for: {condition}\n  timeout: 3 s", **values)
    assert run.run()[:2] == ("failure", f"timeout: not done after 3 s ({why})")


def test_a_check_that_holds_at_last_says_nothing_any_more(fly: Fly) -> None:
    run = fly("- sequence: [{check: pad.a}]\n  retry: {times: 3, wait: 1 s}", pad__a=False)
    run.at(0.52, lambda: run.set("pad.a", True))
    assert run.run().status == "success"
    ticks = [event for event in run.events if isinstance(event, Tick)]
    told = [change.message for tick in ticks for change in tick.changes.values() if change.status == "success"]
    assert set(told) == {""}


def test_what_is_not_known_fails_a_check_and_is_waited_for(fly: Fly) -> None:
    assert "is not known" in fly("- check: pad.a").run().reason
    run = fly("- wait_for: pad.a")
    run.at(3.02, lambda: run.set("pad.a", True))
    assert run.run().status == "success"
    assert run.clock.now() == 3.02


def test_a_condition_must_hold_without_a_break(fly: Fly) -> None:
    run = fly("- wait_for: pad.a for 2 s", pad__a=True)
    run.at(1.02, lambda: run.set("pad.a", False))
    run.at(1.52, lambda: run.set("pad.a", True))
    run.run()
    assert run.clock.now() == pytest.approx(3.52)


@pytest.mark.parametrize(("holds", "started"), [(True, "start a"), (False, "start b")])
def test_if_decides_once(fly: Fly, holds: bool, started: str) -> None:
    nodes = "- if: pad.a\n  then: [Act: {id: a, time: 1 s}]\n  else: [Act: {id: b, time: 1 s}]"
    run = fly(nodes, pad__a=holds)
    run.at(0.5, lambda: run.set("pad.a", not holds))
    assert run.run().status == "success"
    assert run.said[0] == started
    assert len(run.said) == 2


def test_a_failing_then_does_not_run_else(fly: Fly) -> None:
    run = fly("- if: pad.a\n  then: [Act: {id: a, ok: false}]\n  else: [Act: {id: b}]", pad__a=True)
    assert run.run().status == "failure"
    assert "start b" not in run.said
