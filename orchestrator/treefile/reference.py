"""The reference of leaves and modifiers, docs/leaves.md: `python -m orchestrator.treefile.reference` prints it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import behaviours
from orchestrator.leaf import Catalogue, Declaration, leaves_of
from orchestrator.treefile import vocabulary
from orchestrator.treefile.leaf_facts import default_text, facts, range_text
from orchestrator.treefile.vocabulary import Word

_HEAD = """# Leaves and modifiers

Made by `make docs` from the declarations in `behaviours/` and from `orchestrator/treefile/vocabulary.py`: change those,
not this page. `orchestrator nodes` shows the same for what is installed, packages of your own included. How the parts
fit together is in [language.md](language.md). What is "within the robot's base.task_speed" is listed under `ranges` by
`orchestrator robots NAME`.
"""


def reference(catalogue: Catalogue) -> str:
    """The whole page."""
    lines = [*_HEAD.splitlines(), "", *_words("Kinds of nodes", (*vocabulary.KINDS, *vocabulary.OF_KIND))]
    lines += _words("Modifiers, from the outermost to the innermost", vocabulary.MODIFIERS)
    lines += ["## Leaves", ""]
    for module, leaves in _by_module(catalogue).items():
        lines += [f"### {module}", ""]
        for leaf in leaves:
            lines += _leaf(leaf)
    return "\n".join(lines).rstrip("\n") + "\n"


def _words(title: str, words: Iterable[Word]) -> Iterator[str]:
    yield from (f"## {title}", "", "| word | value | meaning |", "|---|---|---|")
    for word in words:
        yield f"| `{word.name}` | {_cell(word.value)} | {_cell(word.meaning)} |"
    yield ""


def _by_module(catalogue: Catalogue) -> dict[str, list[Declaration]]:
    """Leaves under the first sentence of the module they stand in."""
    found: dict[str, list[Declaration]] = {}
    for leaf in catalogue:
        about = (sys.modules[leaf.leaf.__module__].__doc__ or "").strip().splitlines()[0].rstrip(".")
        found.setdefault(about, []).append(leaf)
    return found


def _leaf(leaf: Declaration) -> Iterator[str]:
    yield from (f"#### {leaf.name}", "", leaf.summary, "", "```yaml", *leaf.example.splitlines(), "```", "")
    if leaf.params:
        yield from ("| parameter | type | range | if left out |", "|---|---|---|---|")
        for param in leaf.params.values():
            default = "must be given" if param.required else default_text(param) or "–"
            kind, limits = _cell(param.type.name), _cell(range_text(param.type)) or "–"
            yield f"| `{param.name}` | {kind} | {limits} | {default} |"
        yield ""
    yield from (f"* {label}: {text}" for label, text in facts(leaf))
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(reference(Catalogue(leaves_of(behaviours))))
