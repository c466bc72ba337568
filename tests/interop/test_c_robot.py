"""Our robot rooms against robots written in C, on CycloneDDS 0.10 as Dobot's and PND's are: robot.c."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import DdsSettings
from orchestrator.robots.commander import Receipt
from orchestrator.robots.drive import Positions, Sending, joint_messages, messages
from orchestrator.robots.drive.sending import Message
from orchestrator.robots.intents import AnyIntent, JointTarget
from orchestrator.robots.judging import Judge
from orchestrator.robots.knowledge import Known
from orchestrator.robots.motion import Motion, move
from orchestrator.robots.outcome import SUCCESS, Outcome
from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import load_profile
from orchestrator.robots.robot import Robot
from orchestrator.wire.topics import topics
from tests.support.c_peer import GENERATIONS, build, running, send_away, wait_until
from tests.support.fake_robot import known
from tests.support.tools import need

pytestmark = [pytest.mark.interop, pytest.mark.dds, pytest.mark.timeout(180)]

SLOW = 0.2
"""s of silence that a robot which reports 20 times a second is allowed, once its readers have learnt its rate."""


class Outlet:
    """Lets every intent out unchecked, and `robot`: how a mission sees it."""

    def __init__(self, profile: Profile, bus: DdsBus) -> None:
        self.profile = profile
        self.bus = bus
        table = topics(self.profile.family, self.profile.variants, self.profile.prefix)
        self.robot = Robot(self.profile, bus, self)
        self._writers = {name: bus.writer(topic) for name, topic in table.items() if topic.kind == "command"}
        self._sent = 0
        self._moving: tuple[Receipt, str, Motion] | None = None

    def send(self, intent: AnyIntent) -> Receipt:
        receipt = Receipt(intent, "sent", sent_at=self.bus.clock.now())
        if isinstance(intent, JointTarget):
            start = known(self.robot.joints.position(intent.group))
            motion = move(self.profile.group(intent.group), start, intent.q, intent.duration)
            self._moving = (receipt, intent.group, motion)
        else:
            self._write(messages(self.profile, intent, self._sending()))
        return receipt

    def end(self, receipt: Receipt) -> None:
        self._moving = None

    def judge(self, judge: Judge) -> Outcome:
        """Let the robot work until a command is judged."""

        def over() -> bool:
            self._step()
            return judge.outcome().over

        wait_until(self.bus, over)
        return judge.outcome()

    def wait_for(self, *commands: str) -> None:
        """Until the robot listens to these topics, and it is known how often it speaks on its own."""
        feeds = [self.robot.state.feed(topic) for topic in {s.topic for s in self.robot.state.signals.values()}]
        wait_until(self.bus, lambda: all(self._writers[name].ready for name in commands))
        wait_until(self.bus, lambda: all(feed.sample is not None and feed.limit >= SLOW for feed in feeds))

    def _step(self) -> None:
        if self._moving is not None:
            receipt, group, motion = self._moving
            positions = {group: motion.at(self.bus.clock.now() - receipt.sent_at)}
            self._write(joint_messages(self.profile, positions, self._sending()))

    def _write(self, made: list[Message]) -> None:
        for topic, message in made:
            self._writers[topic].write(message)

    def _sending(self) -> Sending:
        self._sent += 1
        stamp = int(self.bus.clock.now() * 1000)
        hands = self.profile.hands.order if self.profile.hands is not None else ()
        return Sending(self._sent, stamp, 1.0, self._where("q", self.profile.groups), self._where("hand", hands))

    def _where(self, what: str, names: tuple[str, ...]) -> Positions:
        return {name: known(self.robot.state.read(f"{what}.{name}")) for name in names}


@contextmanager
def at_work(name: str, generation: str, folder: Path, settings: DdsSettings) -> Iterator[tuple[Outlet, list[str]]]:
    """One of our robots and its C counterpart; what the latter printed is there afterwards."""
    need("idlc", "gcc")
    program = build(folder, generation, Path(__file__).with_name("robot.c"))
    variant = generation.partition("/")[2]
    profile = replace(load_profile(name), variants=(variant,) if variant else ())
    printed: list[str] = []
    with DdsBus(settings, "us") as bus, running(program, settings) as peer:
        yield Outlet(profile, bus), printed
        printed += send_away(peer)


@pytest.mark.parametrize("generation", [each for each in GENERATIONS if each.startswith("dobot_atom")])
def test_an_atom_w_in_c_is_understood_and_obeys(generation: str, tmp_path: Path, settings: DdsSettings) -> None:
    with at_work("atom_w", generation, tmp_path, settings) as (outlet, printed):
        robot = outlet.robot
        outlet.wait_for("rt/set/fsm/id", "rt/switch/upper/control", "rt/upper/cmd", "rt/hands/cmd", "rt/amr/cmd")
        assert known(robot.fsm.state()) == "damping"
        assert known(robot.field("battery.level")()) == 80
        assert known(robot.field("battery.base")()) == 60
        assert known(robot.field("emergency.any")()) is False
        assert known(robot.errors.problems()) == ()

        assert outlet.judge(robot.fsm.set("ready")) == SUCCESS
        assert outlet.judge(robot.upper_body.set("on")) == SUCCESS
        bent = (0.0, -0.2, 0.0, 0.5, 0.0, 0.0, 0.0)
        assert outlet.judge(robot.joints.move("right_arm", bent, 0.5)) == SUCCESS
        assert known(robot.joints.position("left_arm")) == (0.0,) * 7

        drive = robot.mobile_base.move_to_tag(12, None)
        assert drive.outcome().status == "running"  # the end of the task before does not count
        assert outlet.judge(drive) == SUCCESS
        assert known(robot.state.read("amr.task")) == 8

        assert outlet.judge(robot.hands.open("right")) == SUCCESS
        assert known(robot.hands.opening("right")) == pytest.approx((1.0,) * 6, abs=0.05)
        assert known(robot.hands.opening("left")) == pytest.approx((0.0,) * 6, abs=0.05)
    assert printed == ["fsm 2", "upper control 1", "base command 3 tag 12", "hands", "alive to the end"]


@pytest.mark.parametrize("generation", [each for each in GENERATIONS if each.startswith("pnd_adam")])
def test_an_adam_in_c_is_understood_and_obeys(generation: str, tmp_path: Path, settings: DdsSettings) -> None:
    with at_work("adam_u", generation, tmp_path, settings) as (outlet, printed):
        robot = outlet.robot
        outlet.wait_for("rt/lowcmd", "rt/handcmd")
        assert {group: known(robot.joints.position(group)) for group in robot.profile.groups} == {
            group: (0.0,) * len(robot.profile.group(group)) for group in robot.profile.groups
        }
        assert known(robot.field("battery.voltage")()) == 48
        assert known(robot.errors.problems()) == ()

        bent = (0.0, 0.2, 0.0, -0.5, 0.0, 0.0, 0.0)
        assert outlet.judge(robot.joints.move("left_arm", bent, 0.5)) == SUCCESS
        assert known(robot.joints.position("left_arm")) == pytest.approx(bent, abs=0.05)
        assert known(robot.joints.position("right_arm")) == (0.0,) * 7

        half = (1.0, 1.0, 0.5, 0.5, 0.25, 0.0)
        assert outlet.judge(robot.hands.pose("left", half)) == SUCCESS
        assert known(robot.hands.opening("left")) == pytest.approx(half, abs=0.05)
        assert isinstance(robot.hands.opening("right"), Known)
    assert printed == ["joints 19 kp[0] 405", "hands 1000 0", "alive to the end"]
