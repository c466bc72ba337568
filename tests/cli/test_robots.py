"""`orchestrator robots`, in a terminal and in a pipe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from orchestrator.cli.app import app
from orchestrator.data import data_path
from orchestrator.robots.profiles import load_profile, profile_names


def orchestrator(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["robots", *arguments])


def test_lists_every_robot_on_a_line_with_what_it_can() -> None:
    result = orchestrator()
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0].split() == ["NAME", "VENDOR", "MODEL", "JOINTS", "CAN"]
    assert [line.split()[0] for line in lines[1:]] == list(profile_names())
    assert "mobile_base" in next(line for line in lines if line.startswith("atom_w"))
    assert next(line for line in lines if line.startswith("adam_sp")).endswith("(read only)")
    assert "\x1b" not in result.stdout


def test_the_list_as_json() -> None:
    found = json.loads(orchestrator("--json").stdout)
    assert [robot["name"] for robot in found] == list(profile_names())
    assert all(isinstance(robot["capabilities"], list) for robot in found)


def test_everything_about_one_robot() -> None:
    result = orchestrator("atom_w")
    assert result.exit_code == 0
    for fact in (
        "atom_w: Dobot ATOM W",
        "domain 0",
        "192.168.8.234:51234",
        "zero_torque 0, damping 1, ready 2, walk 301, balance 302",
        "dock 1, shelf 12, table 15",
        "never commanded   lift",
        "little 3.0815/0.3316",
        "right hand first",
        "base.task_speed 0.05 to 0.6",
        "hand.fingers 6",
        "home (left_arm, right_arm)",
    ):
        assert fact in result.stdout, fact
    assert all(joint.name in result.stdout for joint in load_profile("atom_w").joints)
    assert max(len(line) for line in result.stdout.splitlines() if not line.startswith("  ")) < 120


@pytest.mark.parametrize("name", profile_names())
def test_every_open_question_is_shown(name: str) -> None:
    shown = " ".join(orchestrator(name).stdout.split())
    for question in load_profile(name).unconfirmed:
        assert f"{question.what} {question.note}" in shown


@pytest.mark.parametrize("name", [name for name in profile_names() if load_profile(name).family == "aurora"])
def test_that_gains_cannot_be_set_is_an_open_question_with_its_remedy(name: str) -> None:
    shown = " ".join(orchestrator(name).stdout.split())
    assert "nominal gains Fourier publishes none" in shown
    assert "adds kp and kd to every joint of a group" in shown


@pytest.mark.parametrize("name", profile_names())
def test_a_robot_that_is_only_read_is_not_said_to_be_commanded(name: str) -> None:
    read_only = load_profile(name).read_only
    assert (", commanded at " in orchestrator(name).stdout) is not read_only
    assert ("joints in the order of the wire, never commanded" in orchestrator(name).stdout) is read_only


def test_one_robot_as_json() -> None:
    found = json.loads(orchestrator("gr2", "--json").stdout)
    assert found["fsm"]["walk"] == 3
    assert found["joints"][0]["position"] == {"low": -2.618, "high": 2.618}
    assert found["unconfirmed"][0]["what"]


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(data_path("config/robots/n1.yaml").read_text())
    assert orchestrator(str(file)).stdout.startswith("mine: Fourier N1\n")


def test_mistakes_go_to_stderr_with_their_place(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(data_path("config/robots/n1.yaml").read_text().replace("domain: 123", "domain: many"))
    result = orchestrator(str(file))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"{file}:8:11: error:" in result.stderr


def test_an_unknown_robot() -> None:
    result = orchestrator("g2")
    assert result.exit_code == 2
    assert "did you mean gr2?" in result.stderr


def test_a_broken_file_does_not_hide_the_other_robots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config" / "robots").mkdir(parents=True)
    (tmp_path / "config" / "robots" / "mine.yaml").write_text("family: aurora\n")
    monkeypatch.chdir(tmp_path)
    result = orchestrator()
    assert result.exit_code == 2
    assert "mine has 1 mistakes" in result.stderr
    assert "gr2" in result.stdout
