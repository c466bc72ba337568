"""Each rule by a table: what it refuses and what it lets through, everything else being right."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace as with_fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from orchestrator.guard.config import GuardConfig
from orchestrator.guard.events import IntentAsked
from orchestrator.guard.modes import Mode
from orchestrator.guard.outputs import Joints
from orchestrator.guard.policy import POLICIES, WRITES
from orchestrator.guard.rules import RULES, Ask, Rule, ask_for, first_refusal
from orchestrator.guard.state import Base, Charge, Remote, State, Task
from orchestrator.robots import intents as i
from orchestrator.robots.drive import CannotSend, Sending, calls, joint_messages, messages
from tests.support.guard_world import World, default_config, with_allowed

BY_NAME = {rule.name: rule for rule in RULES}
ARM = (0.0,) * 7


def ask(
    intent: i.AnyIntent,
    *,
    robot: str = "atom_w",
    epoch: int = 0,
    config: GuardConfig | None = None,
    after: float = 0.0,
    **changes: Any,
) -> Ask:
    """A command to a running robot; `epoch` counts from the valid one, `changes` are made to the guard's state."""
    world = World(robot, config or default_config()).run()
    state = replace(world.state, **changes)
    setting = world.core.setting
    return ask_for(
        intent, state.epoch + epoch, world.now + after, state, setting.profile, setting.config, setting.robot
    )


def seen(**changes: Any) -> dict[str, Any]:
    """The state of a running robot that shows something else."""
    return {"observed": replace(World().run().state.observed, **changes)}


def hand_at(forward: float, left: float, up: float) -> i.MoveHand:
    return i.MoveHand("left_arm", (forward, left, up, 0.0, 0.0, 0.0, 1.0), False, 0.5)


def hanging(up: float) -> dict[str, Any]:
    """A GR-2 that shows its left hand at this height."""
    observed = World("gr2").run().state.observed
    return {"observed": replace(observed, reach={"left_arm": (0.0, 0.2, up, 0.0, 0.0, 0.0, 1.0)})}


TASK = Task(7, 100.0, 0, accepted=True)
BUSY = Base("tasking", "running", 0, 3)
ALLOWED = with_allowed(default_config(), "remote_drive", "gains", "motors", "maps", "base_settings", "drop")

SICK = seen(errors={"head": "head_yaw: error 0x1"})
NOT_CALMED = (Mode.OFFLINE, Mode.DISARMED, Mode.INTERVENED)
SOFT = {"soft": True, "hard": False, "amr": False, "amr_event": False}

REFUSED: list[tuple[str, Callable[[], Ask], str]] = [
    ("lease", lambda: ask(i.SetFsm("ready"), epoch=-1), "epoch"),
    ("lease", lambda: ask(i.SetFsm("ready"), epoch=1), "epoch"),
    ("lease", lambda: ask(i.SetFsm("ready"), run=None), "nobody"),
    *[("mode", lambda m=m: ask(i.SetFsm("ready"), mode=m), m.value) for m in Mode if m is not Mode.RUNNING],
    *[("mode", lambda m=m: ask(i.CancelTask(), mode=m), m.value) for m in NOT_CALMED],
    ("mode", lambda: ask(i.SetFsm("ready"), choice_due=True), "running"),
    ("latch", lambda: ask(i.SetFsm("ready"), latched=frozenset({"soft"})), "soft"),
    ("latch", lambda: ask(i.SetFsm("ready"), flags={}), "not known"),
    ("latch", lambda: ask(i.SetFsm("ready"), flags=SOFT), "soft"),
    ("fresh", lambda: ask(i.SetFsm("ready"), after=0.5), "stale"),
    ("fresh", lambda: ask(i.MoveToTag(12, None), sources={}), "unknown"),
    ("writer_ready", lambda: ask(i.SetFsm("ready"), ready=frozenset()), "rt/set/fsm/id"),
    ("possible", lambda: ask(i.StandPose(0.0, 0.0, 0.0)), "cannot be told StandPose"),
    ("possible", lambda: ask(i.CancelTask(), robot="atom"), "cannot be told CancelTask"),
    ("possible", lambda: ask(i.ClearErrors(), robot="gr2"), "cannot be told ClearErrors"),
    ("permitted", lambda: ask(i.StartRemote()), "allow.remote_drive"),
    ("permitted", lambda: ask(i.SetBaseSpeed(0.1, 0.1)), "allow.base_settings"),
    ("permitted", lambda: ask(i.StartMapping()), "allow.maps"),
    ("permitted", lambda: ask(i.EnableMotors((True,) * 20)), "allow.motors"),
    ("permitted", lambda: ask(i.SetFsm("damping")), "allow.drop"),
    ("permitted", lambda: ask(i.SetFsm("zero_torque")), "allow.drop"),
    ("interlock", lambda: ask(i.Velocity(0.1, 0.0, 0.0), **seen(fsm=2)), "fsm must be walk"),
    ("interlock", lambda: ask(i.Velocity(0.1, 0.0, 0.0), **seen(fsm=None)), "not known"),
    ("interlock", lambda: ask(i.JointTarget("left_arm", ARM, 1.0), **seen(upper_control=False)), "upper_control"),
    ("interlock", lambda: ask(i.JointTarget("left_arm", ARM, 1.0), **seen(upper_control=None)), "not known"),
    ("interlock", lambda: ask(i.MoveToTag(12, None), **seen(base=BUSY)), "base must be idle"),
    ("interlock", lambda: ask(i.MoveToTag(12, None), **seen(base=None)), "not known"),
    ("interlock", lambda: ask(i.MoveToTag(12, None), **seen(base=Base("devidle", "idle", 3, 0))), "idle"),
    ("interlock", lambda: ask(i.DriveBase(0.1, 0.0), config=ALLOWED), "remote"),
    ("interlock", lambda: ask(i.StandPose(0.0, 0.0, 0.0)), "never legal"),
    ("interlock", lambda: ask(i.StandPose(0.0, 0.0, 0.0), robot="gr2"), "pd_stand"),
    ("interlock", lambda: ask(i.SetFsm("ready"), **seen(errors={"head": "head_yaw: error 0x1"})), "error 0x1"),
    ("interlock", lambda: ask(i.SetFsm("ready"), **seen(off={"head": "head_yaw: servo state 0"})), "servo state 0"),
    ("interlock", lambda: ask(i.ClearErrors()), "nothing to clear"),
    ("charge", lambda: ask(i.MoveToTag(12, None), charge=Charge("low", "low", 0.0)), "low"),
    ("charge", lambda: ask(i.Velocity(0.1, 0.0, 0.0), charge=Charge("critical", "good", 0.0)), "critical"),
    ("one_outstanding", lambda: ask(i.ClearErrors(), cleared=True, **SICK), "confirmed"),
    ("limits", lambda: ask(i.SetGains("left_arm", ARM, ARM), robot="gr2", config=ALLOWED), "nominal gains"),
    ("finite", lambda: ask(i.Velocity(math.nan, 0.0, 0.0)), "finite"),
    ("finite", lambda: ask(i.Velocity(0.0, math.inf, 0.0)), "finite"),
    ("finite", lambda: ask(i.JointPath("left_arm", (i.Keyframe(math.inf, ARM),))), "finite"),
    ("finite", lambda: ask(i.JointTarget("left_arm", (math.nan, *ARM[1:]), 1.0)), "finite"),
    ("limits", lambda: ask(i.SetFsm("dance")), "no state dance"),
    ("limits", lambda: ask(i.SetUpperFsm("dance"), robot="gr2"), "no upper-body state dance"),
    ("limits", lambda: ask(i.SetVelocitySource("sun"), robot="gr2"), "no velocity source sun"),
    ("limits", lambda: ask(i.Velocity(0.6, 0.0, 0.0)), "vx 0.6"),
    ("limits", lambda: ask(i.Velocity(math.nan, 0.0, 0.0)), "vx nan"),
    ("limits", lambda: ask(i.JointTarget("left_arm", (9.0, *ARM[1:]), 1.0)), "left_shoulder_pitch"),
    ("limits", lambda: ask(i.JointTarget("left_arm", ARM[1:], 1.0)), "7 joints"),
    ("limits", lambda: ask(i.JointTarget("left_arm", ARM, 0.0)), "duration"),
    ("limits", lambda: ask(i.JointTarget("tail", ARM, 1.0)), "no joint group"),
    ("limits", lambda: ask(i.JointTarget("lift", (0.0,) * 3, 1.0)), "never commanded"),
    ("limits", lambda: ask(i.JointTarget("left_leg", (0.0,) * 6, 1.0), robot="gr2"), "allow.low_level"),
    ("limits", lambda: ask(i.JointPath("left_arm", ())), "keyframe"),
    ("limits", lambda: ask(i.JointPath("left_arm", (i.Keyframe(1.0, ARM), i.Keyframe(1.0, ARM)))), "rise"),
    ("limits", lambda: ask(i.HandTarget("left", (1.1,) * 6)), "opening"),
    ("limits", lambda: ask(i.HandTarget("left", (0.5,) * 5)), "6 fingers"),
    ("limits", lambda: ask(i.HandTarget("third", (0.5,) * 6)), "no third hand"),
    ("limits", lambda: ask(i.MoveToTag(99, None)), "no tag 99"),
    ("limits", lambda: ask(i.RotateBase(1.0)), "cannot turn"),
    ("limits", lambda: ask(i.DriveBase(0.7, 0.0)), "linear"),
    ("limits", lambda: ask(i.SetBaseSpeed(-0.1, 0.0)), "linear"),
    ("limits", lambda: ask(i.SetBaseSpeed(0.0, 0.0)), "linear 0 is outside 0.05"),
    ("limits", lambda: ask(i.SetBaseAcceleration(2.1, 1.0)), "linear 2.1 is outside 0.05 to 2"),
    ("limits", lambda: ask(i.SetBaseDeceleration(0.0, 0.0)), "linear 0 is outside 0.05 to 2"),
    ("limits", lambda: ask(i.EnableMotors((True,))), "motors"),
    ("limits", lambda: ask(i.SetGains("left_arm", (999.0,) * 7, (1.0,) * 7)), "kp of"),
    ("limits", lambda: ask(i.SetGains("lift", (1.0,) * 3, (1.0,) * 3)), "never commanded"),
    ("limits", lambda: ask(i.SetGains("left_leg", (1.0,) * 6, (1.0,) * 6), robot="gr2", config=ALLOWED), "low_level"),
    ("limits", lambda: ask(i.StandPose(0.5, 0.0, 0.0), robot="gr2"), "dz"),
    ("limits", lambda: ask(i.MoveHand("left_arm", (0.0,) * 7, False, 0.5), robot="gr2"), "quaternion"),
    ("limits", lambda: ask(hand_at(3.0, 0.2, 0.1), robot="gr2"), "forward 3 is outside -0.2 to 0.6"),
    ("limits", lambda: ask(hand_at(0.3, -5.0, 0.1), robot="gr2"), "left -5"),
    ("limits", lambda: ask(hand_at(0.3, 0.2, 0.7), robot="gr2"), "up 0.7"),
    ("limits", lambda: ask(hand_at(0.3, 0.2, -0.6), robot="gr2", **hanging(-0.5)), "up -0.6"),
    ("continuity", lambda: ask(i.JointTarget("left_arm", ARM, 1.0), **seen(joints={})), "not known"),
    ("rate", lambda: ask(i.SetFsm("ready"), recent=(101.2,) * 50), "50 commands"),
    ("one_outstanding", lambda: ask(i.MoveToTag(12, None), task=TASK), "task 7"),
    ("one_outstanding", lambda: ask(i.ResumeTask()), "not paused by us"),
    ("dry_run", lambda: ask(i.SetFsm("ready"), config=with_fields(default_config(), dry_run=True)), "dry run"),
    ("audit", lambda: ask(i.SetFsm("ready"), audit_works=False), "audit"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "make", "words"), REFUSED, ids=[f"{n}-{k}" for k, (n, _, _) in enumerate(REFUSED)])
def test_refused(rule: str, make: Callable[[], Ask], words: str) -> None:
    reason = BY_NAME[rule].check(make())
    assert reason is not None
    assert words in reason


def test_a_hand_that_is_beyond_its_reach_may_stay_or_come_nearer() -> None:
    for up in (-0.5, -0.45, 0.1):
        assert BY_NAME["limits"].check(ask(hand_at(0.0, 0.2, up), robot="gr2", **hanging(-0.5))) is None


LEGAL: list[Callable[[], Ask]] = [
    lambda: ask(i.SetFsm("ready")),
    lambda: ask(i.Velocity(0.1, 0.0, 0.0)),
    lambda: ask(i.JointTarget("left_arm", World().measured("left_arm"), 1.0)),
    lambda: ask(i.HandTarget("left", (0.5,) * 6)),
    lambda: ask(i.MoveToTag(12, None)),
    lambda: ask(i.StartRemote(), config=ALLOWED),
    lambda: ask(
        i.DriveBase(0.1, 0.0), config=ALLOWED, remote=Remote(100.0), **seen(base=Base("devidle", "idle", 3, 0))
    ),
    lambda: ask(i.ResumeTask(), paused_task=True, **seen(base=Base("tasking", "paused", 0, 3))),
    lambda: ask(i.SetFsm("damping"), config=ALLOWED),
    lambda: ask(i.ClearErrors(), **SICK),
    lambda: ask(i.ClearErrors(confirmed=True), cleared=True, **SICK),
    lambda: ask(i.EnableMotors((True,) * 20), config=ALLOWED, **SICK),
    lambda: ask(i.SetFsm("ready"), charge=Charge("low", "low", 0.0)),
    lambda: ask(i.Velocity(0.1, 0.0, 0.0), robot="gr2"),
    lambda: ask(i.JointTarget("left_arm", World("adam_u").measured("left_arm"), 1.0), robot="adam_u"),
]


@pytest.mark.parametrize("make", LEGAL)
def test_every_rule_agrees_to_what_is_right(make: Callable[[], Ask]) -> None:
    assert first_refusal(make(), RULES) is None


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_has_one_sentence_and_is_tested_by_the_table(rule: Rule) -> None:
    assert rule.sentence.endswith(".")
    assert "\n" not in rule.sentence
    assert rule.name in {name for name, _, _ in REFUSED}


def test_the_order_of_the_rules_is_fixed() -> None:
    assert [rule.name for rule in RULES] == [
        "lease", "mode", "latch", "fresh", "possible", "writer_ready", "permitted", "interlock", "charge", "finite",
        "limits", "continuity", "rate", "one_outstanding", "dry_run", "audit",
    ]  # fmt: skip


def test_every_intent_has_a_policy() -> None:
    assert set(POLICIES) == set(i.AnyIntent.__args__)


@given(st.floats(), st.floats(), st.floats())
def test_what_passes_is_finite_and_within_limits(vx: float, vy: float, yaw: float) -> None:
    if first_refusal(VELOCITY(vx, vy, yaw), RULES) is None:
        assert -0.5 <= vx <= 0.75
        assert -0.5 <= vy <= 0.5
        assert -1.0 <= yaw <= 1.0


_RUNNING = World("gr2").run()


def VELOCITY(vx: float, vy: float, yaw: float) -> Ask:  # noqa: N802
    setting, state = _RUNNING.core.setting, _RUNNING.state
    return ask_for(
        i.Velocity(vx, vy, yaw), state.epoch, _RUNNING.now, state, setting.profile, setting.config, setting.robot
    )


@given(st.sets(st.sampled_from(range(len(RULES)))), st.sampled_from(range(len(REFUSED))))
def test_further_rules_never_enable_a_command(some: set[int], case: int) -> None:
    """Adding a restriction can only take away permission."""
    fewer = tuple(rule for index, rule in enumerate(RULES) if index in some)
    made = _cached(case)
    if first_refusal(made, fewer) is not None:
        assert first_refusal(made, RULES) is not None


_CASES: dict[int, Ask] = {}


def _cached(case: int) -> Ask:
    if case not in _CASES:
        _CASES[case] = REFUSED[case][1]()
    return _CASES[case]


EXAMPLES: dict[type[i.AnyIntent], i.AnyIntent] = {
    i.SetFsm: i.SetFsm("walk"), i.SetUpperFsm: i.SetUpperFsm("remote"),
    i.SwitchUpperControl: i.SwitchUpperControl(True),
    i.SetVelocitySource: i.SetVelocitySource("navigation"), i.Velocity: i.Velocity(0.0, 0.0, 0.0),
    i.StandPose: i.StandPose(0.0, 0.0, 0.0), i.HandTarget: i.HandTarget("left", (0.5,) * 6),
    i.MoveHand: i.MoveHand("left_arm", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), False, 0.5), i.ClearErrors: i.ClearErrors(),
    i.SetGains: i.SetGains("left_arm", (1.0,) * 7, (1.0,) * 7), i.EnableMotors: i.EnableMotors((True,) * 20),
    i.MoveToTag: i.MoveToTag(12, 1.0), i.CancelTask: i.CancelTask(), i.StartRemote: i.StartRemote(),
    i.DriveBase: i.DriveBase(0.0, 0.0), i.StopRemote: i.StopRemote(), i.PauseTask: i.PauseTask(),
}  # fmt: skip


@pytest.mark.parametrize("robot", ["gr2", "atom_w", "adam_u"])
def test_the_guard_waits_for_the_topics_the_drive_writes(robot: str) -> None:
    world = World(robot)
    joints = {group: world.measured(group) for group in world.profile.groups}
    sending = Sending(1, 1, 0.2, joints, {hand: world.opening() for hand in ("left", "right")})
    for kind, intent in EXAMPLES.items():
        routes = WRITES[world.profile.family].get(kind, ())
        try:
            made = {topic for topic, _ in messages(world.profile, intent, sending)}
        except CannotSend:
            made = set()
        if calls(world.profile, intent, sending):
            made.add("rpc")
        if made and kind is not i.EnableMotors:
            assert made == set(routes), kind


WORDS = st.sampled_from(["left_arm", "left", "walk", "remote", "navigation", "lift", "waist", ""]) | st.text(max_size=5)
NUMBERS = st.floats() | st.floats(-1, 1) | st.sampled_from([12, 15, 0, -1, 2**40])
VALUES: dict[object, st.SearchStrategy[Any]] = {
    "str": WORDS,
    "float": NUMBERS,
    "int": st.integers(-5, 2**33),
    "bool": st.booleans(),
    "float | None": st.none() | NUMBERS,
    "tuple[float, ...]": st.lists(NUMBERS, max_size=8).map(tuple),
    "tuple[bool, ...]": st.lists(st.booleans(), max_size=30).map(tuple),
    "tuple[float, float, float, float, float, float, float]": st.tuples(*[NUMBERS] * 7),
    "tuple[Keyframe, ...]": st.lists(
        st.builds(i.Keyframe, NUMBERS, st.lists(NUMBERS, max_size=8).map(tuple)), max_size=3
    ).map(tuple),
}
ANY_INTENT = st.one_of(
    [
        st.builds(kind, *(VALUES[kind.__annotations__[field]] for field in kind.__struct_fields__))
        for kind in i.AnyIntent.__args__
    ]
)
EVERYTHING = with_allowed(ALLOWED, "low_level")
RUNNING = {robot: World(robot, EVERYTHING).run() for robot in ("gr2", "gr1", "atom", "atom_w", "adam_u")}


@given(st.sampled_from(sorted(RUNNING)), ANY_INTENT)
def test_any_intent_is_sent_or_refused_and_what_is_sent_can_be_made_into_messages(
    robot: str, intent: i.AnyIntent
) -> None:
    world = RUNNING[robot]
    _, outputs, reports = world.core.step(world.state, IntentAsked(world.state.epoch, 1, intent), world.now)
    assert [report.kind for report in reports if report.kind in ("sent", "refused")] in (["sent"], ["refused"])
    joints = {group: world.measured(group) for group in world.profile.groups}
    sending = Sending(1, 1, 0.2, joints, {hand: world.opening() for hand in ("left", "right")})
    for output in outputs:
        if isinstance(output, Joints):
            assert joint_messages(world.profile, dict(output.groups), sending)
        elif not calls(world.profile, output.intent, sending):
            assert messages(world.profile, output.intent, sending)


def test_state_is_immutable() -> None:
    with pytest.raises(AttributeError):
        State().mode = Mode.ARMED  # type: ignore[misc]


HANGING = ("default", "joint_stand", "user_cmd", "upper_user_cmd")
STANDING = ("pd_stand", "walk", "user_b")


@pytest.mark.parametrize("robot", ["gr1", "gr2", "gr3", "n1"])
@pytest.mark.parametrize("state", HANGING)
@pytest.mark.parametrize("before", [*STANDING, *HANGING, "77"])
def test_a_standing_aurora_is_not_told_a_state_in_which_nothing_balances_it(
    robot: str, state: str, before: str
) -> None:
    world = World(robot)
    world.run()
    world.state = replace(world.state, observed=replace(world.state.observed, fsm=world.profile.fsm.get(before, 77)))
    entry = world.ask(i.SetFsm(state))
    assert bool(entry.outputs) is (before in HANGING)
    if before not in HANGING:
        assert entry.reports[0].text == (
            f"permitted: in {state} nothing balances the robot, which stands (in {before}), "
            "and allow.drop is off in the guard file"
        )


def test_whoever_may_drop_a_robot_may_do_that_too() -> None:
    world = World("gr2", with_allowed(default_config(), "drop")).run()
    assert world.ask(i.SetFsm("user_cmd")).outputs
