"""Emergency stops, as far as the robot reports them."""

from __future__ import annotations

from orchestrator.robots.knowledge import Known, Unknown, either
from orchestrator.robots.state import State


class Emergency:
    """Each flag the robot has, and whether any is set. This only looks: latching is the guard's."""

    def __init__(self, state: State) -> None:
        self._flags = {
            name.removeprefix("emergency."): state.signal(name)
            for name in state.signals
            if name.startswith("emergency.")
        }

    @property
    def flags(self) -> tuple[str, ...]:
        """soft, hard, amr, di, base (the button on the base), motors or pad, as the robot has them."""
        return tuple(self._flags)

    def flag(self, name: str) -> Known[bool] | Unknown:
        return self._flags[name]()

    def any(self) -> Known[bool] | Unknown:
        return either([read() for read in self._flags.values()])

    def pressed(self) -> tuple[str, ...]:
        """The flags that are set."""
        found = {name: read() for name, read in self._flags.items()}
        return tuple(name for name, flag in found.items() if isinstance(flag, Known) and flag.value)
