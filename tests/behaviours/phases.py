"""Every leaf that commands, disturbed in every phase of its life: the right reason, and a robot that has come to rest.

`python -m tests.behaviours.phases` tries everything and counts; the suite tries a part of it (test_phases.py).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from orchestrator.guard.events import Pause, Resume
from orchestrator.leaf import Status
from orchestrator.robots.reasons import Reason
from orchestrator.sim.faults import inject
from tests.behaviours import (
    test_errors,
    test_fsm,
    test_hands,
    test_joints,
    test_mobile_base,
    test_stand_pose,
    test_upper_body,
    test_velocity,
)
from tests.support.leaf_cases import EMERGENCY, Case
from tests.support.leaf_harness import TICK, Play, profile

_MODULES = (
    test_errors, test_fsm, test_hands, test_joints, test_mobile_base, test_stand_pose, test_upper_body, test_velocity,
)  # fmt: skip
CASES: list[Case] = [case for module in _MODULES for case in module.CASES]

ONE_EACH: list[Case] = list({(profile(case.robot).family, case.leaf): case for case in reversed(CASES)}.values())
"""One case of every leaf on every family."""

PHASES = ("before", "at accept", "midway", "at the last tick")
ACCEPTED = 0.01
"""Seconds after the robot took the command: it has said so, and no tick has seen it yet."""

LONGEST_PERIOD = 1.0
"""Seconds within which the slowest topic has spoken again."""
FLAGS = ("SwitchUpperControl", "ClearErrors", "EnableMotors")
"""They go by flags, and any byte but zero is a yes: random bytes may say what is wanted."""

EVIDENCE: dict[str, dict[str, str]] = {
    "aurora": {
        **dict.fromkeys(("SetFsm", "SetUpperFsm", "SetVelocitySource"), "aurora_state"),
        **dict.fromkeys(("MoveJoints", "PlayMotion", "HandGrasp", "HandOpen", "HandPose"), "robot_control_group_state"),
        **dict.fromkeys(("Walk", "Stop"), "base_data_pub"),
        "StandPose": "robot_stand_pose_state",
        "MoveHand": "robot_cartesian_state",
        "SetGains": "robot_motor_cfg_group_state",
    },
    "atom": {
        **dict.fromkeys(("SwitchUpperControl", "MoveJoints", "PlayMotion"), "rt/upper/state"),
        **dict.fromkeys(("SetFsm", "Walk", "Stop"), "rt/lower/state"),
        **dict.fromkeys(("ClearErrors", "EnableMotors"), "rt/main/nodes/state"),
        **dict.fromkeys(("HandGrasp", "HandOpen", "HandPose"), "rt/hands/state"),
    },
    "adam": {
        **dict.fromkeys(("MoveJoints", "PlayMotion"), "rt/lowstate"),
        **dict.fromkeys(("HandGrasp", "HandOpen", "HandPose"), "rt/handstate"),
    },
}
"""Which topic shows what a leaf waits for; leaves of a wheeled base: its own."""
BASE = "rt/amr/state"

FINGERS = ("HandGrasp", "HandOpen", "HandPose")
SOMETHING_ELSE: dict[str, dict[str, str]] = {
    "aurora": {
        "SetFsm": "wrong:aurora_state.whole_body_fsm_state,value=5",
        "SetUpperFsm": "wrong:aurora_state.upper_body_fsm_state,value=1",
        "SetVelocitySource": "wrong:aurora_state.velocity_command_source,value=1",
        **dict.fromkeys(("Walk", "MoveJoints", "PlayMotion"), "wrong:aurora_state.whole_body_fsm_state,value=1"),
        **dict.fromkeys(FINGERS, "hand_jam:right"),
        "StandPose": "wrong:robot_stand_pose_state.delta_z,value=0.05",
    },
    "atom": {
        "SetFsm": "wrong:rt/lower/state.fsm_id,value=302",
        **dict.fromkeys(
            ("SwitchUpperControl", "MoveJoints", "PlayMotion"), "wrong:rt/upper/state.is_upper_control,value=false"
        ),
        "Walk": "wrong:rt/lower/state.fsm_id,value=2",
        **dict.fromkeys(FINGERS, "hand_jam:right"),
        **dict.fromkeys(("MoveToTag", "RotateBase"), "wrong:rt/amr/state.navigation_status,value=FAILED"),
        "DriveBase": "wrong:rt/amr/state.work_mode,value=1",
    },
    "adam": dict.fromkeys(FINGERS, "hand_jam:right"),
}
"""What a robot does, or says, that is not what it was told, by leaf."""


@dataclass(frozen=True)
class Disturbance:
    """Something that happens to the robot."""

    name: str
    fault: Callable[[Case], str | None]
    """As the simulator knows it; None: it means nothing to this leaf."""
    reasons: frozenset[Reason]
    """Why the leaf may fail then."""
    shows_after: float = TICK / 2
    """Seconds after which the robot's reports show it."""


def family(case: Case) -> str:
    return profile(case.robot).family


def evidence(case: Case) -> str | None:
    """The topic that shows what a leaf waits for, if there is one."""
    if case in test_mobile_base.SETTINGS:
        return None
    topic = EVIDENCE[family(case)].get(case.leaf.__name__)
    return topic or (BASE if "mobile_base" in case.leaf.declaration.needs else None)


def _emergency(case: Case) -> str:
    return EMERGENCY[family(case)].format(profile(case.robot).joints[0].name)


def _of_evidence(name: str) -> Callable[[Case], str | None]:
    def fault(case: Case) -> str | None:
        topic = evidence(case)
        return f"{name}:{topic}" if topic else None

    return fault


R = Reason
GUARD = {R.REFUSED, R.ENDED}
"""The guard has seen it first."""
SILENCE = {R.STALE, R.NO_SAMPLE}
UNBELIEVABLE = {R.BAD_SAMPLE, R.NOT_FINITE, R.OUT_OF_RANGE, R.UNKNOWN_STATE}
NO_EFFECT = {R.NOT_ACCEPTED, R.NO_PROGRESS, R.FAILED}
TAKEN = {R.CONTROL_LOST, R.CANCELLED_BY_OTHER, R.BUSY}

DISTURBANCES = (
    Disturbance("e-stop", _emergency, frozenset({R.EMERGENCY, R.REFUSED})),
    Disturbance("reboot", lambda case: "reboot,seconds=0.7s", frozenset(GUARD | SILENCE | {R.REBOOT})),
    Disturbance("silent", _of_evidence("off"), frozenset(GUARD | SILENCE)),
    Disturbance(
        "nonsense",
        lambda case: None if case.leaf.__name__ in FLAGS else _of_evidence("garbage")(case),
        frozenset(GUARD | SILENCE | UNBELIEVABLE | {R.REBOOT, R.EMERGENCY}),  # random bytes may say so
    ),
    Disturbance("stuck", _of_evidence("stuck"), frozenset(GUARD | SILENCE | NO_EFFECT | {R.FROZEN}), 0.25),
    Disturbance(
        "something else",
        lambda case: SOMETHING_ELSE[family(case)].get(case.leaf.__name__),
        frozenset(GUARD | NO_EFFECT | TAKEN),
    ),
)


@dataclass(frozen=True, eq=False)
class Trial:
    """One leaf, disturbed once."""

    case: Case
    phase: str
    name: str
    disturbance: Disturbance | None = None

    def __str__(self) -> str:
        return f"{self.case}-{self.name}-{self.phase}".replace(" ", "_")


@cache
def times(case: Case) -> dict[str, float]:
    """When each phase of a leaf is, in seconds after its start, from a run in which nothing happens to it."""
    stage, taken = case.stage(), list[float]()

    def note(command: Any, message: Any, execute: Callable[[Any], object]) -> None:
        taken.append(stage.clock.now())
        execute(message)

    stage.twin.commands[case.command].faults += (note,)
    began = stage.clock.now()
    play = case.begin(stage).finish()
    assert play.status is Status.SUCCESS, (case, play)
    accepted = (taken[0] if taken else began) - began + ACCEPTED
    found = dict(zip(PHASES, (0.0, accepted, play.took / 2, play.took - TICK / 2)))
    there = {phase: time for phase, time in found.items() if phase == "before" or 0.0 < time < play.took}
    return there | {"took": play.took}


def trials(cases: list[Case] = CASES) -> Iterator[Trial]:
    """Everything there is to try."""
    for case, phase in product(cases, PHASES):
        for disturbance in DISTURBANCES:
            if disturbance.fault(case) is not None:
                yield Trial(case, phase, disturbance.name, disturbance)
        yield Trial(case, phase, "interrupted")
        if case.leaf.declaration.resumable and phase != "before":
            yield Trial(case, phase, "paused")


def attempt(trial: Trial) -> Play | None:
    """Play it and check what must hold; None if the leaf is too short to have such a phase."""
    if trial.phase not in times(trial.case):
        return None
    if trial.disturbance is not None:
        return _disturbed(trial, trial.disturbance)
    return _interrupted(trial) if trial.name == "interrupted" else _paused(trial)


def _disturbed(trial: Trial, disturbance: Disturbance) -> Play:
    case, time = trial.case, times(trial.case)[trial.phase]
    fault = disturbance.fault(case)
    assert fault is not None
    stage = case.stage()
    if trial.phase == "before":
        stage.hurt(fault)
        stage.wait(disturbance.shows_after)
    else:
        inject(stage.twin, f"{fault}@{stage.clock.now() + time - stage.twin.started_at:.6f}s")
    happens = stage.clock.now() + time
    play = case.begin(stage).finish()
    _check_end(trial, disturbance, play)
    stage.wait(3.0)
    _check_rest(trial, play)
    _check_latch(disturbance, play, happens)
    return play


def _check_end(trial: Trial, disturbance: Disturbance, play: Play) -> None:
    if play.status is Status.SUCCESS:
        if not play.stage.sent or evidence(trial.case) is None:
            return  # it was so already, so there is no command to be newer than; or nothing is reported about it
        in_hand = trial.phase != "before" and play.took <= times(trial.case)["took"] + LONGEST_PERIOD
        assert in_hand and disturbance.name != "e-stop", f"success without evidence: {play}"
        return
    assert play.reason in disturbance.reasons, play
    assert " " in play.leaf.message and "Error" not in play.leaf.message, play


def _check_rest(trial: Trial, play: Play) -> None:
    stage = play.stage
    assert trial.case.resting(stage.twin), f"it is not at rest: {stage.twin.status()}"
    assert at_rest(stage.twin), f"it is not at rest: {stage.twin.status()}"
    assert stage.guard.state.streams == (), "a stream goes on"


def _check_latch(disturbance: Disturbance, play: Play, since: float) -> None:
    """After an e-stop nothing leaves but stops, and cancels of tasks that begin only then."""
    if disturbance.name == "e-stop":
        late = [r for r in play.stage.records if r["at"] > since and r["role"] != "stop"]
        assert {record["command"]["intent"] for record in late} <= {"CancelTask"}, late


def at_rest(twin: Any) -> bool:
    walks = hasattr(twin, "walking") and twin.walking.moving
    return not walks and bool(np.allclose(twin.joints.dq, 0.0, atol=1e-6))


def _in_phase(trial: Trial) -> Play:
    """The leaf under way, at the tick before the phase."""
    return trial.case.begin().go(max(times(trial.case)[trial.phase] - TICK, 0.0))


def _interrupted(trial: Trial) -> Play:
    play = _in_phase(trial)
    play.stop()
    play.stage.wait(3.0)
    _check_rest(trial, play)
    return play


def _paused(trial: Trial) -> Play:
    play = _in_phase(trial)
    stage = play.stage
    if play.status is Status.RUNNING:
        stage.guard.handle(Pause("somebody"))
        play.leaf.pause()
        stage.wait(2.0)
        _check_rest(trial, play)
        stage.guard.handle(Resume("somebody"))
        play.leaf.resume()
    play.finish()
    assert play.status is Status.SUCCESS, play
    return play


def main() -> int:
    wanted = sys.argv[1:]
    counts: Counter[str] = Counter()
    for trial in trials(ONE_EACH if "--quick" in wanted else CASES):
        if not all(word in str(trial) for word in wanted if word != "--quick"):
            continue
        try:
            play = attempt(trial)
        except AssertionError as problem:
            counts["wrong"] += 1
            print(f"{trial}: {str(problem).splitlines()[0]}", flush=True)
            continue
        counts[f"{trial.name}: {play.reason or play.status.value}" if play else "no such phase"] += 1
    for text, count in sorted(counts.items()):
        print(f"{count:5} {text}")
    return bool(counts["wrong"])


if __name__ == "__main__":
    sys.exit(main())
