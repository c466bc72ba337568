"""The live view in a terminal: what it shows, its keys, and that the terminal is always put back."""

from __future__ import annotations

import signal
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.bus.settings import loopback
from orchestrator.data import data_path
from orchestrator.mission.processes import guards
from orchestrator.robots.profiles import load_profile
from tests.support.live import SIM
from tests.support.stopping import orchestrator_stop
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.dds, pytest.mark.alone, pytest.mark.timeout(300)]

DELIVERY = str(data_path("trees/04_deliver_atom_w.yaml"))
Run = Callable[..., Terminal]


@pytest.fixture
def run() -> Iterator[Run]:
    """`orchestrator run` in a terminal; sockets, locks and audit files of this test alone."""
    opened: list[Terminal] = []
    with tempfile.TemporaryDirectory(prefix="o") as folder:

        def start(*arguments: str, size: tuple[int, int] = (100, 40), cwd: Path | None = None) -> Terminal:
            environment = {"XDG_RUNTIME_DIR": folder}
            opened.append(Terminal("run", *arguments, environment=environment, folder=cwd, size=size))
            return opened[-1]

        yield start
        for terminal in opened:
            terminal.close()
        if any(guard.is_relative_to(folder) for guard in guards()):  # of a run that failed: it holds its robot
            orchestrator_stop(Path(folder))


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
    assert "y  yes" not in terminal.until("PAUSED by key")
    terminal.press("p")
    terminal.until("y  yes")
    terminal.press("y")
    terminal.until("PAUSED breakpoint at Wait")
    terminal.press("p")
    assert terminal.finish() == 0
    assert terminal.is_restored


def test_abort_by_key_is_the_orderly_way_out(run: Run, tmp_path: Path) -> None:
    tree = tmp_path / "waiting.yaml"
    tree.write_text(
        "tree: waiting\nrobot: atom_w\nroot:\n  - Wait: {time: 60 s}\n    finally: [Log: {text: tidied up}]\n"
    )
    terminal = run(str(tree), "--sim")
    terminal.until("▶ Wait")
    terminal.until(" a  abort: orderly way out")
    terminal.press("a")
    assert terminal.finish() == 1
    assert terminal.is_restored
    assert "✓ Log" in terminal.text
    assert terminal.text.rstrip().splitlines()[-1] == "aborted: aborted by the operator"


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
    assert "■ MoveToTag" in terminal.text
    assert "guard: the robot stands still" in terminal.text
    assert "not done: the end of MoveToTag" in terminal.text
    conclusion = terminal.text.rstrip().splitlines()[-2:]  # it may take two lines
    assert any(line.startswith("stopped at ") for line in conclusion)


def test_after_an_emergency_stop_a_person_arms_again_and_the_step_is_done_again(run: Run) -> None:
    fault = "amr_stop@rt/amr/state.navigation_status=RUNNING+1s"
    terminal = run(DELIVERY, "--sim", "--fault", fault)
    shown = terminal.until("a  acknowledge")
    assert "guard estopped" in shown
    assert "■ drive to the shelf" in shown
    while "m  arm " not in terminal.text:  # the stop must have been clear for a second
        terminal.press("a")
        terminal.until_other(terminal.text)
    assert "ok  alone: no other writer" in terminal.text
    terminal.press("m")
    terminal.until("r  restart the step")
    terminal.press("r")
    terminal.until("✓ close the hand on the box")
    assert terminal.finish() == 0
    assert terminal.is_restored


@pytest.fixture
def adam(tmp_path: Path) -> Iterator[None]:
    """A robot that passes for a real one: on loopback behind a tag that only the settings file of this folder names."""
    network = loopback(load_profile("adam_u").domain, f"test-{uuid.uuid4()}")
    (tmp_path / "config").mkdir()
    text = f"interface: {network.interface}\nmulticast: false\ntag: {network.tag}\n"
    (tmp_path / "config" / "dds.yaml").write_text(text)
    with subprocess.Popen([*SIM, "adam_u", "--tag", network.tag], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield
        process.terminate()


@pytest.mark.usefixtures("adam")
def test_a_real_robot_is_armed_by_a_person_who_has_seen_the_evidence(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tree.yaml").write_text("tree: short\nroot:\n  - Wait: {time: 1 s}\n")
    terminal = run("tree.yaml", "--robot", "adam_u", cwd=tmp_path)
    shown = terminal.until("m  arm")
    assert shown.startswith(" REAL  adam_u  short")
    assert "ok  e-stop: motors clear" in shown
    assert "ok  alone: no other writer" in shown
    assert "Keep the hardware emergency stop in your hand." in shown
    terminal.press("2")
    assert terminal.finish() == 130
    assert terminal.is_restored
    assert "left before anything moved" in terminal.text
    terminal = run("tree.yaml", "--robot", "adam_u", cwd=tmp_path)
    terminal.until("m  arm")
    terminal.press("m")
    assert terminal.finish() == 0
    assert "✓ Wait" in terminal.text


def test_the_view_follows_the_terminal_in_size(run: Run) -> None:
    terminal = run(DELIVERY, "--sim", size=(100, 40))
    terminal.until("▶ MoveToTag")
    terminal.resize(40, 14)
    shown = terminal.until("lines below")
    lines = shown.splitlines()
    assert lines[0].startswith(" SIM  atom_w")
    assert any("▶" in line for line in lines)
    assert any("p  pause" in line for line in lines)
    assert "q  stop the robot and leave" in lines[-1]
    terminal.press("q")
    assert terminal.finish() == 130
