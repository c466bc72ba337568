"""`finally`: once, in order, whatever happened, and not for ever."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.engine.missions import Mission

Fly = Callable[..., Mission]


@pytest.mark.parametrize(
    ("node", "outcome"),
    [("Act: {id: a}", "success"), ("Act: {id: a, ok: false}", "failure"), ("Act: {id: a, time: 9 s}", "interrupted")],
)
def test_it_knows_how_the_node_ended_and_tries_everything(fly: Fly, node: str, outcome: str) -> None:
    after = "finally:\n        - Act: {id: f_$outcome, ok: false}\n        - Act: {id: g}"
    run = fly(f"- sequence:\n    - {node}\n      {after}\n  timeout: 1 s\n  result: success")
    assert run.run().status == "success"
    assert run.said[2:] == [f"start f_{outcome}", f"stop f_{outcome}", "start g", "stop g"]


def test_inner_comes_before_outer_and_nothing_else_starts_meanwhile(fly: Fly) -> None:
    run = fly(
        """
        - selector:
            - sequence:
                - Act: {id: a, time: 9 s}
                  finally: [Act: {id: inner, time: 1 s}]
              timeout: 1 s
              finally: [Act: {id: outer, time: 1 s}]
            - Act: {id: b}
        """
    )
    assert run.run().status == "success"
    started = [text for text in run.said if text.startswith("start")]
    assert started == ["start a", "start inner", "start outer", "start b"]


def test_a_finally_that_takes_too_long_is_stopped_and_reported(fly: Fly) -> None:
    run = fly("- Act: {id: a, time: 1 s}\n  finally:\n    - Act: {id: slow, time: 99 s}\n    - Act: {id: never}")
    assert run.run().status == "success"
    assert run.log[2:] == [(1, "start slow"), (31, "stop slow")]
    assert b"was stopped after 30 s" in run.stream()


def test_a_finally_within_a_finally_that_takes_too_long_is_stopped_too(fly: Fly) -> None:
    run = fly(
        """
        - Act: {id: a}
          finally:
            - Act: {id: b}
              finally:
                - Act: {id: slow, time: 99 s}
        """
    )
    assert run.run().status == "success"
    assert run.said[-1] == "stop slow"
    assert b"finally of Act in it was left undone" in run.stream()


def test_a_tree_does_not_fail_of_what_fails_in_its_finally(fly: Fly) -> None:
    """The one to blame is the node; what went wrong afterwards is told with its own reason."""
    after = "finally:\n    - Act: {id: f, ok: false}\n      retry: 1"
    run = fly(f"- sequence:\n    - Act: {{id: a, ok: false}}\n      name: to blame\n  {after}")
    outcome = run.run()
    assert outcome.node is not None
    assert (outcome.status, outcome.node.name, outcome.reason) == ("failure", "to blame", "a failed")
    assert b"f failed" in run.stream()
