"""Missions through tree, guard and twin in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.data import data_path
from orchestrator.engine.events import Command, Event, GuardReport, Tick, to_json
from orchestrator.engine.runner import Runner
from orchestrator.engine.substitution import Substitutes
from orchestrator.guard.events import RunGone
from orchestrator.mission.arming import NotArmed
from orchestrator.mission.loading import CannotRun, load_mission
from orchestrator.mission.virtual import VirtualMission
from orchestrator.sim.faults import inject
from orchestrator.sim.twin import Twin
from orchestrator.testing import StartMission

DELIVERY = data_path("trees/04_deliver_atom_w.yaml")


def commands(events: list[Event]) -> list[str]:
    return [event.intent for event in events if isinstance(event, Command)]


def write(folder: Path, text: str) -> Path:
    file = folder / "tree.yaml"
    file.write_text(text)
    return file


def test_the_delivery_sends_what_it_says_and_nothing_else() -> None:
    events: list[Event] = []
    assert VirtualMission(load_mission(DELIVERY), events.append).run().status == "success"
    assert commands(events) == [
        "SetFsm",
        "SwitchUpperControl",
        "MoveToTag",
        "HandTarget",
        "HandTarget",
        "MoveToTag",
        "HandTarget",
        "SwitchUpperControl",
    ]


def test_the_same_mission_and_seed_give_the_same_events() -> None:
    def stream() -> list[bytes]:
        lines: list[bytes] = []
        VirtualMission(load_mission(DELIVERY), lambda event: lines.append(to_json(event)), seed=7).run()
        return lines

    assert stream() == stream()


TROUBLES: dict[str, Callable[[Twin], Any]] = {
    "none": lambda twin: None,
    "the base is blocked": lambda twin: twin.clock.after(8.0, twin.base.block),  # type: ignore[attr-defined]
    "the base is blocked for a while": lambda twin: [
        twin.clock.after(8.0, twin.base.block),  # type: ignore[attr-defined]
        twin.clock.after(12.3, twin.base.unblock),  # type: ignore[attr-defined]
    ],
    "the base falls silent": lambda twin: twin.clock.after(8.0, lambda: inject(twin, "off:rt/amr/state")),
    "an e-stop": lambda twin: twin.clock.after(8.02, lambda: twin.press_emergency("soft")),  # type: ignore[attr-defined]
    "the battery runs low": lambda twin: twin.clock.after(8.01, lambda: setattr(twin.battery, "level", 14.0)),  # type: ignore[attr-defined]
    "a reboot": lambda twin: twin.clock.after(8.0, twin.reboot),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_ticks_that_would_do_nothing_are_left_out_and_nobody_can_tell(
    trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_out: list[bool] = []
    looks = Runner._would_be_the_same

    def stream(leaves_out: bool) -> list[bytes]:
        def same(runner: Runner) -> bool:
            left_out.append(looks(runner))
            return left_out[-1] and leaves_out

        monkeypatch.setattr(Runner, "_would_be_the_same", same)
        lines: list[bytes] = []
        loaded = load_mission(data_path("trees/05_patrol_atom_w.yaml"))
        VirtualMission(loaded, lambda event: lines.append(to_json(event)), seed=7, prepare=TROUBLES[trouble]).run()
        return lines

    assert stream(True) == stream(False)
    assert sum(left_out) > len(left_out) / 5


@pytest.mark.parametrize("minutes", [14, 20, 25, 41])
def test_a_long_rest_is_not_taken_for_a_restart_of_the_robot(tmp_path: Path, minutes: int) -> None:
    """Nobody looks at the base while the mission rests, and its heartbeat goes round once in 27 minutes."""
    text = f"""
tree: rest
robot: atom_w
root:
  - SetFsm: {{state: ready}}
  - Wait: {{time: {minutes} min}}
  - MoveToTag: {{tag: shelf}}
"""
    assert VirtualMission(load_mission(write(tmp_path, text)), lambda event: None).run().status == "success"


def test_a_base_that_reports_nonsense_is_not_taken_for_an_emergency_stop(mission: StartMission) -> None:
    """The guard does not believe it: the run must not tell of an e-stop that nobody has to acknowledge."""
    run = mission(DELIVERY, faults=["garbage:rt/amr/state@6s"])
    outcome = run.finish()
    assert outcome.status == "failure"
    assert "emergency" not in outcome.reason


@pytest.mark.parametrize(
    ("state", "faults", "words"),
    [
        ("walk", [], "SetFsmId was refused: no way from state 1 to 301 (100)"),
        ("ready", ["refused:rpc/SetFsmId"], "SetFsmId was refused: refused (6)"),
        ("ready", ["lost:rpc/SetFsmId"], "SetFsmId: no answer within 1 s"),
    ],
)
def test_a_robot_that_refuses_a_state_gives_the_reason_itself(
    mission: StartMission, state: str, faults: list[str], words: str
) -> None:
    text = f"""
tree: state
robot: atom
root:
  - SetFsm: {{state: {state}}}
"""
    outcome = mission(text, faults=faults).finish()
    assert outcome.reason == f"not_accepted: {words}; nothing changed within 3 s"


def test_an_empty_hand_fails_the_grasp_and_the_upper_body_is_given_back() -> None:
    events: list[Event] = []
    mission = VirtualMission(load_mission(DELIVERY), events.append)
    mission.twin.hand("right").object = False  # type: ignore[attr-defined]
    outcome = mission.run()
    assert outcome.status == "failure"
    assert "nothing" in outcome.reason
    assert outcome.node is not None
    assert outcome.node.name == "close the hand on the box"
    assert commands(events)[-1] == "SwitchUpperControl"


@pytest.mark.parametrize("kind", ["soft", "hard", "amr"])
def test_an_emergency_stop_ends_the_run_and_nothing_moves_after_it(kind: str) -> None:
    events: list[Event] = []
    mission = VirtualMission(load_mission(DELIVERY), events.append)
    mission.clock.at(6.0, lambda: mission.twin.press_emergency(kind))  # type: ignore[attr-defined]
    mission.clock.at(8.0, lambda: mission.twin.release_emergency(kind))  # type: ignore[attr-defined]
    outcome = mission.run()
    assert outcome.status == "stopped"
    assert outcome.reason.startswith("estopped")
    assert mission.clock.now() < 6.5
    mission.clock.advance(10.0)
    after = [record for record in mission.audit if record["at"] >= 6.0]
    assert after
    assert {record["role"] for record in after} == {"stop"}
    assert mission.guard.state.mode.value == "estopped"


@pytest.mark.parametrize("stop", ["amr_stop", "soft"])
@pytest.mark.parametrize("after", ["0s", "20ms", "50ms", "100ms", "300ms"])
def test_a_base_stopped_just_when_it_was_told_to_drive_stays_where_it_is(
    after: str, stop: str, mission: StartMission
) -> None:
    """It cannot cancel a task before it has begun it: the cancel comes again when it does."""
    run = mission(DELIVERY)
    run.until(lambda: "MoveToTag" in run.sent)
    base = run.twin.base
    began = base.pose
    run.fault(f"{stop}@{after}+3s")
    assert run.finish().status == "stopped"
    run.wait(30.0)
    assert run.guard == "estopped"
    assert abs(base.pose.x - began.x) + abs(base.pose.y - began.y) < 0.1


@pytest.mark.parametrize("after", [0.0, 0.02, 0.05, 0.1, 0.3])
def test_a_base_whose_run_dies_just_when_it_was_told_to_drive_stays_where_it_is(after: float) -> None:
    asked: list[float] = []

    def watch(event: Event) -> None:
        if isinstance(event, Command) and event.intent == "MoveToTag" and not asked:
            asked.append(event.at)
            mission.clock.after(after, lambda: mission.guard.handle(RunGone(mission.guard.state.epoch)))

    mission = VirtualMission(load_mission(DELIVERY), watch)
    assert mission.run().status == "stopped"
    mission.clock.advance(30.0)
    pose = mission.twin.base.pose  # type: ignore[attr-defined]
    assert abs(pose.x) + abs(pose.y) < 0.1


def test_a_robot_that_is_not_well_is_not_armed() -> None:
    mission = VirtualMission(load_mission(DELIVERY))
    mission.twin.press_emergency("hard")  # type: ignore[attr-defined]
    with pytest.raises(NotArmed, match="estopped"):
        mission.run()
    assert {record["role"] for record in mission.audit} <= {"stop"}


def test_a_tree_with_mistakes_does_not_run(tmp_path: Path) -> None:
    tree = write(tmp_path, "tree: x\nrobot: atom_w\nroot:\n  - SetFsm: {state: redy}\n  - MoveToTagg: {tag: 1}\n")
    with pytest.raises(CannotRun) as caught:
        load_mission(tree)
    assert "tree.yaml:4:21: error:" in str(caught.value)
    assert "tree.yaml:5:5: error:" in str(caught.value)


def test_stand_ins_take_the_place_of_nodes() -> None:
    events: list[Event] = []
    stand_ins = Substitutes({"drive to *": "succeed after 2 s", "*/take the box/HandOpen": "fail twice then succeed"})
    assert VirtualMission(load_mission(DELIVERY, substitutes=stand_ins), events.append).run().status == "success"
    assert [command for command in commands(events) if command != "HandTarget"] == [
        "SetFsm",
        "SwitchUpperControl",
        "SwitchUpperControl",
    ]


def test_a_stand_in_for_a_node_that_is_not_there_is_a_mistake() -> None:
    stand_ins = Substitutes({"drive to the shelve": "succeed"})
    with pytest.raises(CannotRun, match='no node is called "drive to the shelve": did you mean "drive to the shelf"'):
        VirtualMission(load_mission(DELIVERY, substitutes=stand_ins))


def test_a_tree_without_a_robot_does_not_run(tmp_path: Path) -> None:
    tree = write(tmp_path, "tree: x\nroot:\n  - Wait: {time: 1 s}\n")
    with pytest.raises(CannotRun, match="no robot is named"):
        load_mission(tree)
    assert VirtualMission(load_mission(tree, robot="gr2")).run().status == "success"


def test_parameters_without_a_value_must_be_given(tmp_path: Path) -> None:
    text = "tree: x\nrobot: atom_w\nparams:\n  time: {type: duration}\nroot:\n  - Wait: {time: $time}\n"
    tree = write(tmp_path, text)
    with pytest.raises(CannotRun, match=r"give --set time=\.\.\."):
        load_mission(tree)
    mission = VirtualMission(load_mission(tree, settings={"time": "3 s"}))
    assert mission.run().status == "success"


def test_a_motion_is_read_from_the_folder_of_its_tree(tmp_path: Path) -> None:
    keyframes = "keyframes:\n  - {at: 1.5 s, angles: [10 deg]}\n"
    (tmp_path / "nod.yaml").write_text(f"description: Nod.\njoints: [neck_pitch]\n{keyframes}")
    tree = write(tmp_path, "tree: nods\nrobot: adam_u\nroot:\n  - PlayMotion: {file: nod.yaml}\n")
    outcome = VirtualMission(load_mission(tree)).run()
    assert (outcome.status, outcome.reason) == ("success", "")


def test_the_guard_reports_are_part_of_the_stream() -> None:
    events: list[Event] = []
    VirtualMission(load_mission(DELIVERY), events.append).run()
    modes = [event.details["value"] for event in events if isinstance(event, GuardReport) and event.report == "mode"]
    assert modes[:3] == ["disarmed", "armed", "running"]


def test_a_drive_says_how_far_it_is_and_what_holds_it_up() -> None:
    events: list[Event] = []
    mission = VirtualMission(load_mission(DELIVERY), events.append)
    mission.clock.at(6.13, mission.twin.base.block)  # type: ignore[attr-defined]
    mission.clock.at(9.0, mission.twin.base.unblock)  # type: ignore[attr-defined]
    assert mission.run().status == "success"
    said = [change.message for event in events if isinstance(event, Tick) for change in event.changes.values()]
    driven = [message for message in said if message.endswith("m driven")]
    assert len(driven) > 10
    assert said.count("blocked: the way is blocked") == 1


def test_a_paused_drive_stands_held_by_the_guard_and_goes_on() -> None:
    events: list[Event] = []
    mission = VirtualMission(load_mission(DELIVERY), events.append)
    mission.clock.at(6.0, mission.mission.runner.pause)
    mission.clock.at(14.0, mission.mission.runner.resume)
    assert mission.run().status == "success"
    guard = [event for event in events if isinstance(event, GuardReport) and event.report == "mode"]
    modes = [(round(event.at, 2), event.details["value"]) for event in guard]
    assert modes[3:5] == [(6.0, "paused"), (14.0, "running")]
    assert [event.at for event in events] == sorted(event.at for event in events)


def test_a_drive_ends_with_the_sample_that_shows_it_and_not_with_the_next_heartbeat(mission: StartMission) -> None:
    nodes = "  - SetFsm: {state: ready}\n  - MoveToTag: {tag: table}\n  - Wait: {time: 1 s}\n"
    run = mission(f"tree: x\nroot:\n{nodes}", "atom_w")
    ticks: list[float] = []

    def is_over() -> bool:
        ticks.append(run.time)
        return run.status("MoveToTag") == "success"

    run.until(is_over)
    assert ticks[-1] - ticks[-2] < 0.049


@pytest.mark.timeout(20)
def test_a_command_that_follows_from_a_look_at_the_end_of_a_run_is_told_too(mission: StartMission) -> None:
    """A paused base takes a cancel only once it goes on, and that may be seen by whoever looks last."""
    run = mission(
        """
        tree: drive
        robot: atom_w
        root:
          - SetFsm: {state: ready}
          - MoveToTag: {tag: shelf}
            timeout: 8 s
            finally: [Wait: {time: 2 s}]
        """,
        faults=["amr_pause@6s", "soft@13s"],
    )
    assert run.finish().status == "stopped"
