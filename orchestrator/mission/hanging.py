"""A tick that does not come back: another thread says where it stands, and ends what the tick never will.

By then the guard has stopped the robot. In virtual time the tick itself is interrupted, so that the run, or the test,
ends as any other.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Protocol

from orchestrator.engine.nodes.leaf import LeafNode
from orchestrator.engine.run import StopRun
from orchestrator.engine.runner import Outcome

LOOK = 0.25
"""Seconds between two looks. They are counted: time in which the whole process stood still is nobody's fault."""
SAID_AFTER, GIVEN_UP_AFTER = 4, 20
"""Looks in a row that find no tick finished."""


class Ticking(Protocol):
    """The mission that is watched."""

    @property
    def heard(self) -> float:
        """When it last finished a tick, or passed time."""

    @property
    def asking(self) -> bool:
        """Whether it waits in a tick for a person's answer."""

    def tell_stuck(self, leaf: LeafNode | None, text: str) -> None: ...

    def hung(self, leaf: LeafNode | None, text: str) -> StopRun:
        """What to raise in a tick that is interrupted."""

    def give_up(self, leaf: LeafNode | None, text: str) -> Outcome: ...


class Watch:
    """Watches the thread that enters it. `on_hung` is called with the outcome of a run that is given up."""

    def __init__(self, mission: Ticking, on_hung: Callable[[Outcome], None]) -> None:
        self._mission = mission
        self._on_hung = on_hung
        self._over = threading.Event()
        self._thread = 0

    def __enter__(self) -> Watch:
        self._thread = threading.get_ident()
        threading.Thread(target=self._watch, name="watch for a hung tick", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()

    def _watch(self) -> None:
        heard, looks = self._mission.heard, 0
        while not self._over.wait(LOOK):
            before, heard = heard, self._mission.heard
            looks = looks + 1 if heard == before and not self._mission.asking else 0
            if looks == SAID_AFTER:
                leaf, line = _where(self._thread)
                self._mission.tell_stuck(leaf, f"{_blocks(leaf)} for {looks * LOOK:g} s, at {line}")
            elif looks == GIVEN_UP_AFTER:
                self._give_up()
                return

    def _give_up(self) -> None:
        leaf, line = _where(self._thread)
        self._on_hung(self._mission.give_up(leaf, _given_up(leaf, line)))


class Interrupt(Watch):
    """As `Watch`, but what hangs is interrupted and the run stopped. Works in the main thread, and nowhere else."""

    _before: Any = None

    def __init__(self, mission: Ticking) -> None:
        super().__init__(mission, lambda outcome: None)

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGUSR1, self._stop)
        super().__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if self._before is not None:
            signal.signal(signal.SIGUSR1, self._before)

    def _give_up(self) -> None:
        if self._before is not None and not self._over.is_set():
            signal.pthread_kill(self._thread, signal.SIGUSR1)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if sys.gettrace() is None and not self._over.is_set():  # else somebody stands in a debugger, or it has ended
            leaf, line = _place(frame)
            raise self._mission.hung(leaf, _given_up(leaf, line))


def _given_up(leaf: LeafNode | None, line: str) -> str:
    return f"{_blocks(leaf)} for {GIVEN_UP_AFTER * LOOK:g} s, at {line}: the run is given up"


def _blocks(leaf: LeafNode | None) -> str:
    return "the run has stood still" if leaf is None else f"{leaf.name} has not come back"


def _where(thread: int) -> tuple[LeafNode | None, str]:
    """The leaf that a thread is in, if it is in one, and the line that it has reached there."""
    return _place(sys._current_frames().get(thread))


def _place(frame: FrameType | None) -> tuple[LeafNode | None, str]:
    innermost = frame
    inside: FrameType | None = None
    while frame is not None:
        node = frame.f_locals.get("self")
        if isinstance(node, LeafNode):
            return node, _line(inside or frame)
        inside, frame = frame, frame.f_back
    return None, _line(innermost)


def _line(frame: FrameType | None) -> str:
    return "a line that is not known" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
