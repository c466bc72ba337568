"""Nodes that have nothing but their own callbacks: their ticks as plain functions, for which no code is written."""

from __future__ import annotations

from collections.abc import Callable

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from orchestrator.engine.kinds import Kind
from orchestrator.engine.plan import Plan

_STATUSES = list(Status)
SUCCESS, FAILURE, RUNNING = Status.SUCCESS, Status.FAILURE, Status.RUNNING


def plain_tick(plan: Plan) -> Callable[[], Status]:
    """The tick of a node that has nothing but its own callbacks."""
    node, terminates = plan.node, plan.terminates and plan.kind is Kind.LEAF

    def tick() -> Status:
        status = node.update()
        if status is not RUNNING:
            status = terminated(node, status) if terminates else checked(node, status)
        node.status = status
        return status

    def initialise_and_tick() -> Status:
        if node.status is not RUNNING:
            node.initialise()
        status = node.update()
        if status is not RUNNING:
            status = terminated(node, status) if terminates else checked(node, status)
        node.status = status
        return status

    return initialise_and_tick if plan.initialises else tick


def checked(node: Behaviour, status: Status) -> Status:
    if status is SUCCESS or status is FAILURE or status in _STATUSES:
        return status
    node.logger.error(f"A behaviour returned an invalid status, setting to INVALID [{status}][{node.name}]")
    return Status.INVALID


def terminated(node: Behaviour, status: Status) -> Status:
    status = checked(node, status)
    node.terminate(status)
    return status
