"""What the guard itself costs: a command through rules, audit, drive and encoder, and an observation.

`python -m benchmarks guard` prints microseconds, the median of each round and the lowest of the rounds.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import Row, at_most, report
from orchestrator.guard.config import load_guard_config
from orchestrator.guard.core import Core
from orchestrator.guard.driver import record_of
from orchestrator.guard.events import (
    Arm,
    AskPreflight,
    Event,
    IntentAsked,
    Observation,
    RunBegan,
    RunConnected,
    WriterReady,
)
from orchestrator.guard.outputs import Joints
from orchestrator.guard.policy import RPC
from orchestrator.guard.state import Base, State
from orchestrator.journal.audit import AuditFile
from orchestrator.robots import intents as i
from orchestrator.robots.drive import Sending, joint_messages, messages
from orchestrator.robots.profiles import load_profile
from orchestrator.wire.codec import codec

ROUNDS, PER_ROUND = 5, 1000
PROFILE = load_profile("atom_w")
CORE = Core(PROFILE, load_guard_config())
JOINTS = {group: (0.1,) * len(PROFILE.group(group)) for group in PROFILE.groups}


def running() -> tuple[State, float]:
    """A robot in the middle of a mission."""
    state, now = State(), 0.0
    events: list[Event] = [WriterReady(topic, True) for topic in (*CORE.setting.commands, RPC)]
    for event in events:
        state, _, _ = CORE.step(state, event, now)
    for tick in range(30):
        now = tick * 0.05
        for event in samples():
            state, _, _ = CORE.step(state, event, now)
    for event in (RunConnected("run"), AskPreflight("op"), Arm("op"), RunBegan(1)):
        state, _, _ = CORE.step(state, event, now)
    assert state.mode == "running"
    return state, now


def samples() -> list[Event]:
    flags = dict.fromkeys(("soft", "hard", "amr"), False)
    return [
        Observation("rt/emergency/state", {}, flags),
        Observation("rt/lower/state", {"fsm": 301}, {}),
        Observation("rt/upper/state", {"joints": JOINTS, "upper_control": True}, {}),
        Observation("rt/hands/state", {"hands": {"left": (0.5,) * 6, "right": (0.5,) * 6}}, {}),
        Observation("rt/main/nodes/state", {"unhealthy": None}, {}),
        Observation("rt/amr/state", {"base": Base("devidle", "idle", 0, 0), "speed": 0.0}, {"amr_event": False}),
    ]


def median_us(action: Callable[[], None]) -> float:
    rounds = []
    for _ in range(ROUNDS):
        times = []
        for _ in range(PER_ROUND):
            began = time.perf_counter_ns()
            action()
            times.append(time.perf_counter_ns() - began)
        rounds.append(statistics.median(times) / 1000)
    return min(rounds)


def rows() -> list[Row]:
    """Each from the rules to the bytes, as they are handed to DDS; a synchronised one waits for this disk."""
    state, now = running()
    sending = Sending(1, 1, 0.2, JOINTS, {"left": (1.0,) * 6, "right": (1.0,) * 6})
    with tempfile.TemporaryDirectory() as folder, AuditFile(Path(folder) / "audit") as audit:

        def command(intent: i.AnyIntent, sync: bool = False) -> None:
            _, outputs, _ = CORE.step(state, IntentAsked(1, 1, intent), now)
            for output in outputs:
                audit.append(record_of(output, now, 1))
                if sync:
                    audit.sync()
                if isinstance(output, Joints):
                    made = joint_messages(PROFILE, dict(output.groups), sending)
                else:
                    made = messages(PROFILE, output.intent, sending)
                for _, message in made:
                    codec(type(message)).encode(message, finite=True)

        target = i.JointTarget("left_arm", (0.2,) * 7, 1.0)
        shown = samples()[1]
        tag = median_us(lambda: command(i.MoveToTag(12, None), sync=True))
        return [
            report("guard: an observation, nothing new", median_us(lambda: observe(state, shown, now)), "us"),
            report("guard: SetFsm, judged, recorded and encoded", median_us(lambda: command(i.SetFsm("ready"))), "us"),
            report("guard: MoveToTag, also synchronised to the disk", tag, "us"),
            at_most("guard: JointTarget, judged, recorded and encoded", median_us(lambda: command(target)), "us", 150),
        ]


def observe(state: State, event: Event, now: float) -> None:
    CORE.step(state, event, now)
