from __future__ import annotations

import errno
import json
import re
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from typer.testing import CliRunner

from orchestrator.cli.app import app
from orchestrator.cli.run import running
from orchestrator.cli.run.command import run_to_end
from orchestrator.cli.run.options import Options
from orchestrator.data import data_path
from orchestrator.journal.runs import all_runs
from orchestrator.mission import virtual
from orchestrator.mission.loading import Loaded
from orchestrator.sim.twin import Twin

DELIVERY = str(data_path("trees/04_deliver_atom_w.yaml"))
CUP = str(data_path("trees/04_deliver_adam_u.yaml"))


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["run", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_a_mission_in_virtual_time_tells_what_happens_line_by_line() -> None:
    code, said, _ = run(DELIVERY, "--virtual")
    assert code == 0
    assert said.startswith("VIRTUAL  atom_w  deliver_atom_w\n")
    assert "drive to the shelf: success" in said
    assert "Log: says  Delivered to" in said
    assert re.fullmatch(r"success after \d+\.\d s", said.splitlines()[-1])


def test_json_is_one_event_a_line() -> None:
    code, said, _ = run(DELIVERY, "--virtual", "--json")
    assert code == 0
    kinds = [json.loads(line)["event"] for line in said.splitlines()]
    assert {"structure", "tick", "command", "guard", "end"} <= set(kinds)


def test_coverage_comes_last_and_aside() -> None:
    code, said, aside = run(DELIVERY, "--virtual", "--coverage")
    assert code == 0
    assert said.splitlines()[-1].startswith("success")
    assert re.search(r"04_deliver_atom_w.yaml: \d+ of \d+ nodes ran", aside)
    assert "Ask  <- never ran" in aside


def test_a_failing_tree_says_which_node_and_why(tmp_path: Path) -> None:
    tree = tmp_path / "fails.yaml"
    tree.write_text("tree: fails\nrobot: atom_w\nroot:\n  - check: battery.level > 99 %\n")
    code, said, _ = run(str(tree), "--virtual")
    assert code == 1
    assert "failure at" in said
    assert "fails.yaml:4" in said


def test_a_fault_in_virtual_time_stops_the_run_with_3_and_the_last_line_says_why() -> None:
    code, said, _ = run(DELIVERY, "--virtual", "--fault", "hard@8s+1s")
    assert code == 3
    before, last = said.splitlines()[-2:]
    assert before.startswith("not done: finally of sequence")
    assert re.fullmatch(r"stopped at .*go_to.yaml:\d+:\d+: MoveToTag: estopped: e-stop hard", last)


def test_times_count_as_those_of_faults_do() -> None:
    said = run(DELIVERY, "--virtual", "--fault", "hard@5s")[1]
    told = run(DELIVERY, "--virtual", "--fault", "hard@5s", "--json")[1]
    shown = next(float(line.split()[0]) for line in said.splitlines() if "e-stop hard" in line)
    events = (json.loads(line) for line in told.splitlines())
    at = next(event["at"] for event in events if "e-stop hard" in event.get("details", {}).get("text", ""))
    assert 5.0 <= at < 5.1
    assert shown == round(at, 2)


def test_a_failed_run_says_which_node_where_why_and_what_the_robot_showed() -> None:
    code, said, _ = run(DELIVERY, "--virtual", "--fault", "hand_jam:right@0s")
    assert code == 1
    before, last = said.splitlines()[-2:]
    assert before.startswith("the robot showed: e-stop clear, fsm ready, upper on, no errors, battery")
    assert re.fullmatch(
        r"failure at .*04_deliver_atom_w.yaml:\d+:\d+: close the hand on the box: not_accepted: .+", last
    )


@pytest.mark.parametrize(
    ("fault", "shown", "why"),
    [
        ("security@8s", "the robot showed: E-STOP security, fsm security,", "estopped: e-stop security"),
        (
            "motor_error:left_elbow_pitch,code=17@8s",
            "ERROR left_arm: motion error; left_elbow_pitch: error 0x11",
            "not errors.any",
        ),
    ],
)
def test_what_the_robot_showed_and_why_it_ended_are_one_story(fault: str, shown: str, why: str) -> None:
    *_, last = lines = run(str(data_path("trees/04_deliver_gr2.yaml")), "--virtual", "--fault", fault)[1].splitlines()
    assert why in last
    assert any(shown in line for line in lines)


def test_stand_ins_take_the_place_of_nodes(tmp_path: Path) -> None:
    file = tmp_path / "stand_ins.yaml"
    file.write_text("MoveToTag: succeed after 2 s\nclose the hand on the box: fail\n")
    code, said, _ = run(DELIVERY, "--virtual", "--substitute", str(file))
    assert code == 1
    assert "the stand-in of close the hand on the box fails" in said.splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("MoveToTag: succed\n", "stand_ins.yaml:1:12: error:"),
        ("MoveToTagg: succeed\n", 'did you mean "MoveToTag"?'),
    ],
)
def test_a_mistake_in_a_file_of_stand_ins_is_found_before_anything_runs(
    tmp_path: Path, text: str, sentence: str
) -> None:
    file = tmp_path / "stand_ins.yaml"
    file.write_text(text)
    code, _, complaint = run(DELIVERY, "--virtual", "--substitute", str(file))
    assert code == 2
    assert sentence in complaint


@pytest.mark.parametrize(
    ("given", "code", "sentence"),
    [
        (("--answer", "Ask=left"), 0, "success after"),
        ((), 1, 'nobody is there to answer: Which way? (in advance --answer "Ask=CHOICE" does: left, right)'),
    ],
)
def test_questions_are_answered_in_advance_or_fail_at_once(
    tmp_path: Path, given: tuple[str, ...], code: int, sentence: str
) -> None:
    tree = tmp_path / "asks.yaml"
    tree.write_text("tree: asks\nrobot: gr2\nroot:\n  - Ask: {question: Which way?, choices: [left, right]}\n")
    found, said, _ = run(str(tree), "--virtual", *given)
    assert (found, sentence in said.splitlines()[-1]) == (code, True)


def test_answers_of_stand_ins_that_ask_and_choices_that_only_the_run_knows_are_taken(tmp_path: Path) -> None:
    (tmp_path / "stand_ins.yaml").write_text("Wait: ask me\n")
    tree = tmp_path / "asks.yaml"
    names = "params:\n  side: {type: text, default: left}\n"
    nodes = "  - Ask: {question: Which way?, choices: [$side, right]}\n  - Wait: {time: 1 s}\n"
    tree.write_text(f"tree: asks\nrobot: gr2\n{names}root:\n{nodes}")
    answers = ("--answer", "Ask=left", "--answer", "Wait=succeed")
    assert run(str(tree), "--virtual", "--substitute", str(tmp_path / "stand_ins.yaml"), *answers)[0] == 0


def test_the_same_seed_gives_the_same_run() -> None:
    assert run(DELIVERY, "--virtual", "--json", "--seed", "3") == run(DELIVERY, "--virtual", "--json", "--seed", "3")


@pytest.mark.dds
def test_a_dry_run_looks_at_the_robot_and_rehearses_on_a_twin() -> None:
    code, said, _ = run(DELIVERY, "--dry-run", "--sim")
    assert code == 0
    assert said.count("ok  e-stop: soft clear") == 1  # of the robot; the twin's preflight tells nothing more
    assert said.startswith("DRY RUN  atom_w  deliver_atom_w")
    assert said.splitlines()[-1].startswith("success after")


@pytest.mark.dds
def test_a_dry_run_on_a_robot_that_could_not_be_armed_says_what_to_do() -> None:
    code, said, complaint = run(DELIVERY, "--dry-run", "--sim", "--fault", "hard@0s")
    assert code == 3
    assert "NOT e-stop: an e-stop is triggered" in said
    assert "release the emergency stop" in complaint


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((DELIVERY, "--sim", "--virtual"), "exclude each other"),
        ((DELIVERY, "--yes"), "--yes is for simulation only"),
        ((DELIVERY, "--virtual", "--set", "pick"), "--set takes NAME=VALUE"),
        ((DELIVERY, "--virtual", "--set", "pick=999999"), "pick"),
        (("missing.yaml", "--virtual"), "missing.yaml"),
        ((DELIVERY,), "armed by a person at the terminal"),
        ((DELIVERY, "--dry-run", "--virtual"), "with --virtual there is none"),
        ((DELIVERY, "--dry-run", "--arm"), "never arms"),
        ((DELIVERY, "--substitute", "x.yaml"), "something that has not happened"),
        ((DELIVERY, "--virtual", "--substitute", "missing.yaml"), "missing.yaml"),
        ((DELIVERY, "--arm", "--fault", "hard"), "add --sim or --virtual"),
        ((DELIVERY, "--virtual", "--fault", "hardd"), "did you mean hard?"),
        ((DELIVERY, "--virtual", "--fault", "hard@soon"), "'soon' is not a time"),
        ((DELIVERY, "--sim", "--fault", "nonsense"), "error: no fault 'nonsense'; there are off, stuck"),
        ((DELIVERY, "--dry-run", "--sim", "--fault", "hardd"), "did you mean hard?"),
        ((DELIVERY, "--virtual", "--fault", "wrong:rt/amr/state.position,value=abc"), "position is a number"),
        ((DELIVERY, "--virtual", "--fault", "slow:rt/amr/state,factor=0"), "factor is a whole number from 1"),
        ((DELIVERY, "--virtual", "--fault", "motor_error:left_elbow_pitch,code=99999999"), "code is a whole number"),
        ((DELIVERY, "--virtual", "--fault", "hard@3s+0s"), "hard: it must last longer than 0 s"),
        ((DELIVERY, "--sim", "--fault", "lost:rt/set/fsm/id"), "would change nothing: missions send atom_w rpc/SetFsm"),
        ((DELIVERY, "--virtual", "--break", "Wait"), "--break pauses until a person goes on"),
        ((DELIVERY, "--virtual", "--robot", "atom_x"), "atom_x"),
        ((DELIVERY, "--virtual", "--answer", "Aks=done"), 'no node is called "Aks": did you mean "Ask"?'),
        ((DELIVERY, "--virtual", "--answer", "Ask=perhaps"), '"perhaps" is no answer to "Ask"; the choices are clear,'),
        ((DELIVERY, "--virtual", "--answer", "HandOpen=yes"), '"HandOpen" asks nothing; these do: Ask'),
        ((CUP, "--virtual", "--answer", "hand the cup over=clear"), "the choices are yes, no"),
        ((DELIVERY, "--virtual", "--set", "pick=12", "--set", "pick=15"), "--set pick is given twice: 12 and 15"),
        ((DELIVERY, "--virtual", "--answer", "Ask=clear", "--answer", "Ask=abort"), "--answer Ask is given twice"),
    ],
)
def test_bad_input_ends_with_2_and_a_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    code, _, complaint = run(*arguments)
    assert code == 2
    assert sentence in complaint


def test_a_fault_that_cannot_be_is_refused_before_a_run_is_recorded() -> None:
    before = [run.id for run in all_runs()]
    code, _, complaint = run(DELIVERY, "--sim", "--fault", "off:rt/amr/state.position")
    assert (code, "takes a whole state topic" in complaint) == (2, True)
    assert [run.id for run in all_runs()] == before


def test_whatever_a_node_says_is_one_line(tmp_path: Path) -> None:
    tree = tmp_path / "says.yaml"
    tree.write_text(
        'tree: says\nrobot: atom_w\nparams:\n  what: {type: text}\nroot:\n  - Log: {text: "one\\ntwo $what"}\n'
        '    name: "a\\nb"\n'
    )
    code, said, _ = run(str(tree), "--virtual", "--set", "what=\033[31mred\a")
    assert code == 0
    assert "a b: says  one two �[31mred�" in said


def test_the_last_line_is_one_line(tmp_path: Path) -> None:
    tree = tmp_path / "asks.yaml"
    tree.write_text(
        'tree: asks\nrobot: atom_w\nroot:\n  - Ask: {question: "one\ntwo", choices: [a, b]}\n    name: "x\ny"\n'
    )
    code, said, _ = run(str(tree), "--virtual")
    assert code == 1
    assert said.splitlines()[-1].startswith("failure at ")
    assert ': x y: nobody is there to answer: one two (in advance --answer "x y=CHOICE"' in said.splitlines()[-1]


def test_a_disk_that_is_full_elsewhere_is_not_the_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", "/run/guard.log")

    monkeypatch.setattr(running, "run", full)
    with pytest.raises(OSError, match=r"guard\.log"):
        run_to_end(lambda: cast(Loaded, None), cast(Options, None))


def test_what_a_leaf_says_when_it_succeeds_is_told(tmp_path: Path) -> None:
    tree = tmp_path / "walks.yaml"
    tree.write_text(
        "tree: walks\nrobot: atom\nroot:\n  - SetFsm: {state: ready}\n  - SetFsm: {state: walk}\n"
        "  - Walk: {forward: 0.3 m/s, time: 2 s}\n"
    )
    _, said, _ = run(str(tree), "--virtual")
    assert "Walk: success  it reports nothing that could show such a walk" in said


WAITS = """\
tree: waits
robot: atom_w
root:
  sequence:
    - Log: {text: begun}
    - Wait: {time: 20 h}
  finally: [Log: {text: tidied up}]
"""


@pytest.fixture
def signalled(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Sends signals to this process at moments of virtual time, also where whoever started it had them ignored."""
    before = {
        number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }

    def send(*moments: tuple[float, signal.Signals]) -> None:
        def plan(twin: Twin) -> None:
            for seconds, number in moments:
                twin.clock.after(seconds, partial(signal.raise_signal, number))

        monkeypatch.setattr(virtual, "put_objects", plan)

    yield send
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("number", "why"),
    [(signal.SIGINT, "interrupted at the terminal"), (signal.SIGTERM, "SIGTERM"), (signal.SIGHUP, "SIGHUP")],
)
def test_an_interrupted_run_in_virtual_time_says_where_it_stood_and_what_is_left_undone(
    number: signal.Signals, why: str, tmp_path: Path, signalled: Callable[..., None]
) -> None:
    (tmp_path / "waits.yaml").write_text(WAITS)
    before = {run.id for run in all_runs()}
    signalled((5.0, number))
    code, said, aside = run(str(tmp_path / "waits.yaml"), "--virtual", "--record", "--coverage")
    assert code == 130
    *_, undone, last = said.splitlines()
    assert undone == "not done: finally of sequence on line 4"
    assert last.endswith(f"waits.yaml:6:7: Wait: {why}")
    assert "waits.yaml: 3 of 4 nodes ran" in aside
    (kept,) = (run for run in all_runs() if run.id not in before)
    with kept.history() as history:
        assert (kept.outcome(history)["status"], kept.outcome(history)["reason"]) == ("stopped", why)


def test_the_json_of_an_interrupted_run_in_virtual_time_has_an_end(
    tmp_path: Path, signalled: Callable[..., None]
) -> None:
    (tmp_path / "waits.yaml").write_text(WAITS)
    signalled((5.0, signal.SIGTERM))
    code, said, _ = run(str(tmp_path / "waits.yaml"), "--virtual", "--json")
    assert (code, "end" in [json.loads(line)["event"] for line in said.splitlines()]) == (130, True)


def test_an_interruption_before_a_run_in_virtual_time_begins_leaves_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "waits.yaml").write_text(WAITS)
    monkeypatch.setattr(virtual, "put_objects", lambda twin: signal.raise_signal(signal.SIGTERM))
    code, _, aside = run(str(tmp_path / "waits.yaml"), "--virtual")
    assert (code, aside) == (130, "interrupted\n")


def test_whoever_leaves_at_a_question_in_virtual_time_stops_the_node_that_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "asks.yaml"
    waits = "  - Wait: {time: 1 s}\n"
    tree.write_text(
        f"tree: asks\nrobot: gr2\nroot:\n{waits}  - Ask: {{question: Which way?, choices: [left, right]}}\n"
    )
    monkeypatch.setattr(running, "is_attended", lambda: True)
    result = CliRunner().invoke(app, ["run", str(tree), "--virtual"], input="q\n")
    assert result.exit_code == 130
    assert result.stdout.splitlines()[-1].endswith("asks.yaml:5:5: Ask: interrupted at the terminal")


def test_a_run_in_virtual_time_that_is_not_armed_has_a_table_of_nodes_too(tmp_path: Path) -> None:
    code, _, aside = run(DELIVERY, "--virtual", "--coverage", "--fault", "hard@0s")
    assert code == 3
    assert re.search(r"04_deliver_atom_w.yaml: 0 of \d+ nodes ran", aside)
