"""What doctor says about what it sees of a robot."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.bus.contract import Endpoint, Program
from orchestrator.bus.settings import loopback
from orchestrator.guard.process import NAME as GUARD
from orchestrator.guard.process import lock
from orchestrator.mission.doctor import (
    Seen,
    Sight,
    command_line,
    commander_line,
    fitting_variants,
    robot_lines,
    state_line,
)
from orchestrator.mission.processes import lock_holder
from orchestrator.robots.models import SHOWN_ON, Shown
from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import load_profile
from orchestrator.wire.announced import type_numbers
from orchestrator.wire.codec import codec
from orchestrator.wire.topics import Topic, topics

ATOM_W = load_profile("atom_w")
EMERGENCY, FSM = "rt/emergency/state", "rt/set/fsm/id"
NETWORK = loopback(0, "test")
THERE = (Program("robot", "atom", "7"),)


def endpoint(topic: Topic, **other: str) -> Endpoint:
    number = max(type_numbers(topic.type))
    return replace(Endpoint(topic.name, codec(topic.type).type_name, "p1", "robot", number), **other)


def seen(name: str, *announced: str, profile: Profile = ATOM_W, **other: str) -> Seen:
    """A topic that one program has in a robot with these variants, as doctor with this profile sees it."""
    topic = topics(profile.family, profile.variants)[name]
    there = (endpoint(topics(profile.family, announced)[name], **other),)
    return Seen(name, topic, readers=there) if topic.kind == "command" else Seen(name, topic, there, rate=10.0)


def with_variants(*variants: str) -> Profile:
    return replace(ATOM_W, variants=variants)


STATE = seen(EMERGENCY)


@pytest.mark.parametrize(
    ("what", "line"),
    [
        (STATE, f"ok: {EMERGENCY}: 10 Hz from robot"),
        (replace(STATE, writers=()), f"warning: {EMERGENCY}: nobody writes it"),
        (replace(STATE, rate=0.0), f"warning: {EMERGENCY}: written by robot, but nothing came in 2 s"),
        (seen(EMERGENCY, "emergency_3"), f"problem: {EMERGENCY}: the robot announces emergency_3: ADVICE"),
        (
            seen(EMERGENCY, type_name="Other_"),
            f"problem: {EMERGENCY}: written as Other_, which is not what a {ATOM_W.model} writes",
        ),
        (replace(STATE, mismatches=("its deadline does not fit",)), "problem: its deadline does not fit"),
        (
            replace(seen(EMERGENCY, type_number="f2-00"), mismatches=("no connection",)),
            "problem: no connection; robot announces a version of dobot_atom::msg::dds_::EmergencyState_ "
            "that no variant has",
        ),
        (
            replace(STATE, undecodable="too short"),
            "problem: too short; does the profile name this robot's firmware (variants)?",
        ),
    ],
)
def test_a_state_topic(what: Seen, line: str) -> None:
    assert str(state_line(ATOM_W, what, "ADVICE")) == line


@pytest.mark.parametrize(
    ("what", "line"),
    [
        (seen(FSM), f"ok: {FSM}: read by robot"),
        (replace(seen(FSM), readers=()), f"warning: {FSM}: nobody reads this command topic"),
        (seen(FSM, "fsm_v3"), f"problem: {FSM}: the robot announces fsm_v3: ADVICE"),
        (
            seen(FSM, type_name="Other_"),
            f"problem: {FSM}: read as Other_, which is not what a {ATOM_W.model} reads",
        ),
        (
            seen(FSM, type_number="f2-00"),
            f"warning: {FSM}: robot announces a version of dobot_atom::msg::dds_::SetFsmId_ that no variant has",
        ),
        (
            seen(FSM, type_number=""),
            f"ok: {FSM}: read by robot; it announces no type, so whether its firmware is fsm_v1 or fsm_v3 "
            "cannot be seen",
        ),
    ],
)
def test_a_command_topic(what: Seen, line: str) -> None:
    assert str(command_line(ATOM_W, what, "ADVICE")) == line


def test_a_profile_with_a_variant_the_robot_does_not_have() -> None:
    profile = with_variants("fsm_v1")
    line = state_line(with_variants("emergency_3"), seen(EMERGENCY, profile=with_variants("emergency_3")), "ADVICE")
    assert str(line) == f"problem: {EMERGENCY}: the robot announces the default firmware: ADVICE"
    assert command_line(profile, seen(FSM, "fsm_v1", profile=profile), "ADVICE").verdict == "ok"


@pytest.mark.parametrize(
    ("variants", "announced", "fitting"),
    [
        ((), ("emergency_3",), "[emergency_3]"),
        (("fsm_v1",), ("fsm_v3", "emergency_3"), "[fsm_v3, emergency_3]"),
        (("fsm_v1", "emergency_3"), (), "[]"),
        (("amr_v2",), ("emergency_3",), "[emergency_3, amr_v2]"),
    ],
)
def test_the_advice_fits_all_topics_and_keeps_what_was_not_seen(
    variants: tuple[str, ...], announced: tuple[str, ...], fitting: str
) -> None:
    profile = with_variants(*variants)
    state, command = (seen(name, *announced, profile=profile) for name in (EMERGENCY, FSM))
    advice = fitting_variants(profile, Sight(THERE, (state,), (command,), None))
    assert advice == f"write variants: {fitting} in the profile"


@pytest.mark.parametrize(
    ("name", "guarded", "verdict"),
    [("teleop", False, "problem"), ("pad", False, "ok"), (GUARD, True, "ok"), (GUARD, False, "problem")],
)
def test_somebody_else_commands(name: str, guarded: bool, verdict: str) -> None:
    profile = replace(ATOM_W, allowed_writers=("pad",))
    line = commander_line(profile, Endpoint(FSM, "", "p2", name), guarded)
    assert line.verdict == verdict
    assert line.text.startswith(f"{FSM}: ")


def test_the_robot_may_write_its_own_command_topics() -> None:
    own, other = (Endpoint(FSM, "", participant, "x") for participant in ("p1", "p2"))
    sight = Sight(THERE, (STATE,), (replace(seen(FSM), writers=(own, other)),), None)
    problems = [line for line in robot_lines(ATOM_W, NETWORK, sight) if line.verdict == "problem"]
    assert problems == [commander_line(ATOM_W, other, guarded=False)]


@pytest.mark.parametrize(
    ("sight", "problem"),
    [
        (Sight((), (), (), None), "nobody else is on domain 0 on 127.0.0.1: is the robot on"),
        (Sight(THERE, (replace(STATE, writers=()),), (), None), "nobody writes any state topic of atom_w"),
    ],
)
def test_without_a_robot_there_is_one_problem(sight: Sight, problem: str) -> None:
    *before, last = robot_lines(ATOM_W, NETWORK, sight)
    assert {line.verdict for line in before} == {"ok"}
    assert last.verdict == "problem"
    assert last.text.startswith(problem)


def model(robot: str, shows: Shown | None, *others: Seen) -> list[str]:
    profile = load_profile(robot)
    topic = replace(seen(SHOWN_ON[profile.family], profile=profile), shows=shows)
    sight = Sight(THERE, (topic, *others), (), None)
    lines = map(str, robot_lines(profile, NETWORK, sight))
    return [line for line in lines if "model: " in line or "wheeled base" in line]


AMR = seen("rt/amr/state")
GR2 = {"left_leg": 6, "right_leg": 6, "waist": 1, "head": 2, "left_arm": 7, "right_arm": 7}


@pytest.mark.parametrize(
    ("robot", "shows", "others", "lines"),
    [
        ("gr2", GR2, (), ["ok: model: as many joints as gr2 has; a model with as many would look alike"]),
        ("gr3", GR2, (), ["problem: model: the robot has other joints than gr3: waist 1 (profile: 3); use gr2"]),
        ("gr3", None, (), ["warning: model: nothing came on robot_control_group_state, which would show it"]),
        (
            "adam_u",
            {"motors": 23},
            (),
            ["problem: model: the robot has other joints than adam_u: motors 23 (profile: 19); use adam_lite"],
        ),
        ("atom_w", "ATOM W", (AMR,), ["ok: model: the robot calls itself ATOM W, as atom_w expects"]),
        (
            "atom",
            "ATOM W",
            (),
            ["problem: model: the robot calls itself ATOM W, which stands on wheels; atom stands on legs; use atom_w"],
        ),
        (
            "atom",
            "",
            (AMR,),
            [
                "warning: model: the robot does not say what it is called: atom is not confirmed",
                "problem: rt/amr/state: reports a wheeled base, which atom does not have: use atom_w?",
            ],
        ),
    ],
)
def test_another_model_than_the_profiles_is_recognised(
    robot: str, shows: Shown | None, others: tuple[Seen, ...], lines: list[str]
) -> None:
    assert model(robot, shows, *others) == lines


def test_the_guard_of_this_machine_is_known_by_its_lock(tmp_path: Path) -> None:
    assert lock_holder(tmp_path) is None
    with lock(tmp_path):
        assert lock_holder(tmp_path) == os.getpid()
    assert lock_holder(tmp_path) is None
