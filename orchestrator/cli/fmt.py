"""`orchestrator fmt`: tree files in the canonical layout."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer


def fmt(
    trees: Annotated[list[Path], typer.Argument(metavar="TREE...", help="Tree files.")],
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit 1 if a file would change.")] = False,
) -> None:
    """Bring tree files into the canonical layout; comments stay, and nothing changes its meaning."""
    outcomes = {_one(path, check) for path in trees}
    if None in outcomes:
        raise typer.Exit(2)
    if check and True in outcomes:
        raise typer.Exit(1)


def _one(path: Path, check: bool) -> bool | None:
    """Whether the file is, or would be, changed; None when it cannot be laid out."""
    from orchestrator.treefile.format import formatted
    from orchestrator.yamlfile import Findings, read_file

    findings = Findings()
    read_file(path, findings)  # says what is wrong with the file itself: missing, a directory, not UTF-8
    before = None if findings.errors else path.read_bytes().decode().removeprefix("\ufeff")
    after = None if before is None else formatted(before, str(path), findings)
    if before is None or after is None:
        typer.echo(findings.render(), err=True)
        return None
    if after == before:
        return False
    typer.echo(f"{path} would change" if check else f"{path} changed")
    if not check:
        _replace(path.resolve(), after)
    return True


def _replace(path: Path, text: str) -> None:
    """All or nothing: whoever reads the file meanwhile sees the old or the new one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    new = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        new.chmod(path.stat().st_mode & 0o777)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
