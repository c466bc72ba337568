"""A terminal for tests: a program runs in it, keys are pressed, and what the screen shows is read."""

from __future__ import annotations

import copy
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
from pathlib import Path
from typing import Any

import pyte

from orchestrator.clock import RealClock

PATIENCE = 100.0
"""s after which a test gives up on something that takes a moment."""
_OTHER_SCREEN = 1049


class _Screen(pyte.Screen):  # type: ignore[misc]
    """pyte's screen with the second one that full-screen programs use."""

    other = False
    _kept: Any = None

    def set_mode(self, *modes: int, **which: bool) -> None:
        super().set_mode(*modes, **which)
        if _OTHER_SCREEN in modes:
            self.other, self._kept = True, (copy.deepcopy(dict(self.buffer)), self.cursor.x, self.cursor.y)

    def reset_mode(self, *modes: int, **which: bool) -> None:
        super().reset_mode(*modes, **which)
        if _OTHER_SCREEN in modes and self.other:
            kept, self.cursor.x, self.cursor.y = self._kept
            self.buffer.clear()
            self.buffer.update(kept)
            self.other = False


class Terminal:
    """`orchestrator` in a terminal of its own."""

    def __init__(
        self,
        *arguments: str,
        environment: dict[str, str] | None = None,
        folder: Path | None = None,
        size: tuple[int, int] = (100, 40),
    ) -> None:
        self._process, self._file = pty.fork()
        if self._process == 0:
            os.chdir(folder or Path.cwd())
            os.environ.update({"TERM": "xterm-256color", **(environment or {})})
            os.execv(sys.executable, [sys.executable, "-m", "orchestrator.cli", *arguments])
        self._screen = _Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self._at_first = termios.tcgetattr(self._file)
        self.code: int | None = None
        self.frames: list[str] = []
        """Everything the screen has shown, when it was read."""
        self.resize(*size)

    def resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._file, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._screen.resize(lines, columns)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display)

    @property
    def is_own_screen(self) -> bool:
        """Whether the program has taken the whole screen."""
        return bool(self._screen.other)

    @property
    def is_restored(self) -> bool:
        """Whether the terminal is as it was: echo, line by line, a cursor, the first screen."""
        now = termios.tcgetattr(self._file)
        return now == self._at_first and not self._screen.other and not self._screen.cursor.hidden

    def press(self, keys: str) -> None:
        os.write(self._file, keys.encode())

    def until(self, text: str) -> str:
        """What the screen shows once this stands on it."""
        end = RealClock.now() + PATIENCE
        while text not in self.text:
            assert RealClock.now() < end, f"{text!r} did not appear:\n{self.text}"
            assert self._read(), f"it ended before {text!r} appeared:\n{self.text}"
        return self.text

    def until_other(self, text: str) -> None:
        """Until the screen shows something else than this."""
        end = RealClock.now() + PATIENCE
        while text == self.text:
            assert RealClock.now() < end, f"nothing changes:\n{self.text}"
            assert self._read(), f"it has ended:\n{self.text}"

    def signal(self, number: signal.Signals) -> None:
        os.kill(self._process, number)

    def finish(self) -> int:
        """Until the program has ended; its exit code."""
        end = RealClock.now() + PATIENCE
        while self._read():
            assert RealClock.now() < end, f"it does not end:\n{self.text}"
        return self._wait()

    def close(self) -> None:
        if self.code is None:
            os.kill(self._process, signal.SIGKILL)
            self._wait()
        os.close(self._file)

    def _wait(self) -> int:
        _, status = os.waitpid(self._process, 0)
        self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def _read(self) -> bool:
        """Take in what the program has written; False when it has ended."""
        ready, _, _ = select.select([self._file], [], [], 1.0)
        if not ready:
            return True
        try:
            data = os.read(self._file, 65536)
        except OSError:  # how Linux tells that nobody has the terminal open any more
            return False
        self._stream.feed(data)
        self.frames.append(self.text)
        return bool(data)
