"""The guard file: what ships is right for every robot, and a mistake keeps the guard from starting."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.data import data_path
from orchestrator.guard.config import GuardConfigError, load_guard_config, rules_for
from orchestrator.guard.core import Core
from orchestrator.robots.profiles import load_profile, profile_names

TEXT = data_path("config/guard.yaml").read_text()


@pytest.mark.parametrize("name", profile_names())
def test_the_guard_file_fits_every_robot(name: str) -> None:
    Core(load_profile(name), load_guard_config())


def test_everything_dangerous_is_off() -> None:
    assert not any(vars(load_guard_config().allow).values())


def test_the_numbers_of_the_specification() -> None:
    config = load_guard_config()
    timing, stale, stop = config.timing, config.stale, config.stop
    assert (timing.heartbeat, timing.stream, timing.clear, timing.rearm) == (0.2, 0.2, 1.0, 60.0)
    assert (timing.resend, timing.resends, timing.accept, timing.confirm) == (0.2, 3, 2.0, 60.0)
    assert (stale.factor, stale.floor, stale.cap, stale.frozen, stale.late) == (5, 0.1, 0.5, 0.3, 0.25)
    assert (stop.check_after, stop.repeats, stop.repeat_every) == (1.0, 3, 0.2)
    assert {name: robot.still for name, robot in config.robots.items()} | {"atom": 0, "adam": 0} == {
        "aurora": 0.05, "atom_w": 0.02, "atom": 0, "adam": 0,
    }  # fmt: skip


def test_a_guard_file_may_say_nothing_about_joints_that_do_not_follow(tmp_path: Path) -> None:
    path = tmp_path / "guard.yaml"
    path.write_text("\n".join(line for line in TEXT.splitlines() if not line.startswith("  follow:")))
    assert load_guard_config(path) == load_guard_config()


MISTAKES = [
    ("dry_run: false", "dry_run: no", 'dry_run'),
    ("drop: false ", "dorp: false ", "dorp"),
    ("heartbeat: 200 ms", "heartbeat: 200", "unit"),
    ("heartbeat: 200 ms", "heartbeat: .nan s", "not a number"),
    ("run_gone: hold", "run_gone: drop", "allow.drop is false"),
    ("floor: 100 ms", "floor: 900 ms", "above stale.cap"),
    ("      SetFsm: [{}]", "      SetFms: [{}]", "SetFms"),
    ("roles: {emergency: aurora_state, ", "roles: {", "emergency is missing"),
    ("channels: [security, tilt]", "channels: []", "at least 1"),
    ("pairs: [[amr, amr_event]]", "pairs: [[amr, arm_event]]", "arm_event"),
    ("pairs: [[amr, amr_event]]", "pairs: [[amr]]", "two channels"),
    ("critical: 10 %", "critical: 20 %", "above battery.low"),
    ("follow: 0.3 rad", "follow: 0.4 rad", "out of range"),
    ("follow: 200 ms", "follow: 300 ms", "out of range"),
    ("errors: [ClearErrors, ", "errors: [ClaerErrors, ", "ClaerErrors"),
    ("repeats: 3", "repeats: 3\n  repeats: 4", "repeats"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "words"), MISTAKES)
def test_a_mistake_is_named_with_line_and_column(tmp_path: Path, right: str, wrong: str, words: str) -> None:
    assert right in TEXT
    path = tmp_path / "guard.yaml"
    path.write_text(TEXT.replace(right, wrong, 1))
    with pytest.raises(GuardConfigError) as error:
        load_guard_config(path)
    assert words in str(error.value)
    place = str(error.value).splitlines()[0].split(": ")[0]
    _, line, column = place.rsplit(":", 2)
    assert int(line) > 0
    assert int(column) > 0


def test_a_state_the_robot_does_not_have_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "guard.yaml"
    path.write_text(TEXT.replace("drop: {fsm: security}", "drop: {fsm: securty}"))
    with pytest.raises(GuardConfigError, match="there is no state securty"):
        rules_for(load_guard_config(path), load_profile("gr2"))
