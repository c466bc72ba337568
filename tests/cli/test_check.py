"""`orchestrator check`: findings in a terminal, in a pipe and as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from orchestrator.cli.app import app

GOOD = "tree: t\nrobot: atom_w\nroot:\n  - SetFsm: {state: ready}\n"
BAD = GOOD.replace("SetFsm", "SetFsn") + "  - Wait: {time: 2}\n"


def check(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["check", *map(str, arguments)])


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tmp_path / "t.yaml"


def test_a_good_tree(tree: Path) -> None:
    tree.write_text(GOOD)
    result = check(tree)
    assert result.exit_code == 0
    assert result.stdout == f"{tree}: 2 nodes, can run on atom_w\n"


def test_every_problem_with_place_source_line_caret_and_the_nearest_name(tree: Path) -> None:
    tree.write_text(BAD)
    result = check(tree)
    assert result.exit_code == 2
    assert result.stdout.splitlines() == [
        f'{tree}:4:5: error: there is no node "SetFsn"; did you mean SetFsm?',
        "    - SetFsn: {state: ready}",
        "      ^",
        f"{tree}:5:18: error: 2 needs a unit: s, ms, min or h; did you mean 2 s?",
        "    - Wait: {time: 2}",
        "                   ^",
        "2 errors, 0 warnings",
    ]


def test_what_the_guard_file_forbids_is_said_together_with_what_is_wrong(tree: Path) -> None:
    nodes = ["SetBaseSpeed: {speed: 0.3 m/s}", "DriveBase: {forward: 0.1 m/s, time: 1 s}", "StartMapping", "SaveMap"]
    nodes += ["StopMapping", "EnableMotors: {enabled: maybe}", "RotateBase: {angle: 90 deg}", "SetFsm: {state: reddy}"]
    tree.write_text("tree: t\nrobot: atom_w\nroot:\n" + "".join(f"  - {node}\n" for node in nodes))
    result = check(tree, "--json")
    assert result.exit_code == 2
    found = [(each["line"], each["code"]) for each in json.loads(result.stdout)]
    assert {line for line, code in found if code == "forbidden"} == {4, 5, 6, 7, 8, 9}
    assert {line for line, code in found if code != "forbidden"} == {9, 10, 11}


@pytest.mark.parametrize("named", [True, False])
def test_no_tree_can_run_on_a_robot_that_is_only_watched(named: bool, tree: Path) -> None:
    tree.write_text(f"tree: t\nrobot: {'adam_lite' if named else 'adam_u'}\nroot:\n  - Log: {{text: hello}}\n")
    result = check(tree, *([] if named else ["--robot", "adam_lite"]))
    assert result.exit_code == 2
    assert f"{tree}:1:1: error: adam_lite is read-only: it is only watched" in result.stdout
    assert "can run on adam_lite" not in result.stdout


def test_colours_only_in_a_terminal(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write_text(BAD)
    assert "\x1b" not in check(tree).stdout
    monkeypatch.setenv("TERM", "xterm")
    coloured = CliRunner().invoke(app, ["check", str(tree)], color=True)
    assert "\x1b[31m\x1b[1merror\x1b[0m" in coloured.stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in CliRunner().invoke(app, ["check", str(tree)], color=True).stdout


def test_as_json(tree: Path) -> None:
    tree.write_text(BAD)
    result = check(tree, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)[0] == {
        "file": str(tree),
        "line": 4,
        "column": 5,
        "severity": "error",
        "code": "unknown-node",
        "message": 'there is no node "SetFsn"',
        "suggestion": "SetFsm",
    }


def test_nothing_to_say_is_an_empty_list(tree: Path) -> None:
    tree.write_text(GOOD)
    assert json.loads(check(tree, "--json").stdout) == []


def test_the_robot_asked_for_goes_before_the_trees_own(tree: Path) -> None:
    tree.write_text(GOOD)
    assert 'gr2 has no fsm state "ready"' in check(tree, "--robot", "gr2").stdout


def test_a_robot_of_ones_own_by_file(tree: Path) -> None:
    from orchestrator.data import data_path

    tree.write_text(GOOD)
    profile = tree.with_name("mine.yaml")
    profile.write_text(data_path("config/robots/atom.yaml").read_text())
    assert check(tree, "--robot", profile).stdout.endswith("can run on mine\n")


def test_no_robot_at_all_is_said(tree: Path) -> None:
    tree.write_text(GOOD.replace("robot: atom_w\n", ""))
    result = check(tree)
    assert result.exit_code == 0
    assert "warning: no robot is named, so what the robot can do was not checked" in result.stdout
    assert result.stdout.endswith(f"{tree}: 2 nodes, not checked against a robot\n")


def test_what_the_guard_file_forbids_is_an_error(tree: Path) -> None:
    tree.write_text(GOOD + "  - StartMapping\n")
    result = check(tree)
    assert result.exit_code == 2
    assert f"{tree}:5:5: error: StartMapping is forbidden" in result.stdout
    assert "can run" not in result.stdout


def test_with_a_guard_file_that_has_mistakes_nothing_can_run(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guard = tree.parent / "config" / "guard.yaml"
    guard.parent.mkdir()
    guard.write_text("allow: {motors: maybe}\n")
    monkeypatch.chdir(tree.parent)
    tree.write_text(GOOD)
    result = check(tree)
    assert result.exit_code == 2
    assert "config/guard.yaml:1:1: error: the guard file has mistakes" in result.stdout
    assert "maybe" in result.stderr
    assert "can run" not in result.stdout


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_an_unknown_robot(tree: Path, arguments: list[str]) -> None:
    tree.write_text(GOOD)
    result = check(tree, "--robot", "aton_w", *arguments)
    assert result.exit_code == 2
    assert "unknown-robot" in result.stdout or "did you mean atom_w?" in result.stdout


def test_a_tree_that_names_an_unknown_robot(tree: Path) -> None:
    tree.write_text(GOOD.replace("atom_w", "aton_w"))
    assert f'{tree}:2:8: error: there is no robot "aton_w"; did you mean atom_w?' in check(tree).stdout


def test_a_tree_that_names_a_robot_whose_profile_has_mistakes(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tree.parent / "config" / "robots"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("family: atom\n")
    monkeypatch.chdir(tree.parent)
    tree.write_text(GOOD.replace("atom_w", "mine"))
    assert 't.yaml:2:8: error: the profile of "mine" has mistakes' in check(tree).stdout
    assert json.loads(check(tree, "--json").stdout)[0]["code"] == "bad-profile"


def test_what_a_robot_does_not_report_is_no_mistake_where_it_never_matters(tree: Path) -> None:
    tree.write_text("tree: t\nrobot: adam_u\nroot:\n  - check: battery.level > 15 %\n")
    assert "adam_u does not report battery.level" in check(tree).stdout
    assert json.loads(check(tree, "--json").stdout)[0]["code"] == "lacks-field"
    tree.write_text("tree: t\nrobot: adam_u\nroot:\n  - check: robot.family == adam or battery.level > 15 %\n")
    assert check(tree).exit_code == 0


@pytest.mark.parametrize(
    ("robot", "node", "column", "field"),
    [
        ("atom", "Walk: {forward: 0.2 m/s, distance: 1 m}", 40, "body.x"),
        ("atom_w", "WaitForButton: {button: lo}", 29, "pad.lo"),
    ],
)
def test_what_a_leaf_watches_must_be_reported(tree: Path, robot: str, node: str, column: int, field: str) -> None:
    tree.write_text(f"tree: t\nrobot: {robot}\nroot:\n  - {node}\n    timeout: 1 min\n")
    found = json.loads(check(tree, "--json").stdout)
    assert [(f["code"], f["column"]) for f in found if f["severity"] == "error"] == [("lacks-field", column)]
    assert f"{robot} does not report {field}" in found[-1]["message"]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    loop = tmp_path / "loop.yaml"
    loop.symlink_to(loop)
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"tree: caf\xe9\n")
    found = json.loads(check(tmp_path / "no.yaml", tmp_path, loop, latin, "--json").stdout)
    assert [each["code"] for each in found] == ["no-file", "directory", "link-loop", "not-utf-8"]


def test_the_first_fifty_and_the_count(tree: Path) -> None:
    tree.write_text(GOOD + "  - Nonsense\n" * 1500)
    lines = check(tree).stdout.splitlines()
    assert sum(": error: " in line for line in lines) == 50
    assert lines[-2:] == ["... and 1450 more", "1500 errors, 0 warnings"]


def test_json_says_how_many_are_not_listed(tree: Path) -> None:
    tree.write_text(GOOD + "  - Nonsense\n" * 1500)
    found = json.loads(check(tree, "--json").stdout)
    assert len(found) == 1001
    assert (found[-1]["code"], found[-1]["message"]) == ("left-out", "500 more were found and are not listed")


def test_a_part_used_by_two_trees_is_complained_about_once(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text("tree: part\nroot: [Nonsense]\n")
    users = [tmp_path / "one.yaml", tmp_path / "two.yaml"]
    for user in users:
        user.write_text("tree: t\nrobot: atom\nroot:\n  - use: part.yaml\n")
    assert check(*users).stdout.count("there is no node") == 1


def test_parameters_that_must_be_given_are_named(tree: Path) -> None:
    tree.write_text("tree: t\nrobot: atom_w\nparams: {tag: {type: tag}}\nroot:\n  - MoveToTag: {tag: $tag}\n")
    assert "can run on atom_w with --set tag=..." in check(tree, "--robot", "atom_w").stdout


def test_it_starts_without_anything_heavy(tree: Path) -> None:
    tree.write_text(GOOD)
    program = f"""import sys
from orchestrator.cli.app import app
app(["check", {str(tree)!r}], standalone_mode=False)
print(sorted({{"numpy", "py_trees", "cyclonedds", "pydantic", "rich", "ruamel"}} & set(sys.modules)))"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"
