from __future__ import annotations

import pytest

from orchestrator.cli.run.running import Interruption, exit_code
from orchestrator.engine.runner import Outcome


@pytest.mark.parametrize(
    ("outcome", "times", "code"),
    [
        (Outcome("success"), 0, 0),
        (Outcome("failure"), 0, 1),
        (Outcome("stopped"), 0, 3),
        (Outcome("stopped"), 1, 130),
        (Outcome("success"), 1, 0),
        (Outcome("failure"), 1, 1),
        (Outcome("success"), 2, 130),
        (None, 0, 130),
    ],
)
def test_an_interruption_after_the_end_changes_nothing_about_how_it_ended(
    outcome: Outcome | None, times: int, code: int
) -> None:
    interruption = Interruption()
    interruption.happened, interruption.insisted = times > 0, times > 1
    assert exit_code(outcome, interruption) == code
