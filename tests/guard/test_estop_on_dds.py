"""Every kind of e-stop, in the middle of every kind of motion, on every robot: guard process and twin on real DDS.

One robot and one guard for all cases of a robot; between two cases the robot is armed again as a person does it.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from orchestrator.bus.settings import loopback
from orchestrator.robots import intents as i
from orchestrator.wire.dobot_atom import AMRCommandType
from tests.support.guarded import Guarded, guarded

pytestmark = [pytest.mark.dds, pytest.mark.alone, pytest.mark.timeout(300)]

AMR: Any = AMRCommandType
WALK = {"atom": 301, "aurora": 3}


# What robots are like before an e-stop, and how people bring them back to that


def ready_atom(twin: Any) -> None:
    twin.advance()
    twin.drives.enable([True] * twin.drives.count)
    twin.fsm.force(WALK["atom"], twin.uptime)
    twin.upper_control = True
    twin.update()


def ready_aurora(twin: Any) -> None:
    twin.advance()
    twin.fsm.force(WALK["aurora"], twin.uptime)
    twin.velocity_source = 2
    twin.update()


def ready_adam(twin: Any) -> None:
    twin.advance()
    twin.mode = "developer"
    twin.update()


READY: dict[str, Callable[[Any], None]] = {
    "atom_w": ready_atom,
    "atom": ready_atom,
    "gr2": ready_aurora,
    "adam_u": ready_adam,
}


UPRIGHT = {"gr2": ("fallen", False), "adam_u": ("tilt", 0.0)}


def press(twin: Any, kind: str) -> None:
    if kind == "motor":
        twin.fail_motor(twin.profile.group("left_arm")[0].name, 1)
    elif kind == "fall":
        twin.fall()
    else:
        twin.press_emergency(kind)


def release(twin: Any, kind: str) -> None:
    if kind == "motor":
        twin.fail_motor(twin.profile.group("left_arm")[0].name, 0)
    elif kind == "fall":
        setattr(twin, *UPRIGHT[twin.profile.name])  # somebody has put it on its feet again
    else:
        twin.release_emergency(kind)
    READY[twin.profile.name](twin)


# What the wire shows


def angles(message: Any) -> list[float]:
    """The joint angles of a command, of whichever robot."""
    if hasattr(message, "motor_cmd"):
        return [motor.q for motor in message.motor_cmd]
    return [q for group in message.group_cmd for q in group.position]


STILL = 0.005
"""rad: what is held stays within this, noise of the measurement included."""
JOINTS = ("rt/upper/cmd", "robot_control_group_cmd", "rt/lowcmd")
HANDS = ("rt/hands/cmd", "rt/handcmd")


def moving(lab: Guarded) -> list[str]:
    """Every command that moves something, by what it is: angles count when they are not the same all the time."""
    found = [f"tag {m.target_id}" for m in lab.commands("rt/amr/cmd") if m.command_type is not AMR.CANCEL_TASK]
    found += ["velocity" for m in lab.commands("velocity_cmd") if (m.vx, m.vy, m.yaw) != (0.0, 0.0, 0.0)]
    found += [type(m).__name__ for m in lab.commands("whole_body_fsm_state_change_cmd", "rt/switch/upper/control")]
    found += [f"velocity {m}" for m in lab.commands("rpc/SetVel") if not is_zero(m)]
    found += [heard.topic for heard in lab.heard if heard.topic.startswith("rpc/") and heard.topic != "rpc/SetVel"]
    frames = [angles(m) for m in lab.commands(*JOINTS)]
    if frames:
        way = max(abs(a - b) for frame in frames for a, b in zip(frame, frames[0], strict=True))
        found += [f"joints by {way:.3f} rad"] if way > STILL else []
    return found


def is_zero(params: dict[str, float]) -> bool:
    return (params["vx"], params["vy"], params["vyaw"]) == (0.0, 0.0, 0.0)


def zero_called(lab: Guarded) -> bool:
    return any(is_zero(params) for params in lab.commands("rpc/SetVel"))


def cancelled(lab: Guarded) -> bool:
    return any(m.command_type is AMR.CANCEL_TASK for m in lab.commands("rt/amr/cmd"))


def zero_velocity(lab: Guarded) -> bool:
    return any((m.vx, m.vy, m.yaw) == (0.0, 0.0, 0.0) for m in lab.commands("velocity_cmd"))


def held(lab: Guarded) -> bool:
    return bool(lab.commands(*JOINTS, *HANDS))


def silent(lab: Guarded) -> bool:
    """After a hard e-stop joints are left alone: their power is off, and a target would make them jump later."""
    return not lab.heard


@dataclass(frozen=True)
class Case:
    robot: str
    kind: str
    channel: str
    """The guard's name for what it sees first."""
    doing: i.AnyIntent | None
    stop: Callable[[Guarded], bool]

    def __str__(self) -> str:
        return f"{self.robot}-{self.kind}-{type(self.doing).__name__ if self.doing else 'idle'}"


ARM = i.JointTarget("left_arm", (0.15,) * 7, 5.0)
HAND = i.HandTarget("left", (0.2,) * 6)
WALK_ON = i.Velocity(0.1, 0.0, 0.0)
ATOM_KINDS = {"soft": "soft", "hard": "hard", "di": "di"}
WHEEL_KINDS = {"amr": "amr", "amr_topic": "amr", "amr_event": "amr_event"}

CASES = [
    *(
        Case("atom_w", kind, channel, doing, cancelled)
        for kind, channel in (ATOM_KINDS | WHEEL_KINDS).items()
        for doing in (None, i.MoveToTag(12, None), ARM, HAND, WALK_ON)
    ),
    *(
        Case("atom", kind, channel, doing, stop if kind == "soft" or doing is WALK_ON else silent)
        for kind, channel in ATOM_KINDS.items()
        for doing, stop in ((None, silent), (ARM, held), (HAND, held), (WALK_ON, zero_called))
    ),
    *(
        Case("gr2", kind, channel, doing, zero_velocity)
        for kind, channel in {"security": "security", "fall": "tilt"}.items()
        for doing in (None, i.Velocity(0.2, 0.0, 0.0), ARM)
    ),
    *(
        Case("adam_u", kind, channel, doing, held if doing else silent)
        for kind, channel in {"motor": "motors", "damping": "pad", "fall": "tilt"}.items()
        for doing in (None, ARM, HAND)
    ),
]


@pytest.fixture(scope="module")
def lab(request: pytest.FixtureRequest) -> Iterator[Guarded]:
    network = loopback(130 + os.getpid() % 100, tag=f"test-{uuid.uuid4()}")
    with guarded(request.param, network, READY[request.param]) as lab:
        yield lab


def _marked(case: Case) -> object:
    """Every kind of e-stop with a drive and an arm under way; the rest is in `make test-dds`."""
    drives = {"atom": i.Velocity, "atom_w": i.MoveToTag, "gr2": i.Velocity, "adam_u": i.JointTarget}[case.robot]
    often = isinstance(case.doing, drives | i.JointTarget)
    return pytest.param(case.robot, case, id=str(case), marks=() if often else pytest.mark.long)


@pytest.mark.parametrize(("lab", "case"), [_marked(case) for case in CASES], indirect=["lab"])
def test_it_latches_stops_and_moves_nothing_on_release(lab: Guarded, case: Case) -> None:
    lab.begin()
    if case.robot == "gr2" and case.doing is ARM:
        lab.bring(i.SetUpperFsm("remote"), lambda: lab.twin.upper_state == 2)
    if case.doing is not None:
        receipt = lab.ask(case.doing)
        assert receipt.state == "sent", receipt.reason
        lab.go(0.3)
    lab.heard.clear()
    lab.reports.clear()
    press(lab.twin, case.kind)
    lab.until(lambda: lab.mode == "estopped", "latched")
    assert case.channel in lab.said("emergency")[0]
    if case.stop is silent:
        lab.heard.clear()  # what was on its way
        lab.go(0.3)
        assert silent(lab)
    else:
        lab.until(lambda: case.stop(lab), "the stop on the wire")
    assert lab.ask(i.SetFsm("ready")).state == "refused"
    lab.go(0.1)
    lab.heard.clear()
    lab.reports.clear()
    release(lab.twin, case.kind)
    lab.go(0.5)
    assert moving(lab) == []
    assert lab.mode == "estopped"
    lab.arm()
    lab.go(0.2)
    assert moving(lab) == [], "and none of the acts moves anything"
