"""Emergency stops, as far as the robot reports them."""

from __future__ import annotations

from orchestrator.robots.knowledge import Combined, Known, Read, Unknown, either
from orchestrator.robots.signals import BoundSignal, Several, Signal
from orchestrator.robots.state import State


class Emergency:
    """Each flag the robot has, and whether any is set. This only looks: latching is the guard's."""

    def __init__(self, state: State) -> None:
        flags = [name for name in state.signals if name.startswith("emergency.")]
        self._flags = {name.removeprefix("emergency."): state.signal(name) for name in flags}
        by_topic: dict[str, list[Signal]] = {}
        for name in flags:
            by_topic.setdefault(state.signals[name].topic, []).append(state.signals[name])
        topics = [BoundSignal(state.feed(topic), _any_of(topic, parts)) for topic, parts in by_topic.items()]
        self.any: Read = topics[0] if len(topics) == 1 else Combined(topics, either)
        """Whether any flag is set; unknown if one is not known and none is set."""

    @property
    def flags(self) -> tuple[str, ...]:
        """soft, hard, amr, di, base (the button on the base), motors or pad, as the robot has them."""
        return tuple(self._flags)

    def flag(self, name: str) -> Known[bool] | Unknown:
        return self._flags[name]()

    def pressed(self) -> tuple[str, ...]:
        """The flags that are set."""
        found = {name: read() for name, read in self._flags.items()}
        return tuple(name for name, flag in found.items() if isinstance(flag, Known) and flag.value)


def _any_of(topic: str, flags: list[Signal]) -> Signal:
    if len(flags) == 1:
        return flags[0]
    return Several(topic, "", any, state=all(flag.state for flag in flags), parts=tuple(flags))
