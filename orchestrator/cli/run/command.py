"""The command itself: from its options to its exit code."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from orchestrator.cli.run import options as o

if TYPE_CHECKING:
    from orchestrator.engine.substitution import Substitutes
    from orchestrator.mission.loading import Loaded
    from orchestrator.mission.resuming import Unfinished


def run(
    tree: o.Tree,
    sim: o.Sim = False,
    virtual: o.Virtual = False,
    dry_run: o.DryRun = False,
    robot: o.Robot = None,
    values: o.Values = None,
    substitute: o.Substitute = None,
    breaks: o.Breaks = None,
    yes: o.Yes = False,
    answer: o.Answers = None,
    arm: o.Arm = False,
    fault: o.Faults = None,
    seed: o.Seed = 0,
    record: o.Record = False,
    coverage: o.Coverage = False,
    as_json: o.Json = False,
) -> None:
    """Run a mission: on a robot, on a simulated one, or in virtual time.

    A terminal shows the live tree: p pauses, s steps, q or Ctrl-C stops the robot and leaves, and questions are
    answered by key. Elsewhere, and in virtual time, everything that happens is a line.

    Exit 0 success, 1 the tree failed, 2 bad input, 3 stopped or not armed by the guard, 130 interrupted.
    """
    options = o.Options(
        tree=tree, robot=robot, sim=sim, virtual=virtual, dry_run=dry_run, values=o.pairs(values, "--set"),
        substitute=substitute, breaks=tuple(breaks or ()), yes=yes, answers=o.answers(answer), arm=arm,
        faults=tuple(fault or ()), seed=seed, record=record, coverage=coverage,
        as_json=as_json,
    )  # fmt: skip
    if mistake := options.mistake():
        o.refuse(mistake)
    raise typer.Exit(run_to_end(lambda: _load(options), options))


def run_to_end(load: Callable[[], Loaded], options: o.Options, unfinished: Unfinished | None = None) -> int:
    """The exit code; what is wrong is said."""
    from orchestrator.cli.run import running
    from orchestrator.mission.arming import Declined, NotArmed
    from orchestrator.mission.loading import CannotRun
    from orchestrator.mission.mission import Left

    try:
        return running.run(load(), options, unfinished)
    except CannotRun as problem:
        o.refuse(str(problem))
    except running.problems() as problem:
        o.refuse(str(problem))
    except NotArmed as problem:
        typer.echo(f"not armed:\n{problem}", err=True)
        return running.STOPPED
    except KeyboardInterrupt:  # in virtual time: a live run stops its robot and ends in good order
        typer.echo("interrupted", err=True)
        return running.INTERRUPTED
    except OSError as error:  # the same
        if error.errno not in running.UNREAD or error.filename is not None:
            raise
        with suppress(OSError):  # both may be the same pipe
            typer.echo(running.unread(error), err=True)
        o.read_no_more()
        return running.INTERRUPTED
    except (Declined, Left):
        typer.echo("left before anything moved", err=True)
        return running.INTERRUPTED


def _load(options: o.Options) -> Loaded:
    from orchestrator.mission.loading import load_mission

    loaded = load_mission(options.tree, options.robot, options.values, _substitutes(options))
    if loaded.warnings:
        typer.echo(loaded.warnings, err=True)
    return loaded


def _substitutes(options: o.Options) -> Substitutes | None:
    if options.substitute is None:
        return None
    from orchestrator.engine.substitution import load_substitutes
    from orchestrator.yamlfile import Findings

    findings = Findings()
    found = load_substitutes(options.substitute, findings)
    if found is None or findings.errors:
        o.refuse(findings.render())
    return found
