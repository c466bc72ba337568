"""Leaves that move joints."""

from typing import Annotated

from orchestrator.leaf import (
    EVERYTHING,
    Between,
    By,
    Command,
    Duration,
    Group,
    Hand,
    JointAngles,
    Judge,
    Length,
    Limit,
    MotionFile,
    Percent,
    Pose,
    motion_time,
)

_AURORA_JOINTS = (
    {"fsm": ("user_cmd", "upper_user_cmd", "pd_stand")},
    {"fsm": ("walk",), "upper": ("remote",)},
)
_ATOM_UPPER = {"fsm": ("ready", "walk", "balance"), "upper": ("on",)}


class MoveJoints(
    Command,
    needs="joints",
    uses=(By("group"), By("angles"), By("pose")),
    requires={"aurora": _AURORA_JOINTS, "atom": _ATOM_UPPER},
    one_of=("angles", "pose"),
    timeout=30.0,
):
    """Move joints to angles, or to a named pose, smoothly within the given time; only those of `group` if it is named.

    - MoveJoints: {group: left_arm, angles: {left_elbow_pitch: 90 deg}, time: 2 s}
    - MoveJoints: {pose: ready, time: 3 s}
    """

    group: Group | None = None
    angles: JointAngles | None = None
    pose: Pose | None = None
    time: Annotated[Duration, Between(0.2, 60)] = 2.0

    def takes(self) -> float:
        return self.time

    def command(self) -> Judge:
        if self.pose is not None:
            return self.robot.joints.move_to_pose(self.pose, self.time, self.group)
        return self.robot.joints.move_to(self.angles or {}, self.time, self.group)


class PlayMotion(
    Command,
    needs="joints",
    uses=("upper head", By("file")),
    requires={"aurora": _AURORA_JOINTS, "atom": _ATOM_UPPER},
    resumable=False,
    timeout=300.0,
):
    """Play keyframes from a file beside the tree (YAML or npz); joints that are not in it hold.

    - PlayMotion: {file: motions/wave.yaml, speed: 50 %}

    What stands in such a file: language.md, Motion files. What is too fast for a joint takes longer, for all of them:
    they keep in step. The timeout knows that.
    """

    file: MotionFile
    speed: Annotated[Percent, Between(1, 100)] = 100.0

    def takes(self) -> float:
        joints = self.robot.profile.joints if self.robot is not None else ()  # there is none while a tree is checked
        return motion_time(self.folder / self.file, self.speed / 100, joints)

    def command(self) -> Judge:
        return self.robot.joints.play_file(self.folder / self.file, self.speed / 100)


class MoveHand(
    Command,
    needs="joints move_hand",
    uses="upper",
    families=("aurora",),
    requires={"aurora": {"fsm": ("walk",), "upper": ("move_cmd",)}},
    resumable=False,
    timeout=30.0,
):
    """Move a hand to a place relative to the body, along a straight line if wanted; it keeps its direction.

    - MoveHand: {hand: left, forward: 30 cm, left: 20 cm, up: 10 cm, speed: 30 %}

    How far it may go is `reach` of the robot's profile.
    """

    hand: Hand
    forward: Annotated[Length, Limit("reach.forward")]
    left: Annotated[Length, Limit("reach.left")]
    up: Annotated[Length, Limit("reach.up")]
    speed: Annotated[Percent, Between(1, 100)] = 30.0
    straight: bool = False

    def command(self) -> Judge:
        place = (self.forward, self.left, self.up)
        return self.robot.joints.move_hand(self.hand, place, self.straight, self.speed / 100)


class SetGains(
    Command,
    needs="gains",
    uses=By("group"),
    requires={"aurora": {"fsm": ("user_cmd", "upper_user_cmd")}},
    permission="gains",
    resumable=False,
    timeout=8.0,  # later than the capability gives up, which says more
):
    """Set stiffness and damping of every joint of a group, within the robot's limits.

    - SetGains: {group: left_arm, stiffness: 40, damping: 2}
    """

    group: Group
    stiffness: Annotated[float, Between(0, 1000)]
    damping: Annotated[float, Between(0, 100)]

    def command(self) -> Judge:
        joints = len(self.robot.profile.group(self.group))
        return self.robot.gains.set(self.group, (self.stiffness,) * joints, (self.damping,) * joints)


class EnableMotors(
    Command,
    needs="joints",
    uses=EVERYTHING,
    families=("atom",),
    permission="motors",
    resumable=False,
    timeout=10.0,
):
    """Switch the joint motors on or off and wait until the robot reports it.

    - EnableMotors: {enabled: true}
    """

    enabled: bool

    def command(self) -> Judge:
        return self.robot.joints.enable_motors(self.enabled)
