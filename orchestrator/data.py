"""Where the files that come with the program are: example trees, robot profiles, guard rules, IDL."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_path(name: str) -> Path:
    """The folder or file `name` (such as "config/robots"): inside an installed package, else in the checkout."""
    installed = _PACKAGE / "_data" / name
    return installed if installed.exists() else _PACKAGE.parent / name


def own_path(name: str) -> Path:
    """The file `name` of whoever works in this folder; without one, that of the program."""
    own = Path(name)
    return own if own.exists() else data_path(name)
