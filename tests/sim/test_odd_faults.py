"""Whatever is asked of a fault: it is put in and the robot lives on, or it is refused with a sentence."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.sim.faults import FAULTS, Fault, FaultError, inject
from orchestrator.wire.shape import Many, Shape, Struct, struct_of
from tests.support.lab import Lab

ROBOTS = ["atom_w", "atom", "gr2", "adam_u"]
ODD: list[Any] = [
    0, -1, 1, 0.5, 2.5, 99, 1e9, 99999999, 10**400, 1e30, 1e300, -1e300, float("inf"), float("-inf"), float("nan"),
    True, False, "", "abc", "FOO", "RUNNING", "running", "ü\x00", "9" * 400, None, [], {}, (1, 2),
]  # fmt: skip


def targets(lab: Lab, wanted: str) -> list[str]:
    twin = lab.twin
    names: dict[str, Any] = {
        "state topic": twin.publications,
        "command": twin.commands,
        "command topic": twin.commands,
        "hand": twin.hands,
        "joint": [joint.name for joint in twin.profile.joints],
        "state": twin.profile.fsm,
        "button": ["a", "lt", "turbo"],
    }
    return ["", "nonsense", "a.b", *list(names.get(wanted, ()))[:4]]


def tried(lab: Lab, fault: Fault | str) -> bool:
    """Whether it was put in; a refusal is one sentence."""
    try:
        inject(lab.twin, fault)
    except FaultError as refusal:
        assert str(refusal)
        assert "\n" not in str(refusal)
        return False
    return True


def fields(shape: Shape, path: str = "") -> Iterator[str]:
    """Every field of a message, collections as a whole, their first and a far element, and all of them."""
    if path:
        yield path
    if isinstance(shape, Struct):
        for name, part in shape.fields:
            yield from fields(part, f"{path}.{name}".lstrip("."))
    elif isinstance(shape, Many):
        for index in ("0", "9999", "*"):
            yield from fields(shape.element, f"{path}[{index}]")


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_with_odd_parameters(name: str, robot: str) -> None:
    lab = Lab(robot)
    kind = FAULTS[name]
    for target in targets(lab, kind.target):
        cases: list[dict[str, Any]] = [{}, {"nonsense": 1}]
        cases += [{key: value} for key, value in itertools.product(kind.parameters, ODD)]
        for parameters in cases:
            if tried(lab, Fault(name, target, parameters, until=0.05)):
                lab.wait(0.1)
                lab = Lab(robot) if name == "reboot" else lab


@pytest.mark.parametrize("robot", ["atom_w", "gr2", "adam_u"])
def test_every_field_with_odd_values(robot: str) -> None:
    lab = Lab(robot)
    put_in = 0
    for topic in lab.twin.publications:
        for path in fields(struct_of(lab.topics[topic].type)):
            for value in ODD:
                put_in += tried(lab, Fault("wrong", f"{topic}.{path}", {"value": value}, until=0.001))
            for name in ("garbage", "stuck"):
                tried(lab, Fault(name, f"{topic}.{path}", until=0.001))
            assert not tried(lab, Fault("off", f"{topic}.{path}"))
            lab.wait(0.01)
    assert put_in > 100


@pytest.mark.parametrize(
    ("robot", "topic", "field"),
    [
        ("atom_w", "rt/amr/state", "task_id"),
        ("adam_u", "rt/lowstate", "motor_state[3].q"),
        ("gr2", "robot_control_group_state", "group_state[0].joint_position[0]"),
    ],
)
def test_a_field_that_another_fault_has_spoilt_is_nowhere(robot: str, topic: str, field: str) -> None:
    spoiling = (f"truncate_type:{topic},bytes=9999", f"truncate_type:{topic},bytes=200", f"garbage:{topic}")
    changing = (f"wrong:{topic}.{field},value=1", f"stuck:{topic}.{field}", f"garbage:{topic}.{field}")
    for pair in itertools.permutations(spoiling + changing, 2):
        lab = Lab(robot)
        assert all(tried(lab, fault) for fault in pair)
        lab.wait(0.2)


@settings(max_examples=300, deadline=None)
@given(
    st.text(max_size=40)
    | st.lists(
        st.sampled_from(
            ["off", "wrong", "slow", "hard", "rt/amr/state", "task_id", "value", "factor", "nth", "3s", "1.2.3s", "..s",
             "9e9", "-1", "nan", "inf", "[0]", *":,@+=.s"]
        ),
        max_size=12,
    ).map("".join)
)  # fmt: skip
def test_any_text(text: str) -> None:
    tried(LAB, text)


LAB = Lab("atom_w")
