"""The terminal while a run shows itself: its own screen, single keys, and everything put back afterwards."""

from __future__ import annotations

import atexit
import os
import re
import select
import sys
import termios
from types import TracebackType
from typing import Any

_ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"
_LEAVE = "\x1b[?25h\x1b[?1049l"
_DISABLED = b"\x00"
_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|(?=[qQ\x1b])|[^[OqQ\x1b])", re.DOTALL)
"""What keys with an arrow or an F on them send, and the wheel of a mouse: no letters of anybody."""


class Screen:
    """Draws only lines that have changed. Ctrl-C stays a signal; Ctrl-Z, Ctrl-\\ and Ctrl-S do nothing.

    A run that is suspended is silent, and the guard would stop its robot.
    """

    def __init__(self) -> None:
        self._in, self._out = sys.stdin.fileno(), sys.stdout.fileno()
        self._before: list[Any] | None = None
        self._drawn: list[str] = []
        self._begun = b""
        """The beginning of a sequence of which the rest has not come yet."""
        self.drawn_size = (0, 0)

    def __enter__(self) -> Screen:
        self._before = termios.tcgetattr(self._in)
        atexit.register(self.restore)
        mode = termios.tcgetattr(self._in)
        mode[0] &= ~termios.IXON
        mode[3] &= ~(termios.ICANON | termios.ECHO)
        for key in (termios.VSUSP, termios.VQUIT):
            mode[6][key] = _DISABLED
        termios.tcsetattr(self._in, termios.TCSAFLUSH, mode)
        self._write(_ENTER)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.restore()

    def restore(self) -> None:
        """The terminal as it was; may be called again."""
        before, self._before = self._before, None
        if before is None:
            return
        atexit.unregister(self.restore)
        try:
            self._write(_LEAVE)
            termios.tcsetattr(self._in, termios.TCSADRAIN, before)
        except (OSError, termios.error):
            pass  # the terminal has gone

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines, now."""
        size = os.get_terminal_size(self._out)
        return size.columns or 80, size.lines or 24  # some say nothing

    def draw(self, lines: list[str]) -> None:
        """Lines as the terminal wants them, no longer than it is wide. Raises OSError when it has gone."""
        size = self.size
        if size != self.drawn_size:
            self.drawn_size, self._drawn = size, []
            self._write("\x1b[2J")
        changes = []
        for row in range(max(len(lines), len(self._drawn))):
            line = lines[row] if row < len(lines) else ""
            if row >= len(self._drawn) or self._drawn[row] != line:
                changes.append(f"\x1b[{row + 1};1H{line}\x1b[K")
        self._drawn = lines
        if changes:
            self._write("".join(changes))

    def keys(self, timeout: float) -> str:
        """What was typed within this time. Raises OSError when the terminal has gone."""
        ready, _, _ = select.select([self._in], [], [], timeout)
        if not ready:
            if timeout:
                self._begun = b""  # the escape key alone
            return ""
        typed = os.read(self._in, 256)
        if not typed:
            raise OSError("the terminal has gone")
        keys, escape, begun = _SEQUENCE.sub(b"", self._begun + typed).partition(b"\x1b")
        self._begun = escape + begun
        return keys.decode(errors="ignore")

    def pending(self) -> str:
        """Everything typed until now."""
        typed = ""
        while select.select([self._in], [], [], 0.0)[0]:
            typed += self.keys(0.0)
        return typed

    def _write(self, text: str) -> None:
        data = text.encode(sys.stdout.encoding or "utf-8", "replace")
        while data:
            data = data[os.write(self._out, data) :]
