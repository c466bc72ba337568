"""The wheeled base beside its tasks: pause, cancel, remote drive, settings."""

from __future__ import annotations

from orchestrator.robots import intents
from orchestrator.robots.reasons import Reason
from tests.support.fake_robot import ready, reason


def test_pause_and_resume_are_confirmed_by_the_status() -> None:
    fake = ready("atom_w")
    fake.base("RUNNING", "TASKING")
    fake.run(0.1)
    pause = fake.robot.mobile_base.pause()
    fake.base("PAUSED")
    assert fake.judge(pause).status == "success"
    resume = fake.robot.mobile_base.resume()
    fake.base("RUNNING")
    assert fake.judge(resume).status == "success"


def test_a_pause_without_effect_is_asked_for_again_but_nobody_is_fought() -> None:
    fake = ready("atom_w")
    fake.base("QUEUING", "TASKING")
    fake.run(0.1)
    pause = fake.robot.mobile_base.pause()
    for _ in range(10):
        fake.run(0.06)
        assert pause.outcome().status == "running"
    assert fake.orders.intents == [intents.PauseTask()]  # while it is queued there is nothing to pause
    fake.base("RUNNING")
    fake.run(0.06)
    pause.outcome()
    fake.base("PAUSED")
    fake.run(0.06)
    pause.outcome()
    fake.base("RUNNING")
    assert reason(fake.judge(pause)) is Reason.FAILED
    assert fake.orders.intents == [intents.PauseTask()] * 2


def test_a_pause_is_asked_for_again_three_times_at_most() -> None:
    fake = ready("atom_w")
    fake.base("RUNNING", "TASKING")
    fake.run(0.1)
    assert reason(fake.judge(fake.robot.mobile_base.pause())) is Reason.NOT_ACCEPTED
    assert fake.orders.intents == [intents.PauseTask()] * 4


def test_a_task_that_is_completed_right_after_it_was_resumed_has_gone_on() -> None:
    fake = ready("atom_w")
    fake.base("COMPLETED", "DEVIDLE")
    fake.run(0.1)
    resume = fake.robot.mobile_base.resume()
    assert resume.outcome().status == "running"  # what was reported before says nothing
    fake.base("PAUSED", "TASKING")
    fake.run(0.1)
    fake.base("RUNNING")
    fake.run(0.1)
    assert resume.outcome().status == "running"
    fake.base("COMPLETED", "DEVIDLE")
    assert fake.judge(resume).status == "success"


def test_cancelling_an_idle_base_sends_nothing() -> None:
    fake = ready("atom_w")
    assert fake.robot.mobile_base.cancel().outcome().status == "success"
    assert fake.orders.intents == []


def test_cancelling_is_done_when_the_base_has_stopped() -> None:
    fake = ready("atom_w")
    fake.base("RUNNING", "TASKING")
    fake.run(0.1)
    cancel = fake.robot.mobile_base.cancel()
    assert fake.orders.intents == [intents.CancelTask()]
    fake.run(0.1)
    assert cancel.outcome().status == "running"
    fake.base("CANCELED", "DEVIDLE")
    assert fake.judge(cancel).status == "success"


def test_a_base_that_does_not_stop_fails_the_cancel() -> None:
    fake = ready("atom_w")
    fake.base("RUNNING", "TASKING")
    fake.run(0.1)
    assert reason(fake.judge(fake.robot.mobile_base.cancel())) is Reason.NOT_ACCEPTED


def test_a_base_that_cannot_turn_refuses_to() -> None:
    fake = ready("atom_w")
    assert reason(fake.robot.mobile_base.rotate(1.0).outcome()) is Reason.UNSUPPORTED


def test_a_remote_session_waits_for_the_key_and_is_closed_when_given_up() -> None:
    fake = ready("atom_w")
    remote = fake.robot.mobile_base.start_remote()
    fake.run(30.0)
    assert remote.outcome().status == "running"
    remote.cancel()
    assert fake.orders.intents == [intents.StartRemote(), intents.StopRemote()]


def test_driving_needs_the_session_to_stay_open() -> None:
    fake = ready("atom_w")
    fake.set("rt/amr/state", work_mode=3)
    fake.run(0.1)
    drive = fake.robot.mobile_base.drive(0.2, 0.0)
    fake.run(1.0)
    assert drive.outcome().status == "running"
    fake.set("rt/amr/state", work_mode=0)
    assert reason(fake.judge(drive)) is Reason.CONTROL_LOST


def test_settings_of_the_base_are_done_when_they_have_left() -> None:
    fake = ready("atom_w")
    base = fake.robot.mobile_base
    judges = [base.set_speed(0.3, 0.12, 0.24)]
    judges += [base.subscribe_laser(True), base.start_mapping(), base.save_map(), base.stop_mapping()]
    assert {judge.outcome().status for judge in judges} == {"success"}
    assert len(fake.orders.intents) == 7
