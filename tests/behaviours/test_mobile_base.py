"""MoveToTag and the other leaves of a wheeled base."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from behaviours.mobile_base import (
    CancelNavigation,
    DriveBase,
    MoveToTag,
    PauseNavigation,
    ResumeNavigation,
    RotateBase,
    SaveMap,
    SetBaseSpeed,
    StartMapping,
    StopMapping,
    SubscribeLaser,
)
from orchestrator.guard.events import Pause, Resume
from orchestrator.guard.modes import Mode
from orchestrator.leaf import Status
from orchestrator.robots.profile import Profile
from tests.support.leaf_cases import (
    READY,
    Case,
    Step,
    check_emergency,
    check_interruption,
    check_late,
    check_lost,
    check_success,
    each,
    press,
)
from tests.support.leaf_harness import Play, Stage, profile


def stands(twin: Any) -> bool:
    return not twin.base.driving and twin.base.work_mode == 0 and twin.base.navigation.name != "RUNNING"


def turning_base() -> dict[str, Any]:
    """The newer bases turn on the spot by command."""
    atom_w: Profile = profile("atom_w")
    assert atom_w.base is not None
    return {"base": replace(atom_w.base, rotate=True), "capabilities": atom_w.capabilities | {"rotate_base"}}


def case(leaf: Any, values: dict[str, Any], **more: Any) -> Case:
    name = leaf.__name__
    return Case("atom_w", leaf, values, READY, [name], "rt/amr/cmd", resting=stands, midway=2.0, **more)


MOVE = case(MoveToTag, {"tag": 12, "heading": 1.57})
ROTATE = case(RotateBase, {"angle": 1.5}, changes=turning_base())
TASKS = [MOVE, ROTATE]
DRIVING: Step = (MoveToTag, {"tag": 12})
TO_A_TASK = [case(leaf, {}, under_way=[DRIVING]) for leaf in (CancelNavigation, PauseNavigation)]
RESUME = replace(case(ResumeNavigation, {}, under_way=[DRIVING, (PauseNavigation, {})]), resting=lambda twin: True)
SETTINGS = [
    case(leaf, values, allow=("maps", "base_settings"))
    for leaf, values in (
        (SetBaseSpeed, {"speed": 0.3}),
        (SubscribeLaser, {"enabled": True}),
        (StartMapping, {}),
        (SaveMap, {}),
        (StopMapping, {}),
    )
]


@each(TASKS)
def test_a_task_is_done_when_the_base_ran_and_completed_it(case: Case) -> None:
    play = check_success(case)
    assert stands(play.stage.twin)


@each(TASKS)
def test_a_base_that_never_gets_the_command(case: Case) -> None:
    play = check_lost(case)
    assert stands(play.stage.twin)


@each(TASKS)
def test_a_base_that_obeys_late(case: Case) -> None:
    check_late(case)


@each(TASKS)
@pytest.mark.parametrize("after", [0.0, 2.0])
def test_an_emergency_stop(case: Case, after: float) -> None:
    check_emergency(case, after)


@each(TASKS)
def test_interrupted_while_running_it_is_cancelled(case: Case) -> None:
    play = check_interruption(case)
    assert play.stage.sent == [case.leaf.__name__, "CancelTask"]


@pytest.mark.parametrize("angle", [math.pi, -math.pi, 1.0, -0.03])
@pytest.mark.parametrize("heading", [0.0, 3.0, -3.0])
def test_the_base_turns_by_the_angle_asked_for(angle: float, heading: float) -> None:
    stage = Stage("atom_w", **turning_base()).prepare(*READY)
    stage.twin.base.pose = stage.twin.base.pose._replace(heading=heading)
    stage.wait(0.2)
    assert stage.play(RotateBase, angle=angle).status is Status.SUCCESS
    off = math.remainder(stage.twin.base.pose.heading - heading - angle, math.tau)
    assert off == pytest.approx(0.0, abs=0.02)


# MoveToTag


@pytest.fixture
def stage() -> Stage:
    return Stage("atom_w").prepare(*READY)


def moving(stage: Stage) -> Play:
    return stage.leaf(MoveToTag, tag=12).until(lambda: stage.twin.base.navigation.name == "RUNNING").go(1.0)


def test_it_faces_the_way_it_was_told_to(stage: Stage) -> None:
    stage.play(MoveToTag, tag=12, heading=1.57)
    assert stage.twin.base.pose.heading == pytest.approx(1.57, abs=0.02)


def test_it_says_how_far_it_came(stage: Stage) -> None:
    play = moving(stage)
    assert "m driven" in play.leaf.message


def test_the_same_place_again(stage: Stage) -> None:
    assert stage.play(MoveToTag, tag=12).status is Status.SUCCESS
    assert stage.play(MoveToTag, tag=12).status is Status.SUCCESS


def test_a_completed_left_over_from_the_last_task_is_not_success(stage: Stage) -> None:
    stage.play(MoveToTag, tag=12)
    stage.hurt("lost:rt/amr/cmd")
    play = stage.play(MoveToTag, tag=15)
    assert (play.status, play.reason) == (Status.FAILURE, "not_accepted")


def test_a_tag_that_is_not_in_the_profile_is_refused(stage: Stage) -> None:
    play = stage.play(MoveToTag, tag=99)
    assert (play.status, play.reason) == (Status.FAILURE, "refused")
    assert stage.sent == []


def test_a_blocked_way_is_said_and_given_up_after_the_time_in_the_tree(stage: Stage) -> None:
    play = stage.leaf(MoveToTag, tag=12, give_up_blocked=20.0).go(1.0)
    stage.twin.base.block()
    play.finish()
    assert (play.status, play.reason, play.leaf.result) == (Status.FAILURE, "blocked", "blocked")
    assert "blocked" in play.seen
    assert 20.0 < play.took < 25.0
    stage.twin.base.unblock()
    stage.wait(3.0)
    assert stands(stage.twin)


def test_a_way_that_becomes_free_lets_it_arrive(stage: Stage) -> None:
    play = stage.leaf(MoveToTag, tag=12).go(1.0)
    stage.twin.base.block()
    play.go(10.0)
    stage.twin.base.unblock()
    assert play.finish().status is Status.SUCCESS
    assert play.leaf.result == "arrived"


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("amr_cancel", "cancelled_by_other"), ("amr_stopped", "cancelled_by_other"), ("amr_failed", "failed"),
     ("amr_error", "failed"), ("amr_offline", "failed"), ("amr_maintenance", "cancelled_by_other"),
     ("off:rt/amr/state", "stale")],
)  # fmt: skip
def test_what_can_end_a_drive(stage: Stage, fault: str, reason: str) -> None:
    play = moving(stage)
    stage.hurt(fault)
    play.finish()
    assert (play.status, play.reason, play.leaf.result) == (Status.FAILURE, reason, "failed")


def test_somebody_elses_pause_is_waited_for_and_never_resumed(stage: Stage) -> None:
    play = moving(stage)
    stage.twin.base.pause_by_hand()
    play.go(60.0)
    assert (play.status, play.reason) == (Status.RUNNING, "paused")
    stage.twin.base.resume_by_hand()
    assert play.finish().status is Status.SUCCESS
    assert stage.sent == ["MoveToTag"]


def test_interrupted_while_queued_its_cancel_follows_as_soon_as_the_base_can_take_it(stage: Stage) -> None:
    play = stage.leaf(MoveToTag, tag=12).until(lambda: stage.twin.base.navigation.name == "QUEUING")
    play.stop()
    assert stage.sent == ["MoveToTag"]
    stage.wait(3.0)
    assert stage.sent == ["MoveToTag", "CancelTask"]
    assert stands(stage.twin)


def test_interrupted_before_the_base_took_it_a_late_start_is_cancelled(stage: Stage) -> None:
    stage.hurt("late_exec:rt/amr/cmd,seconds=1s,nth=1")
    stage.leaf(MoveToTag, tag=12).start().stop()
    stage.wait(5.0)
    assert "CancelTask" in stage.sent
    assert stands(stage.twin)


@pytest.mark.parametrize("after", [0.0, 0.5, 0.9, 1.5, 3.0])
@pytest.mark.parametrize("cancels", [True, False])
def test_after_one_the_base_never_got_was_interrupted_the_next_drive_arrives(
    stage: Stage, cancels: bool, after: float
) -> None:
    stage.hurt("lost:rt/amr/cmd,nth=1")
    stage.leaf(MoveToTag, tag=12).go(after).stop()
    if cancels:
        assert stage.play(CancelNavigation).status is Status.SUCCESS
    play = stage.play(MoveToTag, tag=15)
    assert play.status is Status.SUCCESS, play


def test_after_an_interruption_the_next_drive_waits_until_the_base_is_free(stage: Stage) -> None:
    moving(stage).stop()
    play = stage.play(MoveToTag, tag=15)
    assert play.status is Status.SUCCESS
    assert stage.twin.base.pose[:2] == pytest.approx(stage.twin.base.tags[15], abs=0.05)


@pytest.mark.parametrize("by_guard", [True, False], ids=["by the operator", "by the tree alone"])
def test_paused_it_stands_and_resumed_it_arrives(stage: Stage, by_guard: bool) -> None:
    play = moving(stage)
    if by_guard:
        stage.guard.handle(Pause("somebody"))
    play.leaf.pause()
    stage.wait(60.0)
    assert stands(stage.twin)
    if by_guard:
        stage.guard.handle(Resume("somebody"))
    play.leaf.resume()
    assert play.finish().status is Status.SUCCESS


@pytest.mark.parametrize("late", [0.0, 0.4])
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("between", [0.0, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("by_guard", [True, False], ids=["by the operator", "by the tree alone"])
def test_paused_and_resumed_faster_than_the_base_can_it_arrives(
    stage: Stage, by_guard: bool, between: float, times: int, late: float
) -> None:
    play = moving(stage)
    if late:
        stage.hurt(f"late_exec:rt/amr/cmd,seconds={late}s")
    for _ in range(times):
        if by_guard:
            stage.guard.handle(Pause("somebody"))
        play.leaf.pause()
        stage.wait(between)
        if by_guard:
            stage.guard.handle(Resume("somebody"))
        play.leaf.resume()
        play.go(0.05)
    play.finish()
    assert play.status is Status.SUCCESS, play


def test_paused_while_queued_it_never_drives_off(stage: Stage) -> None:
    play = stage.leaf(MoveToTag, tag=12).until(lambda: stage.twin.base.navigation.name == "QUEUING")
    play.leaf.pause()
    stage.wait(10.0)
    assert stands(stage.twin)
    play.leaf.resume()
    assert play.finish().status is Status.SUCCESS


def test_interrupted_while_paused_no_task_is_left_behind(stage: Stage) -> None:
    play = moving(stage)
    play.leaf.pause()
    stage.wait(1.0)
    where = stage.twin.base.pose
    play.stop()
    stage.wait(3.0)
    assert stage.twin.base.navigation.name == "CANCELED"
    assert stage.twin.base.pose[:2] == pytest.approx(where[:2], abs=0.05)


def test_a_limp_robot_drives_nowhere() -> None:
    play = Stage("atom_w").play(MoveToTag, tag=12)
    assert (play.status, play.reason) == (Status.FAILURE, "refused")


# Other commands to a task


def test_a_task_is_paused_resumed_and_cancelled_by_other_nodes(stage: Stage) -> None:
    play = moving(stage)
    assert stage.play(PauseNavigation).status is Status.SUCCESS
    assert stands(stage.twin)
    assert stage.play(ResumeNavigation).status is Status.SUCCESS
    assert stage.twin.base.driving
    assert stage.play(CancelNavigation).status is Status.SUCCESS
    assert stands(stage.twin)
    assert play.finish().reason == "cancelled"
    assert "another node" in play.leaf.message
    assert stage.sent == ["MoveToTag", "PauseTask", "ResumeTask", "CancelTask"]


@pytest.mark.parametrize("by_guard", [True, False], ids=["by the operator", "by the tree alone"])
def test_what_a_node_has_paused_stays_so_when_the_run_is_paused_and_goes_on(stage: Stage, by_guard: bool) -> None:
    play = moving(stage)
    assert stage.play(PauseNavigation).status is Status.SUCCESS
    if by_guard:
        stage.guard.handle(Pause("somebody"))
    play.leaf.pause()
    stage.wait(5.0)
    if by_guard:
        stage.guard.handle(Resume("somebody"))
    play.leaf.resume()
    play.go(5.0)
    assert stands(stage.twin)
    assert stage.play(ResumeNavigation).status is Status.SUCCESS
    assert play.finish().status is Status.SUCCESS


def test_a_pause_that_the_base_did_not_take_does_not_keep_it_from_going_on(stage: Stage) -> None:
    play = moving(stage)
    stage.hurt("lost:rt/amr/cmd,nth=1")
    stage.leaf(PauseNavigation).start().stop()
    play.leaf.pause()
    stage.wait(5.0)
    assert stands(stage.twin)
    play.leaf.resume()
    assert play.finish().status is Status.SUCCESS


@pytest.mark.parametrize(("leaf", "reason"), [(PauseNavigation, "not_accepted"), (CancelNavigation, "not_accepted")])
def test_a_base_that_does_not_listen(stage: Stage, leaf: Any, reason: str) -> None:
    moving(stage)
    stage.hurt("lost:rt/amr/cmd")
    stage.twin.base.block()  # it shall not arrive meanwhile
    play = stage.play(leaf)
    assert (play.status, play.reason) == (Status.FAILURE, reason)


def test_nothing_to_cancel_sends_nothing(stage: Stage) -> None:
    assert stage.play(CancelNavigation).status is Status.SUCCESS
    assert stage.sent == []


def test_nothing_to_pause_is_said_at_once(stage: Stage) -> None:
    play = stage.play(PauseNavigation)
    assert (play.status, play.reason, play.took, stage.sent) == (Status.FAILURE, "refused", 0.0, [])
    assert "nothing is under way that could be paused" in play.leaf.message


def test_nothing_to_pause_after_a_task_has_ended(stage: Stage) -> None:
    stage.prepare((MoveToTag, {"tag": 12}))
    assert (stage.play(PauseNavigation).reason, stage.sent) == ("refused", [])


def test_a_task_that_has_only_just_been_given_is_something_to_pause(stage: Stage) -> None:
    stage.leaf(MoveToTag, tag=12).start()
    assert stage.twin.base.navigation.name == "IDLE"
    assert stage.play(PauseNavigation).reason != "refused"
    assert "PauseTask" in stage.sent


@pytest.mark.parametrize("after", [0.0, 0.05, 0.1, 0.3])
def test_paused_before_or_as_it_begins_it_stands(stage: Stage, after: float) -> None:
    play = stage.leaf(MoveToTag, tag=12).go(after)
    assert stage.play(PauseNavigation).status is Status.SUCCESS
    assert stands(stage.twin)
    assert stage.play(ResumeNavigation).status is Status.SUCCESS
    assert play.finish().status is Status.SUCCESS


def test_a_pause_that_got_lost_is_asked_for_again(stage: Stage) -> None:
    moving(stage)
    stage.hurt("lost:rt/amr/cmd,nth=1")
    assert stage.play(PauseNavigation).status is Status.SUCCESS
    assert stage.sent == ["MoveToTag", "PauseTask", "PauseTask"]


def test_a_pause_that_is_not_ours_is_not_resumed(stage: Stage) -> None:
    moving(stage)
    stage.twin.base.pause_by_hand()
    stage.wait(0.5)
    assert stage.play(ResumeNavigation).reason == "refused"


@pytest.mark.parametrize(
    ("leaf", "values", "sent"),
    [
        (SubscribeLaser, {"enabled": True}, ["SubscribeLaser"]),
        (StartMapping, {}, ["StartMapping"]),
        (SaveMap, {}, ["SaveMap"]),
        (StopMapping, {}, ["StopMapping"]),
        (SetBaseSpeed, {"speed": 0.3}, ["SetBaseSpeed"]),
        (SetBaseSpeed, {"speed": 0.3, "acceleration": 0.3, "deceleration": 0.5},
         ["SetBaseSpeed", "SetBaseAcceleration", "SetBaseDeceleration"]),
    ],
)  # fmt: skip
def test_settings_the_base_says_nothing_about_are_done_when_they_have_left(
    leaf: Any, values: dict[str, Any], sent: list[str]
) -> None:
    stage = Stage("atom_w", ("maps", "base_settings")).prepare(*READY)
    assert stage.play(leaf, **values).status is Status.SUCCESS
    assert stage.sent == sent


@pytest.mark.parametrize(("leaf", "values"), [(StartMapping, {}), (SetBaseSpeed, {"speed": 0.3})])
def test_what_the_guard_file_does_not_allow_is_refused(stage: Stage, leaf: Any, values: dict[str, Any]) -> None:
    play = stage.play(leaf, **values)
    assert (play.status, play.reason) == (Status.FAILURE, "refused")
    assert "guard file" in play.leaf.message


def test_the_base_drives_as_fast_as_it_was_told() -> None:
    stage = Stage("atom_w", ("base_settings",)).prepare(*READY, (SetBaseSpeed, {"speed": 0.2}))
    stage.leaf(MoveToTag, tag=12).until(lambda: stage.twin.base.velocity[0] > 0)
    assert stage.twin.base.velocity[0] == pytest.approx(0.2)


# Remote drive


def remote_stage(key: bool = True) -> Stage:
    atom_w = profile("atom_w")
    assert atom_w.base is not None
    base = replace(atom_w.base, confirm_key=key)
    return Stage("atom_w", ("remote_drive",), confirmed=not key, base=base).prepare(*READY)


def without_key() -> dict[str, Any]:
    atom_w = profile("atom_w")
    assert atom_w.base is not None
    return {"base": replace(atom_w.base, confirm_key=False), "confirmed": True}


DRIVE = case(DriveBase, {"forward": 0.2, "turn": 0.1, "time": 3.0}, allow=("remote_drive",), changes=without_key())
CASES = [*TASKS, *TO_A_TASK, RESUME, *SETTINGS, DRIVE]


def driving() -> Play:
    stage = remote_stage(key=False)
    play = stage.leaf(DriveBase, forward=0.2, turn=0.1, time=5.0).go(2.0)
    assert stage.twin.base.driving
    return play


def closed(stage: Stage) -> bool:
    """Zero, then the end of the session, and nothing after it."""
    zero = stage.last("DriveBase")
    assert (zero["linear"], zero["angular"]) == (0.0, 0.0)
    return stage.sent[-2:] == ["DriveBase", "StopRemote"] and stands(stage.twin)


def test_it_drives_for_a_time_after_a_person_has_pressed_the_key() -> None:
    stage = remote_stage()
    play = stage.leaf(DriveBase, forward=0.2, time=2.0).go(10.0)
    assert (play.status, play.reason) == (Status.RUNNING, "confirmation")
    stage.twin.base.press_confirm_key()
    assert play.finish().status is Status.SUCCESS
    assert stage.twin.base.pose.x == pytest.approx(0.4, abs=0.05)
    assert stage.sent == ["StartRemote", "DriveBase", "DriveBase", "StopRemote"]
    assert closed(stage)


def test_a_long_drive_is_not_taken_for_somebody_elses() -> None:
    stage = remote_stage(key=False)
    assert stage.play(DriveBase, forward=0.1, time=20.0).status is Status.SUCCESS
    stage.wait(2.0)
    assert stage.guard.state.mode is Mode.RUNNING


@pytest.mark.parametrize("press", [None, "soft", "hard"])
def test_a_base_that_does_not_hear_the_end_of_its_session_is_told_again(press: str | None) -> None:
    play = driving()
    stage = play.stage
    stage.hurt(f"lost:rt/amr/cmd,nth=0@{stage.clock.now() - stage.twin.started_at}s+500ms")
    if press is None:
        play.stop()
    else:
        stage.twin.press_emergency(press)
    stage.wait(0.4)
    assert stage.twin.base.work_mode == 3
    stage.wait(0.6)
    assert closed(stage)


def test_nobody_presses_the_key() -> None:
    stage = remote_stage()
    play = stage.play(DriveBase, forward=0.2, time=2.0)
    assert (play.status, play.reason) == (Status.FAILURE, "confirmation")
    assert "nobody pressed the key on the base within 60 s" in play.leaf.message
    stage.wait(1.0)
    assert closed(stage)


def test_where_no_key_is_needed_a_person_must_have_agreed_to_the_node() -> None:
    stage = remote_stage(key=False)
    stage.confirmed = False
    play = stage.play(DriveBase, forward=0.2, time=2.0)
    assert (play.status, play.reason) == (Status.FAILURE, "confirmation")
    assert "add confirm" in play.leaf.message
    assert stage.sent == []


def test_interrupted_before_the_key_is_pressed() -> None:
    stage = remote_stage()
    stage.leaf(DriveBase, forward=0.2, time=2.0).go(1.0).stop()
    stage.twin.base.press_confirm_key()
    stage.wait(1.0)
    assert closed(stage)


def test_interrupted_while_driving() -> None:
    play = driving()
    play.stop()
    play.stage.wait(1.0)
    assert closed(play.stage)


def test_an_emergency_stop_while_driving() -> None:
    play = driving()
    press(play.stage)
    assert play.finish().reason == "emergency"
    play.stage.wait(1.0)
    assert closed(play.stage)


def test_a_session_that_ends_by_itself() -> None:
    play = driving()
    play.stage.twin.base.stop_remote()
    play.stage.twin.update()
    assert play.finish().reason in ("control_lost", "ended")
    play.stage.wait(1.0)
    assert closed(play.stage)


def test_a_base_that_does_not_move() -> None:
    stage = remote_stage(key=False)
    play = stage.leaf(DriveBase, forward=0.2, time=2.0).start()
    stage.twin.base.block()
    play.finish()
    assert (play.status, play.reason) == (Status.FAILURE, "no_progress")
    assert closed(stage)


@pytest.mark.parametrize(
    ("fault", "reason", "text"),
    [("amr_error", "failed", "the base is error"), ("amr_blocked", "no_progress", "of 1 m: something is in its way")],
)
def test_a_base_that_is_held_up_while_it_drives(fault: str, reason: str, text: str) -> None:
    play = driving()
    play.stage.hurt(fault)
    play.finish()
    assert (play.status, play.reason) == (Status.FAILURE, reason)
    assert text in play.leaf.message
    play.stage.wait(1.0)
    assert closed(play.stage)


def test_a_base_that_only_turns_is_told_by_how_far_it_did() -> None:
    stage = remote_stage(key=False)
    play = stage.leaf(DriveBase, turn=-0.5, time=3.0).go(1.0)
    stage.hurt("amr_blocked")
    play.finish()
    assert (play.status, play.reason) == (Status.FAILURE, "no_progress")
    assert "of 86 deg" in play.leaf.message
    stage.twin.base.unblock()
    assert stage.play(DriveBase, turn=-0.5, time=3.0).status is Status.SUCCESS


def test_a_base_that_does_not_ask_for_its_key_has_not_taken_the_command() -> None:
    stage = remote_stage()
    stage.hurt("lost:rt/amr/cmd,nth=1")
    play = stage.play(DriveBase, forward=0.2, time=2.0)
    assert (play.status, play.reason) == (Status.FAILURE, "not_accepted")
    assert "neither asked for its key nor opened the session within 60 s" in play.leaf.message


def test_a_base_that_breaks_down_before_the_key_is_pressed() -> None:
    stage = remote_stage()
    play = stage.leaf(DriveBase, forward=0.2, time=2.0).go(1.0)
    stage.hurt("amr_error")
    assert (play.finish().reason, play.took < 2.0) == ("failed", True)


def test_remote_drive_is_off_unless_the_guard_file_allows_it(stage: Stage) -> None:
    play = stage.play(DriveBase, forward=0.2, time=2.0)
    assert (play.status, play.reason) == (Status.FAILURE, "refused")


def test_too_fast_is_refused_and_the_session_closed() -> None:
    stage = remote_stage(key=False)
    play = stage.play(DriveBase, forward=5.0, time=2.0)
    assert (play.status, play.reason) == (Status.FAILURE, "refused")
    stage.wait(1.0)
    assert closed(stage)
