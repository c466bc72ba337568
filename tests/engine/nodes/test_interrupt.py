"""Who interrupts waits for every `finally` below, and hands it on when interrupted itself."""

from __future__ import annotations

from collections.abc import Callable

from tests.engine.missions import Mission

Fly = Callable[..., Mission]


def test_an_interrupter_that_is_interrupted_hands_on_what_is_left(fly: Fly) -> None:
    run = fly(
        """
        - sequence:
            - sequence:
                - Act: {id: a, time: 9 s}
                  finally: [Act: {id: f, time: 3 s}]
              timeout: 1 s
          timeout: 2 s
        """
    )
    assert run.run().status == "failure"
    assert run.said == ["start a", "stop a", "start f", "stop f"]
    assert run.log[3][0] >= 4
    assert run.clock.now() >= 4


def test_it_ends_at_once_where_there_is_nothing_to_wait_for(fly: Fly) -> None:
    run = fly("- sequence: [Act: {id: a, time: 9 s}]\n  timeout: 1 s")
    run.run()
    assert run.log == [(0, "start a"), (1, "stop a")]
    assert run.clock.now() == 1
