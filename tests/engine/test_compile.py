"""compile_tree does exactly what py_trees does."""

from __future__ import annotations

from types import SimpleNamespace

import py_trees
import pytest

from orchestrator.engine import compile_tree
from tests.engine.random_trees import py_trees_ticker, trace

BATCHES = 40
TREES_PER_BATCH = 500


@pytest.fixture
def py_trees_time(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """py_trees' Timeout under our control."""
    time = SimpleNamespace(now=0.0)
    time.monotonic = lambda: time.now
    monkeypatch.setattr(py_trees.decorators, "time", time)
    monkeypatch.setattr(py_trees.logging.Logger, "error", lambda self, message: None)
    return time


@pytest.fixture
def small_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small trees be divided into functions as only large ones are otherwise."""
    monkeypatch.setattr("orchestrator.engine.plan.UNIT_NODES", 2)
    monkeypatch.setattr("orchestrator.engine.plan.UNIT_LEVELS", 3)
    monkeypatch.setattr("orchestrator.engine.plan.INLINE_HALT", 3)
    monkeypatch.setattr("orchestrator.engine.halt.INLINE_HALT", 3)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_trees_behave_as_in_py_trees(
    batch: int, py_trees_time: SimpleNamespace, request: pytest.FixtureRequest
) -> None:
    if batch % 2:
        request.getfixturevalue("small_functions")

    def set_time(tick: int) -> None:
        py_trees_time.now = float(tick)

    for seed in range(batch * TREES_PER_BATCH, (batch + 1) * TREES_PER_BATCH):
        expected = trace(seed, py_trees_ticker, set_time)
        assert trace(seed, compile_tree, set_time) == expected, f"seed {seed}"
