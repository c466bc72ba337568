"""The runner: when it ticks, what the operator may do, how a run ends."""

from __future__ import annotations

from collections.abc import Callable

from tests.engine.missions import Mission

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
    run.at(20, lambda: run.fields.__setitem__("pad.a", True))
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
