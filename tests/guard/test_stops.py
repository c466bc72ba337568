"""What each robot is sent when it is stopped, whether that is checked, and what follows when it has no effect."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from orchestrator.guard import events as e
from orchestrator.guard.config import GuardConfig
from orchestrator.guard.outputs import Joints, Output, Send
from orchestrator.guard.state import Base
from orchestrator.robots import intents as i
from tests.support.guard_world import World, default_config, intents_out, with_allowed


def moving(robot: str, config: GuardConfig | None = None) -> World:
    """A running robot whose left arm is on its way, and which walks if it can."""
    world = World(robot, config or default_config()).run()
    if robot == "gr2":
        world.ask(i.SetUpperFsm("remote"))
        world.shown.upper_fsm = 2
        world.wait(0.1, beats=True)
    q = world.measured("left_arm")
    assert world.ask(i.JointTarget("left_arm", tuple(value + 0.1 for value in q), 2.0)).outputs
    if world.profile.velocity is not None:
        assert world.ask(i.Velocity(0.1, 0.0, 0.0)).outputs
    world.trace.clear()
    return world


def sent(world: World, seconds: float, samples: bool = True) -> list[tuple[float, Output]]:
    """What leaves from now on, with the time since now."""
    began = world.now
    world.wait(seconds, samples)
    return [(entry.at - began, output) for entry in world.trace for output in entry.outputs]


def kinds(outputs: list[tuple[float, Output]]) -> Counter[str]:
    return Counter(type(o.intent).__name__ if isinstance(o, Send) else "Joints" for _, o in outputs)


def frames(outputs: list[tuple[float, Output]]) -> list[tuple[float, Joints]]:
    return [(at, output) for at, output in outputs if isinstance(output, Joints)]


def reports(world: World) -> list[str]:
    return [report.kind for entry in world.trace for report in entry.reports]


HOLDS = {
    # robot: zero velocities, seconds for which joints are held (None: without end), groups held
    "gr2": (50, 1.0, {"left_arm"}),
    "atom": (5, 0.5, {"waist", "left_arm", "right_arm", "head"}),
    "atom_w": (5, 0.5, {"waist", "left_arm", "right_arm", "head"}),
    "adam_u": (0, None, {"waist", "left_arm", "right_arm", "head"}),
}


@pytest.mark.parametrize("robot", HOLDS)
def test_hold(robot: str) -> None:
    zeros, held_for, groups = HOLDS[robot]
    world = moving(robot)
    world.do(e.Stop("op"))
    outputs = sent(world, 3.0)
    velocities = [o.intent for _, o in outputs if isinstance(o, Send) and isinstance(o.intent, i.Velocity)]
    assert velocities == [i.Velocity(0.0, 0.0, 0.0)] * len(velocities)
    assert len(velocities) == pytest.approx(zeros, abs=1)
    times = [at for at, _ in frames(outputs)]
    assert times[0] == 0.0
    assert max(times) == pytest.approx(held_for or 3.0, abs=0.03)
    for _, frame in frames(outputs):
        assert {name for name, _ in frame.groups} == groups
        assert dict(frame.groups)["left_arm"] == world.measured("left_arm"), "captured once, where it was measured"
        assert (frame.role, frame.stiffness) == ("stop", 1.0)
    assert not {"SetFsm", "SwitchUpperControl"} & set(kinds(outputs))
    assert world.state.mode == "disarmed"


LOW = i.StandPose(-0.1, 0.0, 0.0)


def posing() -> World:
    """A GR-2 half way to a stand pose."""
    world = World("gr2")
    world.shown.fsm = world.profile.fsm["pd_stand"]
    world.run()
    assert world.ask(LOW).outputs
    world.shown.stand = (-0.05, 0.0, 0.0)
    world.wait(0.1, beats=True)
    world.trace.clear()
    return world


def stand_poses(outputs: list[tuple[float, Output]]) -> list[tuple[float, i.AnyIntent]]:
    return [(at, o.intent) for at, o in outputs if isinstance(o, Send) and isinstance(o.intent, i.StandPose)]


def test_a_body_on_its_way_to_a_pose_stays_where_it_is_and_the_leaf_is_told_why() -> None:
    world = posing()
    stop = world.do(e.Stop("op"))
    assert ("ended", world.last_id, "stopped by op") in [(r.kind, r.id, r.text) for r in stop.reports]
    assert stand_poses(sent(world, 3.0)) == [(0.0, i.StandPose(-0.05, 0.0, 0.0))]


def test_a_body_that_goes_on_is_told_the_same_pose_again() -> None:
    world = posing()
    world.do(e.Stop("op"))
    world.shown.stand, world.shown.speed = (-0.1, 0.0, 0.0), 0.08
    poses = stand_poses(sent(world, 3.0))
    assert [pose for _, pose in poses] == [i.StandPose(-0.05, 0.0, 0.0)] * 4
    assert "press_hardware_estop" in reports(world)


def test_a_pose_beyond_the_limits_is_held_at_the_limit() -> None:
    world = posing()
    world.shown.stand = (-0.9, 0.0, 0.0)
    world.sample()
    lowest = world.profile.stand_pose.dz.low if world.profile.stand_pose else 0.0
    assert stand_poses([(0.0, o) for o in world.do(e.Stop("op")).outputs]) == [(0.0, i.StandPose(lowest, 0.0, 0.0))]


@pytest.mark.parametrize("event", [e.RobotRebooted("test"), e.Observation("aurora_state", {}, {"security": True})])
def test_a_robot_that_has_let_go_is_told_no_pose(event: e.Event) -> None:
    world = posing()
    world.do(event)
    assert stand_poses(sent(world, 3.0)) == []


def test_park_of_a_walking_aurora_waits_until_it_stands_then_sets_pd_stand() -> None:
    world = moving("gr2")
    world.shown.speed = 0.3
    world.sample()
    world.do(e.Stop("op", "park"))
    assert "SetFsm" not in kinds(sent(world, 0.4))
    world.shown.speed = 0.0
    world.trace.clear()
    outputs = sent(world, 1.0)
    changes = [(at, o.intent) for at, o in outputs if isinstance(o, Send) and isinstance(o.intent, i.SetFsm)]
    assert [intent for _, intent in changes] == [i.SetFsm("pd_stand")]
    assert changes[0][0] >= 0.5


def test_park_leaves_a_robot_alone_that_does_not_walk() -> None:
    world = World("gr2")
    world.shown.fsm = 0
    world.run()
    world.do(e.Stop("op", "park"))
    assert "SetFsm" not in kinds(sent(world, 3.0))


def test_park_of_an_atom_stands_and_gives_the_arms_back() -> None:
    world = moving("atom")
    world.do(e.Stop("op", "park"))
    outputs = sent(world, 3.0)
    assert [o.intent for _, o in outputs if isinstance(o, Send) and not isinstance(o.intent, i.Velocity)] == [
        i.SetFsm("ready"),
        i.SwitchUpperControl(False),
    ]


def test_park_of_an_adam_ramps_to_rest_and_then_goes_limp() -> None:
    world = moving("adam_u")
    world.do(e.Stop("op", "park"))
    outputs = frames(sent(world, 12.0))
    arms = [(at, dict(frame.groups)["left_arm"], frame.stiffness) for at, frame in outputs]
    fastest = max(
        abs(b - a) / (t1 - t0) for (t0, q0, _), (t1, q1, _) in pairwise(arms) if t1 - t0 > 1e-6 for a, b in zip(q0, q1)
    )
    assert fastest <= 0.3 * 1.01
    assert arms[-1][1] == pytest.approx(world.profile.poses["home"]["left_arm"])
    assert arms[-1][2] == 0.0
    limp = [at for at, _, stiffness in arms if stiffness < 1.0]
    assert limp[-1] - limp[0] == pytest.approx(2.0, abs=0.05)
    assert world.state.mode == "disarmed"
    assert world.state.frame_due > 1e9, "nothing more is sent"


DROPS = {"gr2": i.SetFsm("security"), "atom": i.SetFsm("damping"), "atom_w": i.SetFsm("damping")}


@pytest.mark.parametrize("robot", DROPS)
def test_drop_only_where_it_is_allowed(robot: str) -> None:
    for config, allowed in ((default_config(), False), (with_allowed(default_config(), "drop"), True)):
        world = moving(robot, config)
        entry = world.do(e.Stop("op", "drop"))
        intents = [output.intent for output in entry.outputs if isinstance(output, Send)]
        assert (DROPS[robot] in intents) == allowed


def test_a_dropped_adam_is_damped_without_stiffness() -> None:
    world = moving("adam_u", with_allowed(default_config(), "drop"))
    world.do(e.Stop("op", "drop"))
    dropped = [frame for at, frame in frames(sent(world, 0.5)) if at > 0]
    assert {(frame.stiffness, frame.damping) for frame in dropped} == {(0.0, 2.0)}


@pytest.mark.parametrize(
    ("event", "command"),
    [(e.Pause("op"), "PauseTask"), (e.Stop("op"), "CancelTask"), (e.Disarm("op"), "CancelTask")],
)
def test_a_task_of_the_base_is_paused_or_cancelled(event: e.Event, command: str) -> None:
    world = World("atom_w").run()
    world.ask(i.MoveToTag(12, None))
    world.shown.base = Base("tasking", "running", 0, 3)
    world.wait(0.1, beats=True)
    outputs = world.do(event).outputs
    assert [type(o.intent).__name__ for o in outputs if isinstance(o, Send)] == [command]


def test_a_robot_that_ignores_stops_gets_four_and_a_person_is_called() -> None:
    world = moving("atom_w")
    world.shown.speed = 0.3
    world.sample()
    world.trace.clear()
    world.do(e.Stop("op"))
    outputs = sent(world, 3.0)
    cancels = [at for at, o in outputs if isinstance(o, Send) and isinstance(o.intent, i.CancelTask)]
    assert cancels == pytest.approx([0.0, 1.0, 1.2, 1.4])
    assert "press_hardware_estop" in reports(world)
    assert "stopped" not in reports(world)
    assert world.state.mode == "fault"


def test_a_stop_without_effect_escalates_where_configured() -> None:
    config = with_allowed(default_config(), "drop")
    world = moving("gr2", replace(config, stop=replace(config.stop, escalate="drop")))
    world.shown.speed = 0.3
    world.sample()
    world.trace.clear()
    world.do(e.Stop("op"))
    outputs = sent(world, 3.0)
    assert (1.6, i.SetFsm("security")) in [(round(at, 3), o.intent) for at, o in outputs if isinstance(o, Send)]


def test_a_stop_nobody_can_see_is_never_called_stopped() -> None:
    world = moving("atom_w")
    world.shown.silent = ("rt/amr/state",)
    world.wait(0.6, beats=True)
    world.do(e.Stop("op"))
    sent(world, 3.0)
    assert "stopped" not in reports(world)
    assert "unverified" in reports(world)
    assert world.state.mode == "fault"


def test_stops_are_sent_to_nobody_in_every_mode_and_however_often() -> None:
    world = World("atom_w")
    for _ in range(100):
        assert [type(o.intent) for o in world.do(e.Stop("op")).outputs if isinstance(o, Send)] == [i.CancelTask]


@pytest.mark.parametrize(("channel", "held"), [("soft", True), ("amr_event", True), ("hard", False)])
def test_an_emergency_stop_never_changes_the_state_and_holds_half_a_second_at_most(channel: str, held: bool) -> None:
    world = moving("atom_w")
    world.shown.flags[channel] = True
    world.sample()
    outputs = sent(world, 3.0)
    assert kinds(outputs)["CancelTask"] == 1
    assert not {"SetFsm", "SwitchUpperControl"} & set(kinds(outputs))
    assert bool(frames(outputs)) == held
    assert all(at <= 0.5 for at, _ in frames(outputs))


@pytest.mark.parametrize("channel", ["motors", "pad", "tilt"])
@pytest.mark.parametrize("after", [0.2, 2.0])
def test_whoever_stops_an_adam_that_is_latched_moves_nothing(channel: str, after: float) -> None:
    """It may be limp by then: held anew it would jump, and the rest pose would be a motion at full stiffness."""
    world = moving("adam_u")
    world.shown.flags[channel] = True
    world.sample()
    world.shown.flags[channel] = False
    world.wait(after)
    held = dict(world.state.holds)
    world.trace.clear()
    world.do(e.Stop("orchestrator stop", "park"))
    outputs = frames(sent(world, 5.0))
    assert all(at <= 0.5 - after + 0.01 for at, _ in outputs), "what was held is held no longer than without it"
    assert all(dict(frame.groups) == {group: hold.q for group, hold in held.items()} for _, frame in outputs)
    assert world.state.stop is not None and world.state.stop.profile == "hold"


def test_a_second_channel_does_not_hold_a_latched_robot_again() -> None:
    world = moving("atom_w")
    world.shown.flags["soft"] = True
    world.wait(2.0)
    world.trace.clear()
    world.shown.flags["amr"] = True
    outputs = sent(world, 2.0)
    assert frames(outputs) == []
    assert kinds(outputs)["CancelTask"] > 0
    assert world.state.latched == {"soft", "amr"}


def test_a_latched_robot_that_moves_on_is_not_parked() -> None:
    config = default_config()
    world = moving("atom_w", replace(config, stop=replace(config.stop, escalate="park")))
    world.shown.speed = 0.5
    world.shown.flags["soft"] = True
    outputs = sent(world, 5.0)
    assert not {"SetFsm", "SwitchUpperControl"} & set(kinds(outputs))
    assert "press_hardware_estop" in reports(world)


def test_a_pause_waits_for_a_queued_task_without_an_alarm_and_pauses_it_once_it_drives() -> None:
    world = World("atom_w").run()
    world.ask(i.MoveToTag(12, None))
    world.shown.base = Base("tasking", "queuing", 0, 7)
    world.wait(0.1, beats=True)
    world.do(e.Pause("op"))
    world.wait(30.0, beats=True)
    assert world.state.mode.value == "paused"
    assert not {"press_hardware_estop", "unverified"} & {*reports(world)}
    world.trace.clear()
    world.shown.base = Base("tasking", "running", 0, 7)
    world.wait(0.5, beats=True)
    assert any("PauseTask" in intents_out(entry) for entry in world.trace)


def test_a_base_that_moves_while_its_task_is_queued_does_not_count_as_paused() -> None:
    world = World("atom_w").run()
    world.ask(i.MoveToTag(12, None))
    world.shown.base, world.shown.speed = Base("tasking", "queuing", 0, 7), 0.5
    world.wait(0.1, beats=True)
    world.do(e.Pause("op"))
    world.wait(2.0, beats=True)
    assert "press_hardware_estop" in reports(world)


def walked() -> World:
    """A run that has just ended a walk."""
    world = World("gr2").run()
    world.ask(i.Velocity(0.1, 0.0, 0.0))
    world.do(e.StreamEnded(world.state.epoch, world.last_id))
    world.trace.clear()
    return world


def test_the_zero_that_ends_a_walk_is_sent_again_for_it_may_be_lost() -> None:
    world = walked()
    world.wait(5.0, beats=True)
    again = [(entry.at, output) for entry in world.trace for output in entry.outputs]
    assert [round(at - again[0][0], 1) for at, _ in again] == [0.0, 0.2, 0.4]
    assert all(isinstance(output, Send) and output.intent == i.Velocity(0.0, 0.0, 0.0) for _, output in again)


def test_a_walk_that_follows_is_not_held_up_by_the_zero_of_the_one_before() -> None:
    world = walked()
    world.ask(i.Velocity(0.2, 0.0, 0.0))
    world.wait(1.0, beats=True)
    assert {output.intent for entry in world.trace for output in entry.outputs if isinstance(output, Send)} == {
        i.Velocity(0.2, 0.0, 0.0)
    }


def test_nothing_is_repeated_to_a_robot_that_somebody_else_commands() -> None:
    world = walked()
    world.do(e.ForeignWriters(("other on velocity_cmd",), frozenset({"velocity_cmd"})))
    world.trace.clear()
    world.wait(2.0, beats=True)
    assert not [output for entry in world.trace for output in entry.outputs]
