"""`--coverage`: after the run, which nodes were exercised and which never."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from orchestrator.cli.run.aside import Output

if TYPE_CHECKING:
    from orchestrator.engine.events import Event


class Covered:
    """Passes events on; its table goes to standard error, so that what is piped stays as it is."""

    def __init__(self, output: Output) -> None:
        from orchestrator.mission.coverage import Coverage

        self._output = output
        self._coverage = Coverage()
        self._count = self._coverage.recorder()

    def __call__(self, event: Event) -> None:
        self._count(event)
        self._output(event)

    def remark(self, text: str) -> None:
        self._output.remark(text)

    def close(self) -> None:
        self._output.close()
        typer.echo(self._coverage.render() or "coverage: the mission did not begin", err=True)
