"""What `orchestrator run` can be told: its options in groups, and which of them exclude each other."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NoReturn

import typer

_WHERE, _WHAT, _PERSON, _WORLD, _SHOWN = (
    "Where it runs (without any of these: on the REAL robot)",
    "What runs",
    "What a person would say",
    "Simulated world",
    "What is shown",
)

Tree = Annotated[Path, typer.Argument(metavar="TREE", help="A tree file.", show_default=False)]
Sim = Annotated[
    bool, typer.Option("--sim", rich_help_panel=_WHERE, help="On a simulated robot, over real DDS on loopback.")
]
Virtual = Annotated[
    bool,
    typer.Option("--virtual", rich_help_panel=_WHERE, help="On a simulated robot, in virtual time: over at once."),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        rich_help_panel=_WHERE,
        help="Look at the robot (with --sim: a simulated one) without sending anything, then run the mission in "
        "virtual time on a twin that starts as the robot is.",
    ),
]
Robot = Annotated[
    str | None,
    typer.Option("--robot", rich_help_panel=_WHAT, help="A robot's name or profile file; goes before the tree's own."),
]
Values = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", rich_help_panel=_WHAT, help="A parameter of the tree."),
]
Substitute = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_WHAT,
        help='Stand-ins for nodes, such as "MoveToTag: succeed after 2 s"; never on a real robot.',
    ),
]
Breaks = Annotated[
    list[str] | None,
    typer.Option("--break", metavar="NODE", rich_help_panel=_WHAT, help="Pause before this node starts."),
]
Yes = Annotated[
    bool, typer.Option("--yes", rich_help_panel=_PERSON, help="Agree to every confirm; never on a real robot.")
]
Answers = Annotated[
    list[str] | None,
    typer.Option("--answer", metavar="NODE=CHOICE", rich_help_panel=_PERSON, help="Answer a question in advance."),
]
Arm = Annotated[
    bool, typer.Option("--arm", rich_help_panel=_PERSON, help="Arm a real robot where there is no terminal to ask at.")
]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="FAULT",
        rich_help_panel=_WORLD,
        help="Something that goes wrong, such as hard@12s+3s or off:rt/amr/state@3s (docs/simulation.md).",
    ),
]
Seed = Annotated[int, typer.Option(min=0, rich_help_panel=_WORLD, help="Of the simulated robot's noise.")]
Record = Annotated[
    bool,
    typer.Option(
        "--record", rich_help_panel=_SHOWN, help="Keep the history of a run in virtual time, as of any other."
    ),
]
Coverage = Annotated[
    bool,
    typer.Option(
        "--coverage", rich_help_panel=_SHOWN, help="At the end, a table of the nodes: how they ended, which never ran."
    ),
]
Json = Annotated[bool, typer.Option("--json", rich_help_panel=_SHOWN, help="One JSON event a line.")]


@dataclass(frozen=True)
class Options:
    """What this run was told."""

    tree: Path
    robot: str | None
    sim: bool
    virtual: bool
    dry_run: bool
    values: dict[str, str]
    substitute: Path | None
    breaks: tuple[str, ...]
    yes: bool
    answers: dict[str, str]
    arm: bool
    faults: tuple[str, ...]
    seed: int
    as_json: bool
    record: bool = False
    coverage: bool = False

    @property
    def real(self) -> bool:
        """Whether something real can move."""
        return not (self.sim or self.virtual or self.dry_run)

    @property
    def kind(self) -> str:
        return "DRY RUN" if self.dry_run else "VIRTUAL" if self.virtual else "SIM" if self.sim else "REAL"

    def mistake(self) -> str | None:
        """Why these options make no sense together."""
        return next((sentence for wrong, sentence in _MISTAKES if wrong(self)), None)


_MISTAKES: tuple[tuple[Callable[[Options], bool], str], ...] = (
    (lambda o: o.sim and o.virtual, "--sim and --virtual exclude each other: real DDS, or virtual time"),
    (
        lambda o: o.dry_run and o.virtual,
        "--dry-run looks at a robot first, and with --virtual there is none: leave one of them out",
    ),
    (lambda o: o.dry_run and o.arm, "--dry-run never arms a robot: leave --arm out"),
    (lambda o: o.yes and o.real, "--yes is for simulation only: on a robot a person agrees"),
    (
        lambda o: o.substitute is not None and o.real,
        "--substitute is for --sim, --virtual and --dry-run: on a robot, what follows a stand-in would act on "
        "something that has not happened",
    ),
    (
        lambda o: bool(o.faults) and not (o.sim or o.virtual),
        "--fault is for simulated robots: add --sim or --virtual",
    ),
    (
        lambda o: bool(o.breaks) and (o.virtual or o.dry_run or not is_attended()),
        "--break pauses until a person goes on: it needs a terminal, and no virtual time",
    ),
    (
        lambda o: o.real and not o.arm and (o.as_json or not is_attended()),
        "a real robot is armed by a person at the terminal, or with --arm where there is none",
    ),
)


def is_attended() -> bool:
    """Whether a person sits at a terminal that shows what we print and gives us what is typed."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        return False
    try:
        foreground = os.tcgetpgrp(sys.stdin.fileno())
    except OSError:  # not the terminal we belong to: its Ctrl-C and its end would not reach us
        return False
    return foreground == os.getpgrp()  # in the background a terminal stops who uses it


def user_name() -> str:
    """Who runs this; a number where the machine has no name for it, as in a container."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def pairs(
    given: list[str] | None, option: str, split: Callable[[str, str], tuple[str, str, str]] = str.partition
) -> dict[str, str]:
    """NAME=VALUE, as often as wanted, each name once."""
    found: dict[str, str] = {}
    for text in given or []:
        name, equals, value = split(text, "=")
        if not equals or not name:
            refuse(f"{option} takes NAME=VALUE, not {text!r}")
        if name in found:
            refuse(f"{option} {name} is given twice: {found[name]} and {value}")
        found[name] = value
    return found


def answers(given: list[str] | None) -> dict[str, str]:
    """NODE=CHOICE: a node may be called anything, also `x = 3`."""
    return pairs(given, "--answer", str.rpartition)


def read_no_more() -> None:
    """What is still in the buffer goes nowhere: Python would complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def refuse(text: str) -> NoReturn:
    """Bad input: a sentence, and exit code 2."""
    typer.echo(text if ": error:" in text else f"error: {text}", err=True)
    refusal = typer.Exit(2)
    refusal.args = (text,)  # for the history of a run that was not begun
    raise refusal
