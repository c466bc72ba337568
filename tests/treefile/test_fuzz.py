"""A short run of the fuzzing campaigns: `python -m tests.treefile.fuzz` runs the long ones."""

import pytest

from tests.treefile import fuzz
from tests.treefile.fuzz_inputs import Inputs


@pytest.mark.parametrize(("target", "count"), [("reader", 5000), ("check", 300), ("fmt", 60)])
def test_every_input_is_answered(target: str, count: int) -> None:
    report = fuzz.run(target, count, seed=20)
    assert report.failures == {}
    assert report.inputs == count
    assert report.found > 0


def test_what_is_no_answer_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(inputs: Inputs, number: int, folder: object) -> int:
        raise ValueError(number)

    monkeypatch.setitem(fuzz.TARGETS, "reader", raises)
    assert len(fuzz.run("reader", 3, seed=1).failures) == 1
