"""Parallel with N of M, and sequence and selector without memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.engine.substitution import Substitutes
from tests.engine.missions import Mission

Fly = Callable[..., Mission]


@pytest.mark.parametrize(
    ("rules", "status", "over_at"),
    [
        ("", "failure", 1),  # all must succeed, and one has failed
        ("succeed: any", "success", 2),
        ("succeed: 2", "success", 3),
        ("succeed: 3", "failure", 1),
        ("succeed: any\n  fail: any", "failure", 1),
        ("succeed: all\n  fail: all", "failure", 3),
    ],
)
def test_the_first_rule_that_is_met_ends_a_parallel(fly: Fly, rules: str, status: str, over_at: float) -> None:
    run = fly(
        f"""
- parallel:
    - Act: {{id: a, time: 1 s, ok: false}}
    - Act: {{id: b, time: 2 s}}
    - Act: {{id: c, time: 3 s}}
  {rules}
"""
    )
    assert run.run().status == status
    assert run.clock.now() == pytest.approx(over_at, abs=0.051)
    assert len(run.said) == 6


def test_on_a_tie_failure_wins(fly: Fly) -> None:
    run = fly("- parallel:\n    - Act: {id: a}\n    - Act: {id: b, ok: false}\n  succeed: any\n  fail: any")
    assert run.run().status == "failure"


def test_a_sequence_without_memory_looks_again_in_every_tick(fly: Fly) -> None:
    run = fly("- sequence:\n    - check: pad.a\n    - Act: {id: a, time: 9 s}\n  memory: false", pad__a=True)
    run.at(2.02, lambda: run.set("pad.a", False))
    assert run.run()[:2] == ("failure", '"pad.a" does not hold')
    assert run.log == [(0, "start a"), (2.02, "stop a")]


def test_a_reactive_selector_stops_the_one_before_it_starts_the_other(fly: Fly) -> None:
    run = fly(
        """
        - selector:
            - sequence:
                - check: pad.a
                - Act: {id: dodge, part: base}
            - Act: {id: drive, time: 9 s, part: base}
              finally:
                - Act: {id: brake, time: 1 s}
          memory: false
        """,
        pad__a=False,
    )
    run.at(2.02, lambda: run.set("pad.a", True))
    assert run.run().status == "success"
    assert run.said == ["start drive", "stop drive", "start brake", "stop brake", "start dodge", "stop dodge"]
    assert run.log[2][0] == 2.02
    assert run.log[4][0] == pytest.approx(3.02, abs=0.051)


@pytest.mark.parametrize("look", ["Look: {ok: pad.a}", "sequence: [{Look: {ok: pad.a}}, {Act: {id: dodge}}]"])
def test_a_leaf_that_only_looks_leaves_alone_what_runs_behind_it_while_it_fails(fly: Fly, look: str) -> None:
    run = fly(f"- selector:\n    - {look}\n    - Act: {{id: drive, time: 1 s}}\n  memory: false", pad__a=False)
    assert run.run().status == "success"
    assert run.log == [(0, "start drive"), (1, "stop drive")]


def test_a_stand_in_of_a_look_only_looks_too(fly: Fly) -> None:
    text = "- selector:\n    - check: pad.a\n    - Act: {id: drive, time: 1 s}\n  memory: false"
    run = fly(text, substitutes=Substitutes({"check": "fail"}), pad__a=True)
    assert run.run().status == "success"
    assert run.log == [(0, "start drive"), (1, "stop drive")]
