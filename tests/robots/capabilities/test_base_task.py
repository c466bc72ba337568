"""When a drive of the wheeled base counts as done, and when as failed."""

from __future__ import annotations

import math
import os
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.robots.capabilities.base_task import Task
from orchestrator.robots.intents import CancelTask, MoveToTag, PauseTask, ResumeTask
from orchestrator.robots.judging import Judge
from orchestrator.robots.outcome import Outcome
from orchestrator.robots.profiles import load_profile
from orchestrator.robots.reasons import Reason
from orchestrator.wire.codec import codec
from tests.robots.traces import AT_WORK, LEFT_OVER, LONGEST_LAG, Trace, verdict
from tests.support.fake_robot import FakeRobot

CANCEL = CancelTask()


@pytest.fixture
def atom() -> FakeRobot:
    fake = FakeRobot("atom_w")
    fake.base("COMPLETED", "DEVIDLE", task=5)
    fake.silent = set(fake.writers) - {"rt/amr/state", "rt/emergency/state"}  # the rest takes time and no part
    fake.run(0.5)
    return fake


def go(atom: FakeRobot) -> Task:
    return atom.robot.mobile_base.move_to_tag(12, math.pi / 2)


def start(atom: FakeRobot) -> Task:
    """A task that runs."""
    drive = go(atom)
    atom.base("RUNNING", "TASKING", task=6)
    atom.run(0.2)
    assert drive.outcome().status == "running"
    return drive


def creep(atom: FakeRobot, seconds: float) -> None:
    """Drive on a little."""
    for _ in range(round(seconds)):
        x, y, heading = atom.messages["rt/amr/state"].position
        atom.set("rt/amr/state", position=[x + 0.1, y, heading])
        atom.run(1.0)


def reason(outcome: Outcome) -> Reason | None:
    assert outcome.status == "failure"
    return outcome.reason


def test_the_drive_is_sent_once_and_done_when_the_base_ran_and_completed(atom: FakeRobot) -> None:
    drive = start(atom)
    atom.base("COMPLETED", "DEVIDLE")
    assert atom.judge(drive).status == "success"
    assert atom.orders.intents == [MoveToTag(12, math.pi / 2)]


def test_a_completed_left_over_from_the_last_task_is_not_success(atom: FakeRobot) -> None:
    assert reason(atom.judge(go(atom))) is Reason.NOT_ACCEPTED


def test_a_failure_left_over_from_the_last_task_does_not_fail_the_new_one(atom: FakeRobot) -> None:
    atom.base("FAILED")
    atom.run(0.2)
    drive = start(atom)
    atom.base("COMPLETED", "DEVIDLE")
    assert atom.judge(drive).status == "success"


def test_a_device_at_work_does_not_refresh_the_old_completed(atom: FakeRobot) -> None:
    drive = go(atom)
    atom.base(device="TASKING")
    atom.run(4.0)
    assert drive.outcome().status == "running"
    assert reason(atom.judge(drive)) is Reason.NO_PROGRESS


def test_a_new_task_id_does_not_refresh_the_old_completed_at_once(atom: FakeRobot) -> None:
    drive = go(atom)
    atom.base(task=6)
    atom.run(0.8)
    assert drive.outcome().status == "running"
    atom.base("RUNNING", "TASKING")
    atom.run(0.5)
    assert drive.outcome().status == "running"


def test_a_base_that_is_there_already_completes_without_a_visible_run(atom: FakeRobot) -> None:
    drive = go(atom)
    atom.base("COMPLETED", "DEVIDLE", task=6)
    assert atom.judge(drive).status == "success"


def test_a_queued_task_is_not_running_and_not_stuck(atom: FakeRobot) -> None:
    drive = go(atom)
    atom.base("QUEUING")
    atom.run(25)
    assert drive.outcome().status == "running"
    assert drive.outcome().reason is Reason.QUEUED
    assert reason(atom.judge(drive)) is Reason.QUEUED


def test_a_base_that_takes_the_task_but_never_runs_makes_no_progress(atom: FakeRobot) -> None:
    drive = go(atom)
    atom.base("IDLE", "TASKING", task=6)
    assert reason(atom.judge(drive)) is Reason.NO_PROGRESS


def test_a_base_that_runs_without_moving_makes_no_progress(atom: FakeRobot) -> None:
    drive = start(atom)
    creep(atom, 20)
    assert drive.outcome().status == "running"
    stood = atom.clock.now()
    assert reason(atom.judge(drive)) is Reason.NO_PROGRESS
    assert 9 < atom.clock.now() - stood < 12


def test_a_position_that_is_not_a_number_is_no_progress(atom: FakeRobot) -> None:
    drive = start(atom)
    atom.set("rt/amr/state", position=[math.nan, 0.0, 0.0])
    assert reason(atom.judge(drive)) is Reason.NO_PROGRESS


@pytest.mark.parametrize("flag", ["path_blocked", "obstacle_detected"])
def test_a_blocked_base_waits_then_gives_up(atom: FakeRobot, flag: str) -> None:
    drive: Judge = atom.robot.mobile_base.move_to_tag(12, None, give_up_blocked=20.0)
    atom.base("RUNNING", "TASKING", task=6)
    atom.set("rt/amr/state", **{f"amr_event__{flag}": True})
    atom.run(15)
    assert drive.outcome() == Outcome("running", Reason.BLOCKED, Reason.BLOCKED.sentence)
    assert reason(atom.judge(drive)) is Reason.BLOCKED


def test_a_block_that_flickers_is_one_block(atom: FakeRobot) -> None:
    drive: Judge = atom.robot.mobile_base.move_to_tag(12, None, give_up_blocked=5.0)
    atom.base("RUNNING", "TASKING", task=6)
    for _ in range(10):
        atom.set("rt/amr/state", amr_event__path_blocked=True)
        atom.run(0.4)
        atom.set("rt/amr/state", amr_event__path_blocked=False)
        atom.run(0.3)
    assert reason(drive.outcome()) is Reason.BLOCKED


def test_the_way_made_free_in_time_lets_the_base_go_on(atom: FakeRobot) -> None:
    drive = start(atom)
    atom.set("rt/amr/state", amr_event__path_blocked=True)
    atom.run(50)
    atom.set("rt/amr/state", amr_event__path_blocked=False)
    creep(atom, 3)
    atom.base("COMPLETED", "DEVIDLE")
    assert atom.judge(drive).status == "success"


@pytest.mark.parametrize(
    ("status", "expected"),
    [("FAILED", Reason.FAILED), ("CANCELED", Reason.CANCELLED_BY_OTHER), ("STOPPED", Reason.CANCELLED_BY_OTHER)],
)
def test_bad_ends(atom: FakeRobot, status: str, expected: Reason) -> None:
    drive = start(atom)
    atom.base(status, "DEVIDLE")
    assert reason(atom.judge(drive)) is expected


@pytest.mark.parametrize("device", ["ERROR", "OFFLINE", "UPGRADE", "CHARGING", "INIT"])
def test_a_base_out_of_order_fails_the_drive(atom: FakeRobot, device: str) -> None:
    drive = start(atom)
    atom.base(device=device)
    assert reason(atom.judge(drive)) is Reason.FAILED


def test_error_codes_fail_the_drive_and_are_named(atom: FakeRobot) -> None:
    drive = start(atom)
    atom.set("rt/amr/state", error_code=[0, 4711] + [0] * 30)
    outcome = atom.judge(drive)
    assert reason(outcome) is Reason.FAILED
    assert "4711" in outcome.text


def test_paused_by_somebody_else_is_waited_for_and_never_resumed(atom: FakeRobot) -> None:
    drive = start(atom)
    atom.base("PAUSED")
    atom.run(120)
    assert drive.outcome().reason is Reason.PAUSED
    assert drive.outcome().status == "running"
    assert len(atom.orders.intents) == 1


def test_a_switch_to_remote_drive_takes_the_base_away(atom: FakeRobot) -> None:
    drive = start(atom)
    atom.set("rt/amr/state", work_mode=3)
    assert reason(atom.judge(drive)) is Reason.CANCELLED_BY_OTHER


def test_a_task_that_vanishes_has_failed(atom: FakeRobot) -> None:
    drive = start(atom)
    atom.base("IDLE", "DEVIDLE")
    assert reason(atom.judge(drive)) is Reason.FAILED


@pytest.mark.parametrize(
    ("break_it", "expected"),
    [
        (lambda fake: fake.silent.add("rt/amr/state"), Reason.STALE),
        (lambda fake: setattr(fake, "frozen", True), Reason.FROZEN),
        (lambda fake: fake.set("rt/emergency/state", soft_emergency_triggered=True), Reason.EMERGENCY),
        (lambda fake: fake.set("rt/amr/state", amr_event__emergency_stop_pressed=True), Reason.EMERGENCY),
        (lambda fake: fake.set("rt/amr/state", basic_status__heartbeat=40_000), Reason.REBOOT),
        (lambda fake: fake.reboot(), Reason.REBOOT),
    ],
)
def test_what_makes_the_base_untrustworthy_fails_the_drive(atom: FakeRobot, break_it: object, expected: Reason) -> None:
    drive = start(atom)
    assert callable(break_it)
    break_it(atom)
    assert reason(atom.judge(drive)) is expected


def test_a_status_nobody_knows_is_no_success(atom: FakeRobot) -> None:
    drive = start(atom)
    message = atom.messages["rt/amr/state"]
    data = bytearray(codec(type(message)).encode(message))
    data[8] = 77
    atom.writers["rt/amr/state"].write_bytes(bytes(data))
    atom.clock.advance(0)
    assert reason(drive.outcome()) is Reason.UNKNOWN_STATE


def test_a_refused_drive_says_why(atom: FakeRobot) -> None:
    atom.orders.refuse = "not armed"
    drive = go(atom)
    assert drive.outcome().text == "the command was refused: not armed"


def test_a_drive_that_never_leaves_is_not_accepted_whatever_the_base_does(atom: FakeRobot) -> None:
    atom.orders.hold_back = True
    drive = go(atom)
    atom.base("RUNNING", "TASKING", task=6)
    atom.run(1.0)
    atom.base("COMPLETED", "DEVIDLE")
    assert reason(atom.judge(drive)) is Reason.NOT_ACCEPTED


def test_reports_that_come_before_the_receipt_is_answered_are_judged_by_when_it_left(atom: FakeRobot) -> None:
    atom.orders.hold_back = True
    drive = go(atom)
    left = atom.clock.now()
    atom.base("RUNNING", "TASKING", task=6)
    atom.run(0.1)
    atom.base("COMPLETED", "DEVIDLE")
    atom.run(0.1)
    receipt = atom.orders.receipts[0]
    receipt.state, receipt.sent_at = "sent", left
    assert drive.outcome().status == "success"


def test_a_busy_base_is_waited_for_and_nothing_is_queued_behind(atom: FakeRobot) -> None:
    atom.base("RUNNING", "TASKING")
    atom.run(0.2)
    drive = go(atom)
    atom.run(1.0)
    assert drive.outcome().reason is Reason.BUSY
    assert atom.orders.intents == []
    atom.base("COMPLETED", "DEVIDLE")
    atom.run(0.2)
    assert drive.outcome().status == "running"
    assert atom.orders.intents == [MoveToTag(12, math.pi / 2)]


def test_a_task_that_waited_for_the_base_has_as_long_to_leave_as_any_other(atom: FakeRobot) -> None:
    atom.base("RUNNING", "TASKING")
    atom.run(0.2)
    drive = go(atom)
    atom.run(4.0)
    atom.orders.hold_back = True
    atom.base("COMPLETED", "DEVIDLE")
    atom.run(0.2)
    drive.outcome()
    atom.run(1.5)
    assert drive.outcome().status == "running"
    assert reason(atom.judge(drive)) is Reason.NOT_ACCEPTED


def test_a_base_that_stays_busy_fails_the_drive(atom: FakeRobot) -> None:
    atom.base("RUNNING", "TASKING")
    atom.run(0.2)
    assert reason(atom.judge(go(atom))) is Reason.BUSY
    assert atom.orders.intents == []


def test_a_base_nobody_has_heard_of_gets_no_task() -> None:
    fake = FakeRobot("atom_w")
    assert reason(go(fake).outcome()) is Reason.NO_SAMPLE
    assert fake.orders.intents == []


def test_cancelled_while_running_the_base_is_told_at_once_and_again_until_it_stops(atom: FakeRobot) -> None:
    drive = start(atom)
    drive.cancel()
    assert atom.orders.intents[1:] == [CANCEL]
    assert drive.outcome().reason is Reason.CANCELLED
    atom.run(2.0)
    assert atom.orders.intents[1:] == [CANCEL] * 4
    atom.base("CANCELED", "DEVIDLE")
    atom.run(1.0)
    assert atom.orders.intents[1:] == [CANCEL] * 4


def test_cancelled_while_queued_the_base_is_told_as_soon_as_it_runs(atom: FakeRobot) -> None:
    drive = go(atom)
    atom.base("QUEUING")
    atom.run(0.5)
    drive.outcome()
    drive.cancel()
    atom.run(20.0)
    assert CANCEL not in atom.orders.intents
    atom.base("RUNNING", "TASKING")
    atom.say("rt/amr/state")
    assert atom.orders.intents[1:] == [CANCEL]


def test_cancelled_before_the_base_took_it_a_late_start_is_cancelled(atom: FakeRobot) -> None:
    drive = go(atom)
    drive.cancel()
    atom.run(1.0)
    atom.base("RUNNING", "TASKING", task=6)
    atom.run(0.1)
    assert CANCEL in atom.orders.intents


def test_a_drive_that_was_not_accepted_and_is_stopped_blocks_the_next_until_it_cannot_start_late(
    atom: FakeRobot,
) -> None:
    first = go(atom)
    assert reason(atom.judge(first)) is Reason.NOT_ACCEPTED
    first.cancel()
    second = go(atom)
    atom.run(1.0)
    assert second.outcome().reason is Reason.BUSY
    atom.run(4.5)
    second.outcome()
    assert atom.orders.intents == [MoveToTag(12, math.pi / 2)] * 2


def test_paused_while_running_the_base_is_told_at_once_and_the_wait_does_not_count(atom: FakeRobot) -> None:
    drive = start(atom)
    drive.pause()
    assert atom.orders.intents[1:] == [PauseTask()]
    atom.base("PAUSED", "TASKING", task=6)
    atom.run(300.0)
    drive.resume()
    assert atom.orders.intents[1:] == [PauseTask(), ResumeTask()]
    atom.base("RUNNING", "TASKING", task=6)
    atom.run(0.2)
    assert drive.outcome().status == "running"
    atom.base("COMPLETED", "DEVIDLE", task=6)
    assert atom.judge(drive).status == "success"
    assert atom.orders.intents[1:] == [PauseTask(), ResumeTask()]


def test_paused_while_queued_the_base_is_told_as_soon_as_it_runs(atom: FakeRobot) -> None:
    drive = go(atom)
    atom.base("QUEUING", "TASKING", task=6)
    atom.run(0.2)
    drive.outcome()
    drive.pause()
    atom.run(40.0)
    assert atom.orders.intents[1:] == []
    atom.base("RUNNING", "TASKING", task=6)
    atom.run(0.1)
    assert atom.orders.intents[1:] == [PauseTask()]


def test_a_drive_that_was_paused_while_queued_and_goes_on_does_not_undo_somebodys_pause(atom: FakeRobot) -> None:
    drive = go(atom)
    atom.base("QUEUING", "TASKING", task=6)
    atom.run(0.2)
    drive.outcome()
    drive.pause()
    atom.run(5.0)
    drive.resume()
    atom.base("RUNNING", "TASKING", task=6)
    atom.run(0.3)
    atom.base("PAUSED", "TASKING", task=6)
    atom.run(0.5)
    assert atom.orders.intents[1:] == []
    assert "another hand" in drive.outcome().text


def test_a_pause_without_effect_is_asked_for_again(atom: FakeRobot) -> None:
    drive = start(atom)
    drive.pause()
    atom.run(0.5)
    assert atom.orders.intents[1:] == [PauseTask()] * 3


def test_a_base_that_pauses_only_after_the_drive_was_to_go_on_goes_on(atom: FakeRobot) -> None:
    drive = start(atom)
    drive.pause()
    drive.resume()
    atom.run(0.4)
    assert atom.orders.intents[1:] == [PauseTask()]
    atom.base("PAUSED", "TASKING", task=6)
    atom.run(0.1)
    assert atom.orders.intents[1:] == [PauseTask(), ResumeTask()]
    atom.base("RUNNING", "TASKING", task=6)
    atom.run(0.1)
    atom.base("PAUSED", "TASKING", task=6)
    atom.run(0.5)
    assert atom.orders.intents[1:] == [PauseTask(), ResumeTask()]
    assert "another hand" in drive.outcome().text


def test_a_pause_long_after_the_drive_was_to_go_on_is_somebody_elses(atom: FakeRobot) -> None:
    drive = start(atom)
    drive.pause()
    drive.resume()
    creep(atom, 3)
    atom.base("PAUSED", "TASKING", task=6)
    atom.run(0.5)
    assert atom.orders.intents[1:] == [PauseTask()]
    assert "another hand" in drive.outcome().text


def test_a_paused_drive_goes_on_for_an_instant_to_be_cancelled(atom: FakeRobot) -> None:
    """The base cancels only what runs."""
    drive = start(atom)
    drive.pause()
    atom.base("PAUSED", "TASKING", task=6)
    atom.run(0.1)
    drive.cancel()
    atom.run(0.3)
    assert atom.orders.intents[1:] == [PauseTask(), CANCEL, ResumeTask()]
    atom.base("RUNNING", "TASKING", task=6)
    atom.run(0.1)
    assert atom.orders.intents[-1] == CANCEL


def test_a_drive_that_another_node_cancels_says_so(atom: FakeRobot) -> None:
    drive = start(atom)
    atom.robot.mobile_base.cancel()
    outcome = drive.outcome()
    assert reason(outcome) is Reason.CANCELLED
    assert "another node" in outcome.text


def test_a_drive_says_how_far_it_came(atom: FakeRobot) -> None:
    drive = start(atom)
    creep(atom, 10)
    assert drive.outcome().text in ("0.9 m driven", "1.0 m driven")


def test_a_finished_drive_cancels_nothing(atom: FakeRobot) -> None:
    drive = start(atom)
    atom.base("COMPLETED", "DEVIDLE")
    atom.judge(drive)
    drive.cancel()
    atom.run(5.0)
    assert CANCEL not in atom.orders.intents
    assert drive.outcome().status == "success"


@pytest.fixture
def turning() -> FakeRobot:
    """A base that faces a little less than half a turn from the map's zero, and takes turns."""
    base = load_profile("atom_w").base
    assert base is not None
    fake = FakeRobot("atom_w", base=replace(base, rotate=True))
    fake.base("COMPLETED", "DEVIDLE", task=5)
    face(fake, 170.0)
    fake.run(0.5)
    return fake


def face(fake: FakeRobot, degrees: float) -> None:
    fake.set("rt/amr/state", position=[0.0, 0.0, math.radians(math.remainder(degrees, 360.0))])


def turn(fake: FakeRobot, asked: float, turned: float, late: float = 0.0) -> Outcome:
    """What a turn comes to on a base that turns by so much and then says that it is done."""
    rotate = fake.robot.mobile_base.rotate(math.radians(asked))
    fake.base("RUNNING", "TASKING", task=6)
    fake.run(0.2)
    assert rotate.outcome().status == "running"
    if not late:
        face(fake, 170.0 + turned)
    fake.base("COMPLETED", "DEVIDLE")
    fake.run(late)
    face(fake, 170.0 + turned)
    return fake.judge(rotate)


@pytest.mark.parametrize("angle", [180.0, -180.0, 90.0, -90.0, 10.0, 0.0])
@pytest.mark.parametrize("late", [0.0, 0.75])
def test_a_turn_is_done_when_the_base_faces_where_it_should(turning: FakeRobot, angle: float, late: float) -> None:
    assert turn(turning, angle, angle + 2.0, late).status == "success"


@pytest.mark.parametrize(
    ("asked", "turned"), [(180.0, 0.0), (-180.0, 0.0), (180.0, 170.0), (90.0, 0.0), (90.0, -90.0), (-90.0, -80.0)]
)
def test_a_turn_that_falls_short_makes_no_progress(turning: FakeRobot, asked: float, turned: float) -> None:
    outcome = turn(turning, asked, turned)
    assert reason(outcome) is Reason.NO_PROGRESS
    assert "deg from where it should" in outcome.text


@pytest.mark.parametrize("angle", [3.15, -math.tau])
def test_more_than_half_a_turn_is_refused(turning: FakeRobot, angle: float) -> None:
    assert reason(turning.robot.mobile_base.rotate(angle).outcome()) is Reason.REFUSED
    assert turning.orders.intents == []


def test_a_turn_of_a_base_that_reports_no_heading_is_done_when_it_says_so(turning: FakeRobot) -> None:
    turning.set("rt/amr/state", position=[math.nan] * 3)
    turning.run(0.1)
    rotate = turning.robot.mobile_base.rotate(1.0)
    turning.base("RUNNING", "TASKING", task=6)
    turning.run(0.2)
    turning.base("COMPLETED", "DEVIDLE")
    assert turning.judge(rotate).status == "success"


# Any rhythm a base may report in (tests/robots/traces.py tries more of them).

PHASES = st.lists(st.tuples(st.sampled_from(AT_WORK), st.integers(1, 60)), max_size=6)
LAG = st.integers(0, LONGEST_LAG)
TRACES = st.builds(
    Trace,
    old=st.sampled_from(LEFT_OVER),
    taken=st.integers(0, 120),
    phases=PHASES.map(tuple),
    end=st.sampled_from(LEFT_OVER),
    changes_id=st.booleans(),
    lags=st.tuples(LAG, LAG, LAG),
)


@settings(max_examples=int(os.environ.get("TRACES", "300")), deadline=None)
@given(trace=TRACES)
def test_no_rhythm_of_reports_makes_an_unfinished_task_a_success(trace: Trace) -> None:
    verdict(trace)
