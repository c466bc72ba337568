"""What a screen shows of a run, at every size."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from orchestrator.cli.run.frame import duration, frame
from orchestrator.cli.run.keys import hints
from orchestrator.cli.run.picture import Picture
from orchestrator.engine.events import (
    Answer,
    Change,
    Control,
    End,
    GuardReport,
    NodeInfo,
    Note,
    Prompt,
    RobotShown,
    Structure,
    Tick,
)

FIELDS = {
    "emergency.any": False,
    "emergency.hard": False,
    "fsm.state": "ready",
    "errors.problems": [],
    "battery.level": 79.0,
    "navigation.device": "tasking",
    "navigation.status": "running",
    "base.blocked": False,
    "base.x": 1.5,
    "base.y": 0.0,
}


def picture(steps: int = 3, below: int = 2) -> Picture:
    """A sequence of steps, each with some nodes below it."""
    nodes = [NodeInfo(0, None, "sequence", "mission", "tree.yaml", 3)]
    for step in range(steps):
        parent = len(nodes)
        nodes.append(NodeInfo(parent, 0, "sequence", f"step {step}", "tree.yaml", 4))
        nodes += [NodeInfo(parent + 1 + n, parent, "Wait", f"wait {step}.{n}", "tree.yaml", 5) for n in range(below)]
    made = Picture("SIM", "atom_w", "delivery")
    made.take(Structure(at=10.0, tree="delivery", file="tree.yaml", robot="atom_w", nodes=nodes))
    made.take(RobotShown(at=10.0, fields=FIELDS))
    made.take(report("mode", "running: it began", "running"))
    return made


def report(kind: str, text: str, value: str = "") -> GuardReport:
    return GuardReport(at=10.0, report=kind, details={"kind": kind, "text": text, "value": value})


def tick(at: float, **changes: Change) -> Tick:
    return Tick(at=at, tick=1, changes={int(number.removeprefix("n")): change for number, change in changes.items()})


def shown(made: Picture, now: float = 12.0, width: int = 80, height: int = 24, plain: bool = False) -> list[str]:
    """What a terminal without colours shows."""
    lines = frame(made, now, width, height, hints(made.question, made.paused is not None, made.running), plain)
    console = Console(width=width, record=True, no_color=True, file=io.StringIO())
    for line in lines:
        console.print(line, no_wrap=True, overflow="ellipsis")
    text = [line.rstrip() for line in console.export_text().splitlines()]
    assert len(text) <= height
    assert all(len(line) <= width for line in text)
    return text


def test_the_head_says_what_robot_it_is_and_how_it_is() -> None:
    lines = shown(picture(), width=120)
    assert lines[0] == " SIM  atom_w  delivery  2 s"
    assert lines[1].startswith("guard running | e-stop clear | fsm ready | no errors | battery 79 %")
    assert "base tasking running at 1.5 0.0" in lines[1]


def test_what_is_not_known_says_so_and_a_stop_cannot_be_overlooked() -> None:
    made = picture()
    now = FIELDS | {"emergency.any": True, "emergency.hard": True, "fsm.state": None}
    made.take(RobotShown(at=11.0, fields=now))
    assert "E-STOP hard | fsm not known" in shown(made)[1]


def test_statuses_differ_without_colour_too() -> None:
    made = picture()
    made.take(
        tick(
            11.0,
            n0=Change("running"),
            n1=Change("success"),
            n2=Change("success"),
            n3=Change("skipped"),
            n4=Change("running"),
            n5=Change("failure", "no way"),
        )
    )
    lines = shown(made)
    for line in ("▶ mission  1 s", "  ✓ step 0", "    – wait 0.1", "    ✗ wait 1.0  no way", "    · wait 2.1"):
        assert line in lines
    assert "> mission  1 s" in shown(made, plain=True)


def test_a_long_leaf_shows_its_progress_and_what_it_says() -> None:
    made = picture()
    made.take(tick(11.0, n2=Change("running", "1.2 m driven", 0.5)))
    assert "    ▶ wait 0.0  1 s  ━━━━━━──────  50 %  1.2 m driven" in shown(made)
    assert "    > wait 0.0  1 s  ######------  50 %  1.2 m driven" in shown(made, plain=True)


def test_time_stands_still_while_the_run_is_paused() -> None:
    made = picture()
    made.take(tick(11.0, n0=Change("running")))
    made.take(Control(at=12.0, action="paused", reason="by key"))
    assert "PAUSED by key" in shown(made, now=60.0)[0]
    assert "▶ mission  1 s" in shown(made, now=60.0)
    made.take(Control(at=60.0, action="resumed"))
    assert "▶ mission  3 s" in shown(made, now=62.0)


def test_a_reason_over_several_lines_is_one_in_the_head() -> None:
    made = picture()
    made.take(Control(at=12.0, action="paused", reason='"battery.level > 10 %\nor pad.a" holds'))
    assert shown(made)[0].endswith('PAUSED "battery.level > 10 % or pad.a" holds')


def test_a_stopped_run_shows_how_far_it_was() -> None:
    made = picture()
    made.take(
        tick(11.0, n0=Change("running"), n1=Change("success"), n4=Change("running"), n5=Change("running", "x", 0.5))
    )
    made.take(tick(12.0, n0=Change("idle"), n1=Change("idle"), n4=Change("idle"), n5=Change("idle")))
    made.take(End(at=12.0, status="stopped", reason="e-stop", node=None, place="", skipped=[], ticks=9))
    lines = shown(made)
    for line in ("■ mission", "  ✓ step 0", "  ■ step 1", "    ■ wait 1.0  ━━━━━━──────  50 %  x", "  · step 2"):
        assert line in lines


def test_an_aborted_run_shows_how_far_it_was_and_what_its_finally_did() -> None:
    made = picture()
    made.take(tick(11.0, n0=Change("running"), n1=Change("success"), n4=Change("running"), n5=Change("running")))
    made.take(Control(at=12.0, action="aborting", reason="by key"))
    made.take(
        tick(12.0, n0=Change("idle"), n1=Change("idle"), n4=Change("idle"), n5=Change("idle"), n7=Change("running"))
    )
    made.take(tick(13.0, n7=Change("success")))
    made.take(End(at=13.0, status="aborted", reason="by key", node=None, place="", skipped=[], ticks=9))
    lines = shown(made)
    for line in ("■ mission", "  ✓ step 0", "  ■ step 1", "  ✓ step 2"):
        assert line in lines


def test_a_run_that_is_stopped_while_it_is_paused_is_not_paused_when_it_begins_anew() -> None:
    made = picture()
    made.take(tick(11.0, n0=Change("running")))
    made.take(Control(at=12.0, action="paused", reason="by key"))
    made.take(End(at=14.0, status="stopped", reason="e-stop hard", node=None, place="", skipped=[], ticks=9))
    assert "PAUSED" not in shown(made)[0]
    assert shown(made)[-1] == " q  stop the robot and leave"
    assert made.run_time(15.0) == 13.0


def test_what_is_over_is_folded_before_anything_else() -> None:
    made = picture(steps=4, below=4)
    for first in (1, 6):
        made.take(tick(11.0, **{f"n{number}": Change("success") for number in range(first, first + 5)}))
    made.take(tick(11.0, n0=Change("running"), n11=Change("running"), n12=Change("running")))
    lines = shown(made, height=20)
    assert "  ✓ step 0 (4 nodes)" in lines
    assert "    ▶ wait 2.0  1 s" in lines
    assert "    · wait 3.3" in lines


def test_what_has_not_begun_is_folded_next() -> None:
    made = picture(steps=4, below=4)
    made.take(tick(11.0, n0=Change("running"), n1=Change("running"), n2=Change("running")))
    lines = shown(made, height=16)
    assert "  · step 3 (4 nodes)" in lines
    assert "    ▶ wait 0.0  1 s" in lines


def test_a_tree_that_is_still_too_tall_shows_the_part_that_runs() -> None:
    made = picture(steps=1, below=300)
    made.take(tick(11.0, n0=Change("running"), n1=Change("running"), n200=Change("running")))
    lines = shown(made, height=16)
    assert any("▶ wait 0.198" in line for line in lines)
    assert any(line.startswith("  ... ") and line.endswith("lines above") for line in lines)
    assert any(line.startswith("  ... ") and line.endswith("lines below") for line in lines)


def test_every_size_shows_simulation_or_reality() -> None:
    made = picture(steps=10)
    made.take(tick(11.0, n0=Change("running"), n1=Change("running"), n2=Change("running", "x" * 300)))
    for width in (8, 20, 40, 200):
        for height in range(1, 50):
            assert shown(made, width=width, height=height)[0].startswith(" SIM")


def test_names_in_wide_characters_do_not_run_over_the_edge() -> None:
    made = picture()
    made.nodes[0].info = NodeInfo(0, None, "sequence", "箱子" * 40, "tree.yaml", 3)
    lines = frame(made, 12.0, 40, 24, [])
    assert max(line.cell_len for line in lines) <= 40


def test_a_question_stands_out_with_its_keys() -> None:
    made = picture()
    made.take(tick(11.0, n0=Change("running")))
    made.take(Prompt(at=11.0, number=1, node=2, question="Nobody near?", choices=["yes", "no"]))
    lines = shown(made, width=120)
    assert " Nobody near?" in lines
    assert lines[-1].startswith(" y  yes    n  no    p  pause    s  step    a  abort: orderly way out    q  stop")
    made.take(Answer(at=12.0, number=1, answer="yes"))
    assert "Nobody near?" not in "\n".join(shown(made))


@pytest.mark.parametrize("width", [40, 80])
def test_a_long_question_is_read_to_its_end(width: int) -> None:
    made = picture()
    question = (
        "Is nobody between the shelf and the robot, is the door closed, 箱子 in place, and is the way to the lift free?"
    )
    made.take(Prompt(at=11.0, number=1, node=2, question=question, choices=["yes", "no"]))
    lines = [line.strip() for line in shown(made, width=width)]
    assert question in " ".join(lines)
    assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize("width", [1, 2, 3, 20, 40, 41])
@pytest.mark.parametrize(
    "question", ["箱子在货架和机器人之间吗门关好了吗" * 4, "take /srv/maps/" + "hall/" * 20 + "map.yaml"]
)
def test_a_question_without_spaces_is_read_to_its_end_too(question: str, width: int) -> None:
    made = picture()
    made.take(Prompt(at=11.0, number=1, node=2, question=question, choices=["yes", "no"]))
    lines = [line.plain for line in frame(made, 12.0, width, 400, hints(made.question, False, True))]
    assert max(map(cell_len, lines)) <= width
    if width > 3:
        assert question.replace(" ", "") in "".join(lines).replace(" ", "")


@pytest.mark.parametrize("width", [40, 60, 80, 90])
@pytest.mark.parametrize("choices", [["yes", "no"], ["carry on", "leave it here", "bring it back", "abort"]])
def test_every_key_is_seen_on_a_narrow_screen_and_last_the_one_that_stops_the_robot(
    width: int, choices: list[str]
) -> None:
    made = picture()
    made.take(tick(11.0, n0=Change("running"), n1=Change("running"), n2=Change("running")))
    made.take(Prompt(at=11.0, number=1, node=2, question="Nobody near?", choices=choices))
    lines = shown(made, width=width)
    assert lines[-1].endswith(" q  stop the robot and leave")
    text = "\n".join(lines)
    for key, does in hints(made.question, paused=False, running=True):
        assert f" {key}  {does}" in text
    assert shown(made, width=width, height=8)[-1].endswith(" q  stop the robot and leave")


@pytest.mark.parametrize("height", range(2, 12))
def test_the_key_that_stops_the_robot_is_seen_on_the_lowest_screen(height: int) -> None:
    lines = shown(picture(), width=60, height=height)
    assert lines[0].startswith(" SIM")
    assert lines[-1].endswith(" q  stop the robot and leave")


def test_what_was_said_last_is_seen() -> None:
    made = picture()
    made.take(report("refused", "limits: too fast"))
    made.take(Note(at=11.0, node=2, text="Delivered"))
    text = "\n".join(shown(made))
    assert "guard: limits: too fast" in text
    assert "wait 0.0: Delivered" in text


def test_preflight_is_shown_while_a_person_decides() -> None:
    made = Picture("REAL", "atom_w", "delivery")
    lines = [{"ok": True, "text": "alone: no other writer"}, {"ok": False, "text": "battery: too low"}]
    made.take(GuardReport(at=1.0, report="preflight", details={"lines": lines}))
    made.take(Prompt(at=1.0, number=1, node=0, question="Arm?", choices=["arm", "abort"]))
    text = shown(made)
    assert text[0].startswith(" REAL ")
    assert "ok  alone: no other writer" in text
    assert "NOT battery: too low" in text


def test_durations() -> None:
    assert [duration(seconds) for seconds in (0.4, 59.9, 61, 3723)] == ["0 s", "59 s", "1:01", "1:02:03"]
