"""The live view in a terminal: what it shows, its keys, and that the terminal is always put back."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.data import data_path
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.dds, pytest.mark.alone, pytest.mark.timeout(300)]

DELIVERY = str(data_path("trees/04_deliver_atom_w.yaml"))
Run = Callable[..., Terminal]


@pytest.fixture
def run() -> Iterator[Run]:
    """`orchestrator run` in a terminal; sockets, locks and audit files of this test alone."""
    opened: list[Terminal] = []
    with tempfile.TemporaryDirectory(prefix="o") as folder:

        def start(*arguments: str, size: tuple[int, int] = (100, 40)) -> Terminal:
            opened.append(Terminal("run", *arguments, environment={"XDG_RUNTIME_DIR": folder}, size=size))
            return opened[-1]

        yield start
        for terminal in opened:
            terminal.close()


@pytest.fixture
def asking(tmp_path: Path) -> str:
    """A tree that asks twice and waits in between."""
    tree = tmp_path / "asking.yaml"
    tree.write_text(
        "tree: asking\nrobot: atom_w\nroot:\n"
        "  - Log: {text: agreed}\n    confirm: Nobody is near the robot?\n"
        "  - Ask: {question: Which way?, choices: [left, right], fail_on: [neither]}\n    save: way\n"
        "  - Log: {text: going $way}\n"
        "  - Wait: {time: 2 s}\n"
    )
    return str(tree)


def test_the_delivery_is_shown_live_and_its_end_stays(run: Run) -> None:
    terminal = run(DELIVERY, "--sim")
    during = terminal.until("m driven")
    assert " SIM  atom_w  deliver_atom_w" in during.splitlines()[0]
    assert "guard running | e-stop clear | fsm ready" in during
    assert "▶ MoveToTag" in during
    assert "✓ SetFsm" in during
    assert terminal.is_own_screen
    terminal.press("\x1a\x1c\x13")  # Ctrl-Z, Ctrl-\\, Ctrl-S: a suspended run is silent, and its robot would be stopped
    assert terminal.finish() == 0
    assert terminal.is_restored
    assert "✓ close the hand on the box" in terminal.text
    assert terminal.text.rstrip().splitlines()[-1].startswith("success after")


def test_questions_are_answered_by_key_while_the_run_goes_on(run: Run, asking: str) -> None:
    terminal = run(asking, "--sim")
    shown = terminal.until("Nobody is near the robot?")
    assert " y  yes    n  no" in shown
    terminal.press("y")
    shown = terminal.until("Which way?")
    assert " l  left    r  right    n  neither" in shown
    terminal.press("2")
    terminal.until("going right")
    assert terminal.finish() == 0
    assert terminal.is_restored


def test_pause_resume_and_a_breakpoint(run: Run, asking: str) -> None:
    terminal = run(asking, "--sim", "--answer", "Ask=left", "--break", "Wait")
    terminal.until("Nobody is near the robot?")
    terminal.press("p")
    terminal.until("PAUSED by key")
    terminal.press("p")
    terminal.press("y")
    terminal.until("PAUSED breakpoint at Wait")
    terminal.press("p")
    assert terminal.finish() == 0
    assert terminal.is_restored


@pytest.mark.parametrize("way", ["q", "\x03", signal.SIGHUP])
def test_every_way_out_stops_the_robot_and_restores_the_terminal(run: Run, way: str | signal.Signals) -> None:
    terminal = run(DELIVERY, "--sim")
    terminal.until("m driven")
    if isinstance(way, str):
        terminal.press(way)
    else:
        terminal.signal(way)
    assert terminal.finish() == 130
    assert terminal.is_restored
    assert "guard: the robot stands still" in terminal.text
    assert "not done: the end of MoveToTag" in terminal.text
    assert terminal.text.rstrip().splitlines()[-1].startswith("stopped: ")


def test_after_an_emergency_stop_a_person_arms_again_and_the_step_is_done_again(run: Run) -> None:
    fault = "amr_stop@rt/amr/state.navigation_status=RUNNING+1s"
    terminal = run(DELIVERY, "--sim", "--fault", fault)
    shown = terminal.until("a  acknowledge")
    assert "guard estopped" in shown
    while "a  arm " not in terminal.text:  # the stop must have been clear for a second
        terminal.press("a")
        terminal.until_other(terminal.text)
    assert "ok  alone: no other writer" in terminal.text
    terminal.press("a")
    terminal.until("r  restart the step")
    terminal.press("r")
    terminal.until("✓ close the hand on the box")
    assert terminal.finish() == 0
    assert terminal.is_restored


def test_the_view_follows_the_terminal_in_size(run: Run) -> None:
    terminal = run(DELIVERY, "--sim", size=(100, 40))
    terminal.until("▶ MoveToTag")
    terminal.resize(40, 14)
    shown = terminal.until("lines below")
    lines = shown.splitlines()
    assert lines[0].startswith(" SIM  atom_w")
    assert any("▶" in line for line in lines)
    assert "p  pause" in lines[-1]
    terminal.press("q")
    assert terminal.finish() == 130
