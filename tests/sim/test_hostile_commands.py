"""Whatever is sent to a twin, on any topic or by JSON-RPC: it never raises, and what it shows can be read."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import load_profile
from orchestrator.wire.codec import codec
from orchestrator.wire.shape import Char, Enumeration, Many, Number, Shape, Struct, Text, struct_of
from tests.support.lab import Lab

FLOATS = (0.0, -0.0, 1.0, -1.0, 0.3, 1e-30, 100.0, 1e6, 3e38, -3e38, math.nan, math.inf, -math.inf)
DOUBLES = (*FLOATS, 1e300, -1e300, 1.7e308)
WORDS = ("", "left_manipulator", "right_arm", "left_hand", "waist", "ü", "x" * 300)
JSON: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    2,
    301,
    1e999,
    -1e999,
    1e300,
    math.nan,
    10**400,
    "",
    "2",
    "x",
    "9" * 400,
    [],
    [1],
    {},
    {"a": 1},
)
PARAMETERS = ("fsm_id", "is_on", "vx", "vy", "vyaw", "duration", "target_id", "theta", "nonsense")
ROUNDS = 400


def any_value(shape: Shape, dice: random.Random) -> Any:
    """Something of this shape, often at the edge of what it can be."""
    match shape:
        case Number("?", _):
            return dice.random() < 0.5
        case Number("f" | "d" as code, _):
            return dice.choice(FLOATS if code == "f" else DOUBLES)
        case Number(code, size):
            low = -(1 << 8 * size - 1) if code.islower() else 0
            high = low + (1 << 8 * size) - 1
            return dice.choice((0, 1, 1, 2, 3, 4, 12, 100, 127, low, high))
        case Enumeration(members):
            return dice.choice(list(members))
        case Text():
            return dice.choice(WORDS)
        case Many(Char(), length, _):
            return "x" * (length or 0)
        case Many(element, length, _):
            count = dice.choice((0, 1, 2, 7, 30)) if length is None else length
            return [any_value(element, dice) for _ in range(count)]
        case Struct(cls, _, fields, _):
            return cls(**{name: any_value(part, dice) for name, part in fields})
    raise AssertionError(shape)


def any_bytes(shape: Struct, dice: random.Random) -> bytes:
    data = codec(shape.cls).encode(any_value(shape, dice))
    match dice.randrange(12):
        case 0:
            return data[: dice.randrange(len(data))]
        case 1:
            return data[:4] + dice.randbytes(len(data) - 4)
        case 2:
            return data + b"\x01" * dice.randrange(20)
    return data


def any_request(methods: list[str], dice: random.Random) -> str:
    match dice.randrange(8):
        case 0:
            return dice.choice(("", "{", "null", "[]", "[" * 100_000, '{"id":' * 5000, '"\\ud800"', "9" * 5000))
        case 1:
            return json.dumps({"method": dice.choice(JSON), "id": dice.choice(JSON), "params": dice.choice(JSON)})
    params = {name: dice.choice(JSON) for name in PARAMETERS if dice.random() < 0.7}
    return json.dumps({"method": dice.choice(methods), "id": dice.choice(JSON), "params": params})


def prepare(lab: Lab, dice: random.Random) -> None:
    """Bring it to where it listens to most."""
    profile = lab.twin.profile
    if profile.family == "aurora":
        for state in ("pd_stand", "walk"):
            lab.tell("whole_body_fsm_state_change_cmd", desired_state=profile.fsm[state], wait=5.0)
        lab.tell("velocity_source_cmd", desired_source=2)
        lab.tell("upper_body_fsm_state_change_cmd", desired_state=max(profile.upper_fsm.values()), wait=0.1)
    elif profile.family == "atom":
        lab.tell("rt/set/fsm/id", id=2, wait=3.0)
        lab.tell("rt/switch/upper/control", flag=True, wait=0.1)


def stir(lab: Lab, dice: random.Random) -> None:
    """Somebody brings it into another state."""
    if lab.twin.profile.fsm:
        lab.twin.change_fsm(dice.choice(list(lab.twin.profile.fsm.values())))
    if lab.twin.profile.base is not None:
        lab.twin.base.press_confirm_key()
    buttons = dice.choice((("lt", "b"), ("lo", "ro"), ("a",), ("x",)))
    lab.twin.press(*buttons)


def look(lab: Lab) -> None:
    for name in lab.readers:
        sample = lab.readers[name].newest()
        if sample is not None:
            whole = codec(lab.topics[name].type)
            whole.encode(whole.decode(sample.data), finite=True)


def variants() -> list[Any]:
    robots: list[tuple[str, tuple[str, ...]]] = [(name, ()) for name in ("gr1", "gr2", "gr3", "n1", "atom", "atom_w")]
    robots += [("adam_u", ()), ("atom_w", ("amr_v2",)), ("adam_u", ("remote_int16",))]
    found = []
    for name, more in robots:
        profile = load_profile(name)
        found.append(pytest.param(replace(profile, variants=(*profile.variants, *more)), id="-".join((name, *more))))
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("profile", variants())
def test_no_command_ends_a_twin(profile: Profile, seed: int) -> None:
    lab, dice = Lab(profile, on_demand=True), random.Random(seed)
    writers = {name: lab.bus.writer(lab.topics[name]) for name in lab.twin.inlets}
    shapes = {name: struct_of(lab.topics[name].type) for name in writers}
    methods = [name.removeprefix("rpc/") for name in lab.twin.commands if name.startswith("rpc/")]
    for number in range(ROUNDS):
        if number % 10 == 0:
            dice.choice((prepare, prepare, stir))(lab, dice)
        name = dice.choice(list(writers))
        writers[name].write_bytes(any_bytes(shapes[name], dice))
        if methods:
            answer = lab.twin.rpc.answer(any_request(methods, dice))
            assert answer is not None
            json.loads(answer)
        lab.wait(dice.choice((0.0, 0.01, 0.5, 3.0)))
        look(lab)
