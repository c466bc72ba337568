"""All leaves there are: ours and those of other installed packages."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from types import ModuleType

from orchestrator.leaf.leaf import Declaration, Leaf

GROUP = "orchestrator.behaviours"
OURS = "behaviours"


class Catalogue:
    """Leaves by name. `problems` says which packages could not be loaded and why."""

    def __init__(self, leaves: Iterable[Declaration], problems: Iterable[str] = ()) -> None:
        self.leaves: dict[str, Declaration] = {}
        self.problems = list(problems)
        for declared in leaves:
            first = self.leaves.setdefault(declared.name, declared)
            if first is not declared:
                where = f"in {first.leaf.__module__} and in {declared.leaf.__module__}"
                self.problems.append(f"{declared.name} is declared twice: {where}, which is not used")

    def get(self, name: str) -> Declaration | None:
        return self.leaves.get(name)

    def __iter__(self) -> Iterator[Declaration]:
        return iter(self.leaves.values())


def installed() -> Catalogue:
    """The leaves of every installed package that names a module or package in the entry point group.

    Ours come first: of two leaves with one name the first counts, and nobody may put another CheckEmergency in place of
    ours.
    """
    from importlib.metadata import entry_points  # takes milliseconds: only when wanted

    leaves: list[Declaration] = []
    problems: list[str] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.value != OURS, entry.name)):
        try:
            leaves += leaves_of(importlib.import_module(entry.value))
        except (Exception, SystemExit) as problem:  # somebody else's package: whatever it does, ours must go on
            problems.append(f"the behaviours of {entry.value} cannot be loaded: {type(problem).__name__}: {problem}")
    return Catalogue(leaves, problems)


def leaves_of(module: ModuleType) -> list[Declaration]:
    """The leaves declared in a module, or in all modules of a package."""
    modules = [module]
    if hasattr(module, "__path__"):
        names = sorted(info.name for info in pkgutil.iter_modules(module.__path__))
        modules += [importlib.import_module(f"{module.__name__}.{name}") for name in names]
    return [
        thing.declaration
        for member in modules
        for thing in vars(member).values()
        if isinstance(thing, type) and issubclass(thing, Leaf) and thing.__module__ == member.__name__
        if "declaration" in vars(thing)  # a base class of leaves has none
    ]
