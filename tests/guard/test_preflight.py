"""Before a robot is armed every line has its evidence, and any bad one forbids it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.guard import events as e
from orchestrator.guard.policy import RPC
from orchestrator.guard.preflight import preflight
from orchestrator.guard.state import Base, Power
from tests.support.guard_world import World


def show(**changes: object) -> Callable[[World], None]:
    def change(world: World) -> None:
        for name, value in changes.items():
            setattr(world.shown, name, value)
        world.sample()

    return change


def happen(event: e.Event) -> Callable[[World], None]:
    def do(world: World) -> None:
        world.do(event)

    return do


def deaf(world: World) -> None:
    for topic in sorted(world.state.ready):
        world.do(e.WriterReady(topic, False))


def silence(source: str) -> Callable[[World], None]:
    def fall_silent(world: World) -> None:
        world.shown.silent = (source,)
        world.wait(0.6)

    return fall_silent


def see(source: str, **facts: object) -> Callable[[World], None]:
    return happen(e.Observation(source, facts, {}))


NODES = "rt/main/nodes/state"
GR2_JOINTS = {"left_leg": 6, "right_leg": 6, "waist": 1, "head": 2, "left_arm": 7, "right_arm": 7}

BAD: list[tuple[str, str, Callable[[World], None], str]] = [
    ("atom_w", "fresh joints", silence("rt/upper/state"), "stale"),
    ("atom_w", "fresh base", silence("rt/amr/state"), "stale"),
    ("atom_w", "alone", happen(e.ForeignWriters(("other on rt/amr/cmd",))), "other on rt/amr/cmd"),
    ("atom_w", "listening", deaf, "nobody listens"),
    ("atom_w", "types", happen(e.Mismatch("rt/hands/state", "robot writes another version")), "another version"),
    ("atom_w", "state", show(fsm=77), "77"),
    ("atom_w", "nodes", show(unhealthy="head_yaw: node state 2"), "node state 2"),
    ("atom_w", "base", show(base=Base("tasking", "running", 0, 3)), "not idle"),
    ("atom_w", "base", show(base=Base("charging", "idle", 0, 3)), "not idle"),
    ("atom_w", "battery", show(power=Power(9)), "critical"),
    ("atom", "battery", show(power=Power(14)), "low"),
    ("atom_w", "audit", happen(e.AuditState(False)), "no records"),
    ("gr3", "model", see("robot_control_group_state", stranger=GR2_JOINTS), "waist 1 (profile: 3); use gr2"),
    ("atom", "model", see("rt/upper/state", stranger="ATOM W"), "calls itself ATOM W, which stands on wheels"),
    ("adam_u", "model", see("rt/lowstate", stranger={"motors": 29}), "motors 29 (profile: 19); use adam_sp"),
    ("gr2", "model", see("robot_control_group_state", joints={"head": (0.0, 0.9)}), "head_pitch is at 0.900 rad"),
    ("gr2", "motors", show(errors={"left_arm": "left_arm: motion error"}), "motion error"),
]


@pytest.mark.parametrize(("robot", "line", "spoil", "text"), BAD)
def test_a_bad_line_forbids_arming_and_says_why(
    robot: str, line: str, spoil: Callable[[World], None], text: str
) -> None:
    world = World(robot)
    world.connect()
    spoil(world)
    reports = world.do(e.AskPreflight("op")).reports
    bad = [report.text for report in reports if report.value == "problem"]
    assert [each.partition(":")[0] for each in bad] == [line]
    assert text in bad[0]
    world.do(e.Arm("op"))
    assert world.state.mode == "disarmed"


@pytest.mark.parametrize("robot", ["atom_w", "atom", "gr2", "adam_u"])
def test_every_line_of_a_good_robot_shows_its_evidence(robot: str) -> None:
    world = World(robot)
    world.connect()
    reports = world.do(e.AskPreflight("op")).reports
    assert {report.value for report in reports} == {"ok"}
    assert all(report.text.partition(": ")[2] for report in reports)


@pytest.mark.parametrize(("robot", "joints"), [("gr2", {"head": (0.0, 0.7)}), ("atom", {"left_leg": (9.0,) * 6})])
def test_a_joint_a_little_beyond_its_limits_or_never_commanded_does_not_make_another_model(
    robot: str, joints: dict[str, tuple[float, ...]]
) -> None:
    world = World(robot)
    world.connect()
    see(world.core.setting.robot.roles["joints"], joints=joints)(world)
    assert {report.value for report in world.do(e.AskPreflight("op")).reports} == {"ok"}


def test_a_type_that_did_not_fit_is_forgotten_when_something_gets_through() -> None:
    world = World("atom_w")
    world.connect()
    for topic in ("rt/hands/state", "rt/hands/cmd"):
        world.do(e.Mismatch(topic, "another version"))
    world.sample()
    world.do(e.WriterReady("rt/hands/cmd", True))
    assert world.state.mismatched == {}


def test_a_robot_whose_e_stop_was_never_heard_is_not_armed() -> None:
    world = World("atom_w")
    world.shown.silent = ("rt/emergency/state",)
    world.connect()
    world.arm()
    assert world.state.mode == "offline"


def test_preflight_of_a_robot_that_is_not_heard_says_so_and_arms_nothing() -> None:
    world = World("atom_w")
    said = [report.text for report in world.do(e.AskPreflight("tester")).reports if report.value == "problem"]
    assert said[0].startswith("fresh emergency: ")
    world.do(e.Arm("tester"))
    assert world.state.mode == "offline"


def test_motors_that_are_off_are_said_to_be_off_and_what_may_enable_them() -> None:
    world = World("atom_w")
    world.connect()
    see(NODES, off={"lift": "lift_1: servo state 0"})(world)
    off = "they are off, and nothing moves until they are enabled: EnableMotors"
    assert motors(world) == f"{off} needs allow.motors in the guard file (lift_1: servo state 0)"
    see(NODES, errors={"lift": "lift_1: error 0x7", "head": "head_yaw: error 0x7"}, off={})(world)
    assert motors(world) == "lift_1: error 0x7; head_yaw: error 0x7; nothing moves until this is cleared"
    see(NODES, errors={"lift": "lift_1: error 0x7"}, off={"lift": "lift_1: servo state 0", "head": "head_yaw: off"})(
        world
    )
    assert motors(world).startswith(f"lift_1: error 0x7; nothing moves until this is cleared; {off}")
    assert motors(world).endswith("(head_yaw: off)")


def motors(world: World) -> str:
    lines = preflight(world.core.setting, world.state, world.now)
    (line,) = [line for line in lines if line.name == "motors"]
    assert line.ok
    return line.evidence


@pytest.mark.parametrize(("robot", "has"), [("adam_u", True), ("adam_lite", False)])
def test_hands_are_looked_for_only_where_there_are_some(robot: str, has: bool) -> None:
    world = World(robot)
    lines = [line.name for line in preflight(world.core.setting, world.state, world.now)]
    assert ("fresh hands" in lines) is has


def test_json_rpc_that_does_not_answer_is_named() -> None:
    world = World("atom")
    world.connect()
    evidence = {line.name: line.evidence for line in preflight(world.core.setting, world.state, world.now)}
    assert evidence["listening"] == "every command topic"
    world.do(e.WriterReady(RPC, False))
    evidence = {line.name: line.evidence for line in preflight(world.core.setting, world.state, world.now)}
    assert evidence["listening"] == "all but JSON-RPC"
