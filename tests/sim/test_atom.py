"""The simulated Atom and Atom-W, as seen on their topics in virtual time."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.robots.profiles import load_profile
from orchestrator.wire import dobot_atom
from orchestrator.wire.dobot_atom import MotorCmd_, amr_v2
from tests.support.lab import Lab

DAMPING, READY, WALK = 1, 2, 301
STATE: Any = dobot_atom.NavigationStatus_
COMMAND: Any = dobot_atom.AMRCommandType
NEW_COMMAND: Any = amr_v2.AMRCommandType


@pytest.fixture
def lab() -> Lab:
    return Lab("atom_w")


@pytest.fixture
def ready(lab: Lab) -> Lab:
    """Standing in position control, the base free for tasks."""
    lab.tell("rt/set/fsm/id", id=READY, wait=2.0)
    return lab


def drive(lab: Lab, kind: str, wait: float = 0.0, **fields: Any) -> None:
    lab.tell("rt/amr/cmd", command_type=COMMAND[kind], wait=wait, **fields)


def motors(count: int, q: float) -> list[MotorCmd_]:
    return [MotorCmd_(mode=1, q=q, dq=0.0, tau=0.0, kp=200.0, kd=3.0) for _ in range(count)]


def rpc(lab: Lab, method: str, **params: Any) -> Any:
    return json.loads(lab.twin.rpc.answer(json.dumps({"id": 7, "method": method, "params": params})))


# State machine and upper control


def test_it_starts_in_damping_and_says_what_it_is(lab: Lab) -> None:
    upper = lab.see("rt/upper/state")
    assert (upper.fsm_id, upper.is_upper_control, upper.robot_type) == (DAMPING, False, "ATOM W")
    assert lab.see("rt/lower/state").fsm_id == DAMPING


def test_a_transition_takes_time_and_shows_the_old_state_until_it_is_done(lab: Lab) -> None:
    lab.tell("rt/set/fsm/id", id=READY, wait=1.4)
    assert lab.see("rt/lower/state").fsm_id == DAMPING
    lab.wait(0.2)
    assert lab.see("rt/lower/state").fsm_id == READY


def test_walking_from_damping_is_refused(lab: Lab) -> None:
    lab.tell("rt/set/fsm/id", id=WALK, wait=5.0)
    assert lab.see("rt/lower/state").fsm_id == DAMPING
    assert rpc(lab, "SetFsmId", fsm_id=WALK)["error"]["code"] == 100


def test_a_state_it_does_not_know_is_refused(lab: Lab) -> None:
    lab.tell("rt/set/fsm/id", id=777, wait=5.0)
    assert lab.see("rt/lower/state").fsm_id == DAMPING


def test_its_own_echo_is_no_command(ready: Lab) -> None:
    """The robot reports its state on the topic that takes commands; a new command may come with that report."""
    ready.tell("rt/set/fsm/id", id=WALK, wait=1.0)
    ready.tell("rt/set/fsm/id", id=DAMPING, wait=0.1)
    ready.tell("rt/set/fsm/id", id=READY, wait=3.0)
    assert ready.see("rt/lower/state").fsm_id == READY


def test_upper_control_needs_a_controlled_state_and_drops_with_it(lab: Lab) -> None:
    lab.tell("rt/switch/upper/control", flag=True, wait=0.1)
    assert not lab.see("rt/upper/state").is_upper_control
    assert rpc(lab, "SwitchUpperLimbControl", is_on=True)["error"]["code"] == 101
    lab.tell("rt/set/fsm/id", id=READY, wait=2.0)
    lab.tell("rt/switch/upper/control", flag=True, wait=0.1)
    assert lab.see("rt/upper/state").is_upper_control
    lab.tell("rt/set/fsm/id", id=DAMPING, wait=1.0)
    assert not lab.see("rt/upper/state").is_upper_control


# Joints and hands


def test_joints_follow_only_under_upper_control(ready: Lab) -> None:
    ready.tell("rt/upper/cmd", motor_cmd=motors(17, 0.5), wait=2.0)
    assert ready.see("rt/upper/state").motor_state[0].q == pytest.approx(0.0, abs=0.01)
    ready.tell("rt/switch/upper/control", flag=True, wait=0.1)
    ready.tell("rt/upper/cmd", motor_cmd=motors(17, 0.5), wait=0.05)
    assert 0.0 < ready.see("rt/upper/state").motor_state[0].q < 0.4  # on its way
    ready.wait(2.0)
    assert ready.see("rt/upper/state").motor_state[0].q == pytest.approx(0.5, abs=0.01)


def test_joints_stop_at_their_limits(ready: Lab) -> None:
    ready.tell("rt/switch/upper/control", flag=True, wait=0.1)
    ready.tell("rt/upper/cmd", motor_cmd=motors(17, 3.0), wait=5.0)
    elbow = ready.twin.profile.group("left_arm")[3]
    assert ready.see("rt/upper/state").motor_state[4].q == pytest.approx(elbow.position.high, abs=0.01)


def test_a_joint_without_stiffness_does_not_follow(ready: Lab) -> None:
    ready.tell("rt/switch/upper/control", flag=True, wait=0.1)
    limp = [replace(motor, kp=0.0) for motor in motors(17, 0.5)]
    ready.tell("rt/upper/cmd", motor_cmd=limp, wait=1.0)
    assert ready.see("rt/upper/state").motor_state[0].q == pytest.approx(0.0, abs=0.01)


def close_hands(lab: Lab) -> None:
    closed = lab.twin.profile.hands.closed * 2
    lab.tell("rt/hands/cmd", hands=[replace(motors(1, q)[0], kp=40.0) for q in closed], wait=2.0)


def test_a_hand_closes_all_the_way_on_nothing(ready: Lab) -> None:
    close_hands(ready)
    hands = ready.see("rt/hands/state").hands
    assert hands[0].q == pytest.approx(0.3316, abs=0.01)
    assert abs(hands[0].tau_est) < 0.2


def test_a_hand_stalls_on_an_object_with_rising_torque(ready: Lab) -> None:
    ready.twin.hand("right").object = True
    close_hands(ready)
    right, left = ready.see("rt/hands/state").hands[:6], ready.see("rt/hands/state").hands[6:]
    assert right[0].q > 1.0
    assert right[0].tau_est > 0.4
    assert left[0].q == pytest.approx(0.3316, abs=0.01)
    ready.twin.hand("right").object = False  # it slips out
    ready.wait(1.0)
    assert ready.see("rt/hands/state").hands[0].q == pytest.approx(0.3316, abs=0.01)


# The base


def test_a_drive_is_queued_runs_and_stays_completed(ready: Lab) -> None:
    seen = ready.history("rt/amr/state", "navigation_status")
    drive(ready, "MOVE_TO_TAG", target_id=12, wait=20.0)
    assert seen == [STATE.QUEUING, STATE.RUNNING, STATE.COMPLETED]
    x, y, _ = ready.see("rt/amr/state").position
    assert (x, y) == pytest.approx(ready.twin.base.tags[12], abs=0.01)
    ready.wait(100.0)
    assert ready.see("rt/amr/state").navigation_status is STATE.COMPLETED


def test_a_second_drive_runs_after_the_first(ready: Lab) -> None:
    tasks = ready.history("rt/amr/state", "task_id")
    drive(ready, "MOVE_TO_TAG", target_id=12, wait=1.0)
    drive(ready, "MOVE_TO_TAG", target_id=15, wait=1.0)
    assert tasks == [1]
    ready.wait(40.0)
    assert tasks == [1, 2]
    assert ready.see("rt/amr/state").position[:2] == pytest.approx(ready.twin.base.tags[15], abs=0.01)


def test_heading_is_in_degrees(ready: Lab) -> None:
    drive(ready, "MOVE_TO_TAG", target_id=12, theta=90.0, wait=20.0)
    assert ready.see("rt/amr/state").position[2] == pytest.approx(math.pi / 2, abs=0.01)


def test_a_tag_it_does_not_know_fails(ready: Lab) -> None:
    drive(ready, "MOVE_TO_TAG", target_id=99, wait=1.0)
    assert ready.see("rt/amr/state").navigation_status is STATE.FAILED


def test_only_a_running_task_is_cancelled(ready: Lab) -> None:
    drive(ready, "MOVE_TO_TAG", target_id=12)
    drive(ready, "CANCEL_TASK", wait=1.0)  # still queueing
    assert ready.see("rt/amr/state").navigation_status is STATE.RUNNING
    drive(ready, "CANCEL_TASK", wait=0.1)
    assert ready.see("rt/amr/state").navigation_status is STATE.CANCELED
    before = ready.see("rt/amr/state").position
    ready.wait(5.0)
    assert ready.see("rt/amr/state").position == pytest.approx(before, abs=0.01)


def test_pause_and_resume(ready: Lab) -> None:
    drive(ready, "MOVE_TO_TAG", target_id=12, wait=3.0)
    drive(ready, "PAUSE_TASK", wait=0.1)
    before = ready.see("rt/amr/state")
    assert before.navigation_status is STATE.PAUSED
    drive(ready, "CANCEL_TASK", wait=10.0)  # not while paused
    after = ready.see("rt/amr/state")
    assert after.navigation_status is STATE.PAUSED
    assert after.position == pytest.approx(before.position, abs=0.01)
    drive(ready, "RESUME_TASK", wait=20.0)
    assert ready.see("rt/amr/state").navigation_status is STATE.COMPLETED


def test_a_blocked_base_waits_and_says_so(ready: Lab) -> None:
    drive(ready, "MOVE_TO_TAG", target_id=12, wait=3.0)
    ready.twin.base.block()
    ready.wait(60.0)
    state = ready.see("rt/amr/state")
    assert state.amr_event.path_blocked
    assert state.navigation_status is STATE.RUNNING
    ready.twin.base.unblock()
    ready.wait(20.0)
    assert ready.see("rt/amr/state").navigation_status is STATE.COMPLETED


def test_no_drive_while_the_body_is_in_damping(lab: Lab) -> None:
    drive(lab, "MOVE_TO_TAG", target_id=12, wait=3.0)
    assert lab.see("rt/amr/state").navigation_status is STATE.IDLE


def remote_drive(lab: Lab) -> None:
    drive(lab, "START_REMOTE", wait=0.1)
    lab.twin.base.press_confirm_key()
    drive(lab, "REMOTE_CONTROL", linear_vel=0.3, wait=1.0)
    assert lab.twin.base.driving


def test_an_error_stops_the_base_in_remote_mode_too(ready: Lab) -> None:
    remote_drive(ready)
    ready.twin.base.break_down()
    here = ready.twin.base.pose
    drive(ready, "REMOTE_CONTROL", linear_vel=0.3, wait=2.0)
    assert (ready.twin.base.pose, ready.twin.base.driving) == (here, False)
    ready.twin.base.repair()
    ready.wait(2.0)
    assert ready.twin.base.pose == here  # what was asked for before the error is over
    drive(ready, "REMOTE_CONTROL", linear_vel=0.3, wait=1.0)
    assert ready.twin.base.driving


def test_a_task_waits_while_somebody_works_on_the_base(ready: Lab) -> None:
    drive(ready, "MOVE_TO_TAG", target_id=12, wait=2.0)
    ready.twin.base.take_over()
    here = ready.twin.base.pose
    ready.wait(30.0)
    assert (ready.twin.base.pose, ready.twin.base.driving, ready.twin.base.velocity) == (here, False, (0.0, 0.0))
    ready.twin.base.give_back()
    ready.wait(30.0)
    assert ready.see("rt/amr/state").navigation_status is STATE.COMPLETED


def test_maintenance_ends_a_remote_drive_for_good(ready: Lab) -> None:
    remote_drive(ready)
    ready.twin.base.take_over()
    ready.twin.base.give_back()
    drive(ready, "START_REMOTE", wait=0.1)
    ready.twin.base.press_confirm_key()
    ready.wait(1.0)
    assert not ready.twin.base.driving


def test_a_base_that_breaks_down_before_its_task_begins_is_as_good_as_new_when_repaired(ready: Lab) -> None:
    drive(ready, "MOVE_TO_TAG", target_id=12, wait=0.05)
    ready.twin.base.break_down()
    ready.wait(1.0)
    assert ready.see("rt/amr/state").navigation_status is STATE.FAILED
    ready.twin.base.repair()
    remote_drive(ready)
    ready.wait(1.0)
    assert ready.twin.base.driving


def test_a_base_with_an_error_does_not_charge(ready: Lab) -> None:
    ready.twin.base.break_down()
    assert not ready.twin.base.move_to_charge()
    assert ready.see("rt/amr/state").device_status.name == "ERROR"


def test_a_base_that_comes_back_online_is_still_at_its_task(ready: Lab) -> None:
    drive(ready, "MOVE_TO_TAG", target_id=12, wait=2.0)
    ready.twin.base.go_offline()
    ready.twin.base.repair()
    ready.wait(0.1)
    assert ready.see("rt/amr/state").device_status.name == "TASKING"


def test_a_speed_of_zero_is_refused(ready: Lab) -> None:
    drive(ready, "SET_VEL", linear_vel=0.4, angular_vel=0.0)
    drive(ready, "MOVE_TO_TAG", target_id=12, wait=30.0)
    assert ready.see("rt/amr/state").navigation_status is STATE.COMPLETED


def test_remote_drive_waits_for_the_key_latches_and_refuses_tasks(ready: Lab) -> None:
    drive(ready, "START_REMOTE", wait=1.0)
    assert ready.see("rt/amr/state").navigation_status is STATE.WAITING_CONFIRM
    drive(ready, "REMOTE_CONTROL", linear_vel=0.5, wait=1.0)
    assert ready.see("rt/amr/state").position[0] == pytest.approx(0.0, abs=0.01)
    ready.twin.base.press_confirm_key()
    ready.wait(0.1)
    assert ready.see("rt/amr/state").work_mode == 3
    drive(ready, "REMOTE_CONTROL", linear_vel=0.5, wait=4.0)  # once: the base repeats it
    assert ready.see("rt/amr/state").position[0] == pytest.approx(2.0, abs=0.02)
    drive(ready, "MOVE_TO_TAG", target_id=12, wait=1.0)
    assert ready.see("rt/amr/state").task_id == 0
    drive(ready, "REMOTE_CONTROL", wait=0.1)
    drive(ready, "STOP_REMOTE", wait=0.1)
    assert ready.see("rt/amr/state").work_mode == 0
    drive(ready, "MOVE_TO_TAG", target_id=12, wait=20.0)
    assert ready.see("rt/amr/state").navigation_status is STATE.COMPLETED


def test_rotation_only_where_the_base_can(ready: Lab) -> None:
    drive(ready, "ROTATE", theta=90.0, wait=5.0)
    assert ready.see("rt/amr/state").task_id == 0
    profile = load_profile("atom_w")
    assert profile.base is not None
    other = Lab(replace(profile, base=replace(profile.base, rotate=True)))
    other.tell("rt/set/fsm/id", id=READY, wait=2.0)
    drive(other, "ROTATE", theta=90.0, wait=5.0)
    assert other.see("rt/amr/state").position[2] == pytest.approx(math.pi / 2, abs=0.01)


def test_the_newer_firmware_numbers_its_commands_differently() -> None:
    lab = Lab(replace(load_profile("atom_w"), variants=("amr_v2", "fsm_v3")))
    lab.tell("rt/set/fsm/id", id=READY, wait=2.0)
    lab.tell("rt/amr/cmd", command_type=NEW_COMMAND.MOVE_TO_TAG, target_id=12, wait=3.0)
    state = lab.see("rt/amr/state")
    assert state.navigation_status is STATE.RUNNING
    assert state.velocity.linear_vel == pytest.approx(0.5)
    lab.wait(20.0)
    lab.tell("rt/amr/cmd", command_type=NEW_COMMAND.MOVE_TO_CHARGE, wait=1.0)
    assert lab.see("rt/amr/state").device_status.name == "CHARGING"


def test_the_battery_drains_and_calls_itself_low(ready: Lab) -> None:
    ready.twin.base.battery.level = 20.01
    first = ready.see("rt/amr/state")
    assert not first.amr_event.low_battery
    ready.wait(10.0)
    assert ready.see("rt/amr/state").amr_event.low_battery
    assert ready.see("rt/amr/state").basic_status.battery_level < first.basic_status.battery_level


def test_heartbeats_go_on(lab: Lab) -> None:
    before = lab.see("rt/amr/state").basic_status.heartbeat
    lab.wait(10.0)
    assert lab.see("rt/amr/state").basic_status.heartbeat - before == 400


# Emergency stops, errors


@pytest.mark.parametrize("kind", ["soft", "hard", "di"])
def test_an_emergency_stop_of_the_body_is_told_at_once_and_takes_the_state_away(ready: Lab, kind: str) -> None:
    ready.tell("rt/switch/upper/control", flag=True, wait=0.1)
    ready.twin.press_emergency(kind)
    ready.wait(0.001)
    assert getattr(ready.see("rt/emergency/state"), f"{kind}_emergency_triggered")
    assert ready.see("rt/lower/state").fsm_id < READY
    assert not ready.see("rt/upper/state").is_upper_control
    ready.tell("rt/set/fsm/id", id=READY, wait=3.0)
    assert ready.see("rt/lower/state").fsm_id < READY  # not while it is pressed
    ready.twin.release_emergency(kind)
    ready.wait(1.0)
    assert not getattr(ready.see("rt/emergency/state"), f"{kind}_emergency_triggered")
    assert ready.see("rt/lower/state").fsm_id < READY  # release alone moves nothing


def test_after_a_hard_stop_the_motors_must_be_enabled(ready: Lab) -> None:
    ready.twin.press_emergency("hard")
    ready.twin.release_emergency("hard")
    ready.wait(0.3)
    assert ready.see("rt/main/nodes/state").waist.servo_state == 0
    ready.tell("rt/set/fsm/id", id=DAMPING, wait=1.0)
    ready.tell("rt/set/fsm/id", id=READY, wait=3.0)
    assert ready.see("rt/lower/state").fsm_id == DAMPING
    ready.tell("rt/enable/motors", flag=[True] * 29, wait=0.3)
    assert ready.see("rt/main/nodes/state").waist.servo_state == 3
    ready.tell("rt/set/fsm/id", id=READY, wait=3.0)
    assert ready.see("rt/lower/state").fsm_id == READY


@pytest.mark.parametrize(
    ("kind", "topic", "event"), [("amr", True, True), ("amr_topic", True, False), ("amr_event", False, True)]
)
def test_the_emergency_stop_of_the_base_shows_on_two_topics(ready: Lab, kind: str, topic: bool, event: bool) -> None:
    drive(ready, "MOVE_TO_TAG", target_id=12, wait=3.0)
    ready.twin.press_emergency(kind)
    ready.wait(0.1)
    before = ready.see("rt/amr/state")
    assert ready.see("rt/emergency/state").amr_emergency_triggered is topic
    assert before.amr_event.emergency_stop_pressed is event
    ready.wait(10.0)
    assert ready.see("rt/amr/state").position == pytest.approx(before.position, abs=0.01)
    ready.twin.release_emergency(kind)
    ready.wait(20.0)
    assert ready.see("rt/amr/state").navigation_status is STATE.COMPLETED  # nobody cancelled: it drives on


def test_an_error_stays_until_it_is_cleared(ready: Lab) -> None:
    ready.twin.fail_motor("left_elbow_pitch", code=0x7310)
    ready.wait(0.3)
    axis = ready.see("rt/main/nodes/state").left_arm[3]
    assert (axis.servo_state, axis.error_code) == (1, 0x7310)
    ready.tell("rt/clear/errors", wait=0.3)
    axis = ready.see("rt/main/nodes/state").left_arm[3]
    assert (axis.servo_state, axis.error_code, axis.node_state) == (3, 0, 5)


def test_a_lasting_error_cannot_be_cleared(ready: Lab) -> None:
    ready.twin.fail_motor("left_elbow_pitch", lasting=True)
    ready.tell("rt/clear/errors", wait=0.3)
    assert ready.see("rt/main/nodes/state").left_arm[3].servo_state == 1


def test_leg_motors_an_atom_w_does_not_have_are_virtual(lab: Lab) -> None:
    nodes = lab.see("rt/main/nodes/state")
    assert [axis.is_virtual for axis in nodes.left_leg] == [False] * 3 + [True] * 3


def test_the_older_firmware_has_three_emergency_flags() -> None:
    lab = Lab(replace(load_profile("atom_w"), variants=("emergency_3",)))
    lab.twin.press_emergency("soft")
    lab.wait(0.1)
    assert lab.see("rt/emergency/state").soft_emergency_triggered
    assert not hasattr(lab.see("rt/emergency/state"), "di_emergency_triggered")


# Pad, JSON-RPC


def test_the_pad_shows_buttons_and_sticks(lab: Lab) -> None:
    lab.twin.press("a", "lb")
    lab.twin.push(ly=0.75)
    lab.wait(0.1)
    remote = bytes(lab.see("rt/lower/state").wireless_remote)
    assert remote[2:4] == bytes([0b10, 0b1])
    assert remote[16:20] == bytes.fromhex("0000403f")


def test_json_rpc_walks_for_the_given_time() -> None:
    lab = Lab("atom")
    assert rpc(lab, "SetVel", vx=0.2, vy=0.0, vyaw=0.0)["error"]["code"] == 102
    lab.tell("rt/set/fsm/id", id=READY, wait=2.0)
    assert rpc(lab, "SetFsmId", fsm_id=WALK) == {"jsonrpc": "2.0", "id": 7, "result": {}}
    lab.wait(2.0)
    assert rpc(lab, "GetFsmId")["result"] == {"fsm_id": WALK}
    assert "result" in rpc(lab, "SetVel", vx=0.2, vy=0.0, vyaw=0.0, duration=2.0)
    lab.wait(10.0)
    assert lab.twin.walking.x == pytest.approx(0.4)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "[" * 100_000,
        '{"method": 3}',
        '{"method": [], "id": 1}',
        '{"method": "GetFsmId", "id": [1]}',
        '{"method": "Nonsense"}',
        '{"method": "SetFsmId"}',
        '{"method": "SetFsmId", "params": {"fsm_id": 1e999}}',
        '{"method": "AMRNavigateToTag", "params": {"target_id": 12, "theta": NaN}}',
    ],
    ids=range(11),
)
def test_bad_requests_get_an_error(lab: Lab, text: str) -> None:
    assert "error" in json.loads(lab.twin.rpc.answer(text))
