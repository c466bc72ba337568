"""The core explored exhaustively over abstract events: no invariant is broken, and there is always a way back.

`python -m tests.guard.test_exploration` prints how many states and steps that were.
"""

from __future__ import annotations

import time

import pytest

from tests.support.exploration import ALPHABETS, EXPLORED, Exploration, JudgedWorld, explore, quick_config, rescue

Stuck = list[tuple[str, str]]


def explored(robot: str, alphabet: str) -> tuple[Exploration, Stuck]:
    """Every state that can be reached, and those from which no person can arm the robot again."""
    stuck: Stuck = []

    def can_be_rescued(world: JudgedWorld) -> None:
        before = world.state.mode
        rescue(world)
        if world.state.mode != "armed":
            stuck.append((before.value, f"{world.state.mode.value}: {world.state.reason}"))

    make = lambda: JudgedWorld(robot, quick_config())  # noqa: E731
    return explore(make, ALPHABETS[alphabet], most=20_000, at_each=can_be_rescued), stuck


@pytest.mark.parametrize(("robot", "alphabet"), EXPLORED)
def test_no_reachable_state_breaks_an_invariant_and_people_can_always_arm_again(robot: str, alphabet: str) -> None:
    found, stuck = explored(robot, alphabet)
    assert found.complete
    assert found.nodes > 50
    assert found.problems == {}
    assert stuck == []


def main() -> None:
    states = steps = 0
    began = time.process_time()
    for robot, alphabet in EXPLORED:
        found, stuck = explored(robot, alphabet)
        states, steps = states + found.nodes, steps + found.steps
        print(
            f"{robot:7} {alphabet:30} {found.nodes:6} states {found.steps:7} steps", found.problems or "", stuck or ""
        )
    print(f"{states} states, {steps} steps, {time.process_time() - began:.0f} s of processor time")


if __name__ == "__main__":
    main()
