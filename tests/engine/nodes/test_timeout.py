from py_trees.behaviours import Running, Success
from py_trees.common import Status

from orchestrator.clock import VirtualClock
from orchestrator.engine import compile_tree
from orchestrator.engine.nodes import Timeout


def test_a_child_that_runs_too_long_is_stopped_and_has_failed() -> None:
    clock = VirtualClock()
    timeout = Timeout("timeout", Running("action"), duration=2.0, clock=clock)
    tick = compile_tree(timeout)
    assert tick() is Status.RUNNING
    clock.advance(1.9)
    assert tick() is Status.RUNNING
    clock.advance(0.1)
    assert tick() is Status.FAILURE
    assert timeout.decorated.status is Status.INVALID
    assert timeout.feedback_message == "not done after 2 s"


def test_a_child_that_ends_in_time_decides() -> None:
    timeout = Timeout("timeout", Success("leaf"), duration=0.0, clock=VirtualClock())
    assert compile_tree(timeout)() is Status.SUCCESS


def test_every_start_gets_the_whole_time() -> None:
    clock = VirtualClock()
    timeout = Timeout("timeout", Running("action"), duration=2.0, clock=clock)
    tick = compile_tree(timeout)
    tick()
    clock.advance(1.5)
    timeout.stop(Status.INVALID)
    tick()
    clock.advance(1.5)
    assert tick() is Status.RUNNING
