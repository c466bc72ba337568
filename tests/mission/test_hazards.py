"""The hazards of docs/guard.md that a simulated robot can produce, through tree, guard and twin in virtual time.

Each case says what somebody outside sees: the guard's mode and reason, the run's outcome, what reached the robot and
how soon. `tests.support.wire_trace` holds every trace against what must never happen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from orchestrator.testing import MissionRun
from tests.support.wire_trace import WireTrace, violations

ARMS_ATOM = ("SetFsm: {state: ready}", "SwitchUpperControl: {enabled: true}", "MoveJoints: {pose: ready, time: 3 s}")
STAND_GR2 = ("SetFsm: {state: pd_stand}", "WaitStable: {time: 500 ms}")
WALK_GR2 = (*STAND_GR2, "SetFsm: {state: walk}", "SetVelocitySource: {source: navigation}")
DOING: dict[str, tuple[str, tuple[str, ...]]] = {
    "atom_w drives": ("atom_w", ("SetFsm: {state: ready}", "MoveToTag: {tag: table, give_up_blocked: 5 s}")),
    "atom_w moves its arms": ("atom_w", ARMS_ATOM),
    "atom_w closes a hand": ("atom_w", ("SetFsm: {state: ready}", "HandGrasp: {hand: right, grip: 80 %}")),
    "atom_w stands up": ("atom_w", ("SetFsm: {state: ready}",)),
    "atom_w clears errors": ("atom_w", ("Wait: {time: 1 s}", "ClearErrors")),
    "atom walks": (
        "atom",
        ("SetFsm: {state: ready}", "SetFsm: {state: walk}", "Walk: {forward: 0.2 m/s, time: 6 s}"),
    ),
    "atom moves its arms": ("atom", ARMS_ATOM),
    "gr2 walks": ("gr2", (*WALK_GR2, "Walk: {forward: 0.3 m/s, time: 6 s}")),
    "gr2 moves its arms": ("gr2", (*STAND_GR2, "MoveJoints: {pose: ready, time: 3 s}")),
    "gr2 bends": ("gr2", (*STAND_GR2, "StandPose: {height: -15 cm, pitch: 0.3 rad}")),
    "gr2 reaches": (
        "gr2",
        (
            *STAND_GR2,
            "SetFsm: {state: walk}",
            "SetUpperFsm: {state: move_cmd}",
            "MoveHand: {hand: left, forward: 35 cm, left: 25 cm, up: 10 cm, speed: 10 %}",
        ),
    ),
    "adam_u moves its arms": ("adam_u", ("MoveJoints: {pose: ready, time: 3 s}",)),
}
"""What the robot is doing when it happens: the last leaf, which is called act."""

Hurt = str | Callable[[Any], object]


@dataclass(frozen=True)
class Case:
    hazard: str
    doing: str
    hurt: Hurt
    mode: str = ""
    """The last mode that latches; empty: none does."""
    reason: str = ""
    """In the guard's reason for it."""
    outcome: str = "stopped"
    why: str = ""
    """In the run's own reason."""
    sends: tuple[str, ...] = ()
    """What reaches the robot from then on."""
    never: tuple[str, ...] = ()
    within: float = 0.02
    """Seconds until the guard is in that mode."""
    after: float = 0.7
    """Seconds after the leaf began."""
    says: str = ""
    """A value of a report of the guard."""

    def __str__(self) -> str:
        hurt = self.hurt if isinstance(self.hurt, str) else self.hurt.__name__
        return f"{self.hazard}-{self.doing}-{hurt}-{self.after:g}"


def push_stick(twin: Any) -> None:
    twin.push(lx=0.5)


def press_twice(twin: Any) -> None:
    """Pressed, released, and pressed again while the stop is under way."""
    twin.press_emergency("soft")
    twin.clock.after(0.3, lambda: twin.release_emergency("soft"))
    twin.clock.after(0.6, lambda: twin.press_emergency("hard"))


def press_and_restart(twin: Any) -> None:
    twin.press_emergency("soft")
    twin.clock.after(0.2, lambda: twin.reboot(1.0))


def ignore_stops(twin: Any) -> None:
    """The base takes no command any more, and then it must be stopped."""
    twin.commands["rt/amr/cmd"].faults += (lambda command, message, execute: None,)
    lose_a_node(twin)


def lose_a_node(twin: Any) -> None:
    twin.drives.lose_node(14)
    twin.update()


def fail_a_bus(twin: Any) -> None:
    twin.drives.slave_error[1] = 0x12
    twin.update()


def raise_an_alarm(twin: Any) -> None:
    twin.battery.alarms = 1


def phases(doing: str) -> tuple[float, ...]:
    """When it happens: at the beginning, a tick later, and in the middle."""
    return 0.0, 0.05, 0.5 if doing.endswith("a hand") else 1.5


ATOM_W = ("atom_w drives", "atom_w moves its arms", "atom_w closes a hand")
ATOM = ("atom walks", "atom moves its arms")
GR2 = ("gr2 walks", "gr2 moves its arms")
POSES = {"gr2 bends": "stand_pose", "gr2 reaches": "move_hand"}
ADAM = "adam_u moves its arms"
BASE = ("CANCEL_TASK",)


def estop(hazard: str, doing: str, hurt: Hurt, reason: str, **more: Any) -> Case:
    sends = BASE if doing.startswith("atom_w") else ()
    never = ("joints",) if reason in ("hard", "di") else ()
    more = {"sends": sends, "never": never} | more
    return Case(hazard, doing, hurt, "estopped", rf"e-stop .*{reason}", why="^estopped", **more)


def unseen(hazard: str, doing: str, hurt: Hurt, why: str = "", **more: Any) -> Case:
    """The robot cannot be seen any more: nobody can say that it stands still."""
    outcome, reason = "stopped|failure", "stale|frozen|restarted|stop unverified|stop ineffective"
    return Case(hazard, doing, hurt, "fault", reason, outcome, why, within=2.3, **more)


CASES = [
    # 1a. Emergency stops
    *[estop("H1", doing, "hard", "hard", after=after) for doing in ATOM_W + ATOM for after in phases(doing)],
    *[estop("H1", doing, "di", "di") for doing in ATOM_W + ATOM],
    *[estop("H2", doing, "soft", "soft", after=after) for doing in ATOM_W + ATOM for after in phases(doing)],
    *[estop("H3", doing, "amr_stop", "amr") for doing in ATOM_W],
    *[estop("H3", doing, "amr_stop_topic", "amr", says="disagree") for doing in ATOM_W],
    *[estop("H3", doing, "amr_stop_event", "amr_event", says="disagree") for doing in ATOM_W],
    *[estop("H4", doing, "security", "security", after=after) for doing in GR2 for after in phases(doing)],
    *[estop("H4", doing, "security", "security", never=(pose,)) for doing, pose in POSES.items()],
    *[estop("H4", ADAM, hurt, reason) for hurt, reason in
      (("motor_error:left_elbow", "motors"), ("damping", "pad"), ("fall", "tilt"))],
    *[estop("H5", doing, f"{kind}+10ms", kind) for doing in ATOM_W + ATOM for kind in ("soft", "hard")],
    *[estop("H7", doing, "soft+2s", "soft") for doing in ATOM_W + ATOM],
    estop("H8", "atom_w drives", press_twice, "hard"),
    estop("H8", "atom_w drives", press_and_restart, "soft"),
    Case("H9", "atom_w drives", ignore_stops, "fault", "node state", why="^fault", sends=BASE * 4, within=0.3),
    # 1b. State integrity: the leaf may notice first, then the run ends and its stop cannot be verified
    *[Case("H10", doing, f"off:{topic}", "fault", f"{topic}. is stale", why="^fault", within=0.55)
      for doing, topic in (
          ("atom_w drives", "rt/lower/state"), ("atom_w drives", "rt/emergency/state"),
          ("atom walks", "rt/lower/state"), ("atom moves its arms", "rt/emergency/state"),
          ("gr2 walks", "aurora_state"))],
    *[unseen("H10", doing, f"off:{topic}", why="stale|ended", sends=sends)
      for doing, topic, sends in (
          ("gr2 walks", "base_data_pub", ("velocity",)),
          (ADAM, "rt/lowstate", ("joints",)), ("atom_w drives", "rt/amr/state", BASE))],
    *[Case("H10", doing, "off:aurora_state", "fault", "aurora_state. is stale", why="^fault", within=0.55,
           sends=(pose,))
      for doing, pose in POSES.items()],
    Case("H10", "atom_w moves its arms", "off:rt/upper/state", outcome="failure", sends=("joints",)),
    Case("H10", "gr2 moves its arms", "off:robot_control_group_state", outcome="failure", why="stale",
         sends=("joints",)),
    *[Case("H11", doing, f"stuck:{topic}", "fault", f"{topic}. is frozen", why="^fault", within=within)
      for doing, topic, within in (
          ("atom_w drives", "rt/lower/state", 1.6), ("atom walks", "rt/lower/state", 1.6),
          ("gr2 walks", "aurora_state", 1.6))],  # three of the pauses in which samples are looked at in virtual time
    *[unseen("H11", doing, f"stuck:{topic}", why="frozen", sends=sends)
      for doing, topic, sends in (("atom_w drives", "rt/amr/state", BASE), (ADAM, "rt/lowstate", ("joints",)))],
    Case("H13", "atom_w drives", "reorder:rt/amr/state", outcome="success"),
    Case("H13", "atom_w drives", "duplicate:rt/amr/state", outcome="success"),
    Case("H13", "gr2 walks", "delayed:aurora_state,seconds=0.4", "fault", "stale", why="^fault", within=0.55),
    unseen("H13", "gr2 walks", "delayed:base_data_pub,seconds=0.3", why="late|stale|ended", sends=("velocity",)),
    *[unseen("H14", doing, "reboot", after=after)
      for doing in (*ATOM_W[:2], *ATOM, *GR2, ADAM) for after in (0.0, 0.7)],
    *[Case("H15", doing, hurt, "fault", "is bad", why="^fault", within=0.6)
      for doing, hurt in (
          ("gr2 walks", "garbage:aurora_state"), (ADAM, "garbage:rt/lowstate.motor_state[3].q"),
          ("atom walks", "garbage:rt/lower/state.imu_state.quaternion"))],
    Case("H15", "atom_w moves its arms", "garbage:rt/upper/state.motor_state[3].q", outcome="failure",
         why="bad|stale|ended|range", sends=("joints",)),
    Case("H15", "atom_w drives", "wrong:rt/lower/state.fsm_id,value=77", "intervened",
         "fsm became 77, a state without a name in the profile", why="^intervened"),
    Case("H15", "gr2 walks", "wrong:aurora_state.whole_body_fsm_state,value=77", "intervened",
         "fsm became 77, a state without a name in the profile", why="^intervened"),
    *[Case("H16", doing, f"truncate_type:{topic}", "fault", "stale|bad", why="^fault", within=0.6)
      for doing, topic in (("atom_w drives", "rt/lower/state"), ("gr2 walks", "aurora_state"), (ADAM, "rt/lowstate"))],
    # 1c. Commands
    Case("H17", "atom_w stands up", "lost:rpc/SetFsmId,nth=1", outcome="success", sends=("fsm", "fsm"), after=0.0),
    Case("H17", "gr2 moves its arms", "lost:robot_control_group_cmd,nth=2", outcome="success"),
    Case("H18", "atom_w drives", "amr_blocked", outcome="failure", why="block", sends=BASE),
    *[Case("H21", doing, hurt, "intervened", "by another hand", why="^intervened", within=within,
           never=("fsm", "upper_control", "source"))
      for doing, hurt, within in (
          ("atom_w moves its arms", "foreign_fsm:damping", 0.8), ("atom walks", "foreign_fsm:ready", 1.7),
          ("gr2 walks", "foreign_fsm:pd_stand", 1.0))],
    *[Case("H21", "atom_w drives", hurt, "intervened", "by another hand", why="^intervened", within=within,
           never=("fsm", "upper_control", "source"), sends=BASE)
      for hurt, within in (("foreign_fsm:walk", 1.3), ("foreign_fsm:damping", 1.3), ("amr_maintenance", 0.1))],
    *[Case("H21", doing, push_stick, "intervened", "stick", why="^intervened", within=0.5)
      for doing in ("atom walks", "atom_w drives", ADAM)],
    *[Case("H22", doing, f"foreign_writer:{topic}", "intervened", "stranger", why="^intervened", within=0.2)
      for doing, topic in (
          ("atom moves its arms", "rt/upper/cmd"), ("gr2 walks", "velocity_cmd"), (ADAM, "rt/lowcmd"))],
    Case("H22", "atom_w drives", "foreign_writer:rt/upper/cmd", "intervened", "stranger", why="^intervened",
         within=0.2, sends=BASE),
    Case("H22", "atom_w drives", "foreign_writer:rt/amr/cmd", "intervened", "stranger", within=0.2, never=BASE,
         why="a task of ours still runs on the base; somebody else commands it: end it there"),
    # 1d. AMR, hand, node, power
    Case("H26", "atom_w drives", "amr_blocked+2s", outcome="success"),
    *[Case("H27", doing, hurt, "fault", "battery is critical", why="^fault", within=3.6, says="battery critical")
      for doing, hurt in (
          ("atom_w drives", "battery,level=4"), ("atom walks", "battery,level=4"),
          ("atom_w drives", "battery,level=4,base=true"))],
    Case("H27", "atom_w drives", "battery,level=12", outcome="success", says="battery low"),
    Case("H28", "atom_w drives", "amr_failed", outcome="failure", why="failed"),
    Case("H28", "atom_w drives", "amr_error,code=7", outcome="failure", why="error|failed"),
    Case("H28", "atom_w drives", "amr_offline", outcome="failure", why="offline|error|failed"),
    Case("H29", "atom_w drives", "amr_pause+3s", outcome="success", says="paused", never=("RESUME_TASK",)),
    Case("H29", "atom_w drives", "amr_cancel", "intervened", "cancelled by another hand", why="^intervened"),
    Case("H29", "atom_w drives", "amr_stopped", outcome="failure", why="stopped"),
    Case("H31", "atom_w closes a hand", "hand_jam:right", outcome="failure", why="fingers did not move",
         after=0.0),
    *[Case("H32", doing, f"motor_error:{joint}", outcome="failure", says="errors", sends=sends)
      for doing, joint, sends in (
          ("atom_w moves its arms", "left_elbow_pitch", ("joints",)), ("atom walks", "head_yaw", ("velocity",)),
          ("atom_w drives", "right_elbow_pitch", BASE))],
    *[Case("H32", doing, "motor_error:right_elbow_pitch", outcome="failure", why="right_arm: motion error",
           says="errors", sends=(pose,))
      for doing, pose in POSES.items()],
    *[Case("H32", doing, f"motor_error:{joint}", "fault", "error", why="^fault", within=0.3)
      for doing, joint in (("atom walks", "left_knee_pitch"), ("atom_w drives", "lift_1"))],
    *[Case("H32", "atom_w drives", hurt, "fault", "node state|ecat2can", why="^fault", within=0.3)
      for hurt in (lose_a_node, fail_a_bus)],
    *[Case("H21", doing, "foreign_fsm:default", "intervened", "by another hand", why="^intervened", within=1.0,
           never=("fsm", pose))
      for doing, pose in POSES.items()],
    *[Case("H33", doing, "fall", "estopped", "tilt", why="^estopped", within=0.1) for doing in (*GR2, ADAM)],
]  # fmt: skip


def begin(case: Case, folder: Path) -> tuple[MissionRun, WireTrace]:
    """The robot is at it, and has been for a while."""
    robot, steps = DOING[case.doing]
    lines = "".join(f"    - {step}\n" for step in steps)
    (folder / "tree.yaml").write_text(f"tree: hazard\nroot:\n  sequence:\n{lines}      name: act\n")
    run = MissionRun(folder / "tree.yaml", robot)
    trace = WireTrace(run)
    run.until("act")
    if case.after:
        run.wait(case.after)
    return run, trace


def _act(act: Callable[[Any], object], twin: Any) -> None:
    act(twin)


def hurt(case: Case, run: MissionRun) -> float:
    """Between two messages, so that it is plain which of them came before; when that is."""
    between = 0.0037
    if isinstance(case.hurt, str):
        what, plus, duration = case.hurt.partition("+")
        run.fault(f"{what}@{between}s{plus}{duration}")
    else:
        run.twin.clock.after(between, partial(_act, case.hurt, run.twin))
    now: float = run.twin.clock.now()
    return now + between


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_hazard_is_answered(case: Case, tmp_path: Path) -> None:
    run, trace = begin(case, tmp_path)
    at = hurt(case, run)
    outcome = run.finish(within=60.0)
    run.wait(4.0)
    latched = [mode for mode in trace.modes if mode.value in ("estopped", "fault", "intervened")]
    assert violations(trace) == []
    assert (latched[-1].value if latched else "") == case.mode, (latched, outcome)
    if latched:
        assert re.search(case.reason, latched[-1].text)
        assert latched[0].at - at <= case.within
    assert re.fullmatch(case.outcome, outcome.status), outcome
    assert re.search(case.why, outcome.reason), outcome
    names = trace.names(at)
    assert all(names.count(each) >= case.sends.count(each) for each in case.sends), names
    assert not set(case.never) & set(names)
    assert not case.says or case.says in {told.value for told in trace.told if told.at >= at}
    if case.hazard == "H9":
        assert {"press_hardware_estop"} <= {told.kind for told in trace.told}
        assert "stopped" not in {told.kind for told in trace.told if told.at >= at}


def base_of(run: MissionRun) -> Any:
    """The simulated base."""
    return run.twin.base


@pytest.mark.parametrize("channel", ["soft", "hard", "di", "amr_stop"])
def test_a_base_whose_task_is_still_queued_when_an_e_stop_comes_does_not_drive(channel: str, tmp_path: Path) -> None:
    run, trace = begin(estop("H1", "atom_w drives", channel, channel, after=0.0), tmp_path)
    run.until(lambda: base_of(run).navigation.name == "QUEUING")
    run.wait(0.03)
    run.fault(f"{channel}@0.01s")
    run.finish()
    run.wait(4.0)
    assert base_of(run).navigation.name == "CANCELED"
    assert abs(base_of(run).pose.heading) < 0.03, "it has not even turned towards its tag"
    assert "press_hardware_estop" not in {told.kind for told in trace.told}


@pytest.mark.parametrize("late", [4.5, 6.0, 20.0])
def test_a_base_that_takes_its_task_late_does_not_drive(late: float, tmp_path: Path) -> None:
    case = Case("H17", "atom_w drives", f"late_exec:rt/amr/cmd,seconds={late:g},nth=1", outcome="failure")
    robot, steps = DOING[case.doing]
    lines = "".join(f"    - {step}\n" for step in steps)
    (tmp_path / "tree.yaml").write_text(f"tree: hazard\nroot:\n  sequence:\n{lines}")
    run = MissionRun(tmp_path / "tree.yaml", robot, faults=[str(case.hurt)])
    assert run.finish().reason.startswith("not_accepted")
    run.wait(late + 5.0)
    assert base_of(run).navigation.name == "CANCELED"
    assert base_of(run).pose == (0.0, 0.0, 0.0)


def paused(tmp_path: Path) -> MissionRun:
    """The base has paused its task, for the run."""
    run, _ = begin(Case("H29", "atom_w drives", "", after=3.0), tmp_path)
    run.pause()
    run.wait(1.0)
    assert base_of(run).navigation.name == "PAUSED"
    return run


def test_aborted_while_it_is_paused_a_mission_leaves_no_task_on_the_base(tmp_path: Path) -> None:
    run = paused(tmp_path)
    place = base_of(run).pose
    run.abort()
    run.finish()
    run.wait(3.0)
    assert (base_of(run).navigation.name, run.guard) == ("CANCELED", "disarmed")
    assert base_of(run).pose == pytest.approx(place, abs=0.02)


def test_an_e_stop_while_it_is_paused_resumes_nothing_and_says_what_is_left(tmp_path: Path) -> None:
    run = paused(tmp_path)
    trace = WireTrace(run)
    run.fault("soft@0.1s")
    run.finish()
    run.wait(3.0)
    assert "RESUME_TASK" not in trace.names(0.0)
    assert "left behind" in {told.value for told in trace.told}


def test_a_drive_that_another_hand_has_paused_for_too_long_fails_with_that(tmp_path: Path) -> None:
    steps = "    - SetFsm: {state: ready}\n    - MoveToTag: {tag: table}\n      timeout: 20 s\n"
    (tmp_path / "tree.yaml").write_text(f"tree: hazard\nroot:\n  sequence:\n{steps}")
    run = MissionRun(tmp_path / "tree.yaml", "atom_w", faults=["amr_pause@6s"])
    assert run.finish().reason == "timeout: not done after 20 s (the task was paused by another hand)"
    run.wait(3.0)
    assert base_of(run).navigation.name == "PAUSED", "it is theirs"


def test_a_base_is_sent_nowhere_while_the_body_is_damped_and_the_reason_says_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "tree.yaml").write_text("tree: hazard\nroot:\n  MoveToTag: {tag: table}\n")
    run = MissionRun(tmp_path / "tree.yaml", "atom_w")
    needed = "interlock: fsm must be ready or walk or balance, it is damping"
    assert run.finish().reason == f"refused: the command was refused: {needed}"
    assert [record["command"]["intent"] for record in run.published if record["role"] == "command"] == []
