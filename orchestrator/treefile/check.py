"""Checks a mission: everything that can be known before anything moves, in one run."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from orchestrator.treefile.file import FileCheck, Shared, Surroundings
from orchestrator.treefile.flow import follow
from orchestrator.treefile.limits import TooMuch
from orchestrator.treefile.model import Tree
from orchestrator.yamlfile import Findings, read_file


@dataclass(slots=True)
class Checked:
    """A mission and what is to be said about it. It may run if `ok`."""

    tree: Tree
    findings: Findings

    @property
    def ok(self) -> bool:
        return self.findings.errors == 0 and self.tree.root is not None


def check_file(path: Path, surroundings: Surroundings, folder: Path | None = None) -> Checked:
    """Reads and checks a tree file with all it uses.

    Subtrees must lie in `folder`: by default the nearest folder above the file that is called trees, else its own.
    """
    findings = Findings()
    document = read_file(path, findings)
    tree = Tree("", document.file, "", {}, [], None, None, surroundings.robot)
    if not document.lines:
        return Checked(tree, findings)
    resolved = path.resolve()
    shared = Shared(surroundings, (folder or tree_folder(path)).resolve(), findings)
    shared.documents[resolved] = document
    with suppress(TooMuch):
        tree = FileCheck(shared, resolved, path, ()).tree()
    if tree.root is not None and not findings.is_incomplete(tree.file):
        follow(tree, findings)
    return Checked(tree, findings)


def tree_folder(path: Path) -> Path:
    folder = path.absolute().parent
    return next((parent for parent in (folder, *folder.parents) if parent.name == "trees"), folder)
