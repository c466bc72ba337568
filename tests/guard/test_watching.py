"""What follows from what the robot shows: by tables, on the core alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.guard import events as e
from orchestrator.guard.config import Battery
from orchestrator.guard.outputs import Send
from orchestrator.guard.state import Base, Power
from orchestrator.guard.watching import battery_level
from orchestrator.robots import intents as i
from tests.support.guard_world import World, intents_out


def reported(world: World) -> list[tuple[str, str]]:
    return [(report.kind, report.value) for entry in world.trace for report in entry.reports]


def left(world: World) -> list[str]:
    return [name for entry in world.trace for name in intents_out(entry)]


# A robot that lets go


@pytest.mark.parametrize("change", [{"fsm": 1}, {"fsm": 0}, {"upper_control": False}])
def test_a_robot_that_lets_go_before_its_e_stop_is_seen_is_estopped_not_intervened(change: dict[str, int]) -> None:
    world = World("atom_w").run()
    world.ask(i.Velocity(0.1, 0.0, 0.0))
    world.trace.clear()
    for name, value in change.items():
        setattr(world.shown, name, value)
    world.sample()
    assert left(world) == ["Velocity"], "the stream ends at once, with zero"
    world.trace.clear()
    assert "or by an e-stop" in world.ask(i.Velocity(0.1, 0.0, 0.0)).reports[0].text
    world.wait(0.25, beats=True)
    world.shown.flags["soft"] = True
    world.sample()
    assert [value for kind, value in reported(world) if kind == "mode"] == ["estopped"]


def test_a_robot_that_lets_go_without_an_e_stop_was_told_so_by_somebody_else() -> None:
    world = World("atom_w").run()
    world.trace.clear()
    world.shown.fsm = 1
    world.wait(0.5, beats=True)
    assert [value for kind, value in reported(world) if kind == "mode"] == ["intervened"]
    assert left(world) == []


@pytest.mark.parametrize(
    ("fsm", "told"), [(1997, "1997, a state without a name in the profile"), (0, "zero_torque by another hand")]
)
def test_a_state_nobody_knows_is_not_told_as_somebodys_doing(fsm: int, told: str) -> None:
    world = World("atom_w").run()
    world.shown.fsm = fsm
    world.wait(0.5, beats=True)
    assert (world.state.mode, world.state.reason) == ("intervened", f"fsm became {told}")


def test_another_state_that_is_not_limp_is_an_intervention_at_once() -> None:
    world = World("atom_w").run()
    world.shown.fsm = 2
    world.sample()
    assert world.state.mode == "intervened"


# Two channels of one e-stop


@pytest.mark.parametrize("robot", ["atom_w", "gr2", "adam_u"])
def test_a_report_of_another_robot_in_a_motion_is_a_bad_one(robot: str) -> None:
    """One sample without a group, or with another name: what has moved is still held where it is."""
    world = World(robot).run()
    if robot == "gr2":
        world.ask(i.SetUpperFsm("remote"))
        world.shown.upper_fsm = 2
        world.wait(0.2, beats=True)
    world.ask(i.JointTarget("left_arm", world.measured("left_arm"), 3.0))
    (stream,) = world.state.streams
    source = world.core.setting.robot.roles["joints"]
    world.do(e.Observation(source, {"joints": {}, "stranger": "X"}, {}))
    assert world.state.sources[source].bad
    world.do(e.StreamEnded(world.state.epoch, stream.id))
    assert world.state.holds["left_arm"].q == world.measured("left_arm")


def test_an_e_stop_in_a_report_of_another_robot_latches() -> None:
    world = World("adam_u").run()
    world.do(e.Observation("rt/lowstate", {"joints": {}, "stranger": "X"}, {"tilt": True}))
    assert world.state.mode == "estopped"


@pytest.mark.parametrize("first", ["amr", "amr_event"])
def test_channels_that_disagree_are_a_fault_and_the_robot_stays_stopped(first: str) -> None:
    world = World("atom_w").run()
    world.shown.flags[first] = True
    world.wait(0.4, beats=True)
    assert ("warning", "disagree") not in reported(world)
    world.wait(0.8, beats=True)
    assert reported(world).count(("warning", "disagree")) == 1
    assert world.state.mode == "estopped"
    assert "amr and amr_event" in world.state.reason
    assert [r.text for r in world.do(e.Acknowledge("op", "seen")).reports] == [
        "Acknowledge: an e-stop is still triggered"
    ]


def test_channels_that_agree_in_time_are_no_fault() -> None:
    world = World("atom_w").run()
    world.shown.flags["amr"] = True
    world.wait(0.4, beats=True)
    world.shown.flags["amr_event"] = True
    world.wait(1.0, beats=True)
    assert ("warning", "disagree") not in reported(world)


def test_a_flag_in_a_sample_that_was_overtaken_latches_and_a_clear_one_clears_nothing() -> None:
    world = World("atom_w").run()
    world.do(e.LateFlags({"soft": True, "hard": False}))
    assert world.state.mode == "estopped"
    world.do(e.LateFlags({"soft": False, "hard": False}))
    assert world.state.flags["soft"]


# A base that falls silent

SILENT_BASE = ("rt/amr/state",)


@pytest.mark.parametrize("shown", ["queuing", "running"])
def test_the_task_of_a_base_that_falls_silent_is_cancelled_again_and_again_until_it_is_heard(shown: str) -> None:
    world = World("atom_w").run()
    world.ask(i.MoveToTag(12, None))
    world.shown.base = Base("tasking", shown, 0, 7)
    world.wait(1.0, beats=True)
    world.trace.clear()
    world.shown.silent = SILENT_BASE
    world.wait(2.0, beats=True)
    assert left(world) == []
    world.wait(5.0, beats=True)
    assert left(world) == ["CancelTask"] * 3
    assert world.state.mode == "running"
    assert ("warning", "silent") in reported(world)
    world.shown.silent, world.shown.base = (), Base("devidle", "canceled", 0, 7)
    world.trace.clear()
    world.wait(5.0, beats=True)
    assert left(world) == []
    assert world.state.mode == "running"
    assert world.state.task is None


def test_a_silent_base_without_a_task_of_ours_is_told_nothing() -> None:
    world = World("atom_w").run()
    world.trace.clear()
    world.shown.silent = SILENT_BASE
    world.wait(6.0, beats=True)
    assert left(world) == []


# A task that is called off

QUEUED, DRIVING, AT_REST = (
    Base("tasking", "queuing", 0, 7),
    Base("tasking", "running", 0, 7),
    Base("devidle", "idle", 0, 7),
)


def driving() -> World:
    world = World("atom_w").run()
    world.ask(i.MoveToTag(12, None))
    world.shown.base = DRIVING
    world.wait(0.1, beats=True)
    world.trace.clear()
    return world


@pytest.mark.parametrize("channel", ["soft", "hard", "amr"])
@pytest.mark.parametrize("limp", [1, 0, 301])
def test_a_task_that_is_queued_when_an_e_stop_comes_is_cancelled_the_moment_it_runs(channel: str, limp: int) -> None:
    world = World("atom_w").run()
    world.ask(i.MoveToTag(12, None))
    world.shown.base = QUEUED
    world.wait(0.1, beats=True)
    world.shown.fsm = limp  # may be seen before the flag
    world.sample()
    world.shown.flags[channel] = True
    world.sample()
    world.wait(0.3, beats=True)
    world.trace.clear()
    world.shown.base = DRIVING
    world.sample()
    assert left(world) == ["CancelTask"]


def test_the_task_of_a_robot_that_lets_go_is_cancelled_before_it_is_known_why() -> None:
    world = driving()
    world.shown.fsm = 1
    world.sample()
    assert left(world) == ["CancelTask"]


def test_a_base_that_drives_on_is_told_again_every_200_ms_three_times_at_most() -> None:
    world = driving()
    began, world.shown.fsm = world.now, 1
    world.wait(3.0, beats=True)
    times = [entry.at - began for entry in world.trace for name in intents_out(entry) if name == "CancelTask"]
    assert times == pytest.approx([0.05, 0.25, 0.45, 0.65])


def test_a_task_the_base_takes_long_after_it_was_sent_is_cancelled_when_it_runs() -> None:
    world = World("atom_w").run()
    world.ask(i.MoveToTag(12, None))
    world.wait(60.0, beats=True)
    world.trace.clear()
    world.shown.base = QUEUED
    world.wait(0.1, beats=True)
    assert left(world) == []
    world.shown.base = DRIVING
    world.sample()
    assert left(world) == ["CancelTask"]
    assert ("warning", "late task") in reported(world)
    world.shown.base = AT_REST
    world.sample()
    assert world.state.task is None


def test_another_task_may_follow_one_the_base_never_showed_and_whichever_is_too_much_is_cancelled() -> None:
    world = World("atom_w").run()
    world.ask(i.MoveToTag(12, None))
    world.wait(4.9, beats=True)
    assert world.ask(i.MoveToTag(12, None)).reports[0].text == "one_outstanding: task 1 is not over"
    world.wait(0.2, beats=True)
    assert intents_out(world.ask(i.MoveToTag(12, None))) == ["MoveToTag"]
    world.trace.clear()
    for base in (DRIVING, Base("devidle", "completed", 0, 7)):
        world.shown.base = base
        world.wait(0.5, beats=True)
    assert left(world) == []
    world.shown.base = Base("tasking", "running", 0, 8)
    world.sample()
    assert left(world) == ["CancelTask"]


def test_a_task_the_base_never_showed_is_not_forgotten_when_the_robot_is_armed_again() -> None:
    world = World("atom_w").run()
    world.ask(i.MoveToTag(12, None))
    world.shown.flags["soft"] = True
    world.sample()
    world.shown.flags["soft"] = False
    world.wait(1.2, beats=True)
    world.do(e.Acknowledge("op", "seen"))
    world.arm()
    assert world.state.mode == "armed"
    world.trace.clear()
    world.shown.base = DRIVING
    world.sample()
    assert left(world) == ["CancelTask"]


# A task of a robot that others take

ON_THE_BASE = e.ForeignWriters(("other on rt/amr/cmd",), frozenset({"rt/amr/cmd"}))
ON_THE_ARMS = e.ForeignWriters(("other on rt/upper/cmd",), frozenset({"rt/upper/cmd"}))


def test_whoever_commands_the_body_the_base_is_told_to_end_our_task() -> None:
    world = driving()
    world.do(ON_THE_ARMS)
    assert left(world) == ["CancelTask"]
    assert (world.state.mode, world.state.reason) == ("intervened", "commanded by other on rt/upper/cmd as well")


def test_nobody_fights_over_the_base_and_people_are_told_how_to_end_our_task() -> None:
    world = driving()
    world.do(ON_THE_BASE)
    world.wait(10.0, beats=True)
    assert left(world) == []
    assert "a task of ours still runs on the base; somebody else commands it: end it there" in world.state.reason
    world.do(e.Stop("op"))
    assert left(world) == ["CancelTask"], "a person may"


def test_a_task_the_base_has_not_shown_when_others_take_it_is_not_forgotten() -> None:
    world = World("atom_w").run()
    world.ask(i.MoveToTag(12, None))
    world.trace.clear()
    world.do(ON_THE_BASE)
    world.wait(10.0, beats=True)
    assert left(world) == []
    assert "a task the base never showed may still begin" in world.state.reason


# A task that is paused

PAUSED = Base("tasking", "paused", 0, 7)


def paused(by_us: bool = True) -> World:
    """A running robot whose base has paused its task."""
    world = World("atom_w").run()
    world.ask(i.MoveToTag(12, None))
    world.shown.base = DRIVING
    world.wait(0.1, beats=True)
    if by_us:
        world.do(e.Pause("op"))
    world.shown.base = PAUSED
    world.wait(1.2, beats=True)
    world.trace.clear()
    return world


def epoch(world: World) -> int:
    return world.state.epoch


ORDERLY: dict[str, Callable[[World], e.Event]] = {
    "end": lambda world: e.RunEnded(epoch(world)),
    "disarm": lambda world: e.Disarm("op"),
}
OTHERS: dict[str, Callable[[World], e.Event]] = {
    "gone": lambda world: e.RunGone(epoch(world)),
    "stop": lambda world: e.Stop("op"),
    "e-stop": lambda world: e.LateFlags({"soft": True}),
    "restart of an e-stop channel": lambda world: e.BadSample("rt/emergency/state"),
}


@pytest.mark.parametrize("ending", ORDERLY)
def test_a_task_we_have_paused_goes_on_for_an_instant_and_is_cancelled_at_an_orderly_end(ending: str) -> None:
    world = paused()
    world.do(ORDERLY[ending](world))
    assert left(world) == ["CancelTask"], "this base may take it while it is paused"
    world.wait(0.25)
    assert left(world) == ["CancelTask", "ResumeTask", "CancelTask"], "both in one step, the end behind it"
    world.shown.base = DRIVING
    world.sample()
    assert left(world)[-1] == "CancelTask", "should it have missed that"
    world.shown.base = AT_REST
    world.wait(3.0)
    assert world.state.mode == "disarmed"
    assert ("warning", "left behind") not in reported(world)


@pytest.mark.parametrize("ending", OTHERS)
def test_a_paused_task_is_never_resumed_by_a_stop_for_which_there_was_a_reason(ending: str) -> None:
    world = paused()
    for _ in range(5):
        world.do(OTHERS[ending](world))
    world.wait(5.0)
    assert "ResumeTask" not in left(world)
    assert ("warning", "left behind") in reported(world)


@pytest.mark.parametrize("change", [{"flags": {"soft": True}}, {"errors": {"head": "head: error 1"}}])
def test_a_paused_task_is_not_resumed_when_something_happens_in_between(change: dict[str, dict[str, object]]) -> None:
    world = paused()
    world.do(e.RunEnded(epoch(world)))
    for name, value in change.items():
        setattr(world.shown, name, getattr(world.shown, name) | value)
    world.wait(5.0)
    assert "ResumeTask" not in left(world)


def test_the_paused_task_of_a_base_that_is_not_heard_is_not_resumed() -> None:
    world = paused()
    world.shown.silent = SILENT_BASE
    world.wait(0.2, beats=True)
    world.do(e.RunEnded(epoch(world)))
    world.wait(5.0)
    assert "ResumeTask" not in left(world)


@pytest.mark.parametrize("pauses_too", [False, True])
def test_a_task_that_somebody_else_has_paused_is_left_to_them_and_that_is_said(pauses_too: bool) -> None:
    world = paused(by_us=False)
    if pauses_too:
        world.do(e.Pause("op"))
    world.do(e.RunEnded(epoch(world)))
    world.wait(3.0)
    assert "ResumeTask" not in left(world)
    said = [report.text for entry in world.trace for report in entry.reports if report.value == "left behind"]
    assert said == ["a task of ours is paused on the base: whoever resumes it there makes it drive on"]
    world.trace.clear()
    world.shown.base = DRIVING
    world.sample()
    assert left(world) == ["CancelTask"], "while the guard is there"


def test_a_pause_of_ours_is_ours_until_the_base_is_seen_to_go_on() -> None:
    world = paused()
    for _ in range(2):  # the second time the mission is paused before the base has shown that it goes on
        world.do(e.Resume("op"))
        world.ask(i.ResumeTask())
        world.do(e.Pause("op"))
    assert left(world).count("ResumeTask") == 2
    assert "refused" not in [kind for kind, _ in reported(world)]
    world.shown.base = DRIVING  # what the base shows now is of before
    world.sample()
    world.shown.base = PAUSED
    world.wait(1.0, beats=True)
    assert ("warning", "paused") not in reported(world)
    world.do(e.Resume("op"))
    world.shown.base = DRIVING
    world.wait(0.2, beats=True)
    world.shown.base = PAUSED
    world.wait(0.2, beats=True)
    assert ("warning", "paused") in reported(world), "this one is somebody else's"
    world.ask(i.ResumeTask())
    assert ("refused", "one_outstanding") in reported(world)


def test_a_base_that_does_not_go_on_is_told_three_times_then_that_is_said() -> None:
    world = paused()
    world.do(e.RunEnded(epoch(world)))
    world.wait(5.0)
    assert left(world).count("ResumeTask") == 3
    assert ("warning", "left behind") in reported(world)
    assert world.state.mode == "disarmed"


# Motors


def test_an_arm_with_an_error_is_held_and_nothing_moves_until_it_is_cleared() -> None:
    world = World("atom_w").run()
    world.ask(i.MoveToTag(12, None))
    world.shown.base = Base("tasking", "running", 0, 7)
    world.wait(0.1, beats=True)
    world.trace.clear()
    world.shown.errors = {"left_arm": "left_shoulder_yaw: error 0x7"}
    world.sample()
    assert left(world) == ["CancelTask"]
    assert world.state.mode == "running"
    refusal = world.ask(i.SetFsm("ready")).reports[0]
    assert (refusal.kind, refusal.value, "left_shoulder_yaw: error 0x7" in refusal.text) == (
        "refused",
        "interlock",
        True,
    )
    assert intents_out(world.ask(i.ClearErrors())) == ["ClearErrors"]
    assert "once" not in world.ask(i.ClearErrors()).reports[0].text
    assert world.trace[-1].reports[0].value == "one_outstanding"
    assert intents_out(world.ask(i.ClearErrors(confirmed=True))) == ["ClearErrors"]
    world.shown.errors, world.shown.base = {}, Base("devidle", "canceled", 0, 7)
    world.sample()
    assert intents_out(world.ask(i.SetFsm("ready"))) == ["SetFsm"]
    assert world.ask(i.ClearErrors()).reports[0].text == "interlock: there is nothing to clear"


@pytest.mark.parametrize(
    ("robot", "shown"),
    [
        ("atom", {"errors": {"left_leg": "left_hip_pitch: error 0x7"}}),
        ("atom_w", {"errors": {"lift": "lift_2: error 0x7"}}),
        ("atom_w", {"unhealthy": "head_yaw: node state 2"}),
    ],
)
def test_a_leg_with_an_error_or_a_lost_node_is_a_fault(robot: str, shown: dict[str, object]) -> None:
    world = World(robot).run()
    for name, value in shown.items():
        setattr(world.shown, name, value)
    world.sample()
    assert world.state.mode == "fault"


def test_errors_are_cleared_as_an_act_of_re_arming_once_per_act() -> None:
    world = World("atom_w").run()
    world.shown.flags["soft"] = True
    world.sample()
    world.shown.errors = {"left_arm": "left_shoulder_yaw: error 0x7"}
    assert world.ask(i.ClearErrors()).reports[0].value == "mode", "not while the e-stop is latched"
    world.shown.flags["soft"] = False
    world.wait(1.2, beats=True)
    world.do(e.Acknowledge("op", "seen"))
    assert intents_out(world.do(e.AskClearErrors("op"))) == ["ClearErrors"]
    world.shown.errors = {}
    world.wait(0.1, beats=True)
    nothing = world.do(e.AskClearErrors("op"))
    assert intents_out(nothing) == []
    assert [report.text for report in nothing.reports] == ["Clear errors: there is nothing to clear"]
    world.arm()
    assert world.state.mode == "armed"


def test_errors_that_can_be_cleared_do_not_forbid_arming_and_the_line_says_so() -> None:
    world = World("atom_w")
    world.shown.errors = {"left_arm": "left_shoulder_yaw: error 0x7"}
    world.run()
    lines = {text.partition(":")[0]: text for entry in world.trace for r in entry.reports if (text := r.text)}
    assert lines["motors"] == "motors: left_shoulder_yaw: error 0x7; nothing moves until this is cleared"


# Batteries

LIMITS = Battery(low=15, critical=10, hysteresis=3, lasting=3, ignored_alarms=(2,))


@pytest.mark.parametrize(
    ("power", "now", "level"),
    [
        (Power(16), "good", "good"), (Power(14), "good", "low"), (Power(16), "low", "low"), (Power(18), "low", "good"),
        (Power(9), "low", "critical"), (Power(11), "critical", "critical"), (Power(13), "critical", "low"),
        (Power(80, low=True), "good", "low"), (Power(80, alarms=1), "good", "critical"),
        (Power(80, alarms=4), "good", "good"),
    ],
)  # fmt: skip
def test_the_level_of_a_battery(power: Power, now: str, level: str) -> None:
    assert battery_level(LIMITS, power, now) == level


def test_a_critical_battery_holds_the_robot_once_it_has_lasted() -> None:
    world = World("atom_w").run()
    world.shown.power = Power(4)
    world.wait(2.9, beats=True)
    assert world.state.mode == "running"
    world.wait(0.2, beats=True)
    assert (world.state.mode, world.state.reason) == ("fault", "the battery is critical")


def test_a_low_battery_lets_no_new_motion_begin_but_the_old_one_end() -> None:
    world = World("atom_w").run()
    world.ask(i.Velocity(0.1, 0.0, 0.0))
    world.shown.power = Power(12)
    world.wait(3.2, beats=True)
    assert [type(stream.intent).__name__ for stream in world.state.streams] == ["Velocity"]
    assert world.ask(i.MoveToTag(12, None)).reports[0].text == "charge: the battery is low"
    assert intents_out(world.ask(i.SetFsm("ready"))) == ["SetFsm"]


def test_a_dip_of_the_battery_means_nothing() -> None:
    world = World("atom_w").run()
    world.shown.power = Power(4)
    world.wait(2.0, beats=True)
    world.shown.power = Power(40)
    world.wait(2.0, beats=True)
    assert world.state.mode == "running"
    assert ("warning", "battery critical") not in reported(world)


def in_pd_stand_told_to_walk_and_to_stand_again() -> World:
    world = World("gr2")
    world.shown.fsm = world.profile.fsm["pd_stand"]
    world.run()
    assert intents_out(world.ask(i.SetFsm("walk"))) == ["SetFsm"]
    world.wait(0.1, beats=True)
    assert intents_out(world.ask(i.SetFsm("pd_stand"))) == ["SetFsm"]
    world.trace.clear()
    return world


def test_a_newer_wish_replaces_an_older_one_that_the_robot_may_still_follow() -> None:
    """The robot shows what is wanted now all the time: the command before must not be repeated after this one."""
    world = in_pd_stand_told_to_walk_and_to_stand_again()
    world.wait(5.0, beats=True)
    repeated = [output.intent for entry in world.trace for output in entry.outputs if isinstance(output, Send)]
    assert repeated == [i.SetFsm("pd_stand")] * 2
    assert [report.kind for entry in world.trace for report in entry.reports] == ["evidence"]
    assert world.state.mode.value == "running"


@pytest.mark.parametrize("after", [0.0, 0.7, 2.5])
def test_a_robot_that_follows_both_wishes_is_in_nobody_elses_hand(after: float) -> None:
    world = in_pd_stand_told_to_walk_and_to_stand_again()
    for _ in range(round(after / 0.05)):
        world.shown.power = Power(80 - len(world.trace) % 2)  # something it reports changes all the time
        world.wait(0.05, beats=True)
    world.shown.fsm = world.profile.fsm["walk"]
    world.wait(0.3, beats=True)
    world.shown.fsm = world.profile.fsm["pd_stand"]
    world.wait(3.0, beats=True)
    assert world.state.mode.value == "running"
    assert world.state.wanted == {}
