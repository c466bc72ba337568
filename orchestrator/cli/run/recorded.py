"""The history of what is run at the command line: begun before anything moves, ended however the run ends."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

import typer

from orchestrator.cli.run.options import Options, user_name

if TYPE_CHECKING:
    from orchestrator.engine.runner import Outcome
    from orchestrator.mission.loading import Loaded
    from orchestrator.mission.recording import Recorder
    from orchestrator.mission.resuming import Unfinished

NOT_BEGUN = "not begun"


def _to_stderr(text: str) -> None:
    typer.echo(text, err=True)


def _why(error: BaseException | None) -> str:
    from orchestrator.mission.arming import Declined

    if isinstance(error, Declined):
        return "a person decided against it"
    return "" if error is None else str(error)


class Recorded:
    """`recorder` is None when no history is wanted, or none can be kept of a run that is no real robot's."""

    def __init__(
        self,
        loaded: Loaded,
        options: Options,
        say: Callable[[str], None] = _to_stderr,
        continues: Unfinished | None = None,
    ) -> None:
        self._loaded = loaded
        self._options = options
        self._say = say
        self._continues = continues
        self.recorder: Recorder | None = None
        self.outcome: Outcome | None = None

    def __enter__(self) -> Recorded:
        """Raises HistoryError on a real robot: nothing has moved yet, and a person can make room."""
        from orchestrator.journal.history import HistoryError
        from orchestrator.mission.recording import Recorder, describe

        options = self._options
        if (options.virtual or options.dry_run) and not options.record:
            return self
        about = describe(self._loaded, options.kind, user_name(), options.values)
        if self._continues is not None:
            about["continues"] = self._continues.run.id
        try:
            self.recorder = Recorder(about, self._warn)
        except HistoryError as problem:
            if options.real:
                raise
            self._warn(str(problem))
        return self

    def _warn(self, text: str) -> None:
        self._say(f"warning: {text}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.recorder is not None:
            if self.outcome is None:
                self.recorder.close(NOT_BEGUN, _why(error))
            else:
                self.recorder.close(self.outcome.status, self.outcome.reason, self.outcome.place)
            if not self._options.as_json:
                self._say(f"recorded as {self.recorder.id}: orchestrator runs {self.recorder.id}")
