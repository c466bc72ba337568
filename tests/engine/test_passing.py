"""Compiled code leaves out an update that promised to pass a status on, and only that one."""

from py_trees.behaviour import Behaviour
from py_trees.behaviours import StatusQueue
from py_trees.common import Status
from py_trees.decorators import Decorator

from orchestrator.engine import compile_tree
from orchestrator.engine.passing import passes_on

S, F, R = Status.SUCCESS, Status.FAILURE, Status.RUNNING


class Stubborn(Decorator):
    """Turns failure into success."""

    def __init__(self, child: Behaviour) -> None:
        super().__init__("stubborn", child)
        self.asked: list[Status] = []

    @passes_on(S, R)
    def update(self) -> Status:
        self.asked.append(self.decorated.status)
        return S if self.decorated.status is F else self.decorated.status


class Curious(Stubborn):
    def update(self) -> Status:
        return super().update()


def run(cls: type[Stubborn]) -> tuple[list[Status], list[Status]]:
    node = cls(StatusQueue("leaf", [R, S, F], eventually=None))
    tick = compile_tree(node)
    return [tick(), tick(), tick()], node.asked


def test_update_is_called_only_for_a_status_it_may_change() -> None:
    assert run(Stubborn) == ([R, S, S], [F])


def test_a_subclass_with_another_update_has_promised_nothing() -> None:
    assert run(Curious) == ([R, S, S], [R, S, F])
