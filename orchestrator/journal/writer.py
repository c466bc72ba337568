"""Writes a history in a thread of its own: whoever has something to keep never waits for the disk.

What comes while a commit is under way goes into the next one together. A disk that is full or a file that somebody has
locked is tried again, for as long as what waits fits in memory; a file that is spoilt is given up. A warning is given
when the trouble begins, and when something is lost for good. Nothing is ever raised: a run does not end because its
history cannot be kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from orchestrator.journal.history import History, HistoryError

AGAIN = 1.0
"""Seconds until a commit that failed is tried again."""
QUIET = 0.5
"""Seconds without anything new after which what was written is brought to the disk."""
MOST = 64 * 1024 * 1024
"""Bytes that may wait."""


class Writer:
    """Takes events and facts from any thread, in order."""

    def __init__(self, history: History, warn: Callable[[str], None]) -> None:
        self._history = history
        self._warn = warn
        self._events: list[bytes] = []
        self._facts: dict[str, Any] = {}
        self._waiting = 0
        self._change = threading.Condition()
        self._closing = False
        self.complete = True
        """Whether everything has been kept so far, or may still be."""
        self._warned = False
        self._thread = threading.Thread(target=self._work, name="history", daemon=True)
        self._thread.start()

    def put(self, events: Sequence[bytes] = (), **facts: Any) -> None:
        """Keep events, and facts in place of those of the same names: all of it or nothing."""
        with self._change:
            if self.complete:
                self._events += events
                self._facts |= facts
                self._waiting += sum(map(len, events))
                self._change.notify()

    def close(self, seconds: float) -> None:
        """Keep what is left, if that is possible within this time."""
        with self._change:
            self._closing = True
            self._change.notify()
        self._thread.join(seconds)
        if self._thread.is_alive():
            self._give_up("there was no time to keep the end of it")

    def _work(self) -> None:
        with self._history:
            while self._wait():
                last = self._closing  # then there is no other time
                events, facts = self._taken()
                try:
                    self._history.write(events, facts)
                except HistoryError as error:
                    self._failed(error, events, facts, last)

    def _wait(self) -> bool:
        """Until there is something to write; False at the end."""
        with self._change:
            if self._change.wait_for(self._is_wanted, QUIET):
                return self._is_waiting()
        with suppress(HistoryError):  # the next commit will say so
            self._history.sync()
        with self._change:
            self._change.wait_for(self._is_wanted)
            return self._is_waiting()

    def _is_waiting(self) -> bool:
        return bool(self._events or self._facts)

    def _is_wanted(self) -> bool:
        return self._is_waiting() or self._closing

    def _taken(self) -> tuple[list[bytes], dict[str, Any]]:
        with self._change:
            taken = self._events, self._facts
            self._events, self._facts, self._waiting = [], {}, 0
            return taken

    def _failed(self, error: HistoryError, events: list[bytes], facts: dict[str, Any], last: bool) -> None:
        with self._change:
            self._events = events + self._events
            self._facts = facts | self._facts
            self._waiting = sum(map(len, self._events))
            hopeless = not error.passing or self._waiting > MOST or last
        if hopeless:
            self._keep_end(facts)
            self._give_up(str(error))
            return
        if not self._warned:
            self._warned = True
            self._warn(f"the history is not being kept for now: {error}")
        with self._change:
            self._change.wait_for(lambda: self._closing, AGAIN)

    def _keep_end(self, facts: dict[str, Any]) -> None:
        """It may fit where all the rest does not: without it a run that has ended counts as crashed."""
        if "end" in facts:
            with suppress(HistoryError):
                self._history.write(facts={"end": facts["end"]})

    def _give_up(self, why: str) -> None:
        with self._change:
            known, self.complete = not self.complete, False
            self._events, self._facts = [], {}
        if not known:
            self._warn(f"the history of this run is not complete: {why}")
