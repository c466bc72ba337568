"""Telling what a person should know about a bus."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.bus.contract import Report


class Reporting:
    """Passes reports on to whoever asked for them."""

    def __init__(self) -> None:
        self._report_handlers: list[Callable[[Report], None]] = []

    def on_report(self, handler: Callable[[Report], None]) -> None:
        self._report_handlers.append(handler)

    def report(self, report: Report) -> None:
        for handler in self._report_handlers:
            handler(report)
