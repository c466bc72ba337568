"""Known, unknown, and what follows from them."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.robots.knowledge import Combined, Derived, Doubt, Known, Unknown, derived, either
from orchestrator.robots.reasons import Reason

YES, NO, UNSURE = Known(True, 2.0), Known(False, 1.0), Unknown(Reason.STALE, "silent")


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([NO, NO], NO),
        ([NO, YES], YES),
        ([UNSURE, YES], YES),
        ([YES, UNSURE], YES),
        ([NO, UNSURE], UNSURE),
        ([UNSURE, UNSURE], UNSURE),
    ],
)
def test_one_flag_that_is_set_decides_and_one_that_is_unknown_leaves_it_open(flags: list[Any], expected: Any) -> None:
    assert either(flags) == expected


def test_all_clear_is_as_old_as_its_oldest_flag() -> None:
    assert either([Known(False, 5.0), Known(False, 3.0)]) == Known(False, 3.0)


def test_no_flags_at_all_are_not_all_clear() -> None:
    assert isinstance(either([]), Unknown)


def test_what_follows_from_something_unknown_or_unbelievable_is_unknown() -> None:
    def disbelieve(value: float) -> float:
        raise Doubt(Reason.OUT_OF_RANGE, f"{value} cannot be")

    assert derived(UNSURE, bool) is UNSURE
    assert derived(Known(7.0, 1.0), disbelieve) == Unknown(Reason.OUT_OF_RANGE, "7.0 cannot be", 1.0)


def test_derived_values_are_worked_out_once_per_report() -> None:
    worked_out: list[int] = []
    reports = [Known(1, 1.0), Known(2, 2.0)]
    now = 0

    def double(value: int) -> int:
        worked_out.append(value)
        return 2 * value

    read = Derived(lambda: reports[now], double)
    assert read() == read() == Known(2, 1.0)
    now = 1
    assert read() == Known(4, 2.0)
    assert worked_out == [1, 2]


def test_combined_values_follow_each_of_their_parts() -> None:
    parts: list[Any] = [NO, NO]
    read = Combined([lambda: parts[0], lambda: parts[1]], either)
    assert read() == NO
    parts[1] = UNSURE
    assert read() is UNSURE
    parts[0] = YES
    assert read() == YES
