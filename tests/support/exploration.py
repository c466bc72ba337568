"""Every state the guard can get into: breadth-first over abstract events, each step judged by the trace checker."""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace

from orchestrator.guard import events as e
from orchestrator.guard.config import GuardConfig
from orchestrator.guard.events import Event
from orchestrator.guard.policy import RPC
from orchestrator.guard.state import Base, Power, State
from orchestrator.robots import intents as i
from orchestrator.robots.profile import Profile
from tests.support.guard_world import Entry, Shown, World, default_config, with_allowed
from tests.support.trace_checker import Picture, Terms, check

HORIZON = 2.6
"""Seconds after which an age makes no difference any more, with the short times of `quick_config`."""


def quick_config() -> GuardConfig:
    """The guard file with long times shortened and frames rare, so that few instants matter."""
    config = with_allowed(default_config(), "remote_drive")
    robots = {name: replace(each, hold=replace(each.hold, rate=10.0)) for name, each in config.robots.items()}
    timing = replace(config.timing, rearm=2.5, accept=0.5, evidence=0.8, confirm=2.5, explained=0.5)
    battery = replace(config.battery, lasting=0.5)
    stop = replace(config.stop, velocity_rate=10.0, ramp=10.0, limp_over=0.3)
    return replace(config, timing=timing, robots=robots, battery=battery, stop=stop)


def terms_of(world: World) -> Terms:
    """What the judge is told; the numbers are those of docs/guard.md."""
    profile, robot = world.profile, world.core.setting.robot
    walking = tuple(profile.fsm[name] for name in ("walk", "balance") if name in profile.fsm)
    joints = {"atom": (2, 301, 302), "aurora": (2, 3, 10, 11), "adam": ()}[profile.family]
    velocity = profile.velocity
    return Terms(
        family=profile.family,
        base=profile.base is not None,
        roles=tuple(robot.roles.items()),
        channels=robot.channels,
        walking=walking,
        joints_legal=joints,
        vx=(velocity.vx.low, velocity.vx.high) if velocity else None,
        still=robot.still,
        rearm=world.config.timing.rearm,
        limp={"atom": (0, 1), "aurora": (9,), "adam": ()}[profile.family],
        hanging=("default", "joint_stand", "user_cmd", "upper_user_cmd") if profile.family == "aurora" else (),
        standing=tuple(range(2, 9)) if profile.family == "aurora" else (),
        legs=("left_leg", "right_leg", "lift"),
        lasting=world.config.battery.lasting,
        dry_run=world.config.dry_run,
        explained=world.config.timing.explained,
        told_again=world.config.timing.accept,
        grid=world.grid,
    )


@dataclass
class JudgedWorld(World):
    """A world whose every step is held against the invariants."""

    picture: Picture = field(default_factory=Picture)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.grid, self.beats_per_sample = 0.13, 2
        self.terms = terms_of(self)

    def robot_profile(self) -> Profile:
        return replace(super().robot_profile(), command_rate=10.0)

    def do(self, event: Event) -> Entry:
        entry = super().do(event)
        self.trace.clear()
        self.picture, problems = check(
            self.terms, self.picture, entry.at, entry.event, entry.outputs, entry.reports, entry.mode
        )
        self.problems += problems
        return entry

    def overdue(self) -> None:
        self.problems.append("I23 the guard would spin")


Action = Callable[[JudgedWorld], None]


def _show(**changes: object) -> Action:
    """The robot shows something else from now on, beginning with one sample."""

    def act(world: JudgedWorld) -> None:
        for name, value in changes.items():
            setattr(world.shown, name, value)
        world.sample()

    return act


def _flag(channel: str, on: bool) -> Action:
    """A channel by its name on an Atom; the first and second of a robot that has others."""

    def act(world: JudgedWorld) -> None:
        channels = tuple(world.shown.flags)
        named = channel if channel in channels else channels[channel != "soft"]
        world.shown.flags[named] = on
        world.sample()

    return act


def _fsm(*names: str) -> Action:
    """The robot shows the first of these states that it has; without states it shows none."""

    def act(world: JudgedWorld) -> None:
        world.shown.fsm = next((world.profile.fsm[name] for name in names if name in world.profile.fsm), 0)
        world.sample()

    return act


def _pulse(channel: str) -> Action:
    """One sample triggered, the next one clear again."""

    def act(world: JudgedWorld) -> None:
        _flag(channel, True)(world)
        _flag(channel, False)(world)

    return act


def _release(world: JudgedWorld) -> None:
    world.shown.flags = dict.fromkeys(world.shown.flags, False)
    world.sample()


def _act(event: Event) -> Action:
    return lambda world: void(world.do(event))


def void(value: object) -> None:
    """For actions that are called for their effect."""


def _ask(intent: i.AnyIntent) -> Action:
    return lambda world: void(world.ask(intent))


def _ask_as_old_run(world: JudgedWorld) -> None:
    world.ask(i.SetFsm("ready"), epoch=world.state.epoch - 1)


def _joints(world: JudgedWorld) -> None:
    q = world.measured("left_arm")
    world.ask(i.JointTarget("left_arm", tuple(value + 0.05 for value in q), 1.0))


def _move_hand(world: JudgedWorld) -> None:
    world.ask(i.SetUpperFsm("move_cmd"))
    world.shown.upper_fsm = world.profile.upper_fsm.get("move_cmd", 0)
    world.sample()
    world.ask(i.MoveHand("left_arm", (0.35, 0.25, 0.1, 0.0, 0.0, 0.0, 1.0), False, 0.1))


def _pose_silent(world: JudgedWorld) -> None:
    world.shown.silent = ("robot_stand_pose_state", "robot_cartesian_state")
    world.wait(1.3, beats=True)


def _epoch_event(make: Callable[[int], Event]) -> Action:
    return lambda world: void(world.do(make(world.state.epoch)))


def _start(world: JudgedWorld) -> None:
    """Everything from here to a running mission, as far as it is allowed."""
    world.do(e.RunConnected("run"))
    world.do(e.Acknowledge("op", "seen"))
    world.arm()
    world.do(e.Choose("op", "restart"))
    world.do(e.RunBegan(world.state.epoch))


def _forget_streams(world: JudgedWorld) -> None:
    """The run is alive, but its leaves no longer renew their streams."""
    for _ in range(3):
        world.wait(0.1)
        world.do(e.Heartbeat(world.state.epoch, ()))


def _deaf(world: JudgedWorld) -> None:
    for topic in sorted(world.state.ready):
        world.do(e.WriterReady(topic, False))


def _base_silent(world: JudgedWorld) -> None:
    world.shown.silent = ("rt/amr/state",)
    world.wait(1.3, beats=True)


RUNNING_TASK = Base("tasking", "running", 0, 7)

ACTIONS: dict[str, Action] = {
    "start": _start,
    "sample": lambda world: world.sample(),
    "beat": lambda world: void(world.beat()),
    "run 0.3 s": lambda world: world.wait(0.3, beats=True),
    "wait 0.3 s": lambda world: world.wait(0.3),
    "wait 1.3 s": lambda world: world.wait(1.3),
    "run 1.3 s": lambda world: world.wait(1.3, beats=True),
    "wait 2.6 s": lambda world: world.wait(2.6),
    "silence": lambda world: world.wait(1.3, samples=False, beats=True),
    "soft e-stop": _flag("soft", True),
    "hard e-stop": _flag("hard", True),
    "base e-stop pulse": _pulse("amr_event"),
    "release": _release,
    "fsm ready": _fsm("ready", "pd_stand"),
    "fsm walk": _fsm("walk"),
    "limp": _fsm("damping", "default"),
    "upper control off": _show(upper_control=False),
    "upper control on": _show(upper_control=True),
    "base queuing": _show(base=Base("tasking", "queuing", 0, 7)),
    "base busy": _show(base=RUNNING_TASK),
    "base completed": _show(base=Base("devidle", "completed", 0, 7)),
    "base cancelled": _show(base=Base("devidle", "canceled", 0, 7)),
    "base paused": _show(base=Base("tasking", "paused", 0, 7)),
    "base remote": _show(base=Base("devidle", "idle", 3, 0)),
    "moving": _show(speed=0.5),
    "still": _show(speed=0.0),
    "unhealthy": _show(unhealthy="left_shoulder_yaw: error 7"),
    "healthy": _show(unhealthy=None),
    "arm error": _show(errors={"left_arm": "left_shoulder_yaw: error 0x7"}),
    "leg error": _show(errors={"lift": "lift_1: error 0x7", "left_leg": "left_hip_pitch: error 0x7"}),
    "no error": _show(errors={}),
    "battery low": _show(power=Power(12)),
    "battery critical": _show(power=Power(4)),
    "battery full": _show(power=Power(80)),
    "mismatch": _act(e.Mismatch("rt/hands/cmd", "rt/hands/cmd: the robot reads another version")),
    "late flag": _act(e.LateFlags({"soft": True})),
    "base idle": _show(base=Base("devidle", "idle", 0, 7)),
    "base silent": _base_silent,
    "deaf": _deaf,
    "forget streams": _forget_streams,
    "foreign": _act(e.ForeignWriters(("other on rt/amr/cmd",), frozenset({"rt/amr/cmd"}))),
    "foreign arms": _act(e.ForeignWriters(("other on rt/upper/cmd",), frozenset({"rt/upper/cmd"}))),
    "alone": _act(e.ForeignWriters(())),
    "reboot": _act(e.RobotRebooted("test")),
    "audit full": _act(e.AuditState(False)),
    "audit works": _act(e.AuditState(True)),
    "connect": _act(e.RunConnected("run")),
    "begin": _epoch_event(lambda epoch: e.RunBegan(epoch)),
    "gone": _epoch_event(lambda epoch: e.RunGone(epoch)),
    "end": _epoch_event(lambda epoch: e.RunEnded(epoch)),
    "old run asks": _ask_as_old_run,
    "ask fsm": _ask(i.SetFsm("ready")),
    "ask walk": _ask(i.SetFsm("walk")),
    "ask user_cmd": _ask(i.SetFsm("user_cmd")),
    "ask velocity": _ask(i.Velocity(0.1, 0.0, 0.0)),
    "ask NaN": _ask(i.Velocity(math.nan, 0.0, 0.0)),
    "ask too fast": _ask(i.Velocity(9.0, 0.0, 0.0)),
    "ask joints": _joints,
    "ask stand pose": _ask(i.StandPose(-0.1, 0.0, 0.0)),
    "ask move hand": _move_hand,
    "bent": _show(stand=(-0.05, 0.0, 0.0)),
    "pose silent": _pose_silent,
    "ask clear": _ask(i.ClearErrors()),
    "ask move": _ask(i.MoveToTag(12, None)),
    "ask cancel": _ask(i.CancelTask()),
    "ask resume": _ask(i.ResumeTask()),
    "ask remote": _ask(i.StartRemote()),
    "ask drive": _ask(i.DriveBase(0.2, 0.0)),
    "acknowledge": _act(e.Acknowledge("op", "seen")),
    "clear errors": _act(e.AskClearErrors("op")),
    "preflight": _act(e.AskPreflight("op")),
    "arm": _act(e.Arm("op")),
    "choose abort": _act(e.Choose("op", "abort")),
    "choose restart": _act(e.Choose("op", "restart")),
    "pause": _act(e.Pause("op")),
    "resume": _act(e.Resume("op")),
    "disarm": _act(e.Disarm("op")),
    "stop": _act(e.Stop("op")),
    "park": _act(e.Stop("op", "park")),
}  # fmt: skip


ALPHABETS: dict[str, tuple[str, ...]] = {
    "emergency stop and re-arming": (
        "soft e-stop", "hard e-stop", "release", "acknowledge", "preflight", "arm", "choose abort", "choose restart",
        "wait 1.3 s", "run 1.3 s", "connect", "begin",
    ),
    "streams": (
        "start", "ask velocity", "ask joints", "run 1.3 s", "wait 1.3 s", "gone", "fsm ready", "fsm walk",
        "soft e-stop", "release", "pause", "resume",
    ),
    "stops of people": (
        "start", "ask joints", "run 1.3 s", "soft e-stop", "hard e-stop", "release", "acknowledge", "stop", "park",
        "moving", "still",
    ),
    "tasks of the base": (
        "start", "ask move", "base busy", "base completed", "base cancelled", "base paused", "ask cancel", "run 1.3 s",
        "wait 1.3 s", "pause", "resume", "ask resume",
    ),
    "tasks called off": (
        "start", "ask move", "base queuing", "base busy", "base idle", "limp", "fsm walk", "soft e-stop", "release",
        "run 1.3 s",
    ),
    "tasks of a robot that others take": (
        "start", "ask move", "base busy", "base idle", "fsm ready", "limp", "foreign", "foreign arms", "alone",
        "run 1.3 s",
    ),
    "tasks left paused": (
        "start", "ask move", "base busy", "base paused", "base cancelled", "pause", "end", "gone", "soft e-stop",
        "disarm", "run 1.3 s",
    ),
    "remote drive": (
        "start", "ask remote", "base remote", "ask drive", "base completed", "run 1.3 s", "wait 1.3 s", "foreign",
        "hard e-stop", "release",
    ),
    "errors and batteries": (
        "start", "arm error", "leg error", "no error", "ask velocity", "ask clear", "clear errors", "battery low",
        "battery critical", "battery full", "run 1.3 s",
    ),
    "letting go": (
        "start", "ask velocity", "ask joints", "limp", "fsm walk", "upper control off", "soft e-stop", "release",
        "run 1.3 s",
    ),
    "poses": (
        "fsm ready", "start", "ask stand pose", "ask user_cmd", "bent", "arm error", "soft e-stop", "release",
        "run 1.3 s", "pose silent", "reboot",
    ),
    "faults": ("start", "foreign", "alone", "reboot", "silence", "unhealthy", "healthy", "run 1.3 s"),
    "stops without effect": ("start", "ask fsm", "fsm ready", "moving", "still", "stop", "wait 1.3 s", "run 1.3 s"),
}  # fmt: skip


EXPLORED = (
    *(("atom_w", name) for name in ALPHABETS if name != "poses"),
    *(("atom", name) for name in ("streams", "letting go")),
    *(("gr2", name) for name in ("emergency stop and re-arming", "streams", "stops without effect", "poses")),
    *(("adam_u", name) for name in ("emergency stop and re-arming", "streams", "stops of people")),
)
"""Which robot is explored with which events."""


# Which states are the same


def _age(now: float, at: float) -> float:
    """A time as how long ago (or how soon) it is, in steps of 10 ms, without difference beyond the horizon."""
    if math.isinf(at):
        return -at
    return round(min(max(now - at, -HORIZON), HORIZON), 2)


def _details(world: JudgedWorld) -> tuple[Hashable, ...]:
    """What matters about a stop only as long as it is under way."""
    stop, now = world.state.stop, world.now
    if stop is None or stop.outcome != "open":
        return ()
    times = (stop.check_due, stop.velocity_due, stop.still_since)
    return (stop.stage, stop.repeats, *(_age(now, at) for at in times))


def key_of(world: JudgedWorld) -> Hashable:
    state, now, shown = world.state, world.now, world.shown
    limits, timing = world.config.stale, world.config.timing
    sources = tuple(
        (name, heard.problem(now, limits) or _age(now, heard.stale_at)) for name, heard in sorted(state.sources.items())
    )
    streams = tuple((type(s.intent).__name__, _age(now, s.renewed), _age(now, s.began)) for s in state.streams)
    pending = tuple((type(p.intent).__name__, _age(now, p.due), p.sends, _age(now, p.settles)) for p in state.pending)
    task = state.task and (
        state.task.accepted, bool(state.task.cancelled), _age(now, state.task.sent), state.task.cancels,
        _age(now, state.task.cancel_due), state.task.given_up, state.task.behind,
    )  # fmt: skip
    stop = state.stop and (state.stop.profile, state.stop.outcome, state.stop.joints, *_details(world))
    remote = state.remote and (bool(state.remote.ended), _age(now, state.remote.since), _age(now, state.remote.end_due))
    rearming = state.rearming.step, state.rearming.back_to, _age(now, state.rearming.since)
    return (
        state.mode, sources, state.foreign, state.audit_works, tuple(sorted(state.flags.items())), state.latched,
        min(_age(now, state.clear_since), timing.clear), rearming if state.rearming.step != "none" else None,
        state.choice_due,
        state.run is not None, state.began, _age(now, state.heartbeat) if state.run else None, streams, pending, task,
        state.suspect and _age(now, state.suspect.since), state.cleared, state.charge.level, state.charge.seen,
        state.charge.seen != state.charge.level and _age(now, state.charge.since), _age(now, state.disagree_since),
        state.paused_task, remote, state.zeros, _age(now, state.zero_due), state.moved, stop,
        tuple(sorted(state.wanted.items())),
        tuple(sorted(what for what, at in state.asked.items() if now - at <= timing.explained)),
        tuple(sorted(state.reached.items())),
        tuple((g, _age(now, h.until)) for g, h in sorted(state.holds.items())), state.observed.base,
        shown.stand, shown.silent, tuple(state.posing), state.unwanted,
        shown.fsm, tuple(shown.flags.items()), shown.upper_control, shown.base, shown.speed, shown.unhealthy,
        tuple(shown.errors), shown.power,
    )  # fmt: skip


@dataclass
class Node:
    """A state of the world that was reached, and how."""

    state: State
    now: float
    shown: object
    picture: Picture
    path: tuple[str, ...]


@dataclass
class Exploration:
    nodes: int
    steps: int
    complete: bool
    problems: dict[str, tuple[str, ...]]
    """Each violation with the shortest way to it."""


def explore(
    make: Callable[[], JudgedWorld],
    actions: Iterable[str],
    most: int,
    at_each: Callable[[JudgedWorld], None],
) -> Exploration:
    """Breadth-first from a freshly connected robot; `at_each` sees every new state, and may do with it as it likes."""
    world = make()
    names = tuple(actions)
    world.connect()
    problems: dict[str, tuple[str, ...]] = {}
    queue = deque([_node(world, ())])
    known = {key_of(world)}
    steps = 0
    while queue and len(known) < most:
        node = queue.popleft()
        for name in names:
            _restore(world, node)
            ACTIONS[name](world)
            steps += 1
            path = (*node.path, name)
            for problem in world.problems:
                problems.setdefault(problem, path)
            key = key_of(world)
            if key not in known:
                known.add(key)
                queue.append(_node(world, path))
                if at_each is not None:
                    at_each(world)
    return Exploration(len(known), steps, not queue, problems)


def _node(world: JudgedWorld, path: tuple[str, ...]) -> Node:
    return Node(world.state, world.now, copy.deepcopy(world.shown), world.picture, path)


def _restore(world: JudgedWorld, node: Node) -> None:
    world.state, world.now, world.picture = node.state, node.now, node.picture
    world.shown = copy.deepcopy(node.shown)  # type: ignore[assignment]
    world.problems = []


def play(world: JudgedWorld, story: str) -> list[str]:
    """A story, told as actions separated by commas, from a freshly connected robot; what was wrong in it."""
    world.connect()
    for name in story.split(", "):
        ACTIONS[name](world)
    return world.problems


def rescue(world: JudgedWorld) -> None:
    """Every fault goes away, and people do what they can."""
    world.shown = Shown(world.profile.fsm.get("walk", 0), dict.fromkeys(world.shown.flags, False))
    for event in (e.ForeignWriters(()), e.AuditState(True)):
        world.do(event)
    for topic in (*world.core.setting.commands, RPC):
        world.do(e.WriterReady(topic, True))
    world.sample()
    world.do(e.Disarm("op"))
    world.wait(1.82)
    world.do(e.Acknowledge("op", "seen"))
    world.arm()
