"""Whether what is printed has colours."""

from __future__ import annotations

import os


def colour() -> bool | None:
    """False where nobody wants or can show any; None: on a terminal."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None
