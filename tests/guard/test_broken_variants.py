"""Guards that are broken on purpose are noticed, every one of them, and the whole one is not."""

from __future__ import annotations

import pytest

from tests.guard.broken_variants import VARIANTS, campaign, caught


def test_the_guard_as_it_is_passes_the_campaign() -> None:
    assert list(campaign()) == []


def test_there_are_enough_variants() -> None:
    assert len(VARIANTS) >= 30


@pytest.mark.parametrize("name", VARIANTS)
def test_a_broken_guard_is_noticed(name: str) -> None:
    assert next(caught(name), None) is not None
