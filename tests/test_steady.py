"""Tests in real time: run again when the machine stood still, never otherwise."""

from __future__ import annotations

import pytest

from tests.steady import ATTEMPTS, Watch, run_steadily

pytest_plugins = ["pytester"]

CASES = [
    # failures before it passes, how late the machine was in each attempt, whether the test passes
    (0, [0.0], True),
    (0, [2.5], True),
    (1, [0.0], False),
    (1, [2.5, 0.0], True),
    (2, [2.5, 0.0], False),
    (ATTEMPTS - 1, [2.5] * ATTEMPTS, True),
    (ATTEMPTS, [2.5] * ATTEMPTS, False),
]
FILE = """
    import pytest

    tries = []

    @pytest.mark.parametrize(("case", "failures"), {cases})
    def test_in_real_time(case, failures):
        tries.append(case)
        assert tries.count(case) > failures
"""


class _Machine(Watch):
    """Late by so much in each attempt at each of the tests."""

    def __init__(self) -> None:
        self._late = [late for _, attempts, _ in CASES for attempt in attempts for late in (0.0, attempt)]

    def longest(self) -> float:
        return self._late.pop(0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        run_steadily(item, nextitem, self)
        return True


def test_a_failure_counts_unless_the_machine_stood_still(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(FILE.format(cases=[(case, failures) for case, (failures, _, _) in enumerate(CASES)]))
    machine = _Machine()
    done = pytester.inline_run("-p", "no:xdist", "-p", "no:cacheprovider", plugins=[machine])
    outcomes = [report.passed for report in done.getreports("pytest_runtest_logreport") if report.when == "call"]
    assert outcomes == [passes for _, _, passes in CASES]
    assert machine._late == []
