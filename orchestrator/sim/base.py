"""A wheeled base that drives from tag to tag, as Dobot's AMR does: queueing, remote drive, and all its ways to fail."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from orchestrator.robots.profile import Base
from orchestrator.sim.battery import Battery
from orchestrator.sim.model import NEVER, ROUNDING, Touchable, by_hand
from orchestrator.sim.walking import arc
from orchestrator.wire import dobot_atom

Status: TypeAlias = Any
"""A member of one of the vendor's enumerations, whose types are made at run time."""
DeviceStatus_: Any = dobot_atom.DeviceStatus_
NavigationStatus_: Any = dobot_atom.NavigationStatus_
TASK_MODE, REMOTE_MODE, MAINTENANCE_MODE = 0, 3, 4
ACCEPT_TIME = 0.1
"""s between a task's arrival and its start."""
_SPEED, _TURN = 0.5, 0.6
"""m/s and rad/s it drives at unless told otherwise."""
_SLOWEST = 0.001
"""m/s or rad/s: less is no speed."""
_TAG_DISTANCE = 1.5
_NEAR = 0.02


class Pose(NamedTuple):
    x: float
    y: float
    heading: float


@dataclass
class Task:
    """One drive: where to, and how far it has come."""

    goal: Callable[[Pose], Pose] | None
    """The pose to reach from a pose; None if there is no such place."""
    number: int
    part: float = 1.0
    """How much of the way it really goes before it says it is done."""
    runs: bool = True
    """False for a task that is taken and never executed."""
    path: list[tuple[float, Pose]] = field(default_factory=list)
    """Poses by the time driven."""
    driven: float = 0.0

    @property
    def length(self) -> float:
        return self.path[-1][0]


class WheeledBase(Touchable):
    """Status, pose and tasks of the base. Commands are methods named after the vendor's commands."""

    def __init__(self, base: Base) -> None:
        super().__init__()
        self.tags = {number: _place(number) for number in base.tags.values()}
        """Where each tag is, in metres."""
        self.battery = Battery()
        self.pose = Pose(0.0, 0.0, 0.0)
        self.device = DeviceStatus_.DEVIDLE
        self.navigation = NavigationStatus_.IDLE
        self.work_mode = TASK_MODE
        self.task_id = 0
        self.errors: list[int] = []
        self.blocked = False
        self.stopped = False
        """Whether its own emergency stop is pressed."""
        self.accepts_tasks = True
        """False while the robot on it is in damping."""
        self.laser = False
        self.mapping = False
        self._profile = base
        self._speed, self._turn = min(_SPEED, base.linear), min(_TURN, base.angular)
        self._remote = (0.0, 0.0)
        self._queue: list[Task] = []
        self._task: Task | None = None
        self._start_at = NEVER
        self._numbers = 0
        self._now = 0.0
        self._kept: Status | None = None

    # What the vendor's commands do.

    def move_to_tag(self, tag: int, theta: float, part: float = 1.0, runs: bool = True) -> bool:
        """Queue a drive to a tag; theta in degrees, 0 leaves the heading open."""
        if not math.isfinite(theta):
            return False
        place = self.tags.get(tag)
        heading = _radians(theta) if theta else None

        def goal(start: Pose) -> Pose:
            assert place is not None
            way = math.hypot(place[0] - start.x, place[1] - start.y)
            bearing = math.atan2(place[1] - start.y, place[0] - start.x) if way > _NEAR else start.heading
            return Pose(*place, bearing if heading is None else heading)

        return self._take(None if place is None else goal, part, runs)

    def rotate(self, theta: float) -> bool:
        """Turn by an angle in degrees, where the base can."""
        if not self._profile.rotate or not math.isfinite(theta):
            return False
        turn = _radians(theta)
        return self._take(lambda start: start._replace(heading=start.heading + turn))

    def cancel_task(self) -> bool:
        """Only a running task can be cancelled."""
        if self.navigation is not NavigationStatus_.RUNNING:
            return False
        self._end(NavigationStatus_.CANCELED)
        return True

    def pause_task(self) -> bool:
        if self.navigation is not NavigationStatus_.RUNNING:
            return False
        self.navigation = NavigationStatus_.PAUSED
        return True

    def resume_task(self) -> bool:
        if self.navigation is not NavigationStatus_.PAUSED:
            return False
        self.navigation = NavigationStatus_.RUNNING
        return True

    def start_remote(self) -> bool:
        """Ask for remote drive; some bases then wait for a key to be pressed on them."""
        if self._task or self._queue or self.device is not DeviceStatus_.DEVIDLE or self.work_mode != TASK_MODE:
            return False
        if self._profile.confirm_key:
            self.navigation = NavigationStatus_.WAITING_CONFIRM
        else:
            self.work_mode = REMOTE_MODE
        return True

    def remote_control(self, linear: float, angular: float) -> bool:
        """Drive at a velocity until the next one: the base repeats the last by itself."""
        if self.work_mode != REMOTE_MODE or self.device is DeviceStatus_.ERROR or not math.isfinite(linear + angular):
            return False
        self._remote = (
            min(max(linear, -self._profile.linear), self._profile.linear),
            min(max(angular, -self._profile.angular), self._profile.angular),
        )
        return True

    def stop_remote(self) -> bool:
        if self.navigation is NavigationStatus_.WAITING_CONFIRM:
            self.navigation = NavigationStatus_.IDLE
        self.work_mode, self._remote = TASK_MODE, (0.0, 0.0)
        return True

    def set_vel(self, linear: float, angular: float) -> bool:
        """How fast it drives its tasks; a base that could not move or turn would never arrive."""
        speed, turn = min(abs(linear), self._profile.linear), min(abs(angular), self._profile.angular)
        if not (speed >= _SLOWEST and turn >= _SLOWEST):
            return False
        self._speed, self._turn = speed, turn
        return True

    def move_to_charge(self) -> bool:
        """Charge where it stands: this world has no dock."""
        if self.device is not DeviceStatus_.DEVIDLE or self.work_mode != TASK_MODE:
            return False
        self.device, self.battery.charging = DeviceStatus_.CHARGING, True
        return True

    def cancel_charge(self) -> bool:
        if self.device is DeviceStatus_.CHARGING:
            self.device, self.battery.charging = DeviceStatus_.DEVIDLE, False
        return True

    # What people and the world do.

    @by_hand
    def press_confirm_key(self) -> None:
        if self.navigation is NavigationStatus_.WAITING_CONFIRM:
            self.navigation, self.work_mode = NavigationStatus_.IDLE, REMOTE_MODE

    @by_hand
    def block(self) -> None:
        self.blocked = True

    @by_hand
    def unblock(self) -> None:
        self.blocked = False

    @by_hand
    def fail(self) -> None:
        """The current task fails."""
        if self._task is not None:
            self._end(NavigationStatus_.FAILED)

    @by_hand
    def stop_by_hand(self) -> None:
        """Somebody at the base ends its task."""
        if self._task is not None:
            self._end(NavigationStatus_.STOPPED)

    @by_hand
    def pause_by_hand(self) -> None:
        self.pause_task()

    @by_hand
    def resume_by_hand(self) -> None:
        self.resume_task()

    @by_hand
    def cancel_by_hand(self) -> None:
        self.cancel_task()

    @by_hand
    def take_over(self) -> None:
        """Somebody works on the base: maintenance mode."""
        self.work_mode, self._remote = MAINTENANCE_MODE, (0.0, 0.0)

    @by_hand
    def give_back(self) -> None:
        self.work_mode = TASK_MODE

    @by_hand
    def break_down(self, code: int = 1) -> None:
        """An error of the base itself: it stops and takes nothing until it is repaired."""
        if self._task is not None or self._queue:
            self._end(NavigationStatus_.FAILED)
        self._queue.clear()
        self._start_at, self._remote = NEVER, (0.0, 0.0)
        self.device, self.errors = DeviceStatus_.ERROR, [code]

    @by_hand
    def go_offline(self) -> None:
        self.device = DeviceStatus_.OFFLINE

    @by_hand
    def repair(self) -> None:
        self.device = DeviceStatus_.TASKING if self._task or self._queue else DeviceStatus_.DEVIDLE
        self.errors = []

    @by_hand
    def keep_reporting(self, status: Status | None) -> None:
        """Whatever happens, say this; None: tell the truth again."""
        self._kept = status

    @property
    def reported(self) -> Status:
        return self.navigation if self._kept is None else self._kept

    @property
    def driving(self) -> bool:
        if self.work_mode == REMOTE_MODE:
            return self._remote != (0.0, 0.0) and not self._held
        return self._going

    # Time.

    def advance(self, now: float) -> None:
        self.battery.advance(now)
        if self._task is None and not self._queue and self.work_mode == TASK_MODE:
            self._now, self.battery.working = now, False
            return
        task, seconds = self._task, now - self._now
        if task is not None and self._going and task.driven + seconds < task.length - ROUNDING:
            task.driven += seconds  # most of the time it just drives on
            self.pose = _on(task.path, task.driven)
            self._now, self.battery.working = now, True
            return
        while self._now < now:
            until = min(now, self._own_change())
            self._drive(until - self._now)
            self._now = until
            self._begin_and_end()
        self._begin_and_end()
        self.battery.working = self.driving

    def next_change(self) -> float:
        return min(self._own_change(), self.battery.next_change())

    def _own_change(self) -> float:
        if self._going and self._task is not None:
            return self._now + self._task.length - self._task.driven
        return self._start_at

    @property
    def _going(self) -> bool:
        """Whether the current task makes way."""
        return (
            self._task is not None
            and self._task.runs
            and self.navigation is NavigationStatus_.RUNNING
            and self.work_mode == TASK_MODE
            and not self._held
        )

    @property
    def _held(self) -> bool:
        return self.blocked or self.stopped or self.device in (DeviceStatus_.OFFLINE, DeviceStatus_.ERROR)

    def _take(self, goal: Callable[[Pose], Pose] | None, part: float = 1.0, runs: bool = True) -> bool:
        free = self.device in (DeviceStatus_.DEVIDLE, DeviceStatus_.TASKING)
        if self.work_mode != TASK_MODE or not free or not self.accepts_tasks:
            return False
        self._numbers += 1
        self._queue.append(Task(goal, self._numbers, part, runs))
        if self._task is None:
            self._wait_for_next()
        return True

    def _wait_for_next(self) -> None:
        """The next task is in the queue: it starts a moment later."""
        self.device = DeviceStatus_.TASKING
        self.task_id = self._queue[0].number
        self.navigation = NavigationStatus_.QUEUING
        self._start_at = self._now + ACCEPT_TIME

    def _begin_and_end(self) -> None:
        if self._task is None and self._queue and self._now >= self._start_at:
            self._begin(self._queue.pop(0))
        elif self._going and self._task is not None and self._task.driven >= self._task.length - ROUNDING:
            self._end(NavigationStatus_.COMPLETED)

    def _begin(self, task: Task) -> None:
        self._start_at = NEVER
        self._task = task
        self.device, self.task_id = DeviceStatus_.TASKING, task.number
        if task.goal is None:
            self._end(NavigationStatus_.FAILED)
            return
        self.navigation = NavigationStatus_.RUNNING
        task.path = self._plan(self.pose, task.goal(self.pose), task.part)

    def _end(self, status: Status) -> None:
        self._task = None
        self.navigation, self.device = status, DeviceStatus_.DEVIDLE
        if self._queue:
            self._start_at = self._now + ACCEPT_TIME  # the old status shows until the next task starts

    def _plan(self, start: Pose, goal: Pose, part: float) -> list[tuple[float, Pose]]:
        """Turn towards the goal, drive straight, turn to the heading asked for."""
        way = math.hypot(goal.x - start.x, goal.y - start.y)
        bearing = math.atan2(goal.y - start.y, goal.x - start.x) if way > _NEAR else start.heading
        path = [(0.0, start)]
        for pose in (start._replace(heading=bearing), Pose(goal.x, goal.y, bearing), goal):
            time, last = path[-1]
            turned = abs(_wrapped(pose.heading - last.heading))
            time += math.hypot(pose.x - last.x, pose.y - last.y) / self._speed + turned / self._turn
            path.append((time, pose))
        if part < 1.0:
            end = path[-1][0] * part
            path = [point for point in path if point[0] < end] + [(end, _on(path, end))]
        return path

    def _drive(self, seconds: float) -> None:
        if self._going and self._task is not None:
            self._task.driven += seconds
            self.pose = _on(self._task.path, self._task.driven)
        elif self.work_mode == REMOTE_MODE and self._remote != (0.0, 0.0) and not self._held:
            self.pose = Pose(*arc(*self.pose, (self._remote[0], 0.0, self._remote[1]), seconds))

    @property
    def velocity(self) -> tuple[float, float]:
        """m/s and rad/s now."""
        if self.work_mode == REMOTE_MODE:
            return (0.0, 0.0) if self._held else self._remote
        if not self._going or self._task is None:
            return (0.0, 0.0)
        for (_, start), (time, end) in pairwise(self._task.path):
            if self._task.driven < time:
                drives = math.hypot(end.x - start.x, end.y - start.y) > 0.0
                turn = math.copysign(self._turn, _wrapped(end.heading - start.heading))
                return (self._speed, 0.0) if drives else (0.0, turn)
        return (0.0, 0.0)


def _place(tag: int) -> tuple[float, float]:
    """Tags stand on a grid unless somebody moves them."""
    return (_TAG_DISTANCE * (1 + tag % 3), _TAG_DISTANCE * (tag // 3 % 3))


def _radians(theta: float) -> float:
    """An angle in degrees, without the whole turns in it."""
    return math.radians(math.fmod(theta, 360.0))


def _wrapped(angle: float) -> float:
    return math.remainder(angle, math.tau)


def _on(path: list[tuple[float, Pose]], time: float) -> Pose:
    """The pose at a time on a path."""
    for (start_time, start), (end_time, end) in pairwise(path):
        if time < end_time:
            part = (time - start_time) / (end_time - start_time)
            turn = _wrapped(end.heading - start.heading)
            return Pose(
                start.x + part * (end.x - start.x), start.y + part * (end.y - start.y), start.heading + part * turn
            )
    return path[-1][1]
