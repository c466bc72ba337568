"""`orchestrator fields`, for one robot and for all."""

from __future__ import annotations

import json

from typer.testing import CliRunner, Result

from orchestrator.cli.app import app
from orchestrator.robots.fields import fields_of
from orchestrator.robots.profiles import load_profile


def orchestrator(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["fields", *arguments])


def test_one_robots_fields_with_type_unit_and_words() -> None:
    result = orchestrator("--robot", "atom_w")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert len(lines) == 1 + len(fields_of(load_profile("atom_w")))
    level = next(line for line in lines if line.startswith("battery.level"))
    assert level.split("  ")[1:] and "percent in %" in level
    state = next(line for line in lines if line.startswith("fsm.state"))
    assert "at once" in state
    assert "zero_torque, damping, ready, walk, balance" in state


def test_all_robots_together_have_each_field_once() -> None:
    names = [line.split()[0] for line in orchestrator().stdout.splitlines()]
    assert len(names) == len(set(names))
    assert {"body.stable", "navigation.status", "battery.voltage", "pad.home"} <= set(names)


def test_as_json() -> None:
    rows = json.loads(orchestrator("--robot", "gr2", "--json").stdout)
    assert {row["name"] for row in rows} == set(fields_of(load_profile("gr2")))


def test_a_robot_that_does_not_exist() -> None:
    result = orchestrator("--robot", "gr9")
    assert result.exit_code == 2
    assert "gr9" in result.stderr
