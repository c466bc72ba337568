"""Programs that only some tests need."""

from __future__ import annotations

import os
import shutil

import pytest


def need(*programs: str) -> None:
    """Skip where an optional program is missing on a user's machine; in CI everything must be there."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        packages = "Debian packages gcc, cyclonedds-dev, cyclonedds-tools, iproute2, nodejs, npm"
        lacking(f"not installed: {', '.join(missing)} ({packages})")


def lacking(what: str) -> None:
    """Something this test cannot do without is not there."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)
