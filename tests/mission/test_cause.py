"""The conclusion of a run that was stopped or has failed: what happened first, and at which node."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from behaviours.hands import HandOpen
from orchestrator.cli.run.lines import Lines
from orchestrator.engine.events import Command, End, Event, RobotShown
from orchestrator.engine.runner import Outcome
from orchestrator.guard.events import RunGone
from orchestrator.leaf import Status
from orchestrator.mission.loading import load_mission
from orchestrator.mission.virtual import VirtualMission
from orchestrator.sim.faults import inject
from orchestrator.testing import StartMission

TREE = """
tree: reach
robot: adam_u
root:
  sequence:
    - MoveJoints: {pose: ready, time: 3 s}
      name: reach
    - HandOpen: {hand: right}
      name: open
  finally:
    - MoveJoints: {pose: home, time: 3 s}
      name: go home
"""
STOOD_STILL = "the run stood still for 2.5 s, so the guard stopped the robot"


class Play:
    """A mission to which something happens at a turn of its run."""

    def __init__(self, folder: Path) -> None:
        (folder / "tree.yaml").write_text(TREE)
        self.shown = Lines("VIRTUAL", "adam_u", "reach")
        self.mission = VirtualMission(load_mission(folder / "tree.yaml"), self.shown)
        self.mission.mission.arm("test")

    def run(self, turn: int = 0, happens: Callable[[], object] = lambda: None) -> Outcome:
        for number, _ in enumerate(self.mission.mission.turns()):
            if number == turn:
                happens()
        self.shown.close()
        outcome = self.mission.mission.runner.outcome
        assert outcome is not None
        return outcome

    def stand_still(self) -> None:
        self.mission.clock.advance(2.5)


@pytest.fixture
def play(tmp_path: Path) -> Play:
    return Play(tmp_path)


def told(outcome: Outcome) -> tuple[str, str, str]:
    return outcome.status, outcome.node.name if outcome.node else "", outcome.reason


def test_a_run_that_stood_still_between_two_ticks(play: Play) -> None:
    assert told(play.run(20, play.stand_still)) == ("stopped", "reach", STOOD_STILL)


@pytest.mark.parametrize("status", [Status.SUCCESS, Status.FAILURE])
def test_a_run_that_stood_still_in_a_tick_in_which_a_leaf_ended(
    play: Play, status: Status, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever follows from that in the same tick would be refused: it is not why, and `finally` is not done."""

    def step(leaf: Any) -> Status:
        play.stand_still()
        return status

    monkeypatch.setattr(HandOpen, "step", step)
    assert told(play.run()) == ("stopped", "open", STOOD_STILL)
    *_, shown, undone, last = (line for line in capsys.readouterr().out.splitlines() if "the end of open" not in line)
    assert last.endswith(f"tree.yaml:8:7: open: {STOOD_STILL}")
    assert last.startswith("stopped at ")
    assert undone == "not done: finally of sequence on line 5"
    assert shown == "the robot showed: no errors, battery 52 V"


def test_a_guard_that_missed_heartbeats_that_were_sent(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    link = play.mission.mission._link
    told_so = "the guard did not hear from the run any more, so it stopped the robot"
    assert told(play.run(20, lambda: monkeypatch.setattr(link, "heartbeat", lambda: None))) == (
        "stopped",
        "reach",
        told_so,
    )


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("motor_error:left_elbow", "estopped: e-stop motors"),
        ("damping", "estopped: e-stop pad"),
        ("foreign_writer:rt/lowcmd", "intervened: commanded by"),
        ("garbage:rt/lowstate.motor_state[3].q", "fault: emergency (rt/lowstate) is bad"),
    ],
)
def test_a_stop_by_the_guard(play: Play, fault: str, reason: str) -> None:
    outcome = play.run(20, lambda: inject(play.mission.twin, fault))
    assert told(outcome)[:2] == ("stopped", "reach")
    assert outcome.reason.startswith(reason)


LATE = 0.2
"""Seconds by which the guard is slower than the run."""
RECOVERS = """
tree: recovers
robot: atom_w
root:
  sequence:
    - SetFsm: {state: ready}
    - selector:
        - MoveToTag: {tag: shelf}
          name: drive
          retry: 2
        - HandOpen: {hand: right}
  finally:
    - HandOpen: {hand: left}
"""


@pytest.mark.parametrize("modifier", ["", "while: not emergency.any", "until: emergency.any"])
def test_an_emergency_stop_that_the_run_sees_before_the_guard(
    modifier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a stop all the same: nothing is tried again or instead, and no `finally` is done."""
    (tmp_path / "tree.yaml").write_text(RECOVERS.replace("retry: 2", f"retry: 2\n          {modifier}"))
    events: list[Event] = []
    play = VirtualMission(load_mission(tmp_path / "tree.yaml"), events.append)
    decide = play.guard._decide

    def late(event: Any) -> None:
        if getattr(event, "flags", None) and any(event.flags.values()):
            play.clock.after(LATE, lambda: decide(event))
        else:
            decide(event)

    monkeypatch.setattr(play.guard, "_decide", late)
    play.clock.after(8.0, lambda: inject(play.twin, "amr_stop"))
    outcome = play.run()
    assert told(outcome)[:2] == ("stopped", "drive")
    assert outcome.reason.startswith("estopped: e-stop")
    assert [event.intent for event in events if isinstance(event, Command)] == ["SetFsm", "MoveToTag"]
    (end,) = (event for event in events if isinstance(event, End))
    assert end.skipped == ["the end of drive on line 8", "finally of sequence on line 5"]


ARMS_WHILE_WALKING = """
tree: arms
robot: gr2
root:
  - SetFsm: {state: joint_stand}
  - SetFsm: {state: pd_stand}
  - WaitStable: {time: 500 ms}
  - SetFsm: {state: walk}
  - SetVelocitySource: {source: navigation}
  - SetUpperFsm: {state: remote}
  - MoveJoints: {pose: ready, time: 3 s}
"""


def test_a_stop_that_is_told_after_the_tree_has_failed_of_it(mission: StartMission) -> None:
    """A robot that falls drops its arms before it is too far tilted."""
    run = mission(ARMS_WHILE_WALKING, faults=["fall@10.6s"])
    run.until("MoveJoints", "failure")
    assert run.finish().status == "stopped"
    assert run.failed_node == "MoveJoints"


MOVES = {
    "gr2": (
        ["SetFsm: {state: pd_stand}", "WaitStable", "SetFsm: {state: walk}", "SetVelocitySource: {source: navigation}"],
        "Walk: {forward: 0.2 m/s, time: 30 s}",
    ),
    "atom_w": (
        ["SetFsm: {state: ready}", "SwitchUpperControl: {enabled: true}"],
        "MoveJoints: {pose: ready, time: 20 s}",
    ),
    "adam_u": ([], "MoveJoints: {pose: ready, time: 20 s}"),
}


@pytest.mark.parametrize("robot", MOVES)
def test_a_robot_that_goes_is_a_stop_before_the_guard_tells_of_it(robot: str, mission: StartMission) -> None:
    """Nobody listens to its commands any more at once; that it is silent is known a moment later."""
    before, moves = MOVES[robot]
    nodes = "\n".join(f"    - {node}" for node in before)
    tree = f"tree: goes\nrobot: {robot}\nroot:\n  sequence:\n{nodes}\n    - {moves}\n      name: move\n"
    run = mission(f"{tree}      retry: 2\n  finally:\n    - HandOpen: {{hand: left}}\n")
    run.until("move")
    run.wait(2.0)
    run.fault("reboot")
    assert run.finish().status == "stopped"
    assert (run.outcome and run.outcome.node and run.outcome.node.name) == "move"
    assert "is stale" in run.reason or "was restarted" in run.reason
    assert "HandTarget" not in run.sent


def test_a_lost_connection(play: Play) -> None:
    guard = play.mission.guard
    outcome = play.run(20, lambda: guard.handle(RunGone(guard.state.epoch)))
    assert told(outcome) == ("stopped", "reach", "stopping: the run is gone")


def test_somebody_who_leaves_in_the_tick_in_which_the_tree_fails(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    def step(leaf: Any) -> Status:
        play.mission.mission.stop("interrupted at the terminal")
        return Status.FAILURE

    monkeypatch.setattr(HandOpen, "step", step)
    assert play.run()[:2] == ("stopped", "interrupted at the terminal")


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        (
            "selector: [{check: errors.count > 1}, {check: errors.count > 2}]",
            '"errors.count > 2" does not hold: errors.count is 0 '
            '(after check failed: "errors.count > 1" does not hold: errors.count is 0)',
        ),
        (
            "selector: [sequence: [Log: {text: a}, {check: errors.any, name: b}], {check: errors.any, name: c}]",
            '"errors.any" does not hold (after b failed: "errors.any" does not hold)',
        ),
        (
            "selector: [{Wait: {time: 9 s}, name: a, while: errors.count > 1}, {check: errors.any}]",
            '"errors.any" does not hold (after a failed: "errors.count > 1" does not hold: errors.count is 0)',
        ),
        (
            "selector: [{check: errors.any, name: a}, "
            "{selector: [{check: errors.any, name: b}, {check: errors.any, name: c}]}]",
            '"errors.any" does not hold (after b failed: "errors.any" does not hold) '
            '(after a failed: "errors.any" does not hold)',
        ),
        (
            "sequence: [{selector: [{check: errors.any, name: a}, Log: {text: b}]}, {check: errors.any, name: c}]",
            '"errors.any" does not hold',
        ),
        ("selector: [{check: errors.any}, {Log: {text: b}, when: errors.any}]", '"errors.any" does not hold'),
    ],
)
def test_a_selector_that_failed_says_what_it_tried_first(nodes: str, reason: str, mission: StartMission) -> None:
    run = mission(f"tree: tries\nrobot: adam_u\nroot: {{{nodes}}}\n")
    assert run.finish().status == "failure"
    assert run.reason == reason


INTERRUPTED = """
tree: interrupted
robot: atom_w
root:
  sequence:
    - SetFsm: {state: ready}
    - SwitchUpperControl: {enabled: true}
    - sequence:
        - MoveToTag: {tag: shelf}
      name: drive
"""
PUT_AWAY = "finally: [{SwitchUpperControl: {enabled: false}}]"


@pytest.mark.parametrize("broken", ["while: battery.level > 15 %", "timeout: 2 s", "require"])
def test_what_the_robot_showed_is_of_the_failure_and_not_of_what_finally_made_of_it(
    broken: str, tmp_path: Path
) -> None:
    required = "require: [battery.level > 15 %]\n" if broken == "require" else f"      {broken}\n"
    (tmp_path / "tree.yaml").write_text(f"{INTERRUPTED}      {PUT_AWAY}\n{required}")
    events: list[Event] = []
    play = VirtualMission(load_mission(tmp_path / "tree.yaml"), events.append)
    play.clock.after(6.0, lambda: inject(play.twin, "battery,level=5"))
    assert play.run().status == "failure"
    (shown,) = (event.fields for event in events if isinstance(event, RobotShown))
    assert (shown["upper.state"], shown["navigation.device"]) == ("on", "tasking")
