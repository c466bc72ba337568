"""The live view: a thread of its own that draws what the events say and passes on keys."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from rich.console import Console
from rich.text import Text

from orchestrator.cli.run import keys
from orchestrator.cli.run.conclusion import conclusion
from orchestrator.cli.run.frame import frame, tree_lines
from orchestrator.cli.run.lines import is_unicode
from orchestrator.cli.run.picture import Picture
from orchestrator.cli.run.screen import Screen
from orchestrator.clock import RealClock
from orchestrator.engine.events import Event
from orchestrator.yamlfile.characters import one_line

PERIOD = 0.1
"""Seconds between two looks at what has happened, and so between two drawings at least."""

SWITCH = 0.001
"""Seconds for which drawing may keep Python from ticking, instead of its usual five milliseconds."""


class LiveView:
    """Called with an event it only keeps it: drawing never holds up a tick."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._events: deque[Event] = deque()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._run: keys.Controlled | None = None
        self._on_gone: Callable[[], None] = lambda: None
        self._console = Console(file=sys.stdout, highlight=False)
        self._plain = not is_unicode(self._console.encoding)
        self._remarks: list[str] = []
        self._drawn_at = -1
        self._seen: int | None = None
        self._rendered: dict[str, str] = {}
        """Lines of the last frame by their markup: most are on the next one too, and rendering takes longest."""

    def __call__(self, event: Event) -> None:
        self._events.append(event)

    def start(self, run: keys.Controlled, on_gone: Callable[[], None]) -> None:
        """From now on the terminal is ours; `on_gone` is called if it disappears."""
        self._run, self._on_gone = run, on_gone
        sys.setswitchinterval(SWITCH)
        self._thread = threading.Thread(target=self._live, name="live view", daemon=True)
        self._thread.start()

    def remark(self, text: str) -> None:
        """Kept for the end: nothing is printed into the picture."""
        self._remarks.append(text)

    def close(self) -> None:
        """Give the terminal back and leave the last picture on it."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self._take_events()
        with suppress(OSError):  # the terminal has gone
            self._print_last()

    def _live(self) -> None:
        try:
            with Screen() as screen:
                while not self._over.is_set():
                    self._turn(screen)
        except OSError:
            self._on_gone()
        except Exception:
            self._on_gone()  # an operator who sees nothing any more must not have a robot that moves
            raise

    def _turn(self, screen: Screen) -> None:
        typed = screen.keys(PERIOD)
        changed = self._take_events()
        question = self._picture.question
        self._press(typed, question is None or question.number == self._seen)
        now = RealClock.now()
        if changed or typed or int(now) != self._drawn_at or screen.size != screen.drawn_size:
            self._drawn_at = int(now)
            self._draw(screen, now)

    def _press(self, typed: str, seen: bool) -> None:
        """What was typed before a question was seen is no answer to it; whoever wants to stop need not have seen it."""
        assert self._run is not None
        for key in typed:
            if seen or key.lower() == keys.STOP:
                keys.press(key, self._picture.question, self._run, self._picture.running)

    def _take_events(self) -> bool:
        changed = bool(self._events)
        while self._events:
            self._picture.take(self._events.popleft())
        return changed

    def _draw(self, screen: Screen, now: float) -> None:
        picture, (width, height) = self._picture, screen.size
        shown = keys.hints(picture.question, picture.paused is not None, picture.running)
        lines = frame(picture, now, width, height, shown, self._plain)
        self._rendered = {line.markup: self._rendered.get(line.markup) or self._render(line) for line in lines}
        if picture.question is not None and picture.question.number != self._seen:
            self._seen = picture.question.number
            self._press(screen.pending(), seen=False)  # just before it is: the answer of a quick person is not lost
        screen.draw([self._rendered[line.markup] for line in lines])

    def _render(self, line: Text) -> str:
        with self._console.capture() as captured:
            self._console.print(line, end="", no_wrap=True, crop=False, overflow="ignore")
        return captured.get()

    def _print_last(self) -> None:
        picture, now = self._picture, RealClock.now()
        if picture.end is None:
            for text in self._remarks:
                self._console.print(Text(one_line(text)))
            return
        room = self._console.height - 8 if len(picture.nodes) > 100 else None
        self._console.print(f"{picture.kind}  {picture.robot}  {picture.tree}", style="bold")
        for line in tree_lines(picture, now, room, self._plain):
            self._console.print(line, no_wrap=True, overflow="ellipsis")
        nodes = [node.info for node in picture.nodes]
        seconds = picture.end.at - (picture.began or picture.end.at)
        *before, last = conclusion(picture.end, nodes, picture.fields, seconds)
        heard = [] if picture.end.status == "success" else picture.said[-3:]
        for text in (*heard, *self._remarks, *before):
            self._console.print(Text(one_line(text), "bright_black"))
        self._console.print(Text(last, "bold green" if picture.end.status == "success" else "bold red"))
