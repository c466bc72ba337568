"""The core explored exhaustively over abstract events: no invariant is broken, and there is always a way back."""

from __future__ import annotations

import pytest

from tests.support.exploration import ALPHABETS, JudgedWorld, explore, quick_config, rescue


def make() -> JudgedWorld:
    return JudgedWorld("atom_w", quick_config())


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_no_reachable_state_breaks_an_invariant_and_people_can_always_arm_again(alphabet: str) -> None:
    stuck: list[tuple[str, str]] = []

    def can_be_rescued(world: JudgedWorld) -> None:
        before = world.state.mode
        rescue(world)
        if world.state.mode != "armed":
            stuck.append((before.value, f"{world.state.mode.value}: {world.state.reason}"))

    found = explore(make, ALPHABETS[alphabet], most=20_000, at_each=can_be_rescued)
    assert found.complete
    assert found.nodes > 100
    assert found.problems == {}
    assert stuck == []
