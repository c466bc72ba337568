"""Programs that only some tests need."""

from __future__ import annotations

import os
import shutil

import pytest


def need(*programs: str) -> None:
    """Skip where an optional program is missing on a user's machine; in CI everything must be there."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing and os.environ.get("CI"):
        pytest.fail(f"not installed: {', '.join(missing)}")
    if missing:
        pytest.skip(
            f"not installed: {', '.join(missing)} (Debian packages gcc, cyclonedds-dev, cyclonedds-tools, nodejs, npm)"
        )
