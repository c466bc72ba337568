"""Paths that a tree names: relative to its file, inside the folder of the trees."""

from __future__ import annotations

import os
from pathlib import Path

from orchestrator.yamlfile import Finding, Findings, Scalar
from orchestrator.yamlfile.opening import readable

LONGEST = 1000


class Paths:
    """What one file may name. `file` is its own path as a person would write it."""

    def __init__(self, file: Path, trees: Path, findings: Findings) -> None:
        self._folder = file.parent
        self._trees = trees
        self._findings = findings

    def shown(self, text: str, found: Path) -> Path:
        """The path as a person would write it. Behind a symbolic link `..` leads elsewhere: then it stays as it is."""
        written = self._folder / text
        plain = Path(os.path.normpath(written))
        return plain if ".." not in written.parts or plain.resolve() == found else written

    def resolved(self, written: Scalar, text: str) -> Path | None:
        """Where the path leads to in the end; None when it may not lead there, which is said."""
        if len(text) > LONGEST:
            self._findings.error(written, "too-long", f"a path may have at most {LONGEST} characters")
            return None
        if Path(text).is_absolute() or "\0" in text:
            self._findings.error(written, "outside", "the path must be relative to this file")
            return None
        try:
            found = (self._folder / text).resolve()
        except (OSError, RuntimeError):
            self._findings.error(written, "link-loop", "the symbolic links here lead round in a circle")
            return None
        if not found.is_relative_to(self._trees):
            message = f"this lies outside the folder of the trees ({self._trees.name}/)"
            self._findings.error(written, "outside", message)
            return None
        return found

    def readable(self, written: Scalar, text: str, found: Path) -> bool:
        """Whether there is a file that can be read; if not, that is said where it is named."""
        problem = readable(found)
        if problem is not None:
            self.refuse(written, text, problem)
        return problem is None

    def refuse(self, written: Scalar, text: str, problem: Finding) -> None:
        """Say why a file cannot be read, where it is named."""
        near = problem.suggestion and str(Path(text).with_name(problem.suggestion))
        self._findings.error(written, problem.code, f"{text[:100]}: {problem.message}", near)
