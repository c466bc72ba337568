"""`orchestrator fields`: what expressions in trees may read."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.yamlfile.units import DIMENSIONS

if TYPE_CHECKING:
    from orchestrator.robots.facts import Field


def fields(
    robot: Annotated[str | None, typer.Option("--robot", help="Only the fields of this robot.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List what expressions may read: of one robot, or of all there are."""
    from orchestrator.robots.fields import fields_of
    from orchestrator.robots.profiles import ProfileError, load_profile, profile_names

    found: dict[str, list[Field]] = {}
    try:
        for name in [robot] if robot is not None else profile_names():
            for field in fields_of(load_profile(name)).values():
                found.setdefault(field.name, []).append(field)
    except ProfileError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    if as_json:
        rows = [asdict(field) for variants in found.values() for field in dict.fromkeys(variants)]
        typer.echo(json.dumps(rows, indent=2))
    else:
        typer.echo("\n".join(_lines(found)))


def _lines(found: dict[str, list[Field]]) -> list[str]:
    rows = [("FIELD", "TYPE", "CAPABILITY", "READ", "MEANING")]
    rows += [_row(variants) for variants in found.values()]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return ["  ".join([*(text.ljust(width) for text, width in zip(row, widths)), row[4]]).rstrip() for row in rows]


def _row(variants: list[Field]) -> tuple[str, str, str, str, str]:
    """One line for a field of one robot, or of several whose values may differ."""
    first = variants[0]
    words = tuple(dict.fromkeys(word for field in variants for word in field.choices))
    help_ = f"{first.help} One of {', '.join(words)}." if words else first.help
    unit = DIMENSIONS.get(first.type)
    kind = f"{first.type} in {unit}" if unit is not None else first.type
    return first.name, kind, first.capability, "at once" if first.event else "every tick", help_
