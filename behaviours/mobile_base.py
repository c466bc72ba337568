"""Leaves that drive a wheeled base and its maps."""

from math import pi
from typing import Annotated

from orchestrator.leaf import Angle, AngularSpeed, Between, Command, Duration, Judge, Limit, Speed, Status, Tag

# The base takes tasks only outside a remote session, and refuses them while the body is limp.
_TASKS = {"atom": {"fsm": ("ready", "walk", "balance"), "remote": ("off",)}}
_NO_REMOTE = {"atom": {"remote": ("off",)}}


class MoveToTag(
    Command,
    needs="mobile_base",
    uses="base",
    families=("atom",),
    requires=_TASKS,
    result=("arrived", "blocked", "failed"),
    resumable=True,
    timeout=300.0,
):
    """Drive the base to a floor tag and wait until it has arrived; without a heading it may face any way.

    - MoveToTag: {tag: 12, heading: 90 deg}

    It says how far it has driven, not how much of the way that is: where the tags are only the base knows. Its
    timeout is longer by what `give_up_blocked` is longer than a minute.
    """

    tag: Tag
    heading: Angle | None = None
    give_up_blocked: Duration = 60.0

    @property
    def time_limit(self) -> float:
        longer = max(self.give_up_blocked - 60.0, 0.0)  # the timeout has room for a way that is blocked for a minute
        return (super().time_limit or 0.0) + longer

    def command(self) -> Judge:
        self.result = "failed"
        self._drive = self.robot.mobile_base.move_to_tag(self.tag, self.heading, self.give_up_blocked)
        return self._drive

    def step(self) -> Status:
        status = super().step()
        self.result = "arrived" if status is Status.SUCCESS else "blocked" if self.reason == "blocked" else "failed"
        return status

    def pause(self) -> None:
        self._drive.pause()

    def resume(self) -> None:
        self._drive.resume()


class RotateBase(
    Command,
    needs="mobile_base rotate_base",
    uses="base",
    families=("atom",),
    requires=_TASKS,
    resumable=False,
    timeout=60.0,
):
    """Turn the base on the spot by an angle, positive to the left; half a turn at most.

    - RotateBase: {angle: -90 deg}

    It is done when the base says so and faces where it should: more than half a turn could not be told from less.
    """

    angle: Annotated[Angle, Between(-pi, pi)]

    def command(self) -> Judge:
        return self.robot.mobile_base.rotate(self.angle)


class CancelNavigation(Command, needs="mobile_base", uses="base", families=("atom",), timeout=15.0):
    """Cancel what the base is driving to, and wait until it has stopped.

    - CancelNavigation
    """

    def command(self) -> Judge:
        return self.robot.mobile_base.cancel()


class PauseNavigation(Command, needs="mobile_base", families=("atom",), timeout=10.0):
    """Let the base pause its task and wait until it stands.

    - PauseNavigation

    For a branch beside the one that drives: MoveToTag waits meanwhile, and keeps the base. It stands until
    ResumeNavigation, also when the run is paused and goes on. With nothing under way it fails at once.
    """

    def command(self) -> Judge:
        return self.robot.mobile_base.pause()


class ResumeNavigation(Command, needs="mobile_base", families=("atom",), timeout=10.0):
    """Let the base go on with its paused task.

    - ResumeNavigation

    Only with what PauseNavigation has paused: what somebody else has is theirs to end.
    """

    def command(self) -> Judge:
        return self.robot.mobile_base.resume()


class SetBaseSpeed(
    Command, needs="mobile_base", uses="base", families=("atom",), permission="base_settings", timeout=5.0
):
    """Set how fast the base drives its tasks, and how hard it accelerates and brakes.

    - SetBaseSpeed: {speed: 0.4 m/s, acceleration: 0.3, deceleration: 0.5}

    Acceleration and deceleration are each a plain number in m/s per second.
    The base reports nothing about it: success says that the command has left.
    """

    speed: Annotated[Speed, Limit("base.task_speed")]
    acceleration: Annotated[float, Limit("base.task_acceleration")] | None = None
    deceleration: Annotated[float, Limit("base.task_acceleration")] | None = None

    def command(self) -> Judge:
        return self.robot.mobile_base.set_speed(self.speed, self.acceleration, self.deceleration)


class SubscribeLaser(Command, needs="mobile_base", uses="", families=("atom",), timeout=5.0):
    """Switch the base's laser scans and odometry on or off.

    - SubscribeLaser: {enabled: true}

    The base reports nothing about it: success says that the command has left.
    """

    enabled: bool

    def command(self) -> Judge:
        return self.robot.mobile_base.subscribe_laser(self.enabled)


class DriveBase(
    Command,
    needs="mobile_base",
    uses="base",
    families=("atom",),
    requires=_NO_REMOTE,
    changes={"atom": {"remote": "off"}},
    through={"atom": {"remote": "on"}},
    permission="remote_drive",
    resumable=False,
    timeout=120.0,
):
    """Drive the base by velocity for a time, in a remote session that a person confirms and that is always closed.

    - DriveBase: {forward: 0.2 m/s, turn: 0 deg/s, time: 3 s}

    The person presses a key on the base. Where it needs none (`confirm_key` of the profile), the node needs `confirm`,
    and each agreement is good for one start, not for further rounds of `repeat`, `for_each` or `retry`.
    """

    forward: Annotated[Speed, Limit("base.speed")] = 0.0
    turn: Annotated[AngularSpeed, Limit("base.turn")] = 0.0
    time: Annotated[Duration, Between(0.1, 60)]

    def mistake(self) -> tuple[str, str] | None:
        return None if self.forward or self.turn else ("time", "there is no velocity: forward or turn")

    def takes(self) -> float:
        return self.time

    def command(self) -> Judge:
        return self.robot.mobile_base.drive_for(self.forward, self.turn, self.time, self.confirmed)


class StartMapping(
    Command,
    needs="mobile_base",
    uses="base",
    families=("atom",),
    requires=_NO_REMOTE,
    permission="maps",
    timeout=15.0,
):
    """Begin to record a map.

    - StartMapping

    The base reports nothing about it: success says that the command has left.
    """

    def command(self) -> Judge:
        return self.robot.mobile_base.start_mapping()


class SaveMap(Command, needs="mobile_base", uses="base", families=("atom",), permission="maps", timeout=60.0):
    """Save the map that is being recorded.

    - SaveMap

    The base reports nothing about it: success says that the command has left.
    """

    def command(self) -> Judge:
        return self.robot.mobile_base.save_map()


class StopMapping(Command, needs="mobile_base", uses="base", families=("atom",), permission="maps", timeout=15.0):
    """End the recording of a map.

    - StopMapping

    The base reports nothing about it: success says that the command has left.
    """

    def command(self) -> Judge:
        return self.robot.mobile_base.stop_mapping()
