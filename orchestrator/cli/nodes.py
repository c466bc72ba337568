"""`orchestrator nodes`: what trees are made of - leaves, kinds and modifiers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from orchestrator.leaf import Catalogue, Declaration
    from orchestrator.treefile.vocabulary import Word

_LABEL = 16


def nodes(
    name: Annotated[str | None, typer.Argument(help="A leaf, a kind of node or a modifier.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List leaves, kinds of nodes and modifiers, or show everything about one."""
    from orchestrator.leaf import installed

    catalogue = installed()
    for problem in catalogue.problems:
        typer.echo(f"warning: {problem}", err=True)
    if name is None:
        typer.echo(_all_as_json(catalogue) if as_json else "\n".join(_all(catalogue)))
        return
    leaf, word = catalogue.get(name), _words().get(name)
    if leaf is not None:
        from orchestrator.treefile.leaf_facts import to_json

        typer.echo(json.dumps(to_json(leaf), indent=2) if as_json else "\n".join(_leaf(leaf)))
    elif word is not None:
        typer.echo(json.dumps(asdict(word), indent=2) if as_json else "\n".join(_word(word)))
    else:
        _report_unknown(name, catalogue)


def _words() -> dict[str, Word]:
    from orchestrator.treefile import vocabulary

    return {word.name: word for word in (*vocabulary.KINDS, *vocabulary.OF_KIND, *vocabulary.MODIFIERS)}


def _report_unknown(name: str, catalogue: Catalogue) -> None:
    from orchestrator.yamlfile import nearest

    near = nearest(name, (*catalogue.leaves, *_words()))
    typer.echo(f'there is no node or modifier "{name}"' + (f"; did you mean {near}?" if near else ""), err=True)
    raise typer.Exit(2)


def _all_as_json(catalogue: Catalogue) -> str:
    from orchestrator.treefile import vocabulary
    from orchestrator.treefile.leaf_facts import to_json

    found = {
        "kinds": [asdict(word) for word in (*vocabulary.KINDS, *vocabulary.OF_KIND)],
        "modifiers": [asdict(word) for word in vocabulary.MODIFIERS],
        "leaves": [to_json(leaf) for leaf in catalogue],
    }
    return json.dumps(found, indent=2)


def _all(catalogue: Catalogue) -> Iterator[str]:
    from orchestrator.treefile import vocabulary
    from orchestrator.treefile.leaf_facts import signature

    leaves = sorted(catalogue, key=lambda leaf: leaf.name)
    yield "LEAVES (parameters in brackets may be left out)"
    yield from _table((leaf.name, signature(leaf), leaf.summary) for leaf in leaves)
    yield ""
    yield "KINDS OF NODES"
    yield from _table((word.name, word.value, word.meaning) for word in (*vocabulary.KINDS, *vocabulary.OF_KIND))
    yield ""
    yield "MODIFIERS, from the outermost to the innermost"
    yield from _table((word.name, word.value, word.meaning) for word in vocabulary.MODIFIERS)


def _table(rows: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    listed = list(rows)
    first, second = (max(len(row[column]) for row in listed) for column in (0, 1))
    for name, value, meaning in listed:
        yield f"  {name:<{first}}  {value:<{second}}  {meaning}"


def _leaf(leaf: Declaration) -> Iterator[str]:
    from orchestrator.treefile.leaf_facts import default_text, facts, type_text

    yield f"{leaf.name}: {leaf.summary}"
    yield ""
    yield from (f"  {line}" for line in leaf.example.splitlines())
    if leaf.params:
        yield ""
        for param in leaf.params.values():
            default = default_text(param)
            left_out = "required" if param.required else f"{default} if left out" if default else "may be left out"
            yield f"  {param.name:<{_LABEL}}{type_text(param.type)} ({left_out})"
    yield ""
    yield from (f"  {label:<{_LABEL - 1}} {text}" for label, text in facts(leaf))
    if not leaf.implemented:
        yield f"  {'not yet':<{_LABEL}}it has no behaviour yet: run refuses it"


def _word(word: Word) -> Iterator[str]:
    yield f"{word.name}: {word.value}"
    yield f"  {word.meaning}"
    yield ""
    yield from (f"  {line}" for line in word.example.splitlines())
