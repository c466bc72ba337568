"""What is installed on this machine, compared with what the program needs. Imports nothing that may be missing."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from typing import Literal

PACKAGE = "humanoid-orchestrator"
_OPTIONAL = {"pin": "kinematics"}
"""Packages that an operator may want, and the extra that brings them."""


@dataclass(frozen=True)
class Line:
    """One thing doctor has to say."""

    verdict: Literal["ok", "warning", "problem"]
    text: str

    def __str__(self) -> str:
        return f"{self.verdict}: {self.text}"


def installed() -> list[Line]:
    """Python and the packages of this environment."""
    python = Line("ok", f"Python {platform.python_version()}")
    try:
        needed = metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return [python, Line("problem", f"{PACKAGE} is not installed in this Python: pip install {PACKAGE}")]
    versions = {_plain(found.name): found.version for found in metadata.distributions()}
    return [python, *package_lines(needed, versions)]


def package_lines(needed: Iterable[str], versions: dict[str, str]) -> list[Line]:
    """Whether each requirement is there; an exact version must be that one, ranges are left to pip."""
    lines = (_package(requirement, versions) for requirement in needed)
    return list(dict.fromkeys(line for line in lines if line is not None))


def _package(requirement: str, versions: dict[str, str]) -> Line | None:
    name, exact = _parsed(requirement)
    version = versions.get(_plain(name))
    if "extra ==" in requirement:
        return _optional(name, version)
    if version is None:
        return Line("problem", f"{name} is not installed: pip install '{requirement}'")
    if exact and version != exact:
        return Line("problem", f"{name} is {version}, but must be {exact}: pip install {name}=={exact}")
    return Line("ok", f"{name} {version}")


def _optional(name: str, version: str | None) -> Line | None:
    if name not in _OPTIONAL:
        return None
    if version is None:
        extra = _OPTIONAL[name]
        return Line("ok", f"{name} is not installed; only {extra} needs it: pip install '{PACKAGE}[{extra}]'")
    return Line("ok", f"{name} {version}")


def _parsed(requirement: str) -> tuple[str, str]:
    match = re.match(r"([\w.-]+)(?:==([\w.]+))?", requirement)
    assert match is not None
    return match[1], match[2] or ""


def _plain(name: str) -> str:
    """One spelling for py_trees and py-trees."""
    return re.sub(r"[-_.]+", "-", name).lower()
