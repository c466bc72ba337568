"""Statistics per node."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.engine.missions import Mission

Fly = Callable[..., Mission]


def test_ticks_time_and_last_change_of_every_node(fly: Fly) -> None:
    run = fly("- Act: {id: a}\n- Act: {id: b, time: 1 s}\n  retry: 1\n- check: pad.a", pad__a=True)
    found = run.runner.measure()
    assert run.run().status == "success"
    assert [node.ticks for node in found] == [run.runner.ticks, 1, run.runner.ticks, 1]
    assert [node.changed_at for node in found] == pytest.approx([1, 0, 1, 1], abs=0.051)
    assert found[0].seconds is None  # not measured, which is not nothing
    assert all(node.seconds is not None and node.seconds > 0 for node in found[1:])


def test_whoever_asks_again_gets_the_same_list(fly: Fly) -> None:
    run = fly("- Act: {id: a, time: 1 s}")
    first = run.runner.measure()
    again = []
    run.at(0.5, lambda: again.append(run.runner.measure()))
    assert run.run().status == "success"
    assert run.runner.measure() is first is again[0]
    assert [node.ticks for node in first] == [run.runner.ticks] * 2


def test_measuring_may_begin_in_the_middle_and_changes_nothing(fly: Fly) -> None:
    run = fly("- Act: {id: a, time: 1 s}\n- Act: {id: b, time: 1 s}")
    found = []
    run.at(1.5, lambda: found.append(run.runner.measure()))
    assert run.run().status == "success"
    assert run.said == ["start a", "stop a", "start b", "stop b"]
    assert [node.ticks > 0 for node in found[0]] == [True, False, True]
