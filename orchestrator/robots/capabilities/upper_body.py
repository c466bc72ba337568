"""Who controls the upper body."""

from __future__ import annotations

from orchestrator.robots.intents import SetUpperFsm, SwitchUpperControl
from orchestrator.robots.judging import READBACK, Context, Decided, Judge, Settling
from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.outcome import SUCCESS


class UpperStates:
    """Upper body with a state machine of its own (Aurora)."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._state = context.state.signal("upper.state")
        self._override = context.state.signal("upper.override")

    def state(self) -> Known[str] | Unknown:
        return self._state()

    def override_allowed(self) -> Known[bool] | Unknown:
        """The vendor says nothing more about it than its name: a warning when false, not a refusal."""
        return self._override()

    def set(self, state: str) -> Judge:
        return Settling(self._context, SetUpperFsm(state), self._state, lambda reported: reported == state)


class UpperSwitch:
    """Upper body that is taken over and given back (Atom); the robot drops it when its state machine leaves."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._control = context.state.signal("upper.control")
        self._state = context.state.reader("upper.control", lambda on: "on" if on else "off")
        self._last: Judge | None = None

    def state(self) -> Known[str] | Unknown:
        return self._state()

    def control(self) -> Known[bool] | Unknown:
        return self._control()

    def set(self, state: str) -> Judge:
        """Take it over (on) or give it back (off); nothing is sent to give back what is not ours and will not be."""
        enabled = state == "on"
        now = self._control()
        if not enabled and isinstance(now, Known) and not now.value and not self._may_change:
            return Decided(self._context, SUCCESS)
        wanted = SwitchUpperControl(enabled)
        self._last = Settling(self._context, wanted, self._control, lambda on: on is enabled)
        return self._last

    @property
    def _may_change(self) -> bool:
        """Whether the last command may still be on its way: the robot has not been seen to follow it."""
        last = self._last
        if last is None or last.receipt is None or last.receipt.state == "refused":
            return False
        within = self._context.clock.now() - last.sent_at <= READBACK
        return within and last.outcome().status != "success"
