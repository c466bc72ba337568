"""Nodes of our own: py_trees decorators that take the time from the clock and write no text while they run."""

from orchestrator.engine.nodes.retry import Retry
from orchestrator.engine.nodes.timeout import Timeout

__all__ = ["Retry", "Timeout"]
