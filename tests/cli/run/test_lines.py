"""What is meant as one line is one line, whatever is in it: as it happens, and in the last picture."""

from __future__ import annotations

import pytest

from orchestrator.cli.run.lines import Lines
from orchestrator.cli.run.live import LiveView
from orchestrator.cli.run.picture import Picture
from orchestrator.engine.events import Control, End, Event, GuardReport, NodeInfo, Note, Structure

NODE = NodeInfo(0, None, "Log", "two\nlines", "tree.yaml", 3)
EVENTS: list[Event] = [
    Structure(at=0.0, tree="t", file="tree.yaml", robot="gr2", nodes=[NODE]),
    GuardReport(at=0.0, report="preflight", details={"lines": [{"ok": False, "text": "alone:\nnobody"}]}),
    Note(at=1.0, node=0, text="one\ntwo"),
    Control(at=1.0, action="paused", reason='"battery.level > 10 %\nor pad.a" holds'),
    End(at=2.0, status="stopped", reason="for\nreasons", node=0, place="tree.yaml:3:5", skipped=[], ticks=1),
]


def test_everything_that_happens_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    show = Lines("SIM", "gr2", "t")
    for event in EVENTS:
        show(event)
    show.close()
    assert capsys.readouterr().out.splitlines() == [
        "SIM  gr2  t",
        "    0.00  NOT alone: nobody",
        "    1.00  two lines: says  one two",
        '    1.00  paused: "battery.level > 10 % or pad.a" holds',
        "stopped at tree.yaml:3:5: two lines: for reasons",
    ]


@pytest.mark.parametrize("ended", [True, False])
def test_what_was_said_stands_in_lines_below_the_last_picture(ended: bool, capsys: pytest.CaptureFixture[str]) -> None:
    view = LiveView(Picture("SIM", "gr2", "t"))
    for event in EVENTS if ended else EVENTS[:-1]:
        view(event)
    view.remark("warning: no\nroom")
    view.close()
    said = capsys.readouterr().out.splitlines()
    assert "warning: no room" in said
    assert ("two lines: one two" in said) == ended
