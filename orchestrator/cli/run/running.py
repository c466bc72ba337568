"""A loaded mission to its end: in virtual time, or live on a robot or a simulated one."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import typer

from orchestrator.cli.run.aside import Aside, Output
from orchestrator.cli.run.covered import Covered
from orchestrator.cli.run.lines import JsonLines, Lines
from orchestrator.cli.run.options import Options, is_attended, read_no_more, refuse, user_name
from orchestrator.cli.run.prompts import ask_at_once, make_prompts
from orchestrator.cli.run.recorded import Recorded

if TYPE_CHECKING:
    from orchestrator.engine.prompts import Prompts, Question
    from orchestrator.engine.runner import Outcome
    from orchestrator.mission.loading import Loaded
    from orchestrator.mission.mission import Mission
    from orchestrator.mission.resuming import Unfinished
    from orchestrator.sim.twin import Twin

EXIT_CODES = {"success": 0, "failure": 1, "aborted": 1, "stopped": 3}
STOPPED = EXIT_CODES["stopped"]
INTERRUPTED = 130
AT_TERMINAL = "interrupted at the terminal"
NOBODY_READS = "nobody reads the output any more"
UNREAD = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EIO})
"""What goes wrong with a pipe, a file on a full disk or a terminal that has gone."""
AT_ONCE = "ended at once, at the second interruption"
LAST_RESORT = 60.0
"""Seconds that a hung run has to say its last words and to see the guard leave, or to stop the robot without one."""
LOOK = 1.0
"""Seconds after which a robot has shown everything it shows."""


def problems() -> tuple[type[Exception], ...]:
    """What can be wrong with the surroundings; each is a sentence that a person can act on."""
    from orchestrator.bus.contract import BusError
    from orchestrator.engine.checkpoint import WrongCheckpoint
    from orchestrator.guard.config import GuardConfigError
    from orchestrator.guard.link import LinkError
    from orchestrator.journal.history import HistoryError
    from orchestrator.mission.processes import ProcessError
    from orchestrator.mission.resuming import CannotResume
    from orchestrator.sim.faults import FaultError

    return (
        BusError, CannotResume, FaultError, GuardConfigError, HistoryError, LinkError, ProcessError, WrongCheckpoint,
    )  # fmt: skip


def run(loaded: Loaded, options: Options, unfinished: Unfinished | None = None) -> int:
    """The exit code."""
    if options.faults:
        from orchestrator.mission.faults import check_faults

        check_faults(loaded.profile, options.faults)
    if options.dry_run or options.virtual:
        with InterruptionAtOnce() as interruption:
            return (_dry_run if options.dry_run else _in_virtual_time)(loaded, options, interruption)
    return _live(loaded, options, unfinished)


def _dry_run(loaded: Loaded, options: Options, interruption: Interruption) -> int:
    """Nothing is sent to the robot: it is looked at, and the mission happens in virtual time."""
    from orchestrator.engine.events import GuardReport
    from orchestrator.mission.arming import NotArmed, advice
    from orchestrator.mission.likeness import make_alike
    from orchestrator.mission.looking import look_at
    from orchestrator.mission.place import place_of

    with place_of(loaded, options.sim, options.faults, options.seed) as place:
        looked = look_at(loaded.profile, place.network)
    lines = [{"ok": line.ok, "text": f"{line.name}: {line.problem or line.evidence}"} for line in looked.lines]
    problems = "\n".join(f"{line.name}: {line.problem} ({advice(line.name)})" for line in looked.problems)

    def prepare(twin: Twin) -> None:
        if not problems:
            make_alike(twin, looked.shown)

    def judge(mission: Mission) -> None:
        mission.runner.emit(GuardReport(at=0.0, report="preflight", details={"lines": lines}))
        if problems:
            raise NotArmed(problems)

    return _in_virtual_time(loaded, options, interruption, prepare, judge)


def _in_virtual_time(
    loaded: Loaded,
    options: Options,
    interruption: Interruption,
    prepare: Callable[[Twin], None] = lambda twin: None,
    judge: Callable[[Mission], None] = lambda mission: None,
) -> int:
    """`prepare` does something to the simulated robot; `judge` has a look at the mission before it starts."""
    from orchestrator.engine.run import StopRun
    from orchestrator.engine.runner import Outcome
    from orchestrator.mission.virtual import VirtualMission
    from orchestrator.sim.faults import inject

    def prepare_twin(twin: Twin) -> None:
        prepare(twin)
        for fault in options.faults if options.virtual else ():
            inject(twin, fault)

    def ask(question: Question) -> str:
        """Whoever leaves at a question stops the node that asks it."""
        try:
            return ask_at_once(question)
        except KeyboardInterrupt:
            interruption.interrupt(AT_TERMINAL, question.node)
            raise StopRun(AT_TERMINAL) from None

    prompts = make_prompts(options.yes, options.answers, ask if is_attended() and not options.as_json else None)
    lines = _lines(loaded, options)
    show = Covered(lines) if options.coverage else lines
    with ExitStack() as after:
        after.callback(show.close)
        recorded = after.enter_context(Recorded(loaded, options))
        mission = VirtualMission(loaded, show, prompts, options.seed, prepare_twin, recorder=recorded.recorder)
        interruption.arrives_at(mission.mission)
        _check_names(mission.mission, options)
        judge(mission.mission)
        try:
            recorded.outcome = mission.run()
        except OSError as cut:
            recorded.outcome = Outcome("stopped", unread(cut))
            raise
        except KeyboardInterrupt:
            recorded.outcome = Outcome("stopped", AT_ONCE)
            raise
    return exit_code(recorded.outcome, interruption)


def _live(loaded: Loaded, options: Options, unfinished: Unfinished | None) -> int:
    from orchestrator.engine.runner import Outcome
    from orchestrator.mission.live import LiveMission
    from orchestrator.mission.place import place_of

    attended = is_attended() and not options.as_json
    prompts = make_prompts(options.yes, options.answers, (lambda question: None) if attended else None)
    person = user_name() if attended else None
    left: list[str] = []
    with Interruption() as interruption, suppress(KeyboardInterrupt), ExitStack() as after:
        output = _output(loaded, options, attended, interruption, lambda: place.began)
        told = Covered(output) if options.coverage else output
        after.callback(_say_how_it_stands, left, interruption)  # once the terminal is as it was before
        after.callback(told.close)
        recorded = after.enter_context(Recorded(loaded, options, output.remark, unfinished))
        place = after.enter_context(place_of(loaded, options.sim, options.faults, options.seed))
        watched = attended or options.as_json
        live = LiveMission(loaded, place, told, prompts, person, watched, recorded.recorder)

        def end() -> None:
            left.append(live.close())
            if live.failed and recorded.outcome is not None and recorded.outcome.status != "stopped":
                recorded.outcome = Outcome("stopped", left[0])

        after.callback(end)
        interruption.arrives_at(live.mission, live.hurry)
        armed = _go_on(live.mission, unfinished, recorded) if unfinished is not None else None
        _check_names(live.mission, options)
        if attended:
            _start_view(output, live.mission, prompts, interruption)
        who = "simulation" if options.sim else user_name()
        gc.freeze()  # what is there by now stays: to look through all of it for garbage takes a tick's whole time

        def leave(outcome: Outcome) -> None:
            """From another thread: the one that ticks does not come back."""
            _leave_in_any_case()
            recorded.outcome = outcome
            after.close()
            sys.stdout.flush()
            os._exit(INTERRUPTED if interruption.happened else STOPPED)

        try:
            recorded.outcome = live.run(who, options.real and not options.arm, armed, leave)
        except KeyboardInterrupt:
            recorded.outcome = Outcome("stopped", AT_ONCE)
    return exit_code(recorded.outcome, interruption)


def unread(error: OSError) -> str:
    """Why nobody reads what a run prints."""
    return NOBODY_READS if error.errno == errno.EPIPE else f"the output cannot be written: {error.strerror}"


def exit_code(outcome: Outcome | None, interruption: Interruption) -> int:
    """A mission that was over when the interruption came ended as its last line says."""
    if outcome is None or interruption.insisted or (interruption.happened and outcome.status == "stopped"):
        return INTERRUPTED
    return EXIT_CODES[outcome.status]


def _leave_in_any_case() -> None:
    last_resort = threading.Timer(LAST_RESORT, os._exit, (STOPPED,))
    last_resort.daemon = True
    last_resort.start()


def _go_on(mission: Mission, unfinished: Unfinished, recorded: Recorded) -> Callable[[], None]:
    """Put a mission where an earlier run has left it; what is given is to be called when the robot is armed."""
    from orchestrator.mission.resuming import CannotResume

    mission.start_from(unfinished.checkpoint)
    for name, now in mission.look(LOOK).items():
        before = unfinished.robot.get(name)
        if before != now:
            typer.echo(f"  the robot shows {name} {_known(now)}; in that run it was {_known(before)}", err=True)

    def armed() -> None:
        if recorded.recorder is None:
            raise CannotResume("a run goes on only with a history: it could not go on twice")
        recorded.recorder.start_from(unfinished.state)
        with unfinished.run.history() as history:
            if not history.claim("continued", recorded.recorder.id):
                raise CannotResume(f"{unfinished.run.id} is being continued by somebody else")

    return armed


def _known(value: Any) -> str:
    return "not known" if value is None else str(value)


def _say_how_it_stands(left: list[str], interruption: Interruption) -> None:
    from orchestrator.mission.live import STILL_HELD

    if interruption.insisted and left in ([], [""], [STILL_HELD]):
        typer.echo(f"{AT_ONCE}: the guard stops the robot by itself; orchestrator stop ends the guard", err=True)
    elif left and left[0]:
        typer.echo(left[0], err=True)


def _output(
    loaded: Loaded, options: Options, attended: bool, interruption: Interruption, zero: Callable[[], float]
) -> Output:
    if attended:
        from orchestrator.cli.run.live import LiveView
        from orchestrator.cli.run.picture import Picture

        names = options.kind, loaded.profile.name, loaded.tree.name
        typer.echo(f"{'  '.join(names)}: starting ...")
        return LiveView(Picture(*names))

    def broken(error: Exception) -> None:
        read_no_more()
        interruption.interrupt(unread(error) if isinstance(error, OSError) else NOBODY_READS)

    return Aside(_lines(loaded, options, zero), broken)


def _lines(loaded: Loaded, options: Options, zero: Callable[[], float] = lambda: 0.0) -> Output:
    """Times count from `zero`, as those of faults do: where a simulated robot begins, and its virtual time."""
    return JsonLines(zero) if options.as_json else Lines(options.kind, loaded.profile.name, loaded.tree.name, zero)


def _start_view(output: Any, mission: Mission, prompts: Prompts, interruption: Interruption) -> None:
    output(mission.built.described())
    output.start(_Controls(mission, prompts, interruption), lambda: interruption.interrupt("the terminal is gone"))


def _check_names(mission: Mission, options: Options) -> None:
    """What was said about single nodes must be about nodes that are there; breakpoints are set."""
    from orchestrator.mission.questions import mistake_in

    names = tuple(node.name for node in mission.built.structure)
    for name in options.answers:
        if name not in names:
            refuse(_no_such("--answer", name, names))
    if mistake := mistake_in(options.answers, mission.built):
        refuse(f"--answer: {mistake}")
    for pattern in options.breaks:
        if not mission.break_at(pattern):
            refuse(_no_such("--break", pattern, names))


def _no_such(option: str, name: str, names: tuple[str, ...]) -> str:
    from orchestrator.yamlfile.findings import nearest

    guess = nearest(name, names)
    return f'{option}: no node is called "{name}"' + (f': did you mean "{guess}"?' if guess else "")


class Interruption:
    """Ctrl-C, SIGTERM and SIGHUP: the robot is stopped, then we leave in good order; at a second Ctrl-C at once."""

    def __init__(self) -> None:
        self.happened = False
        self.insisted = False
        self._hurry: Callable[[], bool] = lambda: True
        self._mission: Mission | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        for number in filter(self._takes, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
            with suppress(ValueError):  # not in the main thread: whoever runs us there takes care of signals
                self._before[number] = signal.signal(number, self._signalled)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def arrives_at(self, mission: Mission, hurry: Callable[[], bool] = lambda: True) -> None:
        """From now on an interruption stops this mission; one that has come already does so at once.

        `hurry` says whether a guard sees to the robot, so that nobody needs to wait for it.
        """
        self._mission = mission
        self._hurry = hurry
        if self.happened:
            mission.stop(AT_TERMINAL)

    def interrupt(self, reason: str, node: int | None = None) -> None:
        """`node` is the one that runs, where that is known."""
        self.happened = True
        if self._mission is not None:
            self._mission.stop(reason, node)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        if self._is_at_once(number):
            self._insist()
        self.interrupt(AT_TERMINAL if number == signal.SIGINT else signal.Signals(number).name)

    def _takes(self, number: int) -> bool:
        """Where a robot moves, also a signal that whoever started us wanted ignored, as with nohup."""
        return True

    def _is_at_once(self, number: int) -> bool:
        """At the second Ctrl-C: a terminal that is closed may say so twice."""
        return self.happened and (number == signal.SIGINT or self._mission is None) and self._hurry()

    def _insist(self) -> None:
        """The person does not want to wait: the run ends wherever it is, and the guard sees to the robot."""
        self.insisted = True
        for number in self._before:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt


class InterruptionAtOnce(Interruption):
    """In virtual time: nothing has moved before there is a mission, and a question stands in the way of all else."""

    def _takes(self, number: int) -> bool:
        return signal.getsignal(number) is not signal.SIG_IGN

    def _is_at_once(self, number: int) -> bool:
        return self._mission is None or self._mission.asking or super()._is_at_once(number)


class _Controls:
    """What keys act on, in the order of a person's wishes: the run of the moment, whichever it is."""

    def __init__(self, mission: Mission, prompts: Prompts, interruption: Interruption) -> None:
        self._mission = mission
        self._prompts = prompts
        self._interruption = interruption

    @property
    def paused(self) -> bool:
        return self._mission.runner.paused

    def pause(self) -> None:
        self._mission.runner.pause("by key")

    def resume(self) -> None:
        self._mission.runner.resume()

    def step(self) -> None:
        self._mission.runner.step()

    def abort(self) -> None:
        self._mission.abort()

    def stop(self) -> None:
        self._interruption.interrupt("stopped at the terminal")

    def answer(self, number: int, choice: str) -> None:
        with suppress(ValueError):  # it was withdrawn meanwhile
            self._prompts.answer(number, choice)
