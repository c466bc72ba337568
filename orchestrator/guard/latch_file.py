"""What keeps an e-stop latched when its guard has gone: a file beside the audit, until the robot is armed again."""

from __future__ import annotations

import sys
from pathlib import Path


class LatchFile:
    """The channels that have triggered since the robot was last armed; no file: none."""

    def __init__(self, audit: Path) -> None:
        self.path = audit.with_suffix(".latch")
        self._failed = False
        self._kept = self.read()

    def read(self) -> frozenset[str]:
        """A file that says nothing is a latch all the same."""
        try:
            return frozenset(self.path.read_text(errors="replace").split()) or frozenset({"unknown"})
        except FileNotFoundError:
            return frozenset()

    def keep(self, latched: frozenset[str]) -> None:
        """Remember these; what could not be written is tried again when this is called next."""
        if latched == self._kept:
            return
        try:
            self._write(latched)
        except OSError as error:
            if not self._failed:
                print(f"the e-stop cannot be remembered: {error}", file=sys.stderr, flush=True)
            self._failed = True
        else:
            self._kept, self._failed = latched, False

    def _write(self, latched: frozenset[str]) -> None:
        if latched:
            new = self.path.with_suffix(".latch-new")
            new.write_text("\n".join(sorted(latched)) + "\n")
            new.replace(self.path)
        else:
            self.path.unlink(missing_ok=True)
