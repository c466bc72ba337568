"""What shows events may fail: then nobody sees any more what the robot does."""

from __future__ import annotations

import pytest

from orchestrator.cli.run.aside import Aside
from orchestrator.engine.events import Event, Note


class Broken:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def __call__(self, event: Event) -> None:
        raise self._error

    def remark(self, text: str) -> None: ...

    def close(self) -> None: ...


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("error", [BrokenPipeError(), UnicodeEncodeError("ascii", "→", 0, 1, "not in it")])
def test_an_output_that_fails_is_told(error: Exception) -> None:
    told: list[Exception] = []
    aside = Aside(Broken(error), told.append)
    aside(Note(at=0.0, node=0, text="→"))
    aside.close()
    assert told == [error]
