"""`orchestrator run`: a mission, from check to its end."""

from __future__ import annotations

import getpass
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.surroundings import RobotOption

if TYPE_CHECKING:
    from orchestrator.engine.events import End, Event
    from orchestrator.engine.prompts import Prompts
    from orchestrator.engine.runner import Outcome
    from orchestrator.mission.loading import Loaded

EXIT_CODES = {"success": 0, "failure": 1, "aborted": 1, "stopped": 3}
INTERRUPTED = 130


def run(
    tree: Annotated[Path, typer.Argument(help="A tree file.")],
    robot: RobotOption = None,
    sim: Annotated[bool, typer.Option("--sim", help="On a simulated robot, over real DDS on loopback.")] = False,
    virtual: Annotated[bool, typer.Option("--virtual", help="On a simulated robot, in virtual time.")] = False,
    values: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the tree.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to every confirm (simulation only).")] = False,
    answer: Annotated[
        list[str] | None, typer.Option("--answer", metavar="NODE=CHOICE", help="Answer a question in advance.")
    ] = None,
    arm: Annotated[bool, typer.Option("--arm", help="Arm a real robot without asking at the terminal.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON event a line.")] = False,
) -> None:
    """Run a mission. Exit 0 success, 1 the tree failed, 2 bad input, 3 stopped by the guard, 130 interrupted."""
    from orchestrator.mission.loading import CannotRun, load_mission

    if sim and virtual:
        _refuse("--sim and --virtual exclude each other: real DDS, or virtual time")
    if yes and not (sim or virtual):
        _refuse("--yes is for simulation only: on a robot a person agrees")
    try:
        loaded = load_mission(tree, robot, _pairs(values, "--set"))
    except CannotRun as problem:
        _refuse(str(problem))
    show = _show_json if as_json else _Lines(loaded, "VIRTUAL" if virtual else "SIM" if sim else "REAL").show
    prompts = _prompts(yes, _pairs(answer, "--answer"))
    try:
        outcome = _virtual(loaded, show, prompts) if virtual else _live(loaded, sim, arm, show, prompts)
    except _problems() as problem:
        _refuse(str(problem))
    if outcome is None:
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(EXIT_CODES[outcome.status])


def _refuse(text: str) -> None:
    typer.echo(text if ": error:" in text else f"error: {text}", err=True)
    raise typer.Exit(2)


def _problems() -> tuple[type[Exception], ...]:
    from orchestrator.bus.contract import BusError
    from orchestrator.guard.config import GuardConfigError
    from orchestrator.guard.link import LinkError
    from orchestrator.mission.arming import NotArmed
    from orchestrator.mission.processes import ProcessError

    return BusError, GuardConfigError, LinkError, NotArmed, ProcessError


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    pairs = [text.partition("=") for text in given or []]
    for name, equals, _ in pairs:
        if not equals or not name:
            _refuse(f"{option} takes NAME=VALUE, not {name!r}")
    return {name: value for name, _, value in pairs}


def _prompts(yes: bool, answers: dict[str, str]) -> Prompts:
    from orchestrator.engine.prompts import NoAnswer, Prompts, Question

    def known(question: Question) -> str | None:
        if question.name in answers:
            return answers[question.name]
        if yes and "yes" in question.choices:
            return "yes"
        if not sys.stdin.isatty():
            raise NoAnswer(f"nobody is there to answer: {question.text}")
        return None

    return Prompts(known)


def _virtual(loaded: Loaded, show: Callable[[Event], None], prompts: Prompts) -> Outcome:
    from orchestrator.mission.virtual import VirtualMission

    return VirtualMission(loaded, show, prompts).run()


def _live(loaded: Loaded, sim: bool, arm: bool, show: Callable[[Event], None], prompts: Prompts) -> Outcome | None:
    """None when a person interrupted it: the guard then stops the robot."""
    from orchestrator.mission.live import LiveMission

    if not (sim or arm):
        _ask_to_arm(loaded)
    live = LiveMission(loaded, sim, show, prompts)
    interrupted: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        interrupted.append(number)
        live.mission.runner.stop("interrupted at the terminal")

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        outcome = live.run("simulation" if sim else getpass.getuser())
    finally:
        if not live.close():
            typer.echo("the guard still holds the robot: orchestrator stop ends it", err=True)
        for number, handler in before.items():
            signal.signal(number, handler)
    return None if interrupted else outcome


def _ask_to_arm(loaded: Loaded) -> None:
    if not sys.stdin.isatty():
        _refuse("a real robot is armed by a person at the terminal, or with --arm where there is none")
    typer.echo(f"{loaded.profile.name} is a REAL robot. Keep the hardware emergency stop in your hand.")
    if not typer.confirm("Arm it and run?"):
        raise typer.Exit(INTERRUPTED)


def _show_json(event: Event) -> None:
    from orchestrator.engine.events import to_json

    print(to_json(event).decode(), flush=True)


_COLOURS = {"running": "cyan", "success": "green", "failure": "red", "skipped": "yellow", "idle": "bright_black"}


class _Lines:
    """What happens, a line each: readable in a terminal and in a file."""

    def __init__(self, loaded: Loaded, kind: str) -> None:
        self._names: list[str] = []
        self._depth: list[int] = []
        self._shown: dict[int, str] = {}
        self._start: float | None = None
        typer.secho(f"{kind}  {loaded.profile.name}  {loaded.tree.name}", bold=True)
        if loaded.warnings:
            typer.echo(loaded.warnings, err=True)

    def show(self, event: Event) -> None:
        from orchestrator.engine import events

        if self._start is None:
            self._start = event.at
        match event:
            case events.Structure(nodes=nodes):
                self._names = [node.name for node in nodes]
                for node in nodes:
                    self._depth.append(0 if node.parent is None else self._depth[node.parent] + 1)
            case events.Tick(at=at, changes=changes):
                for number, change in changes.items():
                    if self._shown.get(number) != change.status:  # what nodes say while they run is for live views
                        self._line(at, number, change.status, change.message)
                    self._shown[number] = change.status
            case events.Note(at=at, node=node, text=text):
                self._line(at, node, "says", text)
            case events.Prompt(at=at, node=node, question=question, choices=choices):
                self._line(at, node, "asks", f"{question} [{'/'.join(choices)}]")
            case events.GuardReport(at=at, report=report, details=details) if report in _GUARD_SAYS:
                typer.secho(f"{self._time(at)}  guard: {details['text']}", fg="magenta")
            case events.End():
                self._end(event)

    def _line(self, at: float, number: int, word: str, message: str) -> None:
        if word == "idle":
            return
        text = f"{self._time(at)}  {'  ' * self._depth[number]}{self._names[number]}: "
        typer.echo(text + typer.style(word, fg=_COLOURS.get(word)) + (f"  {message}" if message else ""))

    def _time(self, at: float) -> str:
        """Seconds since the first thing that happened."""
        return f"{at - (self._start or 0.0):8.2f}"

    def _end(self, end: End) -> None:
        where = f" at {end.place}" if end.place else ""
        why = f": {end.reason}" if end.reason else ""
        typer.secho(f"{end.status}{where}{why}", bold=True, fg="green" if end.status == "success" else "red")
        for skipped in end.skipped:
            typer.echo(f"  not done: {skipped}")


_GUARD_SAYS = frozenset({"mode", "refused", "emergency", "stop", "stopped", "unverified", "press_hardware_estop"})
