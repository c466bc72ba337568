"""Shows events in a thread of its own: no pipe that nobody reads holds up a tick, and so a heartbeat."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from orchestrator.engine.events import Event


class Output(Protocol):
    """Where events go."""

    def __call__(self, event: Event) -> None: ...

    def remark(self, text: str) -> None:
        """Something beside the events that a person should know."""

    def close(self) -> None:
        """There are no more: say what is left to be said."""


class Aside:
    """Called with an event it returns at once; `close` waits until everything has been shown."""

    def __init__(self, show: Output, on_broken: Callable[[Exception], None]) -> None:
        self._show = show
        self._on_broken = on_broken
        self._queue: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="output", daemon=True)
        self._thread.start()

    def __call__(self, event: Event) -> None:
        self._queue.put(event)

    def remark(self, text: str) -> None:
        self._show.remark(text)

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while (event := self._queue.get()) is not None:
                self._show(event)
            self._show.close()
        except OSError as error:  # whoever read it has gone
            self._on_broken(error)
        except Exception as error:
            self._on_broken(error)  # a robot must not move when nobody can see what happens
            raise
