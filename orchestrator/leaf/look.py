"""Leaves that only look at what the robot reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from orchestrator.leaf.leaf import Leaf, Status
from orchestrator.robots.knowledge import Known, Unknown


class Look(Leaf, declared=False):
    """Sends nothing. What is not known fails, and says which field it is and how old its last report."""

    def check(
        self,
        field: str,
        found: Known[Any] | Unknown,
        problem: Callable[[Any], str],
        reason: str = "not_met",
    ) -> Status:
        """Succeed unless `problem` finds one in the value."""
        if isinstance(found, Unknown):
            return self.fail(found.reason, f"{field} is not known: {self._age(found)}{found.text}")
        if text := problem(found.value):
            return self.fail(reason, text)
        self.reason = self.message = ""  # of an earlier look
        return Status.SUCCESS

    def _age(self, found: Unknown) -> str:
        if found.received is None:
            return ""
        return f"last reported {self.robot.clock.now() - found.received:.1f} s ago, "
