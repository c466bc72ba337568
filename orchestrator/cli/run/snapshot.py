"""The live view of a recorded run at an instant, as SVG: `orchestrator run ... --json | python -m ... SECONDS`."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from orchestrator.cli.run.frame import frame
from orchestrator.cli.run.keys import hints
from orchestrator.cli.run.picture import Picture
from orchestrator.engine.events import Event, Structure, from_json

WIDTH, HEIGHT = 100, 30
_FORMAT = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
"""Without fonts from elsewhere: whoever looks at it has one."""


def snapshot(kind: str, events: Iterable[Event], seconds: float) -> str:
    """SVG of what a terminal showed so many seconds after the first tick."""
    picture, now = Picture(kind, "", ""), 0.0
    for event in events:
        if isinstance(event, Structure) and not picture.tree:
            picture.robot, picture.tree = event.robot, event.tree
        if picture.began is not None and event.at > picture.began + seconds:
            break
        picture.take(event)
        now = event.at
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    shown = hints(picture.question, picture.paused is not None, picture.running)
    for line in frame(picture, now, WIDTH, HEIGHT, shown):
        console.print(line, no_wrap=True)
    return console.export_svg(title=f"orchestrator run {picture.tree} --sim", code_format=_FORMAT)


if __name__ == "__main__":
    told = (from_json(line) for line in sys.stdin.buffer if line.strip())
    print(snapshot("SIM", told, float(sys.argv[1])))
