"""The whole-body state machine."""

from __future__ import annotations

from orchestrator.robots.intents import SetFsm
from orchestrator.robots.judging import Context, Judge, Settling, Waiting
from orchestrator.robots.knowledge import Known, Unknown


class Fsm:
    """States by the profile's names. Only the robot's own state topic confirms a change, never the command's echo."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._state = context.state.signal("fsm.state")
        self._state.watch()

    def state(self) -> Known[str] | Unknown:
        return self._state()

    def set(self, state: str) -> Judge:
        return Settling(self._context, SetFsm(state), self._state, lambda reported: reported == state)

    def wait_for(self, state: str) -> Judge:
        """Wait until it is the state, whoever sets it."""
        return Waiting(self._context, self._state, lambda reported: reported.value == state)
