"""What holds for every robot and every intent, whatever it contains."""

from __future__ import annotations

import math
import subprocess
import sys
import typing
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.robots import intents
from orchestrator.robots.drive import CannotSend, calls, joint_messages, messages
from orchestrator.robots.families import FAMILIES
from orchestrator.robots.intents import AnyIntent, JointPath, JointTarget, Keyframe, SetFsm
from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import load_profile, profile_names
from orchestrator.wire.codec import codec
from orchestrator.wire.topics import topics
from tests.support.drive import sending

ROBOTS = [load_profile(name) for name in profile_names()]
INTENTS: tuple[type[AnyIntent], ...] = typing.get_args(AnyIntent)
every_robot = pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)

WORDS = ["walk", "pd_stand", "damping", "remote", "navigation", "head", "left_arm", "left_leg", "left", "right", "tail"]
numbers = st.floats() | st.floats(0, 1)
vectors = st.lists(numbers, min_size=1, max_size=7).map(tuple)


def field(hint: object) -> st.SearchStrategy[typing.Any]:
    """Any value of a field, likely ones often."""
    strategies: dict[object, st.SearchStrategy[typing.Any]] = {
        str: st.sampled_from(WORDS),
        float: numbers,
        int: st.integers(-1, 2**33) | st.integers(0, 20),
        tuple[float, ...]: vectors,
        tuple[bool, ...]: st.sampled_from([19, 20, 29]).flatmap(
            lambda n: st.lists(st.booleans(), min_size=n, max_size=n).map(tuple)
        ),
        tuple[Keyframe, ...]: st.just((Keyframe(1.0, (0.0,)),)),
    }
    return strategies[hint] if hint in strategies else st.from_type(typing.cast(type, hint))


def any_intent() -> st.SearchStrategy[AnyIntent]:
    def of(cls: type[AnyIntent]) -> st.SearchStrategy[AnyIntent]:
        hints = typing.get_type_hints(cls)
        return st.builds(cls, **{name: field(hints[name]) for name in cls.__struct_fields__})

    return st.sampled_from(INTENTS).flatmap(of)


@st.composite
def any_robot(draw: st.DrawFn) -> Profile:
    robot = draw(st.sampled_from([robot for robot in ROBOTS if not robot.read_only]))
    chosen = [draw(st.sampled_from((None, *alternatives))) for alternatives in FAMILIES[robot.family].variants]
    return replace(robot, variants=tuple(variant for variant in chosen if variant))


@settings(max_examples=400, deadline=None)
@given(robot=any_robot(), intent=any_intent())
def test_an_intent_is_refused_or_becomes_finite_messages_of_the_firmwares_own_types(
    robot: Profile, intent: AnyIntent
) -> None:
    try:
        made = messages(robot, intent, sending(robot))
    except CannotSend as reason:
        assert str(reason)
        return
    table = topics(robot.family, robot.variants)
    assert made
    for topic, message in made:
        assert table[topic].kind == "command"
        assert type(message) is table[topic].type
        assert codec(type(message)).encode(message, finite=True)


@settings(max_examples=200, deadline=None)
@given(robot=any_robot(), data=st.data())
def test_a_step_of_joint_motion_is_refused_or_finite(robot: Profile, data: st.DataObject) -> None:
    group = data.draw(st.sampled_from(robot.groups))
    count = len(robot.group(group))
    q = tuple(data.draw(st.lists(numbers, min_size=count, max_size=count)))
    fits = all(math.isfinite(value) and abs(value) < 3e38 for value in q) and group not in robot.read_only_groups
    try:
        [(topic, message)] = joint_messages(robot, {group: q}, sending(robot))
    except CannotSend:
        assert not fits
        return
    assert type(message) is topics(robot.family, robot.variants)[topic].type
    assert codec(type(message)).encode(message, finite=True)


@every_robot
@pytest.mark.parametrize(
    "intent", [JointTarget("head", (0.0, 0.0), 1.0), JointPath("head", (Keyframe(1.0, (0.0, 0.0)),))]
)
def test_a_whole_joint_movement_has_no_message_because_the_robot_would_jump(robot: Profile, intent: AnyIntent) -> None:
    with pytest.raises(CannotSend, match="step by step"):
        messages(robot, intent, sending(robot))


@pytest.mark.parametrize("robot", [robot for robot in ROBOTS if robot.read_only], ids=lambda robot: robot.name)
def test_nothing_is_sent_to_a_robot_that_is_read_only(robot: Profile) -> None:
    for attempt in (
        lambda: messages(robot, SetFsm("walk"), sending(robot)),
        lambda: calls(robot, SetFsm("walk"), sending(robot)),
        lambda: joint_messages(robot, {"left_arm": (0.0,) * 7}, sending(robot)),
    ):
        with pytest.raises(CannotSend, match="read only"):
            attempt()


def test_every_kind_of_intent_is_tried() -> None:
    defined = {
        cls
        for cls in vars(intents).values()
        if isinstance(cls, type) and issubclass(cls, intents.Intent) and cls not in (intents.Intent, intents.Stream)
    }
    assert set(INTENTS) == defined


def test_messages_are_made_and_encoded_without_numpy() -> None:
    program = (
        "import sys\n"
        "from orchestrator.robots import drive, motion, profiles\n"
        "from orchestrator.wire.codec import codec\n"
        "robot = profiles.load_profile('adam_u')\n"
        "held = {group: (0.0,) * len(robot.group(group)) for group in robot.groups}\n"
        "now = drive.Sending(1, 1, 1.0, held, {})\n"
        "step = motion.move(robot.group('head'), held['head'], (0.1, 0.1), 1.0).at(0.5)\n"
        "[(_, message)] = drive.joint_messages(robot, {'head': step}, now)\n"
        "codec(type(message)).encode(message, finite=True)\n"
        "print('numpy' in sys.modules)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
