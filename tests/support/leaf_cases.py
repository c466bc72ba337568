"""What every leaf that commands must do on every robot: succeed, fail for the right reason, leave the robot at rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from behaviours.fsm import SetFsm, WaitStable
from behaviours.upper_body import SetUpperFsm, SwitchUpperControl
from behaviours.velocity import SetVelocitySource
from orchestrator.leaf import Leaf, Status
from tests.support.leaf_harness import Play, Stage

Step = tuple[type[Leaf], Mapping[str, Any]]

READY: list[Step] = [(SetFsm, {"state": "ready"})]
UPPER: list[Step] = [*READY, (SwitchUpperControl, {"enabled": True})]
WALKING: list[Step] = [*READY, (SetFsm, {"state": "walk"})]
STANDING: list[Step] = [(SetFsm, {"state": "pd_stand"}), (WaitStable, {"time": 0.5})]
AURORA_WALKING: list[Step] = [*STANDING, (SetFsm, {"state": "walk"}), (SetVelocitySource, {"source": "navigation"})]
MOVE_COMMAND: list[Step] = [*STANDING, (SetFsm, {"state": "walk"}), (SetUpperFsm, {"state": "move_cmd"})]

EMERGENCY = {"atom": "soft", "aurora": "security", "adam": "motor_error:{}"}
"""What stops each family; an Adam has no e-stop topic, its drives' errors are its emergency."""


@dataclass(frozen=True, eq=False)
class Case:
    """One leaf on one robot."""

    robot: str
    leaf: type[Leaf]
    values: Mapping[str, Any] = field(default_factory=dict)
    before: list[Step] = field(default_factory=list)
    """What must have succeeded first."""
    sends: list[str] = field(default_factory=list)
    """What reaches the robot when all is well."""
    command: str = ""
    """The robot's command that gets lost, comes late, ..."""
    if_lost: str = "not_accepted"
    """Why it fails then."""
    resting: Callable[[Any], bool] = lambda twin: True
    """What must be true of the robot after an interruption."""
    midway: float = 0.3
    """Seconds after the start when it is under way."""
    allow: tuple[str, ...] = ()
    act: Callable[[Any], object] = lambda twin: None
    """What somebody does at the robot right after the start, or before it."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """What is special about its stage: `at_first`, `config`, or parts of the profile."""
    under_way: list[Step] = field(default_factory=list)
    """Leaves that have begun before it, one after the other, and go on."""
    folder: Path | None = None
    """Where its files are."""

    def __str__(self) -> str:
        return f"{self.robot}-{self.leaf.__name__}"

    def stage(self) -> Stage:
        stage = Stage(self.robot, self.allow, **self.changes).prepare(*self.before)
        stage.folder = self.folder
        for kind, values in self.under_way:
            stage.leaf(kind, **values).go(self.midway)
        stage.records.clear()
        return stage

    def begin(self, stage: Stage | None = None) -> Play:
        play = (stage or self.stage()).leaf(self.leaf, **self.values).start()
        self.act(play.stage.twin)
        return play


def each(cases: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=str)


def check_success(case: Case) -> Play:
    """On a healthy robot it succeeds, and exactly the expected commands reach the robot."""
    play = case.begin().finish()
    assert play.status is Status.SUCCESS, play
    play.stage.wait(1.0)
    assert play.stage.sent == case.sends
    return play


def check_lost(case: Case) -> Play:
    """On a robot that never gets the command it fails, with a code and a sentence."""
    stage = case.stage()
    stage.hurt(f"lost:{case.command}")
    play = stage.leaf(case.leaf, **case.values).start()
    case.act(stage.twin)
    play.finish()
    assert (play.status, play.reason) == (Status.FAILURE, case.if_lost), play
    assert " " in play.leaf.message
    return play


def check_late(case: Case) -> Play:
    """On a robot that obeys late it still succeeds."""
    stage = case.stage()
    stage.hurt(f"late_exec:{case.command},seconds=0.5s")
    play = stage.leaf(case.leaf, **case.values).start()
    stage.clock.advance(0.0)
    case.act(stage.twin)
    play.finish()
    assert play.status is Status.SUCCESS, play
    return play


def check_emergency(case: Case, after: float) -> Play:
    """An emergency stop ends it with that reason, and nothing but stops reaches the robot from then on."""
    play = case.begin()
    if after:
        play.go(after)
    assert play.status is Status.RUNNING, play
    press(play.stage)
    play.stage.records.clear()
    play.finish()
    assert (play.status, play.reason) == (Status.FAILURE, "emergency"), play
    play.stage.wait(2.0)
    commands = [record["command"]["intent"] for record in play.stage.records if record["role"] != "stop"]
    assert set(commands) <= {"CancelTask"}  # of a task that begins only now
    assert case.resting(play.stage.twin)
    return play


def press(stage: Stage) -> None:
    stage.hurt(EMERGENCY[stage.profile.family].format(stage.profile.joints[0].name))


def check_interruption(case: Case) -> Play:
    """Interrupted midway it leaves the robot at rest."""
    play = case.begin().go(case.midway)
    assert play.status is Status.RUNNING, play
    play.stop()
    play.stage.wait(3.0)
    assert case.resting(play.stage.twin)
    return play
