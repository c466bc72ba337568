"""`orchestrator doctor`, on this machine and beside a simulated robot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from orchestrator.bus.dds import DdsWriter
from orchestrator.cli.app import app
from orchestrator.data import data_path
from tests.support.live import Observer, simulated


def doctor(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["doctor", *arguments])


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with DDS settings of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").mkdir()
    return tmp_path / "config/dds.yaml"


def test_the_machine_alone(elsewhere: Path) -> None:
    elsewhere.write_text("interface: lo\n")
    result = doctor()
    assert result.exit_code == 0
    assert "ok: cyclonedds 11.0.1\n" in result.stdout
    assert "ok: network interfaces: lo (127.0.0.1)" in result.stdout
    assert result.stdout.endswith("ok: config/dds.yaml chooses lo\n")


def test_as_json(elsewhere: Path) -> None:
    elsewhere.write_text("multicast: true\n")
    last = json.loads(doctor("--json").stdout)[-1]
    assert last["verdict"] == "warning"
    assert "name the robot's in config/dds.yaml (interface: eth0)" in last["text"]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ("multicast: true\n", "no network interface is chosen: name the robot's in config/dds.yaml"),
        ("interface: eth77\n", "there is no network interface 'eth77'"),
        ("interfaces: lo\n", "interfaces"),
    ],
)
def test_a_robot_needs_an_interface(elsewhere: Path, settings: str, problem: str) -> None:
    elsewhere.write_text(settings)
    result = doctor("--robot", "atom_w")
    assert result.exit_code == 1
    assert problem in result.stdout.partition("problem: ")[2]


def test_an_unknown_robot_is_bad_input() -> None:
    result = doctor("--robot", "atomw")
    assert result.exit_code == 2
    assert "did you mean atom_w?" in result.stderr


@pytest.fixture(scope="module")
def older_firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = data_path("config/robots/atom_w.yaml").read_text()
    assert "  # variants: [" in text
    file = tmp_path_factory.mktemp("robots") / "older.yaml"
    file.write_text(text.replace("  # variants: [", "  variants: [emergency_3] # ["))
    return file


@pytest.fixture(scope="module")
def robot(older_firmware: Path) -> Iterator[Observer]:
    with simulated(str(older_firmware)) as robot:
        robot.see("rt/emergency/state")
        yield robot


@pytest.mark.dds
def test_a_fitting_profile_and_nothing_is_written(
    robot: Observer, older_firmware: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DdsWriter, "__init__", lambda *_: pytest.fail("doctor only looks"))
    result = doctor("--robot", str(older_firmware), "--tag", robot.bus.settings.tag)
    assert result.exit_code == 0, result.stdout
    for line in ("older (process ", "ok: rt/lower/state: ", "ok: rt/emergency/state: ", "ok: rt/upper/cmd: read by "):
        assert line in result.stdout


@pytest.mark.dds
def test_a_profile_for_other_firmware_is_named_and_a_second_commander_too(robot: Observer) -> None:
    for topic in robot.topics.values():
        if topic.kind == "command":
            robot.bus.writer(topic)
    result = doctor("--robot", "atom_w", "--tag", robot.bus.settings.tag)
    problems = [line for line in result.stdout.splitlines() if line.startswith("problem")]
    assert result.exit_code == 1
    assert problems[0] == (
        "problem: rt/emergency/state: the robot announces emergency_3: write variants: [emergency_3] in the profile"
    )
    assert all(line.partition(": ")[2].split(": ")[1].startswith("run writes this command") for line in problems[1:])
    assert len(problems) == 1 + sum(topic.kind == "command" for topic in robot.topics.values())


def model_line(profile: str, robot: Observer) -> str:
    lines = doctor("--robot", profile, "--tag", robot.bus.settings.tag).stdout.splitlines()
    (found,) = [line for line in lines if ": model: " in line]
    return found


@pytest.mark.dds
def test_the_profile_of_another_model_is_recognised_and_the_right_one_named(robot: Observer) -> None:
    assert model_line("atom", robot).startswith("problem: model: the robot calls itself ATOM W, ")
    with simulated("gr2") as gr2:
        gr2.see("robot_control_group_state")
        assert model_line("gr3", gr2).endswith("waist 1 (profile: 3); use gr2")
        assert model_line("gr2", gr2).startswith("ok: model: ")
