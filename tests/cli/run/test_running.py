from __future__ import annotations

import signal

import pytest

from orchestrator.cli.run.running import Interruption, InterruptionAtOnce, exit_code
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


@pytest.mark.parametrize(("kind", "taken"), [(Interruption, True), (InterruptionAtOnce, False)])
def test_a_signal_that_is_to_be_ignored_ends_only_what_moves_a_robot(kind: type[Interruption], taken: bool) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
    try:
        with kind():
            assert (signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN) is taken
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
